"""``{expr}`` in a magic's line becomes the value of the expression; braces that are anything else stay as they are.

An expression names at least one variable. Left exactly as typed: JSON, ``{}``, ``{1,2}``, ``{a,b}``, ``{{…}}``,
``${…}``, ``@{…}``, whatever is not Python, and everything in single quotes.
"""

from __future__ import annotations

import ast
import json
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hermes_nb.errors import MagicError

#: In a shell a quote counts wherever it stands; in prose it's only one where a word begins.
Quotes = Literal["shell", "words"]

_CLOSERS_TRIED = 40
_NOT_BEFORE = ("$", "@", "{", "\\")
_decode = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Spot:
    """A place where an expression stands.

    Attributes:
        source: The expression.
        quoted: Whether it stands inside double quotes.
        alone: Whether it is the whole of the text, or of a value in it.
    """

    source: str
    start: int
    end: int
    quoted: bool
    alone: bool


Render = Callable[[Any, Spot], str]


def expand(text: str, namespace: Mapping[str, Any], render: Render, quotes: Quotes = "words") -> str:
    """The text with each expression replaced by what ``render`` makes of its value.

    Raises:
        MagicError: An expression can't be evaluated; the message says which, and how to keep the braces.
    """
    pieces: list[str] = []
    position = 0
    for spot in spots(text, quotes):
        pieces += [text[position : spot.start], render(value_at(spot, namespace), spot)]
        position = spot.end
    return "".join([*pieces, text[position:]])


def spots(text: str, quotes: Quotes = "words") -> Iterator[Spot]:
    """Where expressions stand in a text."""
    position, quoted = 0, False
    while position < len(text):
        char = text[position]
        end = None
        if char == "'" and not quoted:
            end = quote_end(text, position, quotes)
        elif char == '"':
            quoted = not quoted
        elif char == "\\":
            end = position + 2
        elif char in "{[" and not quoted:
            end = json_end(text, position)
        if end is None and char == "{" and not text[:position].endswith(_NOT_BEFORE):
            end = expression_end(text, position)
            if end is not None:
                alone = _is_alone(text, position, end)
                yield Spot(text[position + 1 : end - 1].strip(), position, end, quoted, alone)
        position = position + 1 if end is None else end


def quote_end(text: str, start: int, quotes: Quotes = "words") -> int | None:
    """Where a quoted part ends, or None if the character at ``start`` is no opening quote."""
    quote = text[start]
    if quotes == "words" and start and not (text[start - 1].isspace() or text[start - 1] in "=([{,:"):
        return None
    position = start + 1
    while position < len(text):
        if text[position] == "\\" and quote == '"':
            position += 2
            continue
        if text[position] == quote:
            return position + 1
        position += 1
    return None


def json_end(text: str, start: int) -> int | None:
    """Where the JSON object or array that begins at ``start`` ends, or None if there is none."""
    try:
        return _decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def expression_end(text: str, start: int) -> int | None:
    """Where the ``{expr}`` that begins at ``start`` ends, or None if there is none."""
    line_end = text.find("\n", start)
    limit = len(text) if line_end < 0 else line_end
    closer = start
    for _ in range(_CLOSERS_TRIED):
        closer = text.find("}", closer + 1, limit)
        if closer < 0:
            return None
        if _is_expression(text[start + 1 : closer]):
            return closer + 1
    return None


def _is_expression(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    if isinstance(body, ast.Tuple | ast.Set | ast.Dict | ast.Starred):  # {a,b} is for the shell, {{a}} for templates
        return False
    return any(isinstance(node, ast.Name) for node in ast.walk(body))


def _is_alone(text: str, start: int, end: int) -> bool:
    before, after = text[:start].rstrip(" \t")[-1:], text[end:].lstrip(" \t")[:1]
    at_edge = not text[:start] or text[start - 1] in " \t\n,[:={"
    return at_edge and before in ("", "\n", ",", "[", ":", "=", "{", "-") and after in ("", "\n", ",", "]", "}")


def evaluate(source: str, namespace: Mapping[str, Any]) -> Any:
    """The value of an expression that the user typed."""
    # All names as globals: the inside of a comprehension would not see locals.
    return eval(source, dict(namespace))  # noqa: S307


def value_at(spot: Spot, namespace: Mapping[str, Any]) -> Any:
    """The value of the expression at a spot.

    Raises:
        MagicError: It can't be evaluated, or gives something that is no value.
    """
    source = spot.source
    keep = "single quotes keep braces as they are"
    try:
        value = evaluate(source, namespace)
    except Exception as error:
        raise MagicError(f"{{{source}}}: {type(error).__name__}: {error}; {keep}") from error
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.ModuleType | type):
        raise MagicError(f"{{{source}}} is a {type(value).__name__}, not a value; {keep}")
    return value
