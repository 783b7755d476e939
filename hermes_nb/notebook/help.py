"""Help: what there is, and how each sub-command is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_nb.notebook import markup
from hermes_nb.notebook.commands import COMMANDS
from hermes_nb.notebook.markup import Html, code, dim
from hermes_nb.notebook.table import aligned

if TYPE_CHECKING:
    from hermes_nb.notebook.commands.base import Command

_EXAMPLES = {
    "tools": "%hermes tools git_*",
    "toolsets": "%hermes toolsets",
    "search": "hits = %hermes search open an issue",
    "describe": "%hermes describe read_file",
    "call": "%hermes call read_file path={path} limit=20",
    "run": "%hermes run --backend docker://python:3.12 python -V",
    "explore": "%hermes explore",
    "feed": "%hermes feed",
    "budget": "%hermes budget",
    "backend": "%hermes backend ssh://me@box",
    "ps": "%hermes ps job-1",
    "approvals": "%hermes approvals revoke RULE",
    "config": "%hermes config approval.mode smart",
    "doctor": "%hermes doctor",
    "replay": "%hermes replay",
}
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


def overview() -> Help:
    """Every sub-command in a line."""
    rows = [(name, command.summary, _EXAMPLES[name]) for name, command in COMMANDS.items()]
    lines = aligned([(f"%hermes {name}", summary) for name, summary, _ in rows])
    grid = markup.grid(
        ("%hermes", "", "for example"),
        [(markup.tag("b", code(name)), summary, dim(code(example))) for name, summary, example in rows],
    )
    return Help(f"{lines}\n\n{_FOOT}", markup.join([grid, markup.tag("small", dim(_FOOT))]))
