"""Help: what there is, and how each sub-command is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.markup import Html, code, dim
from hermes_nb.notebook.faces.table import aligned

if TYPE_CHECKING:
    from hermes_nb.notebook.commands.base import Command

_FOOT = (
    "Each takes --help and -o NAME; x = %hermes … keeps the result. {expr} is a Python value, JSON braces stay as they "
    "are, single quotes keep everything. %%hermes run heads a script, %%hermes call NAME heads JSON or YAML."
)


class Help:
    """A text to read, with a face for a notebook."""

    def __init__(self, text: str, html: Html) -> None:
        self.text = text
        self._html = html

    @classmethod
    def of(cls, command: Command) -> Help:
        """How a sub-command is used."""
        text = command.parser.format_help().rstrip()
        return cls(text, markup.block(markup.text(text)))

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self._html}


def overview(commands: Iterable[Command]) -> Help:
    """Every sub-command in a line."""
    rows = [(command.name, command.summary, command.example) for command in commands]
    lines = aligned([(f"%hermes {name}", summary) for name, summary, _ in rows])
    grid = markup.grid(
        ("%hermes", "", "for example"),
        [(markup.tag("b", code(name)), summary, dim(code(example))) for name, summary, example in rows],
    )
    return Help(f"{lines}\n\n{_FOOT}", markup.join([grid, markup.tag("small", dim(_FOOT))]))
