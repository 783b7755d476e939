"""Python code judged by its syntax tree: what it deletes, runs, loads, writes and sends."""

from __future__ import annotations

import ast
import re

from hermes_nb.approval.assessment import Assessment, Finding
from hermes_nb.approval.languages.python_checks import CodeReader
from hermes_nb.approval.shell.commands import UNKNOWN

#: Python code longer than this is not read; nobody could judge it at a glance either.
MOST_CHARACTERS = 400_000

_ESCAPES = re.compile(
    r"^[ \t]*(?:(?:[\w, ]+=\s*)?!(?!=)(?P<shell>.*)|%%(?:bash|sh|script\b.*)\n(?P<cell>[\s\S]*)"
    r"|%(?:[\w]+\b).*|%%\w+.*)$",
    re.MULTILINE,
)


def assess_python(source: str, *, cwd: str | None = None) -> Assessment:
    """Say what Python code would do that a person should know of.

    Args:
        source: The code; a notebook cell's ``!command`` lines are judged as shell commands.
        cwd: The working directory, if it is known.
    """
    from hermes_nb.approval.assess_command import assess

    findings: list[Finding] = []
    if len(source) > MOST_CHARACTERS:
        return _single("python-unparsable", "is too long to be understood", source[:80])
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Perhaps a cell: "!rm -rf x" isn't Python but what IPython makes Python of. Only now, since in plain Python a
        # line of a string may begin with "!".
        plain, shell = _without_escapes(source)
        try:
            tree = ast.parse(plain)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return _single(
                "python-unparsable",
                "cannot be read as Python, so what it would do is not known",
                source[:300],
            )
        for command in shell:
            findings.extend(assess(command, cwd=cwd).findings)
    reader = CodeReader(source, cwd)
    try:
        reader.visit(tree)
    except RecursionError:
        return _single("python-unparsable", "is nested too deeply to be understood", source[:300])
    return Assessment(tuple(dict.fromkeys(findings + reader.findings)))


def _single(rule: str, description: str, text: str) -> Assessment:
    return Assessment((Finding(rule, description, text),))


def _without_escapes(source: str) -> tuple[str, list[str]]:
    """Python without the notebook's escapes, and the shell commands among them."""
    shell: list[str] = []

    def blank(match: re.Match[str]) -> str:
        # {name} in a "!" line is a Python value. The line becomes "pass", with its indent, so that "if x:" before it
        # holds.
        command = match["shell"] or match["cell"]
        if command:
            shell.append(re.sub(r"\{[^}]*\}", UNKNOWN, command))
        indent = match[0][: len(match[0]) - len(match[0].lstrip())]
        return f"{indent}pass"

    return _ESCAPES.sub(blank, source), shell
