"""Tab after ``%hermes``, and in the cell below ``%%hermes call`` and ``%%hermes run``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from hermes_nb.notebook.completion.cell import complete_cell
from hermes_nb.notebook.completion.line import complete

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_LINE = re.compile(r"(?:^|[=(,]|\breturn\b)\s*%{1,2}hermes[ \t]+(?P<typed>.*)$", re.DOTALL)
_HEAD = re.compile(r"\s*%%hermes[ \t]+(?P<typed>.*)")


def install(shell: InteractiveShell) -> None:
    """Let a shell complete ``%hermes`` lines."""
    remove(shell)
    shell.Completer.custom_matchers.append(match)


def remove(shell: InteractiveShell) -> None:
    """Take that back."""
    shell.Completer.custom_matchers[:] = [kept for kept in shell.Completer.custom_matchers if kept is not match]


@context_matcher(identifier="hermes_nb")  # type: ignore[untyped-decorator]
def match(context: CompletionContext) -> SimpleMatcherResult:
    """What can stand at the cursor; on any other line, nothing."""
    candidates, fragment = _at_cursor(context)
    fitting = [candidate for candidate in candidates if candidate.startswith((fragment, f'"{fragment}'))]
    return {
        "completions": [SimpleCompletion(text=candidate, type="magic") for candidate in fitting],
        "suppress": bool(fitting),
        "matched_fragment": fragment,
        "ordered": True,
    }


def _at_cursor(context: CompletionContext) -> tuple[list[str], str]:
    before = context.text_until_cursor
    found = _LINE.search(before)
    if found is not None:
        return complete(found["typed"])
    lines = context.full_text.split("\n")
    head = next((number for number, line in enumerate(lines[: context.cursor_line]) if line.strip()), None)
    above = _HEAD.fullmatch(lines[head]) if head is not None else None
    if head is None or above is None:
        return [], ""
    cell = "\n".join([*lines[head + 1 : context.cursor_line], before])
    return complete_cell(above["typed"], cell, context.line_with_cursor[len(before) :])
