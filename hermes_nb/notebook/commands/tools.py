"""``tools``: the tools of a session, and what the model sees of them."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_nb.errors import UnknownToolsetError
from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.markup import dim
from hermes_nb.notebook.faces.results import state_chip, tool_name
from hermes_nb.notebook.faces.table import Column, Table

if TYPE_CHECKING:
    from hermes_nb.session import Session
    from hermes_nb.view import Seen


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool as the list shows it.

    Attributes:
        state: shown (the model sees its schema), deferred (it finds it by search), or why it can't be used.
        tokens: What its definition costs; an estimate where no tokenizer is installed.
    """

    name: str
    toolset: str
    description: str
    state: str
    tokens: int
    emoji: str = ""

    @property
    def cost(self) -> str:
        """Its tokens, and whether that is an estimate."""
        from hermes_nb.search.budget import about

        return f"{about()}{self.tokens:,}"


def tool_rows(session: Session) -> list[ToolRow]:
    """Every tool in a session's scope, with what becomes of it."""
    return [tool_row(seen) for seen in session.view]


def tool_row(seen: Seen) -> ToolRow:
    """One tool, as the list shows it."""
    from hermes_nb.search.budget import tool_tokens
    from hermes_nb.search.catalog import plain

    tool = seen.tool
    return ToolRow(
        tool.name, tool.toolset, plain(tool.description), seen.reason or seen.state, tool_tokens(tool), tool.emoji
    )


def _tools(invocation: Invocation) -> Table[ToolRow]:
    options, session = invocation.options, invocation.session
    rows = tool_rows(session)
    if options.toolset:
        snapshot = session.registry.snapshot
        if options.toolset not in snapshot.toolset_names:
            raise UnknownToolsetError(options.toolset, snapshot.toolset_names)
        from hermes_nb.toolbox.toolsets import select

        chosen = select([options.toolset], snapshot)
        rows = [row for row in rows if snapshot.tools[row.name] in chosen]
    if options.pattern:
        rows = [row for row in rows if _fits(row.name, options.pattern)]
    columns: tuple[Column[ToolRow], ...] = (
        Column("tool", lambda row: row.name, _tool_cell),
        Column("toolset", lambda row: row.toolset, lambda row: dim(row.toolset)),
        Column("tokens", lambda row: row.cost, lambda row: dim(row.cost), number=True),
        Column("state", lambda row: row.state, lambda row: state_chip(row.state)),
        Column("what it does", lambda row: row.description, text_only=True),
    )
    return Table(rows, columns, empty="no tools fit")


def _fits(name: str, pattern: str) -> bool:
    wanted = pattern.lower()
    return fnmatch.fnmatchcase(name.lower(), wanted if any(char in wanted for char in "*?[") else f"*{wanted}*")


def _tool_cell(row: ToolRow) -> str:
    name = markup.tag("span", f"{row.emoji or '·'} ", tool_name(row.name), style="white-space:nowrap")
    return markup.join([name, markup.tag("div", row.description, style="font-size:.92em;min-width:12em")])


def _tools_options(parser: Parser) -> None:
    parser.option("pattern", nargs="?", completes="tool", help="part of a name, or a pattern: git_*")
    parser.option("--toolset", "-t", metavar="NAME", completes="toolset", help="only the tools of this toolset")


TOOLS = Command(
    "tools", "The tools of this session, and what the model sees of them.", _tools, _tools_options,
    order=10, example="%hermes tools *_file", more=("%hermes tools --toolset terminal",),
)  # fmt: skip
