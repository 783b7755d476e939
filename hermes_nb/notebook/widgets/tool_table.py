"""The tools of a session as a table: what the explorer lists, and in which order a query puts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_nb.common.text import one_line
from hermes_nb.search.bridge import bridge_tools
from hermes_nb.search.budget import about, tool_tokens
from hermes_nb.search.catalog import plain

if TYPE_CHECKING:
    from hermes_nb.session import Session
    from hermes_nb.toolbox.declaration import Tool
    from hermes_nb.view import State, Visible

_ABOUT_LENGTH = 140
#: The front end is told of a state by its number.
STATES: tuple[State, ...] = ("shown", "deferred", "unavailable")


@dataclass(frozen=True)
class Table:
    """The tools in a session's scope at one moment.

    Attributes:
        tools: In the order of toolset and name; those that are not available too.
        states: For each, whether the model sees it now, finds it by search, or can't use it.
        gauge: Where the threshold is, and what the estimate that decides makes of the tools.
        seen: What the model sees now.
        visible: What it was derived from; another object when anything has changed.
    """

    tools: tuple[Tool, ...]
    states: tuple[int, ...]
    gauge: dict[str, Any]
    seen: tuple[Tool, ...]
    visible: Visible

    @classmethod
    def of(cls, session: Session) -> Table:
        """The table of a session now."""
        view, current = session.view, session.view.catalog
        active = view.is_searched
        rows = sorted(view, key=lambda seen: (seen.tool.toolset, seen.tool.name))
        tools, states = tuple(row.tool for row in rows), tuple(STATES.index(row.state) for row in rows)
        seen = [*current.direct, *bridge_tools(view)] if active else current.visible.tools
        gauge = {
            "deferrable": current.tokens,
            "threshold": session.search_config.threshold_tokens(session.context_length),
            "context": session.context_length,
            "mode": session.search_config.enabled,
            "active": active,
            "deferred": states.count(STATES.index("deferred")),
            "unavailable": states.count(STATES.index("unavailable")),
        }
        return cls(tools, states, gauge, tuple(seen), current.visible)

    def columns(self) -> dict[str, Any]:
        """The table as the front end gets it: by columns, with each toolset's name once."""
        toolsets = sorted({tool.toolset for tool in self.tools})
        number = {name: index for index, name in enumerate(toolsets)}
        return {
            "toolsets": toolsets,
            "name": [tool.name for tool in self.tools],
            "about": [_about(tool) for tool in self.tools],
            "toolset": [number[tool.toolset] for tool in self.tools],
            "source": [tool.source for tool in self.tools],
            "tokens": [tool_tokens(tool) for tool in self.tools],
            "state": self.states,
            "always": [not tool.deferrable for tool in self.tools],
            "about_tokens": about(),
            "gauge": {**self.gauge, "seen": len(self.seen), "seen_tokens": sum(map(tool_tokens, self.seen))},
        }

    def packed(self) -> bytes:
        """The columns in one piece, which is sent at a tenth of what a message of many small parts costs."""
        return msgspec.json.encode(self.columns())

    def found(self, session: Session, query: str) -> bytes:
        """The rows for a query in one piece."""
        rows, ranked = self.order(session, query)
        return msgspec.json.encode({"query": query, "order": rows, "ranked": ranked})

    def order(self, session: Session, query: str) -> tuple[list[int], bool]:
        """Rows for a query, in the order of ``%hermes search``, and whether they fit as a whole.

        Where nothing does, as with half a word while it is being typed, they are those in which the words occur.
        """
        if not query.strip():
            return list(range(len(self.tools))), True
        row = {tool.name: number for number, tool in enumerate(self.tools)}
        found, by_words = session.view.everything.found(query, len(self.tools))
        return [row[name] for name, _ in found if name in row], not by_words


def _about(tool: Tool) -> str:
    about = one_line(tool.description[: _ABOUT_LENGTH * 2], _ABOUT_LENGTH)
    return about if about.isprintable() else plain(tool.description, _ABOUT_LENGTH)
