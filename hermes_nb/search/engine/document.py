"""What is indexed of one tool: its fields, as words."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from hermes_nb.search.engine.words import words

FIELDS = ("name", "source", "description", "parameter_names", "parameter_texts")
Words = tuple[tuple[str, ...], ...]
"""The words of a document, one tuple for each of FIELDS."""

_MAX_DEPTH = 5
_MAX_ENUM = 20
_MAX_CHARS = 20_000
_MCP_NAME = re.compile(r"mcp__.+?__(?=.)")

_cache: "WeakKeyDictionary[Document, Words]" = WeakKeyDictionary()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Document:
    """What is indexed of one tool.

    Documents are equal when they are the same object: indexes that share them share the work on their text.

    Attributes:
        name: The tool's full name.
        source: Its server or toolset as people say it, such as "github" for the toolset "mcp-github".
        description: What the tool says it does.
        parameters: The JSON schema of its arguments.
    """

    name: str
    source: str
    description: str
    parameters: Mapping[str, Any]

    def same_text(self, other: "Document") -> bool:
        """Say whether both would be indexed alike."""
        return self is other or (
            (self.name, self.source, self.description) == (other.name, other.source, other.description)
            and self.parameters == other.parameters
        )


def document_words(document: Document) -> Words:
    """Give the words of a document's fields; the text of one document is split only once."""
    known = _cache.get(document)
    if known is None:
        names, texts = _parameter_text(document.parameters)
        fields = (
            bare_name(document.name, document.source),
            document.source,
            document.description,
            names,
            texts,
        )
        known = _cache[document] = tuple(tuple(words(text[:_MAX_CHARS])) for text in fields)
    return known


def bare_name(name: str, source: str) -> str:
    """Take the server's part off a tool's name: `mcp__github__create_issue` is `create_issue`.

    The prefix goes when it is spelled in the way of MCP clients, or when it repeats the source; a name that
    is nothing but its prefix stays whole.
    """
    if match := _MCP_NAME.match(name):
        return name[match.end() :]
    pieces = [re.escape(piece) for piece in re.findall(r"[^\W_]+", source)]
    prefix = r"(?:mcp[_.\-]+)?" + r"[_.\-]*".join(pieces) + r"[_.\-/:]+(?=[^\W_])"
    match = re.match(prefix, name, re.IGNORECASE) if pieces else None
    return name[match.end() :] if match else name


def _parameter_text(schema: Mapping[str, Any]) -> tuple[str, str]:
    names: list[str] = []
    texts: list[str] = []
    for name, property_schema, depth in _properties(schema, 0):
        (names if depth == 0 else texts).append(name)
        description, enum = property_schema.get("description"), property_schema.get("enum")
        if isinstance(description, str):
            texts.append(description)
        if isinstance(enum, list):
            texts += [str(value) for value in enum[:_MAX_ENUM]]
    return " ".join(names), " ".join(texts)


def _properties(schema: object, depth: int) -> Iterator[tuple[str, Mapping[str, Any], int]]:
    """Walk a schema's properties, however nested; a schema from a server may be anything, and cyclic."""
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return
    properties = schema.get("properties")
    for name, property_schema in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(property_schema, Mapping):
            yield str(name), property_schema, depth
            yield from _properties(property_schema, depth + 1)
            yield from _properties(property_schema.get("items"), depth + 1)
        else:
            yield str(name), {}, depth
