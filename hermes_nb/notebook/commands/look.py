"""Looking at tools: ``tools``, ``toolsets``, ``search``, ``describe``."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_nb.errors import MagicError, UnknownToolsetError
from hermes_nb.notebook import markup
from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.display import state_chip, tool_name
from hermes_nb.notebook.expansion import expand
from hermes_nb.notebook.markup import code, dim
from hermes_nb.notebook.schema_view import Description
from hermes_nb.notebook.table import Column, Table
from hermes_nb.toolbox.availability import missing_variables

if TYPE_CHECKING:
    from hermes_nb.search.catalog import SearchResult
    from hermes_nb.session import Session
    from hermes_nb.view import Seen


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool as the list shows it.

    Attributes:
        state: shown (the model sees its schema), deferred (it finds it by search), or why it can't be used.
        tokens: About what its definition costs.
    """

    name: str
    toolset: str
    description: str
    state: str
    tokens: int
    emoji: str = ""


@dataclass(frozen=True, slots=True)
class ToolsetRow:
    """A toolset, with what is in it now."""

    name: str
    tools: int
    tokens: int
    description: str = ""


def tool_rows(session: Session) -> list[ToolRow]:
    """Every tool in a session's scope, with what becomes of it."""
    return [_row(seen) for seen in session.view]


def _row(seen: Seen) -> ToolRow:
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
        Column("tokens", lambda row: f"{row.tokens:,}", lambda row: dim(f"{row.tokens:,}"), number=True),
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


def _toolsets(invocation: Invocation) -> Table[ToolsetRow]:
    from hermes_nb.toolbox.toolsets import select

    snapshot = invocation.session.registry.snapshot
    rows = tool_rows(invocation.session)
    found = []
    for name in sorted(snapshot.toolset_names):
        chosen = select([name], snapshot)
        inside = [row for row in rows if snapshot.tools[row.name] in chosen]
        toolset = snapshot.toolsets.get(name)
        if inside:
            found.append(
                ToolsetRow(name, len(inside), sum(row.tokens for row in inside), toolset.description if toolset else "")
            )
    columns: tuple[Column[ToolsetRow], ...] = (
        Column("toolset", lambda row: row.name, lambda row: markup.tag("b", code(row.name))),
        Column("tools", lambda row: str(row.tools), number=True),
        Column("tokens", lambda row: f"{row.tokens:,}", lambda row: dim(f"{row.tokens:,}"), number=True),
        Column("what it is for", lambda row: row.description),
    )
    return Table(found, columns, empty="no toolsets")


def _search(invocation: Invocation) -> SearchResult:
    query = expand(invocation.rest, invocation.namespace, lambda value, _: str(value))
    if not query:
        raise MagicError("search for what? %hermes search open an issue")
    return invocation.session.search(query, invocation.options.limit)


def _describe(invocation: Invocation) -> Description:
    view, name = invocation.session.view, invocation.options.tool
    seen = view.seen(name)
    row, lacks = _row(seen), missing_variables(seen.tool) or ""
    return Description(
        view.describe(name), toolset=row.toolset, emoji=row.emoji, state=row.state, tokens=row.tokens, lacks=lacks
    )


def _tools_options(parser: Parser) -> None:
    parser.option("pattern", nargs="?", completes="tool", help="part of a name, or a pattern: git_*")
    parser.option("--toolset", "-t", metavar="NAME", completes="toolset", help="only the tools of this toolset")


def _search_options(parser: Parser) -> None:
    parser.option("--limit", "-n", type=int, metavar="N", help="at most this many")


def _describe_options(parser: Parser) -> None:
    parser.option("tool", completes="tool", help="the tool's name")


TOOLS = Command("tools", "The tools of this session, and what the model sees of them.", _tools, _tools_options)
TOOLSETS = Command("toolsets", "The toolsets, with their sizes.", _toolsets)
SEARCH = Command("search", "Find tools by what they do.", _search, _search_options, rest="QUERY")
DESCRIBE = Command("describe", "What a tool does and takes.", _describe, _describe_options)
