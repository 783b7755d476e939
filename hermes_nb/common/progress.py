"""How far long work has come: reported by whoever does it, to whoever wants to show it."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from types import TracebackType

logger = logging.getLogger(__name__)

Unit = Literal["", "bytes"]

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one piece of work has come.

    Attributes:
        work: A number that tells this piece of work from others that run beside it.
        label: What is being done.
        done: How much of it is done.
        total: How much there is to do; None if nobody knows.
        unit: What is counted: bytes, or whatever the label names.
        note: What is happening just now; it may be another machine's text.
        finished: Whether this is the last report, the work being done or given up.
    """

    work: int
    label: str
    done: int = 0
    total: int | None = None
    unit: Unit = ""
    note: str = ""
    finished: bool = False


#: Takes each report, in the thread that works and while it waits: be quick, and don't use the session.
Listener = Callable[[Progress], None]


class Reporter:
    """Passes reports on to a listener, if there is one; set ``listener`` to hear them."""

    def __init__(self) -> None:
        self.listener: Listener | None = None

    def work(self, label: str, total: int | None = None, unit: Unit = "") -> Work:
        """A piece of work to report on: ``with reporter.work("copying", 10) as work: work.reach(1)``."""
        return Work(self.listener, Progress(next(_numbers), label, total=total, unit=unit))


class Work:
    """A piece of work under way; however it is left, its last report says that it is over."""

    def __init__(self, listener: Listener | None, begun: Progress) -> None:
        self._listener = listener
        self._state = begun

    @property
    def has_listener(self) -> bool:
        """Whether anybody wants to know, so that finding out is worth its while."""
        return self._listener is not None

    def reach(self, done: int, total: int | None = None, note: str = "") -> None:
        """Report that so much is done, and how much there is if that was not known before."""
        if self._listener is not None:
            total = self._state.total if total is None else total
            self._report(replace(self._state, done=done, total=total, note=note))

    def advance(self) -> None:
        """Report that one more is done."""
        self.reach(self._state.done + 1)

    def __enter__(self) -> Work:
        if self._listener is not None:
            self._report(self._state)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._listener is not None:
            self._report(replace(self._state, finished=True))

    def _report(self, state: Progress) -> None:
        self._state = state
        if self._listener is not None:
            try:
                self._listener(state)
            except Exception:  # who watches must never break the work
                logger.exception("a listener failed on the progress of %s", state.label)
