"""How things went, and what was changed of them, in colours: the same for every face."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.markup import AMBER, BLUE, GREEN, GREY, ORANGE, RED, Html, chip

if TYPE_CHECKING:
    from hermes_nb.approval.edit import Edit
    from hermes_nb.calls.marks import Mark, Tone

_COLOURS: dict[Tone, str] = {"good": GREEN, "failed": ORANGE, "bad": RED, "held": AMBER, "running": BLUE}
_CHANGED = {"-": ("del", RED, "line-through"), "+": ("ins", GREEN, "none"), " ": ("span", GREY, "none")}


def colour_of(mark: Mark) -> str:
    """The colour that goes with a mark."""
    return _COLOURS[mark.tone]


def mark_chip(mark: Mark) -> Html:
    """A mark, as every face shows it."""
    return chip(str(mark), colour_of(mark))


def edit_html(edit: Edit) -> Html:
    """What an approver changed: the old struck out, the new below it."""
    return changes_html(edit.lines())


def changes_html(lines: Iterable[tuple[str, str]]) -> Html:
    """The same, of its lines."""
    return markup.block(markup.join((_changed(sign, text) for sign, text in lines), "\n"))


def _changed(sign: str, text: str) -> Html:
    name, colour, line = _CHANGED[sign]
    words = text.lstrip()  # neither the sign nor the space before the words is struck out
    changed = markup.tag(name, words, style=f"text-decoration:{line}")
    return markup.tag("span", f"{sign} {text[: len(text) - len(words)]}", changed, style=f"color:{colour}")
