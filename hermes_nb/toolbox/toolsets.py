"""Toolsets: tools under a name, sets made of sets, and the question whether a tool is in a selection of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from hermes_nb.errors import UnknownToolsetError

if TYPE_CHECKING:
    from hermes_nb.toolbox.declaration import Tool
    from hermes_nb.toolbox.registry import Snapshot

EVERYTHING = frozenset({"all", "*"})
MCP_PREFIX = "mcp-"


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools under a name: the ones it lists, those registered under its name, and those of the sets it includes."""

    name: str
    description: str = ""
    tools: frozenset[str] = frozenset()
    includes: tuple[str, ...] = ()


def _toolset(name: str, description: str, tools: str = "", includes: str = "") -> Toolset:
    return Toolset(name, description, frozenset(tools.split()), tuple(includes.split()))


#: The tools of a browser that nobody has to look at, and those that speak to one that is open on a screen.
_BROWSER = (
    "browser_navigate browser_snapshot browser_click browser_type browser_scroll browser_back browser_press "
    "browser_get_images browser_vision browser_console"
)
_BROWSER_ON_A_SCREEN = "browser_cdp browser_dialog"
_CORE_TOOLSETS = (
    "terminal file web browser vision code_execution todo memory session_search delegation clarify messaging"
)

#: What every registry knows from the start.
BUILTIN_TOOLSETS: MappingProxyType[str, Toolset] = MappingProxyType(
    {
        toolset.name: toolset
        for toolset in (
            _toolset("terminal", "Run commands and manage background processes", "terminal process"),
            _toolset("file", "Read, write, patch and search files", "read_file write_file patch search_files"),
            _toolset("web", "Search the web and read pages", "web_search web_extract"),
            _toolset("browser", "Drive a browser", f"{_BROWSER} {_BROWSER_ON_A_SCREEN}"),
            _toolset("vision", "Look at images", "vision_analyze"),
            _toolset("code_execution", "Run Python that can call tools", "execute_code"),
            _toolset("todo", "Plan and track the steps of a task", "todo"),
            _toolset("memory", "Remember across sessions", "memory"),
            _toolset("session_search", "Recall past sessions", "session_search"),
            _toolset("delegation", "Hand a part of the task to a sub-agent", "delegate_task"),
            _toolset("clarify", "Ask the user a question", "clarify"),
            _toolset("messaging", "Send messages to people", "send_message"),
            _toolset(
                "safe",
                "Nothing that changes anything outside the conversation",
                includes="web vision todo clarify",
            ),
            _toolset("coding", "Files, a terminal and a plan", includes="file terminal code_execution todo"),
            _toolset("research", "The web, files and memory", includes="web browser file memory session_search"),
            _toolset("hermes-notebook", "All that an agent in a notebook needs", includes=_CORE_TOOLSETS),
            _toolset("hermes-cli", "All that an agent at a terminal needs", includes=_CORE_TOOLSETS),
            _toolset(
                "hermes-telegram",
                "For an agent that people chat with: everything but what needs a screen beside it",
                tools=_BROWSER,
                includes=_CORE_TOOLSETS.replace(" browser ", " "),
            ),
            _toolset(
                "hermes-acp",
                "For an agent inside an editor: all for coding, without messages and questions to people",
                includes=_CORE_TOOLSETS.removesuffix(" clarify messaging"),
            ),
        )
    }
)

#: Older names that people still have in their configs, and the tools they stood for.
LEGACY_TOOLSETS: Mapping[str, frozenset[str]] = {
    "web_tools": BUILTIN_TOOLSETS["web"].tools,
    "terminal_tools": frozenset({"terminal"}),
    "file_tools": BUILTIN_TOOLSETS["file"].tools,
    "browser_tools": BUILTIN_TOOLSETS["browser"].tools,
    "vision_tools": BUILTIN_TOOLSETS["vision"].tools,
}

#: Tools that are always shown to a model as they are, and never deferred behind tool search.
CORE_TOOLS: frozenset[str] = frozenset().union(*(toolset.tools for toolset in BUILTIN_TOOLSETS.values()))

#: Core tools that need an agent's state: a session intercepts them, the registry never runs them.
AGENT_TOOLS = frozenset({"todo", "memory", "session_search", "delegate_task"})

#: Core tools whose descriptions speak of other core tools.
SPEAK_OF_OTHERS = frozenset({"execute_code", "browser_navigate"})


@dataclass(frozen=True, slots=True)
class Selection:
    """Some toolsets, expanded so that asking for one tool costs the same however many there are."""

    everything: bool
    tools: frozenset[str]
    toolsets: frozenset[str]

    def __contains__(self, tool: Tool) -> bool:
        return self.everything or tool.toolset in self.toolsets or tool.name in self.tools


@dataclass(frozen=True, slots=True)
class Scope:
    """What a session may see and run: the enabled toolsets (None: all) less the disabled ones."""

    enabled: Selection | None
    disabled: Selection | None

    def __contains__(self, tool: Tool) -> bool:
        if self.disabled is not None and tool in self.disabled:
            return False
        return self.enabled is None or tool in self.enabled


def select(names: Iterable[str], snapshot: Snapshot) -> Selection:
    """Expand toolset names; a set that includes itself in a circle is followed once.

    Names that no longer exist select what is registered under them later: a server that left may come back.
    """
    everything = False
    tools: set[str] = set()
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in snapshot.aliases:  # it means the other set too, and what may be registered under the alias itself
            waiting.append(snapshot.aliases[name])
        everything = everything or name in EVERYTHING
        tools |= LEGACY_TOOLSETS.get(name, frozenset())
        toolset = snapshot.toolsets.get(name)
        if toolset is not None:
            tools |= toolset.tools
            waiting.extend(toolset.includes)
    return Selection(everything, frozenset(tools), frozenset(seen))


def as_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names as a tuple; a text alone is one name, not its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


class Expected(tuple[str, ...]):
    """Toolset names that need not exist: they select what is registered under them, now or later."""

    __slots__ = ()


def is_toolset(name: str, snapshot: Snapshot) -> bool:
    """Whether a name selects a toolset."""
    return name in snapshot.toolset_names or name in EVERYTHING or name in LEGACY_TOOLSETS


def check_names(names: Iterable[str], snapshot: Snapshot) -> tuple[str, ...]:
    """The names as a tuple, if each of them is a toolset or only ``Expected`` to be one.

    Raises:
        UnknownToolsetError: One is not; the message suggests the nearest.
    """
    given = as_names(names)
    for name in given:
        if not isinstance(names, Expected) and not is_toolset(name, snapshot):
            raise UnknownToolsetError(name, sorted(snapshot.toolset_names | EVERYTHING | LEGACY_TOOLSETS.keys()))
    return given
