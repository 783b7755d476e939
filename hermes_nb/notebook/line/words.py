"""A magic's line in words: quotes hold what belongs together, and so do JSON and ``{expr}``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes_nb.common.jsonable import to_builtins, written
from hermes_nb.errors import MagicError
from hermes_nb.notebook.line.expansion import Spot, expand, expression_end, json_end, quote_end, spots, value_at


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it was typed, and where it stands in the line."""

    raw: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Value:
    """What a word means.

    Attributes:
        text: The text, without its quotes.
        literal: It was quoted or came from an expression that gave a string: never to be read as JSON.
    """

    text: str
    literal: bool


def split(line: str) -> list[Word]:
    """The words of a line, as typed."""
    words: list[Word] = []
    position = 0
    while position < len(line):
        if line[position].isspace():
            position += 1
            continue
        start = position
        while position < len(line) and not line[position].isspace():
            position = _next(line, position, start)
        words.append(Word(line[start:position], start, position))
    return words


def _next(line: str, position: int, start: int) -> int:
    char = line[position]
    end = None
    if char in "'\"":
        end = quote_end(line, position)
    elif char == "\\" and position + 1 < len(line):
        end = position + 2
    elif char == "{" or (char == "[" and (position == start or line[position - 1] == "=")):
        end = json_end(line, position)
        if end is None and char == "{":
            end = expression_end(line, position) or _balanced(line, position)
    return position + 1 if end is None else end


def _balanced(line: str, start: int) -> int | None:
    """Where a group in braces ends that is neither JSON nor Python: broken JSON should be reported in one piece."""
    depth = 0
    for position in range(start, len(line)):
        depth += {"{": 1, "}": -1}.get(line[position], 0)
        if depth == 0:
            return position + 1
    return None


def meaning(raw: str, namespace: Mapping[str, Any]) -> Value:
    """What a word means: expressions evaluated, quotes taken off.

    Raises:
        MagicError: An expression can't be evaluated.
    """
    found = {spot.start: spot for spot in spots(raw)}
    sole = found.get(0)
    if sole is not None and sole.end == len(raw):
        value = _builtin(value_at(sole, namespace), sole)
        return Value(value, literal=True) if isinstance(value, str) else Value(written(value), literal=False)
    if raw[:1] in ("{", "[") and sole is None:
        document = expand(raw, namespace, for_document)
        if raw.startswith("{") or json_end(document, 0) == len(document):
            return Value(document, literal=False)
    return _spelled_out(raw, found, namespace)


def _spelled_out(raw: str, found: Mapping[int, Spot], namespace: Mapping[str, Any]) -> Value:
    pieces: list[str] = []
    literal = quoted = False
    position = 0
    while position < len(raw):
        char = raw[position]
        end = position + 1
        if position in found:
            pieces.append(str(value_at(found[position], namespace)))
            end = found[position].end
        elif char == '"' and (quoted or quote_end(raw, position)):
            quoted, literal = not quoted, True
        elif char == "'" and not quoted and (closed := quote_end(raw, position)):
            pieces.append(raw[position + 1 : closed - 1])
            literal, end = True, closed
        elif char == "\\" and _is_escaped(raw[end : end + 1], quoted=quoted):
            pieces.append(raw[end])
            end += 1
        else:
            pieces.append(char)
        position = end
    return Value("".join(pieces), literal)


def _is_escaped(char: str, *, quoted: bool) -> bool:
    """Whether a backslash before the character is there for its sake, and not meant as such."""
    return char in ('"', "\\") or (not quoted and (char.isspace() or char in ("'", "{")))


def _builtin(value: Any, spot: Spot) -> Any:
    try:
        return to_builtins(value)
    except TypeError as error:
        raise MagicError(f"{{{spot.source}}}: {error}") from error


def for_shell(value: Any, spot: Spot) -> str:
    """A value inside a command: quoted, so that it is one word whatever is in it; a list is several words."""
    if spot.quoted:
        return "".join(f"\\{char}" if char in '\\"$`' else char for char in str(value))
    if isinstance(value, list | tuple | set):
        return shlex.join(str(item) for item in value)
    return shlex.quote(str(value))


def for_document(value: Any, spot: Spot) -> str:
    """A value inside a JSON or YAML text."""
    if spot.quoted:
        return written(str(value))[1:-1]
    return written(_builtin(value, spot)) if spot.alone else str(value)
