"""The rules of the config: ``terminal``, ``mcp_*``, ``terminal(git push*)``, ``write_file(path=/data/*)``.

The same pattern is read in two ways. What forbids or asks is read broadly: it speaks of a command if any part of it
fits. What allows is read narrowly: everything that was found must fit, and a ``*`` never reaches past the end of a
simple command, so ``terminal(git status*)`` does not cover ``git status; rm -rf ~``.

What is a command, the tool's approval view says. Where it doesn't say, any argument may be one: what forbids looks into
it as a shell would, and what allows lets no ``*`` reach past what ends a command.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hermes_nb.approval.assessment import Assessment
    from hermes_nb.approval.decision import Request
    from hermes_nb.approval.view import Language

#: tool, tool(pattern) or tool(argument=pattern); "tool(a=b)" is always the last, also where a command was meant.
_RULE = re.compile(r"(?P<tool>[^()]+?)(?:\((?:(?P<argument>[A-Za-z_]\w*)=)?(?P<pattern>.*)\))?", re.DOTALL)
#: What a "*" in a rule that allows may stand for: nothing that ends a command or begins another, $(…) included.
_WITHIN_A_COMMAND = r"[^;&|<>()$`\n]"


class _Rule(NamedTuple):
    tool: str
    argument: str | None
    pattern: str | None


class Commands:
    """The simple commands in the texts of one call; each text is read once, and only if a rule asks for it."""

    def __init__(self, assessment: Assessment) -> None:
        self._readings = dict(assessment.readings)
        self._spellings: dict[str, tuple[str, ...]] = {}

    def in_text(self, text: str) -> tuple[str, ...]:
        """Every command, as it is written and as it would run."""
        known = self._spellings.get(text)
        if known is None:
            known = self._spellings[text] = tuple(self._spelled(text))
        return known

    def _spelled(self, text: str) -> Iterator[str]:
        if text not in self._readings:
            from hermes_nb.approval.assess_command import read_both

            self._readings[text] = read_both(text)
        for script in self._readings[text]:
            for command in script.commands:
                # "terminal(rm *)" under deny must fit \rm x and sudo r"m" x, so each is tried as it would run, too.
                yield command.text
                yield " ".join(word.text for word in command.words)


def speaks_of(rule: str, request: Request, commands: Commands) -> bool:
    """Whether a rule that forbids or asks speaks of a call: of all of it, or of any command in it."""
    parsed = _parsed(rule, request)
    if parsed is None:
        return False
    if parsed.pattern is None:
        return True
    pattern = parsed.pattern
    return any(fnmatch.fnmatchcase(subject, pattern) for subject in _subjects(parsed.argument, request, commands))


def covers(rule: str, request: Request) -> bool:
    """Whether a rule that allows covers a call: each of its findings."""
    parsed = _parsed(rule, request)
    if parsed is None:
        return False
    if parsed.pattern is None:
        return True
    narrow = re.compile(_narrow(parsed.pattern))
    language = _language(parsed.argument, request)
    if language == "shell":
        # Each part that was found must fit by itself: "terminal(git push*)" covers "git push -f; git push -f", and of
        # "git push -f; rm -rf x" the first only.
        return bool(request.findings) and all(narrow.fullmatch(finding.text.strip()) for finding in request.findings)
    subject = _subject(parsed.argument, request)
    if subject is None:
        return False
    # write_file(path=/data/*) must not cover /data/../etc/passwd. A rule that forbids is tried on both spellings.
    subject = _without_detours(subject)
    return bool(narrow.fullmatch(subject) if language == "unknown" else fnmatch.fnmatchcase(subject, parsed.pattern))


def _parsed(rule: str, request: Request) -> _Rule | None:
    found = _RULE.fullmatch(rule.strip())
    if found is None or not fnmatch.fnmatchcase(request.tool, found["tool"].strip()):
        return None
    return _Rule(found["tool"], found["argument"], found["pattern"])


def _language(argument: str | None, request: Request) -> Language:
    # A pattern for one argument reads that as a command only if it is the one the tool shows as such.
    view = request.view
    return view.language if argument in (None, view.edits) or view.language == "unknown" else "text"


def _subject(argument: str | None, request: Request) -> str | None:
    if argument is None:
        return request.subject
    value = request.args.get(argument)
    return None if value is None else str(value)


def _subjects(argument: str | None, request: Request, commands: Commands) -> Iterator[str]:
    """All that a rule which forbids may fit: the whole of what it speaks of, and every command in that."""
    subject = _subject(argument, request)
    if subject is not None:
        yield subject
        yield _without_detours(subject)
    for text in _texts(argument, request):
        yield text
        yield from commands.in_text(text)


def _texts(argument: str | None, request: Request) -> Iterator[str]:
    """The texts that are commands, or may be."""
    language = _language(argument, request)
    if language == "shell" and request.command is not None:
        yield request.command
    elif language == "unknown":
        values = request.args.values() if argument is None else [request.args.get(argument)]
        yield from (value for value in values if isinstance(value, str))


def _without_detours(path: str) -> str:
    """``/data/../etc`` is ``/etc``: a pattern for a folder must not be left by going up."""
    return os.path.normpath(path) if "/" in path else path


def _narrow(pattern: str) -> str:
    translated = {"*": f"{_WITHIN_A_COMMAND}*", "?": _WITHIN_A_COMMAND}
    return "".join(translated.get(char, re.escape(char)) for char in pattern)
