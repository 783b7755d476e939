"""The registry: tools by name, in immutable snapshots."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from hermes_nb.errors import RegistrationError, UnknownToolsetError
from hermes_nb.toolbox.availability import Availability, Check
from hermes_nb.toolbox.declaration import Handler, Tool, check_tool, given, read_schema
from hermes_nb.toolbox.shadowing import check_shadowing, log_shadowing, was_reported
from hermes_nb.toolbox.toolsets import BUILTIN_TOOLSETS, EVERYTHING, LEGACY_TOOLSETS, Toolset, as_names, select

if TYPE_CHECKING:
    from hermes_nb.default_sessions import DefaultSessions


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All that a registry holds at one moment. It never changes; every change of the registry makes a new one."""

    tools: MappingProxyType[str, Tool]
    toolsets: MappingProxyType[str, Toolset]
    aliases: MappingProxyType[str, str]
    generation: int

    @cached_property
    def ordered(self) -> tuple[Tool, ...]:
        """The tools by name, so that what a model sees doesn't depend on the order of imports."""
        return tuple(self.tools[name] for name in sorted(self.tools))

    @cached_property
    def toolset_names(self) -> frozenset[str]:
        """Every name that selects a toolset."""
        return frozenset({tool.toolset for tool in self.tools.values()} | self.toolsets.keys() | self.aliases.keys())


