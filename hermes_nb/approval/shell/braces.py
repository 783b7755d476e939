"""Brace expansion: ``a{b,c}`` is ``ab ac``, and ``{1..3}`` is ``1 2 3``."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TypeVar

Token = TypeVar("Token")

_TOKEN = re.compile(r"\\.|[{},]|[^\\{},]+|\\", re.DOTALL)
_RANGE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.-?\d+)?\Z")
_OPEN, _COMMA, _CLOSE = "{", ",", "}"


def tokenise(text: str) -> list[str]:
    """Cut unquoted text into braces, commas, escaped characters and what is between them."""
    return _TOKEN.findall(text)


def expand_braces(tokens: list[str | Token], most: int) -> list[list[str | Token]]:
    """Every word that the braces among the tokens make, up to about ``most`` of them.

    Tokens that are not text stand for quoted parts and are never looked into.
    """
    # One group at a time, and each choice is looked at again: that does both a{b,c}{d,e} and a{b,{c,d}}.
    finished: list[list[str | Token]] = []
    waiting = [tokens]
    while waiting and len(finished) + len(waiting) <= most:
        current = waiting.pop(0)
        group = _first_group(current, most)
        if group is None:
            finished.append(current)
            continue
        start, end, choices = group
        waiting.extend(current[:start] + choice + current[end + 1 :] for choice in choices[:most])
    return finished + waiting[:most]


def _first_group(tokens: list[str | Token], most: int) -> tuple[int, int, list[list[str | Token]]] | None:
    """The first balanced group with a comma or a range: where it starts and ends, and its choices."""
    opened: list[tuple[int, list[int]]] = []
    for position, token in enumerate(tokens):
        if token == _OPEN:
            opened.append((position, []))
        elif token == _COMMA and opened:
            opened[-1][1].append(position)
        elif token == _CLOSE and opened:
            start, commas = opened.pop()
            # The group that closes first is the innermost. {a} and {a..} are no groups to bash either, and stay as
            # they are.
            if commas:
                bounds = [start, *commas, position]
                return start, position, [tokens[low + 1 : high] for low, high in pairwise(bounds)]
            inside = tokens[start + 1 : position]
            if len(inside) == 1 and isinstance(inside[0], str) and (span := _RANGE.match(inside[0])):
                return start, position, [[value] for value in _range(span[1], span[2], most)]
    return None


def _range(first: str, last: str, most: int) -> list[str]:
    numbers = first.lstrip("-").isdigit() and last.lstrip("-").isdigit()
    low, high = (int(first), int(last)) if numbers else (ord(first[0]), ord(last[0]))
    step = 1 if high >= low else -1
    return [str(value) if numbers else chr(value) for value in islice(range(low, high + step, step), most)]
