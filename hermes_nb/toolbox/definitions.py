"""What a model is shown of a session's tools, derived from the live registry on every use."""

from __future__ import annotations

import gc
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from hermes_nb.toolbox.declaration import Tool

logger = logging.getLogger(__name__)

Format = Literal["openai", "anthropic"]


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
