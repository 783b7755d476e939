"""The tools of a session as a table: what the explorer lists, and in which order a query puts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_nb.common.text import one_line
from hermes_nb.search.assembly import is_active
from hermes_nb.search.bridge import bridge_tools
from hermes_nb.search.budget import tool_tokens
from hermes_nb.search.catalog import catalog, plain

if TYPE_CHECKING:
    from hermes_nb.declaration import Tool
    from hermes_nb.definitions import Visible
    from hermes_nb.session import Session

_ABOUT_LENGTH = 140
SHOWN, DEFERRED, UNAVAILABLE = range(3)


@dataclass(frozen=True)
class Table:
    """The tools in a session's scope at one moment.

    Attributes:
        tools: In the order of toolset and name; those that are not available too.
        states: For each, whether the model sees it now, finds it by search, or can't use it.
        gauge: What the tools cost and where the threshold is.
        visible: What it was derived from; another object when anything has changed.
    """

    tools: tuple[Tool, ...]
    states: tuple[int, ...]
    gauge: dict[str, Any]
    visible: Visible

    @classmethod
    def of(cls, session: Session) -> Table:
        """The table of a session now."""
        current = catalog(session)
        active = is_active(session)
        usable = {tool.name: tool for tool in current.visible.tools}
        snapshot = session.registry.snapshot
        scope = session.scope(snapshot)
        in_scope = [usable.get(tool.name, tool) for tool in snapshot.ordered if tool in scope]
        tools = tuple(sorted(in_scope, key=lambda tool: (tool.toolset, tool.name)))
        states = tuple(
            UNAVAILABLE if tool.name not in usable else DEFERRED if active and not tool.is_core else SHOWN
            for tool in tools
        )
        seen = [*current.core, *bridge_tools(session)] if active else current.visible.tools
        gauge = {
            "deferrable": current.tokens,
            "threshold": session.search_config.threshold_tokens(session.context_length),
            "context": session.context_length,
            "mode": session.search_config.enabled,
            "active": active,
            "seen": len(seen),
            "seen_tokens": sum(map(tool_tokens, seen)),
            "deferred": states.count(DEFERRED),
            "unavailable": states.count(UNAVAILABLE),
        }
        return cls(tools, states, gauge, current.visible)

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
            "gauge": self.gauge,
        }

    def packed(self) -> bytes:
        """The columns in one piece, which is sent at a tenth of what a message of many small parts costs."""
        return msgspec.json.encode(self.columns())

    def found(self, session: Session, query: str) -> bytes:
        """The rows for a query in one piece."""
        rows, ranked = self.order(session, query)
        return msgspec.json.encode({"query": query, "order": rows, "ranked": ranked})

    def order(self, session: Session, query: str) -> tuple[list[int], bool]:
        """Rows for a query, and whether they are ranked as ``tool_search`` ranks them.

        After the hits comes what it doesn't search, such as core tools, where the words occur; where nothing was hit,
        as with half a word while it is being typed, everything where they do.
        """
        words = query.lower().split()
        current = catalog(session)
        index = session.derived.index
        if not words or index is None:
            return list(range(len(self.tools))), True
        row = {tool.name: number for number, tool in enumerate(self.tools)}
        found = index.of(current.tools).search(query, len(current.tools))
        ranked = [row[scored.name] for scored in found if scored.name in row]
        others = [
            number
            for number, tool in enumerate(self.tools)
            if not (ranked and tool.name in current.tools) and _has(tool, words)
        ]
        others.sort(key=lambda number: words[0] not in self.tools[number].name.lower())
        return ranked + others, bool(ranked) or not others


def _about(tool: Tool) -> str:
    about = one_line(tool.description[: _ABOUT_LENGTH * 2], _ABOUT_LENGTH)
    return about if about.isprintable() else plain(tool.description, _ABOUT_LENGTH)


def _has(tool: Tool, words: list[str]) -> bool:
    text = f"{tool.name} {tool.toolset} {tool.description}".lower()
    return all(word in text for word in words)
