"""From a command to its assessment: read it, hold every rule against every part, gather what was found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval import lookalikes
from hermes_nb.approval.assessment import Assessment, Finding
from hermes_nb.approval.rules import matching
from hermes_nb.approval.shell.reader import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_nb.approval.assessment import Verdict
    from hermes_nb.approval.shell.script import Script

#: The user's own additions: (regular expression, description). They are looked for in the text as it stands.
DANGEROUS_PATTERNS: list[tuple[str, str]] = []

#: What may be wrong with a script as a whole: kind -> (verdict, description)
_PROBLEMS: dict[str, tuple[Verdict, str]] = {
    "unparsable": ("ask", "cannot be read as a shell command, so what it would do is not known"),
    "too-deep": ("ask", "is nested too deeply to be understood"),
    "too-intricate": ("ask", "is too intricate to be understood in reasonable time"),
    "fork-bomb": ("block", "starts copies of itself until the machine stands still"),
    "process-storm": ("ask", "starts processes in an endless loop"),
}


def assess(command: str, *, cwd: str | None = None) -> Assessment:
    """Say what a shell command would do that a person should know of.

    Args:
        command: The command line or script, as the shell would get it.
        cwd: The working directory, if it is known: relative paths are then judged by where they lead.
    """
    readings: tuple[Script, ...] = ()
    try:
        readings = read_both(command, cwd)
        findings = _found(command, *readings)
    except RecursionError:
        # The reader has its own bound on depth; this is for what recurses besides it, so that the answer is never an
        # error.
        findings = [_problem("too-deep", command[:300])]
    findings.extend(_user_findings(command))
    return Assessment(tuple(dict.fromkeys(findings)), {command: readings} if readings else {})


def read_both(command: str, cwd: str | None = None) -> tuple[Script, ...]:
    """The command as the shell reads it, and as a person does where that differs: a full-width # starts no comment.

    With a dash where the hyphen of ``rm -rf`` should be, the shell deletes files of odd names, and a person who is
    asked about it believes something else. Both readings are judged: what happens, and what somebody thinks he
    approves.
    """
    plain = lookalikes.plain(command)
    return (read(command, cwd),) if plain == command else (read(command, cwd), read(plain, cwd))


def _found(command: str, as_it_is: Script, as_it_looks: Script | None = None) -> list[Finding]:
    findings = list(_findings(as_it_is))
    # Letters of another script in a file's name are no disguise. It's one if the readings differ in what is dangerous.
    posing = [] if as_it_looks is None else list(_findings(as_it_looks))
    if {finding.rule for finding in posing} <= {finding.rule for finding in findings}:
        return findings
    disguised = Finding("look-alike", "hides what it does behind characters that look like others", command[:300])
    return [*findings, *posing, disguised]


def _findings(script: Script) -> Iterator[Finding]:
    for problem in script.problems:
        yield _problem(problem.kind, problem.text)
    for command in script.commands:
        for rule in matching(command):
            yield Finding(rule.key, rule.description, command.text, rule.verdict)


def _problem(kind: str, text: str) -> Finding:
    verdict, description = _PROBLEMS[kind]
    return Finding(kind, description, text, verdict)


def _user_findings(command: str) -> Iterator[Finding]:
    for pattern, description in DANGEROUS_PATTERNS:
        match = re.search(pattern, command, re.IGNORECASE | re.DOTALL)
        if match:
            yield Finding(f"pattern:{pattern}", description, match[0][:300])


def detect_dangerous_command(command: str) -> tuple[bool, str | None, str | None]:
    """Say whether a command is dangerous: ``(is_dangerous, rule_key, description)`` of its worst finding."""
    assessment = assess(command)
    for finding in assessment.findings:
        if finding.verdict == assessment.verdict:
            return True, finding.rule, finding.description
    return False, None, None
