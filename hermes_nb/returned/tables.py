"""What a model reads of a table: its shape, its columns with their types, and its rows; of a long one head and tail.

pandas, polars and Arrow are told by what their frames can do; none of them is imported here. Only rows that are shown
are ever touched, so that a table of ten million rows costs as much as one of twenty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hermes_nb.common.jsonable import encode_anything
from hermes_nb.returned.cells import as_text, cell, clipped, digits_of

ROWS_WHOLE = 50
CHARS_SHOWN = 8_000
_COLUMNS_SHOWN = (40, 12, 4)
_ENDS_SHOWN = (10, 5, 2, 1)
_TYPE_SHOWN = 80
_TIMES = re.compile("date|timestamp", re.IGNORECASE)
_MIDNIGHT = "T00:00:00"

Columns = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Table:
    """A table of any library.

    Attributes:
        shape: As the library says it.
        columns: The names and types of the columns; those of the index come first.
        index: How many columns are the index.
        part: The values of the first so many columns, from one row to another.
    """

    shape: tuple[int, ...]
    columns: Sequence[tuple[Any, str]]
    index: int
    part: Callable[[int, int, int], Columns]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.shape[0]

    @property
    def has_width(self) -> bool:
        """Whether a row is more than one value."""
        return len(self.shape) > 1 or self.index > 0


def described(table: Table) -> dict[str, Any]:
    """The table as JSON: as much of it as there is room for."""
    columns = [(_name(name), clipped(dtype, _TYPE_SHOWN)) for name, dtype in table.columns[: _COLUMNS_SHOWN[0]]]
    if table.rows <= ROWS_WHOLE:
        head = tail = _rows(table, columns, 0, table.rows)
    else:
        head = _rows(table, columns, 0, _ENDS_SHOWN[0])
        tail = _rows(table, columns, table.rows - _ENDS_SHOWN[0], table.rows)
    form: dict[str, Any] = {}
    for width in _COLUMNS_SHOWN:
        for ends in _sizes(table.rows):
            form = _heading(table, columns[:width])
            if ends is None:
                form["rows" if table.has_width else "values"] = _cut(table, head, width)
            else:
                form["head"] = _cut(table, head[:ends], width)
                form["rows_between"] = table.rows - 2 * ends
                form["tail"] = _cut(table, tail[-ends:], width)
            if len(encode_anything(form)) <= CHARS_SHOWN:
                return form
    return form


def _sizes(rows: int) -> Iterator[int | None]:
    """How many rows to show of either end, from many to few; None shows all."""
    if rows <= ROWS_WHOLE:
        yield None
    yield from (ends for ends in _ENDS_SHOWN if 2 * ends < rows)


def _heading(table: Table, columns: list[tuple[str, str]]) -> dict[str, Any]:
    named = dict(columns)
    form: dict[str, Any] = {"shape": list(table.shape), "columns": named if len(named) == len(columns) else columns}
    if table.index:
        form["index"] = [name for name, _ in columns[: table.index]]
    if len(table.columns) > len(columns):
        form["columns_not_shown"] = len(table.columns) - len(columns)
    return form


def _name(name: Any) -> str:
    """A column's name, so that code can be written with it: a text as it is, all else as Python spells it."""
    return clipped(name) if isinstance(name, str) else as_text(name)


def _rows(table: Table, columns: list[tuple[str, str]], start: int, stop: int) -> list[tuple[Any, ...]]:
    values = table.part(start, stop, len(columns)) if stop > start else ()
    cells = [_cells(column, dtype) for column, (_, dtype) in zip(values, columns, strict=False)]
    return list(zip(*cells, strict=True))


def _cells(values: Iterable[Any], dtype: str) -> list[Any]:
    digits = digits_of(dtype)
    cells = [cell(value, digits) for value in values]
    times = [text for text in cells if text is not None] if _TIMES.match(dtype) else []
    if times and all(str(text).endswith(_MIDNIGHT) for text in times):  # they are days
        return [text and text.removesuffix(_MIDNIGHT) for text in cells]
    return cells


def _cut(table: Table, rows: list[tuple[Any, ...]], width: int) -> list[Any]:
    return [row[:width] if table.has_width else row[0] for row in rows]


# pandas -----------------------------------------------------------------------------------------------------------


def pandas_frame(frame: Any) -> Table:
    """A data frame of pandas, or of a library that follows it."""
    columns = list(zip(frame.columns, map(str, frame.dtypes), strict=True))

    def values(start: int, stop: int, width: int) -> Columns:
        rows = frame.iloc[start:stop, :width].itertuples(index=False, name=None)
        return list(zip(*rows, strict=True))

    return _with_index(frame, columns, values)


def pandas_series(series: Any) -> Table:
    """A series of pandas: with its index, which is half of what it says."""
    columns = [("value" if series.name is None else series.name, str(series.dtype))]
    return _with_index(series, columns, lambda start, stop, _: [series.iloc[start:stop].tolist()])


def _with_index(data: Any, columns: list[tuple[Any, str]], values: Callable[[int, int, int], Columns]) -> Table:
    levels = [] if _is_plain_range(data.index) else _levels(data.index)

    def part(start: int, stop: int, width: int) -> Columns:
        labels = zip(*_labels(data.index[start:stop]), strict=True) if levels else ()
        return [*labels, *values(start, stop, width)]

    return Table(tuple(data.shape), [*levels, *columns], len(levels), part)


def _is_plain_range(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1 and index.name is None


def _levels(index: Any) -> list[tuple[Any, str]]:
    if getattr(index, "nlevels", 1) == 1:
        return [("index" if index.name is None else index.name, str(index.dtype))]
    names = [f"level_{at}" if name is None else name for at, name in enumerate(index.names)]
    return list(zip(names, map(str, index.dtypes), strict=True))


def _labels(index: Any) -> list[tuple[Any, ...]]:
    return [label if getattr(index, "nlevels", 1) > 1 else (label,) for label in index.tolist()]


# polars -----------------------------------------------------------------------------------------------------------


def polars_frame(frame: Any) -> Table:
    """A data frame of polars."""
    columns = list(zip(frame.columns, map(str, frame.dtypes), strict=True))

    def part(start: int, stop: int, width: int) -> Columns:
        return [column.slice(start, stop - start).to_list() for column in frame.get_columns()[:width]]

    return Table(tuple(frame.shape), columns, 0, part)


def polars_series(series: Any) -> Table:
    """A series of polars."""

    def part(start: int, stop: int, _width: int) -> Columns:
        return [series.slice(start, stop - start).to_list()]

    return Table(tuple(series.shape), [(series.name or "value", str(series.dtype))], 0, part)


# Arrow ------------------------------------------------------------------------------------------------------------


def arrow_table(table: Any) -> Table:
    """A table or a record batch of Arrow."""
    columns = list(zip(table.schema.names, map(str, table.schema.types), strict=True))

    def part(start: int, stop: int, width: int) -> Columns:
        return [_python(column.slice(start, stop - start)) for column in table.columns[:width]]

    return Table((table.num_rows, table.num_columns), columns, 0, part)


def arrow_column(column: Any) -> Table:
    """An array of Arrow, in one piece or several."""

    def part(start: int, stop: int, _width: int) -> Columns:
        return [_python(column.slice(start, stop - start))]

    return Table((len(column),), [("value", str(column.type))], 0, part)


def _python(column: Any) -> list[Any]:
    try:
        return list(column.to_pylist())
    except Exception:  # times to the nanosecond, where pandas is not there to hold them
        return [str(scalar) for scalar in column]
