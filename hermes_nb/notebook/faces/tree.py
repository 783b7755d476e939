"""JSON that folds. A folded part says how much is in it, and every brace that opens is closed, folded or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from hermes_nb.common.jsonable import written
from hermes_nb.common.redact import redact
from hermes_nb.common.text import head_and_tail, one_line
from hermes_nb.notebook.faces import markup

if TYPE_CHECKING:
    from hermes_nb.notebook.faces.markup import Html

_ITEMS_SHOWN = 50
_DEPTH_SHOWN = 12
_LINES_OPEN = 40
_NODES_SHOWN = 3_000
_STRING_SHOWN = 2_000
_STRING_OPEN = 300
_PREVIEW = 60
#: Wider than any cell, and no wider than this one: it takes a line of its own, and what closes it goes to the next.
_WHOLE_LINE = "width:200em;max-width:100%;box-sizing:border-box;padding-left:1.3em"


def tree(value: Any, items: int = _ITEMS_SHOWN) -> Html:
    """A JSON value, its small parts open, with so many items of each part."""
    return _Tree(items, _open_depth(value)).node(value, 0)


def folded(value: Any) -> Html:
    """A JSON value in little room, such as a cell: folded, with the number of its parts."""
    return markup.tag("div", _Tree(_ITEMS_SHOWN, 0, previews=False).node(value, 0), style="min-width:9em")


def _open_depth(value: Any) -> int:
    """How many levels can be open without filling the screen; the first always is."""
    depth, level, lines = 1, _children([value]), 0
    while level:
        lines += len(level) + 1
        level = _children(level)
        if lines + len(level) > _LINES_OPEN:
            break
        depth += 1
    return depth


def _children(level: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for item in level:
        if isinstance(item, Mapping | list | tuple):
            found += islice(item.values() if isinstance(item, Mapping) else item, _LINES_OPEN + 1)
        if len(found) > _LINES_OPEN:
            break
    return found


class _Tree:
    """What is shown of one value, and how much room there still is."""

    def __init__(self, items: int, open_depth: int, *, previews: bool = True) -> None:
        self._previews = previews
        self._items = items
        self._open_depth = open_depth
        self._left = max(_NODES_SHOWN, items)

    def node(self, value: Any, depth: int, label: Html | None = None) -> Html:
        """A value with its key."""
        self._left -= 1
        if not isinstance(value, Mapping | list | tuple):
            return _leaf(value, label)
        opening, closing = "{}" if isinstance(value, Mapping) else "[]"
        if not value:
            return markup.join([label, f"{opening}{closing}"])
        if depth >= _DEPTH_SHOWN or self._left <= 0:
            return markup.join([label, opening, markup.dim(f" {_counted(value)} "), closing])
        preview = f": {_preview(value)}" if self._previews else ""
        summary = markup.tag(
            "summary", label, opening, markup.dim(f" {_counted(value)}{preview} "), style="cursor:pointer"
        )
        inside = markup.tag("div", *self._lines(value, depth), style=_WHOLE_LINE)
        details = markup.tag("details", summary, inside, style="max-width:100%", open=depth < self._open_depth)
        return markup.tag("div", details, markup.tag("div", closing), style="display:flex;flex-wrap:wrap")

    def _lines(self, value: Any, depth: int) -> list[Html]:
        pairs = value.items() if isinstance(value, Mapping) else ((None, item) for item in value)
        lines: list[Html] = []
        for key, item in islice(pairs, self._items):
            if self._left <= 0:
                break
            label = None if key is None and not isinstance(value, Mapping) else _key(key)
            lines.append(markup.tag("div", self.node(item, depth + 1, label)))
        if len(value) > len(lines):
            lines.append(markup.tag("div", markup.dim(f"… {len(value) - len(lines):,} more")))
        return lines


def _key(key: Any) -> Html:
    return markup.join([redact(written(str(key))), ": "])


def _counted(value: Any) -> str:
    word = "key" if isinstance(value, Mapping) else "item"
    return f"{len(value):,} {word}{'' if len(value) == 1 else 's'}"


def _preview(value: Any) -> str:
    """The first keys of an object, the first values of a list."""
    first = (
        [str(key) for key in islice(value, 6)] if isinstance(value, Mapping) else [_brief(item) for item in value[:6]]
    )
    more = ", …" if len(value) > len(first) else ""
    return one_line(redact(", ".join(first) + more), _PREVIEW)


def _brief(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(map(str, islice(value, 3)))}{', …' if len(value) > 3 else ''}}}"
    if isinstance(value, list | tuple):
        return "[…]" if value else "[]"
    return written(value)[:_PREVIEW]


def _leaf(value: Any, label: Html | None) -> Html:
    if not isinstance(value, str):
        is_word = value is None or isinstance(value, bool)
        return markup.join([label, coloured(written(value), markup.AMBER if is_word else markup.BLUE)])
    shown = redact(value)
    if len(shown) <= _STRING_OPEN:
        return markup.join([label, coloured(written(shown), markup.GREEN)])
    beginning = coloured(f"{written(shown[:120])[:-1]}…", markup.GREEN)
    length = markup.dim(f" {len(shown):,} characters")
    whole = markup.block(markup.text(head_and_tail(shown, _STRING_SHOWN)))
    return markup.fold(markup.join([label, beginning, length]), whole)


def coloured(content: str, colour: str) -> Html:
    """A value in a colour that can be read on white and on black."""
    return markup.tag("span", content, style=markup.readable_colour(colour))
