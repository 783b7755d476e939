"""The catalog: the deferrable slice of what a session can use now, derived from the live registry on every use."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hermes_nb.common.text import ESCAPE_SEQUENCE, is_hidden, one_line
from hermes_nb.search.budget import estimated_tokens

if TYPE_CHECKING:
    from hermes_nb.common.progress import Reporter
    from hermes_nb.search.engine.index import Document, ToolIndex
    from hermes_nb.toolbox.declaration import Tool
    from hermes_nb.view import Visible

DESCRIPTION_CAP = 300
#: A tool's name and its score.
Ranked = tuple[str, float]
#: The state of a tool that is built in: a model always sees its schema, and never has to search for it.
ALWAYS_SHOWN = "always shown"
_PARAMETERS_SHOWN = 8
_ADDED_AT_ONCE = 500  # tools between two reports of progress
_WORTH_REPORTING = 1000  # tools to add: fewer are there before anybody could read it
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}
_MARKUP = re.compile(r"<[^<>]{0,200}>|```\w*|!?\[([^\[\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that a search found.

    Attributes:
        name: The tool.
        toolset: Its toolset.
        description: What it does; capped, and without control characters and markup: it is a server's text.
        score: Comparable within one result.
        signature: How to call it: ``create_issue(title: str, body?: str)``.
        source: mcp, plugin or core.
        state: Where all tools were searched: always shown (built in, never deferred), shown, deferred or unavailable.
    """

    name: str
    toolset: str
    description: str
    score: float
    signature: str
    source: str
    state: str = ""

    @property
    def is_remarkable(self) -> bool:
        """Whether its state is one that no model's search would give."""
        return self.state in (ALWAYS_SHOWN, "unavailable")

    def as_match(self) -> dict[str, str]:
        """What the model reads of it."""
        return {
            "name": self.name,
            "source": self.source,
            "source_name": self.toolset,
            "description": self.description,
            "signature": self.signature,
        }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found, best first.

    Attributes:
        query: What was asked for.
        matches: The hits; empty if nothing fits.
        total_available: How many tools were searched.
        hint: What there is instead, where nothing fits.
        by_words: Nothing fits as a whole: the matches are tools in whose texts the words occur literally.
    """

    query: str
    matches: tuple[Hit, ...]
    total_available: int
    hint: str = ""
    by_words: bool = False

    def __str__(self) -> str:
        if not self.matches:
            return f"nothing fits {self.query!r} among {self.total_available} tools\n{self.hint}".rstrip()
        width = max(len(hit.signature) for hit in self.matches)
        return "\n".join(
            f"{hit.signature:{min(width, 60)}}  {hit.description[:100]}{f' ({hit.state})' if hit.is_remarkable else ''}"
            for hit in self.matches
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from hermes_nb.notebook.faces.results import search_html

        return str(search_html(self))


class _Searchable:
    """Some tools that can be searched, at one moment."""

    def __init__(self, tools: Mapping[str, Tool], index: SharedIndex) -> None:
        self.tools = tools
        self._index = index

    def ranked(self, query: str, limit: int) -> list[Ranked]:
        """The tools that fit a query, best first; none if nothing does."""
        found = self._index.of(self.tools).search(query, limit) if query.strip() else []
        return [(scored.name, scored.score) for scored in found if scored.name in self.tools]

    def nearest(self, name: str) -> list[str]:
        """The names that someone may have meant who wrote this one."""
        return [near for near in self._index.of(self.tools).nearest(name) if near in self.tools]

    def overview(self, limit: int = 20) -> str:
        """The toolsets there are, and their sizes."""
        sizes: dict[str, int] = {}
        for tool in self.tools.values():
            sizes[tool.toolset] = sizes.get(tool.toolset, 0) + 1
        ordered = sorted(sizes.items(), key=lambda entry: (-entry[1], entry[0]))
        named = ", ".join(f"{plain(name, 60)} ({size})" for name, size in ordered[:limit])
        more = f" and {len(ordered) - limit} more" if len(ordered) > limit else ""
        return f"Nothing fits. Toolsets that can be searched, with their sizes: {named}{more}." if named else ""


class Catalog(_Searchable):
    """The tools of a session that can be deferred, at one moment: what a model searches."""

    def __init__(self, visible: Visible, index: SharedIndex) -> None:
        super().__init__({tool.name: tool for tool in visible.tools if tool.deferrable}, index)
        self.visible = visible
        self.direct = tuple(tool for tool in visible.tools if not tool.deferrable)
        self.bridge: tuple[int, tuple[Tool, ...]] | None = None

    @cached_property
    def tokens(self) -> int:
        """About what their definitions cost; the threshold goes by it."""
        return sum(estimated_tokens(tool) for tool in self.tools.values())

    def search(self, query: str, limit: int) -> SearchResult:
        """The tools that fit a query; none, with a hint at what there is, if nothing does."""
        hits = tuple(_hit(self.tools[name], score) for name, score in self.ranked(query, limit))
        return SearchResult(query, hits, len(self.tools), "" if hits else self.overview())


class Everything(_Searchable):
    """All tools in a session's scope, at one moment: what people search, in one order wherever they do."""

    def __init__(self, visible: Visible, tools: Mapping[str, Tool], index: SharedIndex) -> None:
        super().__init__(tools, index)
        self.visible = visible

    def found(self, query: str, limit: int) -> tuple[list[Ranked], bool]:
        """The tools that fit, best first, and whether they do only by plain words.

        Where nothing fits, as with half a word while it is being typed, those in whose texts all the words occur.
        """
        ranked = self.ranked(query, limit)
        if ranked or not (words := query.lower().split()):
            return ranked, False
        names = [name for name, tool in self.tools.items() if _has(tool, words)]
        names.sort(key=lambda name: (words[0] not in name.lower(), name))
        return [(name, 0.0) for name in names[:limit]], bool(names)

    def search(self, query: str, limit: int, states: Mapping[str, str]) -> SearchResult:
        """The tools that fit a query, each with its state; a hint at what there is, if nothing does."""
        found, by_words = self.found(query, limit)
        hits = tuple(_hit(tool := self.tools[name], score, _state(tool, states)) for name, score in found)
        return SearchResult(query, hits, len(self.tools), "" if hits else self.overview(), by_words)


