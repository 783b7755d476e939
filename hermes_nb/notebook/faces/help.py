"""Help: what there is, and how each sub-command is used."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.face import Shown
from hermes_nb.notebook.faces.markup import Html, code, dim

if TYPE_CHECKING:
    from hermes_nb.notebook.commands.base import Command

_FOOT = (
    "%hermes NAME? shows all that one takes, with examples. Each takes -o NAME; x = %hermes … keeps the result, "
    "and _hermes is always the latest. {expr} is a Python value, JSON braces stay as they are, single quotes keep "
    "everything. %%hermes run heads a script, %%hermes call NAME heads JSON or YAML."
)


class Help(Shown):
    """A text to read, with a face for a notebook."""

    def __init__(self, text: str, html: Html) -> None:
        self.text = text
        self._page = html

    @classmethod
    def of(cls, command: Command) -> Help:
        """How a sub-command is used, with examples."""
        text = command.parser.format_help().rstrip()
        return cls(text, markup.block(markup.text(text)))

    def __repr__(self) -> str:
        return self.text

    def _html(self) -> Html:
        return self._page


def overview(commands: Iterable[Command]) -> Help:
    """Every sub-command with what it does, and an example."""
    rows = [(command.name, command.summary, command.example) for command in commands]
    width = max(len(name) for name, _, _ in rows)
    lines = [f"%hermes {name:{width}}  {summary}\n{'':{width + 10}}{example}" for name, summary, example in rows]
    grid = markup.grid(
        ("%hermes", "", "for example"),
        [(markup.tag("b", code(name)), summary, dim(code(example))) for name, summary, example in rows],
    )
    foot = textwrap.fill(_FOOT, 100, break_on_hyphens=False)
    return Help("\n".join([*lines, "", foot]), markup.join([grid, markup.tag("small", dim(_FOOT))]))
