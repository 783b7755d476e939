"""``toolsets``: the toolsets with their sizes."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_nb.notebook.commands.base import Command, Invocation
from hermes_nb.notebook.commands.tools import tool_rows
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.markup import code, dim
from hermes_nb.notebook.faces.table import Column, Table
from hermes_nb.toolbox.toolsets import select


@dataclass(frozen=True, slots=True)
class ToolsetRow:
    """A toolset, with what is in it now."""

    name: str
    tools: int
    tokens: int
    description: str = ""


def _toolsets(invocation: Invocation) -> Table[ToolsetRow]:
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


TOOLSETS = Command("toolsets", "The toolsets, with their sizes.", _toolsets, order=11, example="%hermes toolsets")
