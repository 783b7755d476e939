"""How long a call waited for a person; that is no time of the tool's."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()  # one for all: questions are rare, and calls that ask none must not pay for it


class Waiting:
    """The time during which a call, or any call made inside of it, had a question open.

    Questions of several calls inside may be open at once; that time counts once.

    Args:
        outer: That of the call inside which this one is made.
    """

    __slots__ = ("_open", "_outer", "_since", "seconds")

    def __init__(self, outer: Waiting | None = None) -> None:
        self.seconds = 0.0
        self._outer = outer
        self._open = 0
        self._since = 0.0

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Somebody is asked meanwhile."""
        chain = list(self._chain())
        for waiting in chain:
            waiting._begin()
        try:
            yield
        finally:
            for waiting in chain:
                waiting._end()

    def _chain(self) -> Iterator[Waiting]:
        waiting: Waiting | None = self
        while waiting is not None:
            yield waiting
            waiting = waiting._outer

    def _begin(self) -> None:
        with _lock:
            if not self._open:
                self._since = time.perf_counter()
            self._open += 1

    def _end(self) -> None:
        with _lock:
            self._open -= 1
            if not self._open:
                self.seconds += time.perf_counter() - self._since
