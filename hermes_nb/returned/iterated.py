"""Generators and other iterators that a tool returns: read once, so that text and value come from the same items."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Any

ITEMS_TAKEN = 10_000
_USUAL = frozenset({str, dict, list, tuple, int, float, bool, type(None)})


class First(list[Any]):
    """The first items of an iterator that has more."""

    __slots__ = ()


def settled(value: Any) -> Any:
    """What a handler gave back; the items of an iterator as a list, or as a coroutine that gives one."""
    kind = type(value)
    if kind in _USUAL:
        return value
    if hasattr(kind, "__anext__"):
        return _collected(value)
    return listed(value) if is_iterator(value) else value


def is_iterator(value: Any) -> bool:
    """Whether a value gives its items only once; a file is more than the lines in it."""
    return hasattr(type(value), "__next__") and not isinstance(value, io.IOBase)


def listed(items: Iterator[Any]) -> list[Any]:
    """The items of an iterator, as many as anybody may want to read."""
    taken = list(islice(items, ITEMS_TAKEN + 1))
    if len(taken) <= ITEMS_TAKEN:
        return taken
    close = getattr(items, "close", None)
    if callable(close):  # a generator may hold what it has to give back
        close()
    return First(taken[:ITEMS_TAKEN])


async def _collected(items: AsyncIterator[Any]) -> list[Any]:
    taken: list[Any] = []
    async for item in items:
        if len(taken) == ITEMS_TAKEN:
            close = getattr(items, "aclose", None)
            if callable(close):
                await close()
            return First(taken)
        taken.append(item)
    return taken
