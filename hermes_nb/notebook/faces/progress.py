"""A bar for long work: in the running cell or on the terminal, gone without a trace when the work is over.

Where nobody looks, as under nbclient or in a pipe, nothing is shown, so that saved outputs stay the same.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from hermes_nb.common.redact import redact
from hermes_nb.common.text import readable
from hermes_nb.notebook.frontend.listening import is_executing_here, running_kernel, someone_is_there

if TYPE_CHECKING:
    from hermes_nb.common.progress import Progress

_PATIENCE = 0.5  # seconds of work that need no bar
_PACE = 0.1  # seconds between two pictures
_CELLS = 20
_LONGEST_LINE = 79  # a longer one would wrap, and could not be wiped from a terminal


class Surface(Protocol):
    """Where bars are drawn."""

    def draw(self, reports: Sequence[Progress]) -> None:
        """Show these in place of what was shown before."""

    def clear(self) -> None:
        """Leave nothing behind."""


class Bars:
    """Hears of progress and shows it: only work that lasts, and not more often than an eye can follow."""

    def __init__(
        self, find_surface: Callable[[], Surface | None], patience: float = _PATIENCE, pace: float = _PACE
    ) -> None:
        self._find_surface = find_surface
        self._patience = patience
        self._pace = pace
        self._lock = threading.Lock()
        self._under_way: dict[int, tuple[float, Progress]] = {}
        self._surface: Surface | None = None
        self._drawn = 0.0

    def __call__(self, report: Progress) -> None:
        """Take a report."""
        now = time.monotonic()
        with self._lock:
            if not report.finished:
                began = self._under_way[report.work][0] if report.work in self._under_way else now
                self._under_way[report.work] = (began, report)
                self._draw(now)
                return
            self._under_way.pop(report.work, None)
            if self._surface is not None and not self._lasting(now):
                surface, self._surface = self._surface, None
                surface.clear()

    def _lasting(self, now: float) -> list[Progress]:
        return [report for began, report in self._under_way.values() if now - began >= self._patience]

    def _draw(self, now: float) -> None:
        lasting = self._lasting(now)
        if not lasting or now - self._drawn < self._pace:
            return
        self._surface = self._surface or self._find_surface()
        if self._surface is not None:
            self._drawn = now
            self._surface.draw(lasting)


def surface_here() -> Surface | None:
    """The cell that runs, or the terminal; None where nobody looks."""
    kernel = running_kernel()
    if kernel is not None:
        return CellSurface() if is_executing_here(kernel) and someone_is_there(kernel) else None
    return TerminalSurface() if sys.stderr is not None and sys.stderr.isatty() else None


class CellSurface:
    """An output of the running cell that is drawn over and over."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, reports: Sequence[Progress]) -> None:
        """Show bars, as text where there is no HTML."""
        faces = {"text/plain": "\n".join(map(line, reports)), "text/html": "".join(map(html_line, reports))}
        self._show(faces)

    def clear(self) -> None:
        """Empty the output: one without any face is shown as nothing, and compared as nothing by nbval."""
        self._show({})

    def _show(self, faces: dict[str, str]) -> None:
        if self._handle is None:
            from IPython.display import display

            self._handle = display(faces, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(faces, raw=True)


class TerminalSurface:
    """The last line of a terminal."""

    def draw(self, reports: Sequence[Progress]) -> None:
        """Write the latest work over what was there: a terminal has only one line that can be taken back."""
        self._write(f"\r\x1b[K{line(reports[-1])[:_LONGEST_LINE]}")

    def clear(self) -> None:
        """Wipe the line."""
        self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def line(report: Progress) -> str:
    """A report in one line: ``calls ██████░░░░ 30 of 50``."""
    filled = round(_CELLS * _share(report))
    bar = f"{'█' * filled}{'░' * (_CELLS - filled)} " if report.total else ""
    return f"{_clean(report.label)} {bar}{_amount(report)} {_clean(report.note)}".rstrip()


def html_line(report: Progress) -> str:
    """A report as a bar with words beside it."""
    value = f" value='{_share(report):.3f}'" if report.total else ""  # without one, a bar that only moves
    label = escape(_clean(report.label))
    words = escape(f"{_amount(report)} {_clean(report.note)}".strip())
    return f"<div><progress{value} aria-label='{label}'></progress> {label} <small>{words}</small></div>"


def _share(report: Progress) -> float:
    return min(1.0, report.done / report.total) if report.total else 0.0


def _amount(report: Progress) -> str:
    done, total = (_counted(number, report.unit) for number in (report.done, report.total or 0))
    if report.total:
        return f"{done} of {total}"
    return done if report.done else ""


def _counted(number: int, unit: str) -> str:
    return f"{number / 1e6:,.1f} MB" if unit == "bytes" else f"{number:,}"


def _clean(text: str) -> str:
    """Another machine's text, in one line of plain characters."""
    return " ".join(readable(redact(text)).split())
