"""What a model is shown of a session's tools, derived from the live registry on every use."""

from __future__ import annotations

import gc
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hermes_nb.errors import UnknownToolError
from hermes_nb.spellings import spellings
from hermes_nb.toolsets import as_names

if TYPE_CHECKING:
    from hermes_nb.declaration import Tool
    from hermes_nb.registry import Snapshot
    from hermes_nb.search.catalog import Catalog, SharedIndex
    from hermes_nb.session import Session
    from hermes_nb.toolsets import Scope

logger = logging.getLogger(__name__)

Format = Literal["openai", "anthropic"]


@dataclass(frozen=True, slots=True)
class Visible:
    """The tools of a session that are in scope and available, by name, and a key that changes whenever they do."""

    tools: tuple[Tool, ...]
    key: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Special:
    """The tools of a scope that have to be asked each time: those with a condition, those with a changing schema."""

    snapshot: Snapshot
    scope: Scope
    conditional: tuple[Tool, ...]
    dynamic: tuple[Tool, ...]


@dataclass(slots=True)
class Derived:
    """What was derived for a session and may be used again, each as long as what it was derived from is the same."""

    visible: Visible | None = None
    special: Special | None = None
    lookalikes: tuple[Snapshot, Scope, dict[str, frozenset[str]]] | None = None
    catalog: Catalog | None = None
    index: SharedIndex | None = None


def visible_tools(session: Session) -> Visible:
    """The tools that a session can use at this moment."""
    snapshot = session.registry.snapshot
    scope = session.scope(snapshot)
    special = _special(session, snapshot, scope)
    unavailable = frozenset(session.availability.unavailable(special.conditional))
    current = {tool.name: tool.overridden() for tool in special.dynamic}
    key = (snapshot, scope, unavailable, tuple(tool.definition_json for tool in current.values()))
    cached = session.derived.visible
    if cached is not None and cached.key == key:
        return cached
    tools = [
        current.get(tool.name, tool) for tool in snapshot.ordered if tool in scope and tool.name not in unavailable
    ]
    names = frozenset(tool.name for tool in tools)
    tools = [without_strangers(tool, names) if tool.mentions_tools else tool for tool in tools]
    cached = session.derived.visible = Visible(tuple(tools), key)
    return cached


def _special(session: Session, snapshot: Snapshot, scope: Scope) -> Special:
    cached = session.derived.special
    if cached is None or cached.snapshot is not snapshot or cached.scope is not scope:
        mine = [tool for tool in snapshot.ordered if tool in scope]
        conditional = tuple(tool for tool in mine if tool.check_fn is not None or tool.requires_env)
        dynamic = tuple(tool for tool in mine if tool.dynamic_schema_overrides is not None)
        cached = session.derived.special = Special(snapshot, scope, conditional, dynamic)
    return cached


