"""Rows with two faces: a grid in a notebook, aligned text everywhere else; the rows themselves are the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from hermes_nb.common.text import one_line, readable
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.face import Shown

if TYPE_CHECKING:
    from hermes_nb.notebook.faces.markup import Html

Row = TypeVar("Row")

ROWS_SHOWN = 100
_WIDEST = 72


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column.

    Attributes:
        title: What stands above it.
        text: A row's content as text.
        html: The same for a notebook, where it differs.
        number: Whether it stands to the right.
        text_only: Another column's HTML already shows it.
    """

    title: str
    text: Callable[[Row], str]
    html: Callable[[Row], str] | None = None
    number: bool = False
    text_only: bool = False

    def rich(self, row: Row) -> str:
        """A row's content for a notebook; a plain string is escaped later."""
        return self.text(row) if self.html is None else self.html(row)


class Table(Shown, Sequence[Row]):
    """Rows and how to show them. Index it, iterate it: every row is there, also those not shown."""

    def __init__(
        self, rows: Sequence[Row], columns: Sequence[Column[Row]], *, empty: str = "nothing", note: str = ""
    ) -> None:
        self.rows = tuple(rows)
        self._columns = tuple(columns)
        self._empty = empty
        self._note = note

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Table[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Table[Row]:
        """A row, or a table of some of them."""
        if isinstance(index, int):
            return self.rows[index]
        return Table(self.rows[index], self._columns, empty=self._empty)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        if not self.rows:
            return self._empty
        cells = [[clipped(column.text(row)) for column in self._columns] for row in self.rows[:ROWS_SHOWN]]
        return "\n".join(
            [aligned([[column.title for column in self._columns], *cells], _numbers(self._columns)), *self._rest()]
        )

    def _html(self) -> Html:
        if not self.rows:
            return markup.tag("div", markup.dim(self._empty))
        columns = [column for column in self._columns if not column.text_only]
        shown = ([column.rich(row) for column in columns] for row in self.rows[:ROWS_SHOWN])
        grid = markup.grid([column.title for column in columns], shown, numbers=_numbers(columns))
        return markup.join([grid, *(markup.tag("small", markup.dim(line)) for line in self._rest())])

    def _rest(self) -> list[str]:
        hidden = len(self.rows) - ROWS_SHOWN
        more = f"… and {hidden:,} more rows, all of them in this object" if hidden > 0 else ""
        return [line for line in (more, self._note) if line]


def _numbers(columns: Sequence[Column[Any]]) -> frozenset[int]:
    return frozenset(at for at, column in enumerate(columns) if column.number)


def clipped(text: str, width: int = _WIDEST) -> str:
    """A text in one line, not too wide, everything visible."""
    return one_line(readable(text), width)


def aligned(lines: Sequence[Sequence[str]], numbers: frozenset[int] = frozenset()) -> str:
    """Cells as text, in columns."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at in numbers else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
