"""The rules of the config: ``terminal``, ``mcp_*``, ``terminal(git push*)``, ``write_file(path=/data/*)``.

The same pattern is read in two ways. What forbids or asks is read broadly: it speaks of a command if any part of it
fits. What allows is read narrowly: everything that was found must fit, and a ``*`` never reaches past the end of a
simple command, so ``terminal(git status*)`` does not cover ``git status; rm -rf ~``.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hermes_nb.approval.decision import Request

_RULE = re.compile(r"(?P<tool>[^()]+?)(?:\((?:(?P<argument>[A-Za-z_]\w*)=)?(?P<pattern>.*)\))?", re.DOTALL)
_WITHIN_A_COMMAND = r"[^;&|<>()$`\n]"


class _Rule(NamedTuple):
    tool: str
    argument: str | None
    pattern: str | None


def speaks_of(rule: str, request: Request) -> bool:
    """Whether a rule that forbids or asks speaks of a call: of all of it, or of any command in it."""
    parsed = _parsed(rule, request)
    if parsed is None:
        return False
    if parsed.pattern is None:
        return True
    pattern = parsed.pattern
    return any(fnmatch.fnmatchcase(subject, pattern) for subject in _subjects(parsed.argument, request))


def covers(rule: str, request: Request) -> bool:
    """Whether a rule that allows covers a call: each of its findings."""
    parsed = _parsed(rule, request)
    if parsed is None:
        return False
    if parsed.pattern is None:
        return True
    if not _is_command(parsed.argument, request):
        subject = request.subject if parsed.argument is None else request.args.get(parsed.argument)
        return subject is not None and fnmatch.fnmatchcase(_without_detours(str(subject)), parsed.pattern)
    narrow = re.compile(_narrow(parsed.pattern))
    return bool(request.findings) and all(narrow.fullmatch(finding.text.strip()) for finding in request.findings)


def _parsed(rule: str, request: Request) -> _Rule | None:
    found = _RULE.fullmatch(rule.strip())
    if found is None or not fnmatch.fnmatchcase(request.tool, found["tool"].strip()):
        return None
    return _Rule(found["tool"], found["argument"], found["pattern"])


def _is_command(argument: str | None, request: Request) -> bool:
    return argument in (None, "command") and isinstance(request.args.get("command"), str)


def _subjects(argument: str | None, request: Request) -> Iterator[str]:
    if argument is not None and argument in request.args:
        value = str(request.args[argument])
        yield value
        yield _without_detours(value)
    if argument is None:
        yield request.subject
    if _is_command(argument, request):
        from hermes_nb.approval.shell import read

        for command in read(request.args["command"]).commands:
            yield command.text
            yield " ".join(word.text for word in command.words)


def _without_detours(path: str) -> str:
    """``/data/../etc`` is ``/etc``: a pattern for a folder must not be left by going up."""
    return os.path.normpath(path) if "/" in path else path


def _narrow(pattern: str) -> str:
    translated = {"*": f"{_WITHIN_A_COMMAND}*", "?": _WITHIN_A_COMMAND}
    return "".join(translated.get(char, re.escape(char)) for char in pattern)