class Changes(NamedTuple):
    """What replacing a toolset's tools changed, by their names."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]


class Registry:
    """Tools by name. Thread-safe: readers use ``snapshot`` and never wait; every change raises ``generation``."""

    #: Makes the sessions that speak for a registry where nobody opened one. Sessions know registries and not the other
    #: way round: ``hermes_nb.registry`` brings the two together.
    speakers: ClassVar[Callable[[Registry], DefaultSessions]]

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._snapshot = Snapshot(MappingProxyType({}), BUILTIN_TOOLSETS, MappingProxyType({}), 0)
        self.availability = Availability()
        self._default_sessions: DefaultSessions | None = None

    @property
    def snapshot(self) -> Snapshot:
        """What the registry holds now."""
        return self._snapshot

    @property
    def generation(self) -> int:
        """A number that rises with every change."""
        return self.snapshot.generation

    def register(
        self,
        name: str,
        toolset: str,
        schema: Mapping[str, Any],
        handler: Handler,
        check_fn: Check | None = None,
        requires_env: Iterable[str] | None = None,
        is_async: bool = False,
        description: str = "",
        emoji: str = "",
        max_result_size_chars: float | None = None,
        dynamic_schema_overrides: Callable[[], Mapping[str, Any]] | None = None,
        override: bool = False,
        *,
        deferrable: bool | None = None,
        handled_by_session: bool | None = None,
    ) -> Tool:
        """Register a tool; a tool module calls this when it is imported.

        Args:
            name: Unique; letters, digits, ``_`` and ``-``, 64 at most, as model APIs want it.
            toolset: The toolset that the tool belongs to.
            schema: ``{"description": …, "parameters": {JSON schema}}``, or the JSON schema of the arguments alone.
            handler: ``handler(args: dict, **context)``; returns a string, or anything with a JSON form.
            check_fn: Returns whether the tool can work now; one that raises means no.
            requires_env: Environment variables without which the tool can't work.
            is_async: Whether the handler is a coroutine function (seen from the function if it is one).
            description: What the tool does, if the schema doesn't say it.
            emoji: Shown beside the tool's name.
            max_result_size_chars: A longer result is clipped, and kept whole in a file.
            dynamic_schema_overrides: Returns the parts of the schema that are known only when it is shown.
            override: Replace a tool of another toolset on purpose.
            deferrable: False keeps the tool in front of the model when tool search stands for others; by default every
                tool but the core ones is deferrable.
            handled_by_session: True lets ``Session.intercept`` take the tool over with an agent's own state; by
                default that is so for todo, memory, session_search and delegate_task.

        Raises:
            RegistrationError: The tool can't work as declared, or would shadow another toolset's tool (in a plugin
                that is being loaded the latter is logged instead, and the tool left out).
        """
        described, parameters = read_schema(schema, name)
        return self.add(
            Tool(
                name=name,
                toolset=toolset,
                description=described or description,
                parameters=parameters,
                handler=handler,
                check_fn=check_fn,
                requires_env=as_names(requires_env or ()),
                is_async=is_async or inspect.iscoroutinefunction(handler),
                emoji=emoji,
                max_result_size_chars=max_result_size_chars,
                dynamic_schema_overrides=dynamic_schema_overrides,
                **given(deferrable=deferrable, handled_by_session=handled_by_session),
            ),
            override=override,
        )

    def add(self, tool: Tool, *, override: bool = False) -> Tool:
        """Register a tool that is already described, with its guard and what may run beside it.

        Raises:
            RegistrationError: As for ``register``.
        """
        check_tool(tool)
        with self._lock:
            existing = self.snapshot.tools.get(tool.name)
            try:
                check_shadowing(existing, tool, override=override)
            except RegistrationError as error:
                if was_reported(tool, error):
                    return tool
                raise
            self._change(tools=MappingProxyType(self.snapshot.tools | {tool.name: tool}))
            log_shadowing(existing, tool)
            if existing is not None and existing.check_fn is not tool.check_fn:
                self.availability.forget(existing.check_fn)
        return tool

    def deregister(self, name: str) -> bool:
        """Remove a tool; whether there was one."""
        with self._lock:
            remaining = dict(self.snapshot.tools)
            removed = remaining.pop(name, None)
            if removed is None:
                return False
            self._change(tools=MappingProxyType(remaining))
            self._forget_checks([removed])
        return True

    def replace(self, toolset: str, tools: Iterable[Tool], *, override: bool = False) -> Changes:
        """Put these tools in the place of all that a toolset has, in one step: a reader sees the old ones or the new.

        This is for a server that says anew what it offers. A tool that is declared as before stays the same object,
        so that nothing has to be derived from it again; handlers are the same if they compare equal.

        Args:
            toolset: The toolset; the tools must be its own.
            tools: All that it shall have; none empties it.
            override: Replace tools of other toolsets on purpose.

        Returns:
            The names of the tools that came, went and changed; where there are none, nothing was touched.

        Raises:
            RegistrationError: As for ``add``, or a tool is of another toolset or comes twice; nothing was changed then.
        """
        wanted = _by_name(toolset, tools)
        with self._lock:
            before = self.snapshot.tools
            for tool in wanted.values():
                check_shadowing(before.get(tool.name), tool, override=override)
            after = {name: tool for name, tool in before.items() if tool.toolset != toolset or name in wanted}
            for name, tool in wanted.items():
                existing = before.get(name)
                if existing is None or not existing.same_as(tool):
                    after[name] = tool
            changes = Changes(
                added=tuple(sorted(after.keys() - before.keys())),
                removed=tuple(sorted(before.keys() - after.keys())),
                changed=tuple(sorted(name for name in wanted if name in before and after[name] is not before[name])),
            )
            if any(changes):
                self._change(tools=MappingProxyType(after))
                for name in changes.changed:
                    log_shadowing(before[name], after[name])
                self._forget_checks(before[name] for name in changes.removed + changes.changed)
        return changes

    def get(self, name: str) -> Tool | None:
        """The tool of that name, whatever session may use it."""
        return self.snapshot.tools.get(name)

    def define_toolset(
        self, name: str, tools: Iterable[str] = (), includes: Iterable[str] = (), description: str = ""
    ) -> Toolset:
        """Make a toolset, or change one. It may list tools that are registered later.

        Raises:
            RegistrationError: The name is one of those that mean every toolset.
            UnknownToolsetError: It includes a set that doesn't exist.
        """
        if name in EVERYTHING:
            raise RegistrationError(f"{name!r} means every toolset and can't be defined anew")
        toolset = Toolset(name, description, frozenset(as_names(tools)), as_names(includes))
        with self._lock:
            known = self.snapshot.toolset_names | EVERYTHING | LEGACY_TOOLSETS.keys() | {name}
            for included in toolset.includes:
                if included not in known:
                    raise UnknownToolsetError(included, sorted(known))
            self._change(toolsets=MappingProxyType(self.snapshot.toolsets | {name: toolset}))
        return toolset

    def alias_toolset(self, alias: str, name: str) -> None:
        """Let ``alias`` mean the toolset ``name``.

        Raises:
            RegistrationError: The alias is a toolset's own name.
            UnknownToolsetError: There is no toolset of that name.
        """
        with self._lock:
            snapshot = self.snapshot
            if name not in snapshot.toolset_names:
                raise UnknownToolsetError(name, sorted(snapshot.toolset_names))
            if alias in EVERYTHING or alias in snapshot.toolset_names - snapshot.aliases.keys():
                raise RegistrationError(f"{alias!r} is a toolset of its own; choose another alias")
            self._change(aliases=MappingProxyType(snapshot.aliases | {alias: name}))

    def toolset_names(self) -> list[str]:
        """Every name that selects a toolset, in order."""
        return sorted(self.snapshot.toolset_names)

    # As hermes-agent has them -----------------------------------------------------------------------------------

    @property
    def default_sessions(self) -> DefaultSessions:
        """The sessions that speak for this registry where nobody opened one; they are closed when it goes."""
        with self._lock:
            if self._default_sessions is None:
                self._default_sessions = Registry.speakers(self)
            return self._default_sessions

    def dispatch(self, name: str, args: Mapping[str, Any] | str | None = None, **kwargs: Any) -> str:
        """Call a tool and return what the model reads; never raises: an error is a JSON object with an ``error``.

        The call is made by a default session of this registry, so that availability, validation, approval and journal
        hold as for any other; inside a handler it is made by the session that runs the handler, in its scope.

        Args:
            name: The tool.
            args: Its arguments: a mapping, or the JSON document that a model wrote. It is never changed.
            kwargs: ``task_id`` chooses the session (calls of one task share its approvals and its shell);
                ``enabled_toolsets`` and ``disabled_toolsets`` choose its scope; ``user_task`` and ``tool_call_id`` go
                to the handler with the call's context. Any other reaches a handler that takes it by name or as
                ``**kw``, and is ignored by one that doesn't; it can't replace what the context has.
        """
        return self.default_sessions.dispatch(name, args, **kwargs)

    def get_definitions(self, tool_names: Iterable[str], quiet: bool = False) -> list[dict[str, Any]]:
        """The definitions of these tools in OpenAI's format, by name; the unknown and the unavailable are left out.

        Args:
            tool_names: The names, in any order.
            quiet: Whether to log nothing of what is unavailable.
        """
        return self.default_sessions.get().view.definitions_of(as_names(tool_names), quiet=quiet)

    def is_toolset_available(self, toolset: str) -> bool:
        """Whether a toolset has a tool that can be used now; no for one that doesn't exist."""
        chosen = select([toolset], self.snapshot)
        return any(tool in chosen for tool in self.default_sessions.get().view.visible().tools)

    def _forget_checks(self, dropped: Iterable[Tool]) -> None:
        in_use = {id(tool.check_fn) for tool in self.snapshot.tools.values()}
        for tool in dropped:
            if id(tool.check_fn) not in in_use:
                self.availability.forget(tool.check_fn)

    def _change(self, **changed: Any) -> None:
        now = self._snapshot
        parts: dict[str, Any] = {
            "tools": now.tools,
            "toolsets": now.toolsets,
            "aliases": now.aliases,
            **changed,
        }
        self._snapshot = Snapshot(**parts, generation=now.generation + 1)


class _DefaultRegistry(Registry):
    """The process's registry: brings the built-in tools with its first use, so that importing stays cheap."""

    def __init__(self) -> None:
        super().__init__()
        self._loading = self._complete = False

    @property
    def snapshot(self) -> Snapshot:
        """What the registry holds now, the built-in tools included."""
        if not self._complete:
            with self._lock:
                if not self._loading:  # else the tools that are being loaded ask
                    self._loading = True
                    from hermes_nb.toolbox.discovery import discover_builtin_tools

                    discover_builtin_tools()
                    self._complete = True
        return self._snapshot


registry: Registry = _DefaultRegistry()


def _by_name(toolset: str, tools: Iterable[Tool]) -> dict[str, Tool]:
    found: dict[str, Tool] = {}
    for tool in tools:
        check_tool(tool)
        if tool.toolset != toolset:
            raise RegistrationError(f"{tool.name!r} belongs to {tool.toolset!r}, so it can't be a tool of {toolset!r}")
        if tool.name in found:
            raise RegistrationError(f"{tool.name!r} comes twice in the new tools of {toolset!r}")
        found[tool.name] = tool
    return found
