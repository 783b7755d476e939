"""Records as a table: a list of objects, or the first rows of a data frame, with headers that sort where scripts run.

The table is HTML that is whole without the script, which is always the same: nothing that a tool says is in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from hermes_nb.common.jsonable import written
from hermes_nb.common.redact import redact
from hermes_nb.notebook.faces import markup, tree
from hermes_nb.notebook.faces.markup import Html
from hermes_nb.notebook.faces.table import aligned, clipped
from hermes_nb.returned.cells import cell as cell_of
from hermes_nb.returned.described import table_in

ROWS_OPEN = 20
ROWS_SHOWN = 200
_COLUMNS_SHOWN = 30
_CELLS_SHOWN = 4_000
_TEXT_SHOWN = 300
_UNBROKEN = 24
_MISSING = object()
#: The class of what holds a table that sorts.
SORTABLE = "hermes-sortable"


@dataclass(frozen=True, slots=True)
class Records:
    """Rows under names.

    Attributes:
        columns: The names that are shown, in the order of their first appearance.
        rows: The first rows; what a row lacks is not null.
        total: How many rows there are.
        hidden: How many columns are not shown.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    total: int
    hidden: int = 0

    def html(self, opened: int = ROWS_OPEN) -> Html:
        """The table: so many rows at once, the others under a fold, and what is not there in words."""
        titles = [redact(name) for name in self.columns]
        numbers = frozenset(at for at in range(len(titles)) if self._is_number(at))
        rows = [[_cell(value) for value in row] for row in self.rows]
        more = markup.fold(
            markup.dim(f"show {len(rows) - opened:,} more rows"),
            markup.grid(titles, rows[opened:], numbers=numbers),
            class_="hermes-more",
        )
        shown = markup.tag(
            "div",
            markup.grid(titles, rows[:opened], numbers=numbers),
            more if len(rows) > opened else None,
            class_=SORTABLE,
            style="overflow:auto;max-height:42em;max-width:100%;margin-top:.35em",
        )
        rest = [markup.tag("small", markup.dim(self.rest()))] if self.rest() else []
        return markup.join([shown, *rest])

    def text(self) -> str:
        """The table as aligned text."""
        cells = [[clipped("" if item is _MISSING else _word(item), 40) for item in row] for row in self.rows]
        numbers = frozenset(at for at in range(len(self.columns)) if self._is_number(at))
        lines = aligned([[clipped(redact(name), 40) for name in self.columns], *cells], numbers)
        return "\n".join([lines, self.rest()]) if self.rest() else lines

    def rest(self) -> str:
        """What is not shown, in words."""
        rows = self.total - len(self.rows)
        parts = [f"{rows:,} more rows"] if rows else []
        parts += [f"{self.hidden:,} more columns"] if self.hidden else []
        return f"… and {' and '.join(parts)}: result.df() has all of them" if parts else ""

    def _is_number(self, column: int) -> bool:
        there = [row[column] for row in self.rows if row[column] is not _MISSING and row[column] is not None]
        return bool(there) and all(isinstance(item, int | float) and not isinstance(item, bool) for item in there)


def records_in(value: Any, limit: int = ROWS_SHOWN) -> Records | None:
    """The records that a value plainly is: two objects or more that have most of their keys in common."""
    if not isinstance(value, list | tuple) or len(value) < 2:
        return None
    if not all(isinstance(item, Mapping) for item in value):
        return None
    columns = _columns(value)
    filled = sum(len(item) for item in value)
    if not columns or filled * 2 < len(columns) * len(value):
        return None
    return _of_mappings(value, columns, limit)


def rows_of(value: Any, limit: int = ROWS_SHOWN) -> Records | None:
    """The rows of whatever can be read as a table: records, columns, rows, values, a frame, or JSON of one of them."""
    if isinstance(value, str):
        try:
            return rows_of(json.loads(value), limit)
        except (ValueError, RecursionError):
            return None
    frame = table_in(value)
    if frame is not None:
        names = [str(name) for name, _ in frame.columns[:_COLUMNS_SHOWN]]
        columns = [[cell_of(item) for item in part] for part in frame.part(0, min(limit, frame.rows), len(names))]
        return Records(names, list(zip(*columns, strict=True)), frame.rows, len(frame.columns) - len(names))
    if isinstance(value, Mapping):
        return _of_mapping(value, limit)
    if not isinstance(value, list | tuple) or not value:
        return None
    if all(isinstance(item, Mapping) for item in value):
        return _of_mappings(value, _columns(value), limit)
    if all(isinstance(item, list | tuple) for item in value):
        return _of_rows(value, [str(at) for at in range(max(map(len, value)))], limit)
    return Records(["value"], [[item] for item in value[:limit]], len(value))


def _of_mapping(value: Mapping[Any, Any], limit: int) -> Records | None:
    held = list(value.values())
    if held and all(isinstance(item, list | tuple) for item in held) and len({len(item) for item in held}) == 1:
        names = [str(name) for name in value]
        return _of_rows(list(islice(zip(*held, strict=True), limit)), names, limit, len(held[0]))
    inside = [found for item in held if (found := records_in(item, limit)) is not None]
    return inside[0] if len(inside) == 1 else None


def _of_mappings(value: Sequence[Mapping[Any, Any]], columns: Sequence[Any], limit: int) -> Records:
    shown = columns[:_COLUMNS_SHOWN]
    rows = [[item.get(name, _MISSING) for name in shown] for item in value[: _bounded(limit, len(shown))]]
    return Records([str(name) for name in shown], rows, len(value), len(columns) - len(shown))


def _of_rows(value: Sequence[Sequence[Any]], names: Sequence[str], limit: int, total: int | None = None) -> Records:
    shown = names[:_COLUMNS_SHOWN]
    rows = [[*row[: len(shown)], *[_MISSING] * (len(shown) - len(row))] for row in value[: _bounded(limit, len(shown))]]
    return Records(shown, rows, len(value) if total is None else total, len(names) - len(shown))


def _bounded(limit: int, columns: int) -> int:
    """How many rows are shown: a wide table has fewer, unless somebody asked for more than usual."""
    return limit if limit != ROWS_SHOWN else min(limit, max(ROWS_OPEN, _CELLS_SHOWN // max(1, columns)))


def _columns(value: Sequence[Mapping[Any, Any]]) -> list[Any]:
    return list({name: None for item in value for name in item})


def _cell(value: Any) -> Html:
    if value is _MISSING:
        return markup.text("")
    if isinstance(value, Mapping | list | tuple):
        return tree.folded(value)
    if value is None:
        return markup.dim("null")
    text = _word(value)
    if len(text) <= _UNBROKEN:
        return markup.tag("span", text, style="white-space:nowrap")
    if len(text) <= _TEXT_SHOWN:
        return markup.text(text)
    return markup.fold(markup.text(f"{text[:80]}…"), markup.block(markup.text(text[: _TEXT_SHOWN * 10])))


def _word(value: Any) -> str:
    return redact(value if isinstance(value, str) else written(value))


def sorting(*pieces: Html | None) -> Html | None:
    """The script that lets the tables in these pieces sort; None if there are none."""
    return _script() if any(piece is not None and f'class="{SORTABLE}"' in piece for piece in pieces) else None


@cache
def _script() -> Html:
    source = (files("hermes_nb.notebook.frontend") / "static" / "sort.js").read_text(encoding="utf-8")
    return Html(f"<script>{source}</script>")