def _state(tool: Tool, states: Mapping[str, str]) -> str:
    state = states.get(tool.name, "unavailable")
    return ALWAYS_SHOWN if state == "shown" and not tool.deferrable else state


def _has(tool: Tool, words: list[str]) -> bool:
    text = f"{tool.name} {tool.toolset} {tool.description}".lower()
    return all(word in text for word in words)


class SharedIndex:
    """A session's search index, brought up to date by what has changed since it was last asked."""

    def __init__(self, progress: Reporter) -> None:
        self._progress = progress
        self._index: ToolIndex | None = None
        self._tools: Mapping[str, Tool] = {}
        self._lock = threading.Lock()

    def of(self, tools: Mapping[str, Tool]) -> ToolIndex:
        """The index over just these tools."""
        with self._lock:
            if self._index is None:
                from hermes_nb.search.engine.index import ToolIndex
                from hermes_nb.search.engine.semantic import load_semantic_model, semantic_installed

                self._index = ToolIndex(semantic=load_semantic_model() if semantic_installed() else None)
            if tools is not self._tools:
                self._index.remove(self._tools.keys() - tools.keys())
                self._add(self._index, [tool for name, tool in tools.items() if self._tools.get(name) is not tool])
                self._tools = tools
            return self._index

    def _add(self, index: ToolIndex, tools: Sequence[Tool]) -> None:
        if len(tools) <= _WORTH_REPORTING:
            index.add(_documents(tools))
            return
        with self._progress.work("indexing tools", len(tools)) as work:
            for start in range(0, len(tools), _ADDED_AT_ONCE):
                added = tools[start : start + _ADDED_AT_ONCE]
                index.add(_documents(added))
                work.reach(start + len(added))


def _documents(tools: Iterable[Tool]) -> Iterable[Document]:
    from hermes_nb.search.engine.index import Document

    for tool in tools:
        yield Document(tool.name, tool.origin, tool.description, tool.parameters)


def _hit(tool: Tool, score: float, state: str = "") -> Hit:
    return Hit(tool.name, tool.toolset, plain(tool.description), score, signature(tool), tool.source, state)


def plain(text: str, cap: int = DESCRIPTION_CAP) -> str:
    """A server's text as data: one line, capped, without markup, control and invisible characters."""
    uncoloured = ESCAPE_SEQUENCE.sub("", html.unescape(text[: cap * 8]))
    shown = "".join(" " if char.isspace() else char for char in uncoloured if char.isspace() or not is_hidden(char))
    while (unmarked := _MARKUP.sub(_inner_text, shown)) != shown:  # removing a tag can make a new one
        shown = unmarked
    return one_line(shown, cap)


def _inner_text(match: re.Match[str]) -> str:
    return match[1] or " "


def signature(tool: Tool) -> str:
    """How to call a tool, in one line: ``create_issue(title: str, body?: str)``."""
    properties = tool.parameters.get("properties")
    required = tool.parameters.get("required")
    if not isinstance(properties, Mapping):
        return f"{tool.name}()"
    needed = set(required) if isinstance(required, list) else set()
    ordered = sorted(properties, key=lambda name: name not in needed)
    shown = [f"{plain(name, 40)}{'' if name in needed else '?'}: {_type(properties[name])}" for name in ordered]
    if len(shown) > _PARAMETERS_SHOWN:
        shown = [*shown[:_PARAMETERS_SHOWN], "…"]
    return f"{tool.name}({', '.join(shown)})"


def _type(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    choices = schema.get("enum")
    if isinstance(choices, list) and len(choices) <= 6:
        return "|".join(plain(str(choice), 20) for choice in choices)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((entry for entry in kind if entry != "null"), None)
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        inner = _type(schema["items"])
        return "list" if inner == "any" else f"list[{inner}]"
    return _TYPES.get(kind, "any") if isinstance(kind, str) else "any"