def decoded(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """The definitions of tools, as copies that the caller may change."""
    joined = b",".join(tool.definition_json for tool in tools)
    collecting = gc.isenabled()
    gc.disable()  # nothing made here is garbage, and looking for some costs three times the decoding
    try:
        copies: list[dict[str, Any]] = msgspec.json.decode(b"[" + joined + b"]")
    finally:
        if collecting:
            gc.enable()
    return copies


def definitions(session: Session, *, assembled: bool, format: Format) -> list[dict[str, Any]]:  # noqa: A002
    """The definitions of a session's tools, in a provider's format."""
    if format not in ("openai", "anthropic"):
        raise ValueError(f"there is no format {format!r}; it takes 'openai' or 'anthropic'")
    if not assembled:
        return formatted(visible_tools(session).tools, format)
    from hermes_nb.search.assembly import assemble

    return assemble(session, format)


def definitions_of(session: Session, names: Iterable[str], *, quiet: bool) -> list[dict[str, Any]]:
    """The definitions of some tools: those of the names that are in scope and available."""
    found = [tool for name in sorted(set(as_names(names))) if (tool := session.resolve(name)) is not None]
    unavailable = session.availability.unavailable(found)
    if not quiet:
        for name, reason in unavailable.items():
            logger.debug("%s is left out: %s", name, reason)
    tools = [tool.overridden() for tool in found if tool.name not in unavailable]
    there = frozenset(tool.name for tool in tools)
    return decoded(without_strangers(tool, there) if tool.mentions_tools else tool for tool in tools)


def formatted(tools: Iterable[Tool], format: Format) -> list[dict[str, Any]]:  # noqa: A002
    """The definitions of tools in a provider's format, as copies."""
    copies = decoded(tools)
    return copies if format == "openai" else [anthropic_definition(entry["function"]) for entry in copies]


def anthropic_definition(function: dict[str, Any]) -> dict[str, Any]:
    """A function definition as Anthropic's API wants it."""
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def lookalikes(session: Session) -> dict[str, frozenset[str]]:
    """For each way to write a name, the tools in scope that may be meant."""
    snapshot = session.registry.snapshot
    scope = session.scope(snapshot)
    cached = session.derived.lookalikes
    if cached is None or cached[0] is not snapshot or cached[1] is not scope:
        names = spellings(tool for tool in snapshot.ordered if tool in scope)
        cached = session.derived.lookalikes = (snapshot, scope, names)
    return cached[2]


def describe(session: Session, name: str) -> dict[str, Any]:
    """One tool's definition, as the session would show it."""
    tool = session.resolve(name)
    if tool is None:
        raise UnknownToolError(name, (known.name for known in visible_tools(session).tools))
    shown = next((seen for seen in visible_tools(session).tools if seen.name == name), tool.overridden())
    return decoded([shown])[0]


_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*-])|\n")
_WORD = re.compile(r"[A-Za-z0-9_-]+")


def without_strangers(tool: Tool, names: frozenset[str]) -> Tool:
    """A tool whose descriptions name none of the others that is not there: a model would try to call it."""
    strangers = tool.mentions_tools - names
    if strangers.isdisjoint(_WORD.findall(tool.definition_json.decode())):
        return tool
    parameters = _with_texts(tool.parameters, lambda text: _cleaned(text, strangers, names))
    return tool.described(_cleaned(tool.description, strangers, names), parameters)


def _with_texts(schema: Any, change: Callable[[str], str]) -> Any:
    if isinstance(schema, Mapping):
        return {
            key: change(part) if key == "description" and isinstance(part, str) else _with_texts(part, change)
            for key, part in schema.items()
        }
    return [_with_texts(part, change) for part in schema] if isinstance(schema, list) else schema


def _cleaned(text: str, strangers: frozenset[str], names: frozenset[str]) -> str:
    pieces = _SENTENCE.split(text)
    separators = [*_SENTENCE.findall(text), ""]
    kept = [
        (cleaned, separator)
        for piece, separator in zip(pieces, separators, strict=True)
        if (cleaned := _without(piece, strangers, names)) is not None
    ]
    return "".join(cleaned + separator for cleaned, separator in kept).strip()


def _without(sentence: str, strangers: frozenset[str], names: frozenset[str]) -> str | None:
    """A sentence with the strangers taken out of its enumerations; None where only strangers were named."""
    mentioned = set(_WORD.findall(sentence))
    found = mentioned & strangers
    if not found:
        return sentence
    if not mentioned & names:
        return None
    for stranger in found:
        name = rf"[`'\"]?\b{re.escape(stranger)}\b(?:\([^)]*\))?[`'\"]?"
        sentence = re.sub(rf"(?:,\s*(?:and|or)?\s*|\s+(?:and|or)\s+|\s*/\s*){name}", "", sentence)
        sentence = re.sub(rf"{name}(?:\s*,\s*(?:and|or)?\s*|\s+(?:and|or)\s+|\s*/\s*)", "", sentence)
    return None if set(_WORD.findall(sentence)) & strangers else sentence
