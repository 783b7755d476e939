"""View: what a session sees of the tools there are, each with its state; derived from the live registry on every use.

Everything that was derived is kept only as long as what it was derived from is the same object: snapshots and scopes
never change, they are replaced.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hermes_nb.errors import UnknownToolError
from hermes_nb.toolbox.definitions import Format, decoded, formatted, without_strangers
from hermes_nb.toolbox.names import spellings
from hermes_nb.toolbox.toolsets import Scope, check_names, select

if TYPE_CHECKING:
    from hermes_nb.common.progress import Reporter
    from hermes_nb.config import Config
    from hermes_nb.search.budget import Budget
    from hermes_nb.search.catalog import Catalog, Everything, SharedIndex
    from hermes_nb.search.settings import ToolSearchConfig
    from hermes_nb.toolbox.declaration import Tool
    from hermes_nb.toolbox.registry import Registry, Snapshot

logger = logging.getLogger(__name__)

State = Literal["shown", "deferred", "unavailable"]


@dataclass(frozen=True, slots=True)
class Seen:
    """A tool in a session's scope, and what becomes of it now.

    Attributes:
        tool: The tool as a model would be told of it.
        state: shown (a model sees its schema), deferred (it finds it by search) or unavailable.
        reason: Why it is unavailable; empty otherwise.
    """

    tool: Tool
    state: State
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Visible:
    """The tools of a session that are in scope and available, by name, and a key that changes whenever they do."""

    tools: tuple[Tool, ...]
    key: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Mine:
    """The tools of a scope, and those among them that have to be asked each time."""

    snapshot: Snapshot
    scope: Scope
    tools: tuple[Tool, ...]
    conditional: tuple[Tool, ...]
    dynamic: tuple[Tool, ...]


class View:
    """What one session may see and run. Iterating gives every tool in its scope with its state, by name.

    Args:
        registry: Where the tools are.
        enabled_toolsets: Only the tools of these; None means all.
        disabled_toolsets: Never the tools of these.
        config: The settings in force.
        context_length: The model's context in tokens, for the tool-search threshold; None if unknown.
        progress: Takes reports on long work, such as indexing.

    Raises:
        UnknownToolsetError: A toolset doesn't exist; the message suggests the nearest.
    """

    def __init__(
        self,
        registry: Registry,
        enabled_toolsets: Iterable[str] | None,
        disabled_toolsets: Iterable[str] | None,
        config: Config,
        context_length: int | None,
        progress: Reporter,
    ) -> None:
        self.registry = registry
        self.availability = registry.availability.under(config)
        self.config = config
        self.context_length = context_length
        self.progress = progress
        snapshot = registry.snapshot
        self._enabled = None if enabled_toolsets is None else check_names(enabled_toolsets, snapshot)
        self._disabled = None if disabled_toolsets is None else check_names(disabled_toolsets, snapshot)
        self._scope: tuple[object, object, Scope] | None = None
        self._mine: _Mine | None = None
        self._visible: Visible | None = None
        self._lookalikes: tuple[_Mine, dict[str, frozenset[str]]] | None = None
        self._catalog: Catalog | None = None
        self._index: SharedIndex | None = None
        self._everything: Everything | None = None
        self._everyones_index: SharedIndex | None = None
        self._search_config: tuple[int, ToolSearchConfig | None] = (-1, None)

    # Scope -----------------------------------------------------------------------------------------------------

    def scope(self, snapshot: Snapshot) -> Scope:
        """What the session may see and run of a snapshot: the only place where that is decided."""
        cached = self._scope
        if cached is None or cached[0] is not snapshot.toolsets or cached[1] is not snapshot.aliases:
            enabled = None if self._enabled is None else select(self._enabled, snapshot)
            disabled = None if self._disabled is None else select(self._disabled, snapshot)
            cached = self._scope = (snapshot.toolsets, snapshot.aliases, Scope(enabled, disabled))
        return cached[2]

    def resolve(self, name: str) -> Tool | None:
        """The tool of that name, if it is in scope: the only function that turns a name into a tool.

        A tool outside the scope is None as one that doesn't exist: a session can't tell the two apart.
        """
        snapshot = self.registry.snapshot
        tool = snapshot.tools.get(name)
        return tool if tool is not None and tool in self.scope(snapshot) else None

    def in_scope(self) -> tuple[Tool, ...]:
        """The tools in scope as they were registered, by name, whether they can be used now or not."""
        return self._of_scope().tools

    def _of_scope(self) -> _Mine:
        snapshot = self.registry.snapshot
        scope = self.scope(snapshot)
        mine = self._mine
        if mine is None or mine.snapshot is not snapshot or mine.scope is not scope:
            tools = tuple(tool for tool in snapshot.ordered if tool in scope)
            conditional = tuple(tool for tool in tools if tool.check_fn is not None or tool.requires_env)
            dynamic = tuple(tool for tool in tools if tool.dynamic_schema_overrides is not None)
            mine = self._mine = _Mine(snapshot, scope, tools, conditional, dynamic)
        return mine

    def lookalikes(self) -> Mapping[str, frozenset[str]]:
        """For each way to write a name, the tools in scope that may be meant."""
        mine = self._of_scope()
        if self._lookalikes is None or self._lookalikes[0] is not mine:
            self._lookalikes = (mine, spellings(mine.tools))
        return self._lookalikes[1]

    # States ----------------------------------------------------------------------------------------------------

    def visible(self) -> Visible:
        """The tools that can be used at this moment."""
        mine = self._of_scope()
        unavailable = frozenset(self.availability.unavailable(mine.conditional))
        current = {tool.name: tool.overridden() for tool in mine.dynamic}
        key = (mine.snapshot, mine.scope, unavailable, tuple(tool.definition_json for tool in current.values()))
        cached = self._visible
        if cached is not None and cached.key == key:
            return cached
        tools = [current.get(tool.name, tool) for tool in mine.tools if tool.name not in unavailable]
        names = frozenset(tool.name for tool in tools)
        tools = [without_strangers(tool, names) if tool.mentions_tools else tool for tool in tools]
        cached = self._visible = Visible(tuple(tools), key)
        return cached

    def __iter__(self) -> Iterator[Seen]:
        visible = {tool.name: tool for tool in self.visible().tools}
        reasons = self.availability.unavailable(self._of_scope().conditional)
        is_searched = self.is_searched
        for tool in self.in_scope():
            shown = visible.get(tool.name)
            if shown is None:
                yield Seen(tool, "unavailable", reasons.get(tool.name, "it was not a moment ago"))
            else:
                yield Seen(shown, "deferred" if is_searched and shown.deferrable else "shown")

    def __len__(self) -> int:
        return len(self.in_scope())

    def seen(self, name: str) -> Seen:
        """One tool with its state.

        Raises:
            UnknownToolError: There is no such tool in scope.
        """
        tool = self.resolve(name)
        if tool is None:
            raise UnknownToolError(name, (known.name for known in self.visible().tools))
        shown = next((each for each in self.visible().tools if each.name == name), None)
        if shown is None:
            return Seen(tool.overridden(), "unavailable", self.availability.reason(tool) or "it was not a moment ago")
        return Seen(shown, "deferred" if shown.deferrable and self.is_searched else "shown")

    # Tool search -----------------------------------------------------------------------------------------------

    @property
    def search_config(self) -> ToolSearchConfig:
        """The settings of tool search in force."""
        generation, settings = self._search_config
        if settings is None or generation != self.config.generation:
            from hermes_nb.search.settings import ToolSearchConfig

            settings = ToolSearchConfig.from_raw(self.config.get("tools.tool_search"))
            self._search_config = (self.config.generation, settings)
        return settings

    @property
    def catalog(self) -> Catalog:
        """The deferrable tools as they are now; kept only as long as nothing that it was derived from has changed."""
        visible = self.visible()
        cached = self._catalog
        if cached is None or cached.visible is not visible:
            from hermes_nb.search.catalog import Catalog

            cached = self._catalog = Catalog(visible, self.index)
        return cached

    @property
    def everything(self) -> Everything:
        """All tools in scope, those that are always shown or unavailable too, as people search them."""
        visible = self.visible()
        cached = self._everything
        if cached is None or cached.visible is not visible:
            from hermes_nb.search.catalog import Everything, SharedIndex

            current = self.catalog
            if len(current.tools) == len(self):  # the model searches the same: one index will do
                cached = Everything(visible, current.tools, self.index)
            else:
                self._everyones_index = self._everyones_index or SharedIndex(self.progress)
                cached = Everything(visible, {seen.tool.name: seen.tool for seen in self}, self._everyones_index)
            self._everything = cached
        return cached

    @property
    def index(self) -> SharedIndex:
        """The search index, brought up to date by what has changed since it was last asked."""
        if self._index is None:
            from hermes_nb.search.catalog import SharedIndex

            self._index = SharedIndex(self.progress)
        return self._index

    @property
    def is_searched(self) -> bool:
        """Whether tool search stands for the deferrable tools now."""
        deferrable = self.catalog
        return self.search_config.is_active(deferrable.tokens, len(deferrable.tools), self.context_length)

    # What a model is told ----------------------------------------------------------------------------------------

    def definitions(self, *, assembled: bool = True, format: Format = "openai") -> list[dict[str, Any]]:  # noqa: A002
        """The definitions of the tools, in a provider's format; the list is a copy.

        Raises:
            ValueError: There is no such format.
        """
        if format not in ("openai", "anthropic"):
            raise ValueError(f"there is no format {format!r}; it takes 'openai' or 'anthropic'")
        if not assembled:
            return formatted(self.visible().tools, format)
        from hermes_nb.search.assembly import assemble

        return assemble(self, format)

    def definitions_of(self, names: Iterable[str], *, quiet: bool = True) -> list[dict[str, Any]]:
        """The definitions of some tools in OpenAI's format: those of the names that are in scope and available."""
        wanted = frozenset(names)
        if not quiet:
            for seen in self:
                if seen.state == "unavailable" and seen.tool.name in wanted:
                    logger.debug("%s is left out: %s", seen.tool.name, seen.reason)
        tools = [tool for tool in self.visible().tools if tool.name in wanted]
        there = frozenset(tool.name for tool in tools)
        return decoded(without_strangers(tool, there) if tool.mentions_tools else tool for tool in tools)

    def describe(self, name: str) -> dict[str, Any]:
        """One tool's definition in OpenAI's format.

        Raises:
            UnknownToolError: There is no such tool in scope.
        """
        return decoded([self.seen(name).tool])[0]

    def budget(self) -> Budget:
        """What the tools' schemas cost, and what deferring them saves."""
        from hermes_nb.search.assembly import budget

        return budget(self)
