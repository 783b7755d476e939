"""Whoever wants to hear of something as it happens."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Generic, ParamSpec

logger = logging.getLogger(__name__)

Told = ParamSpec("Told")


class Listeners(Generic[Told]):
    """Functions to call whenever something happens. One that fails is logged, and spoils nothing.

    Args:
        what: What they are called in the log.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._all: tuple[Callable[Told, object], ...] = ()
        self._lock = threading.Lock()

    def add(self, listener: Callable[Told, object]) -> Callable[[], None]:
        """Call a function from now on; returns a function that ends it."""
        with self._lock:
            self._all = (*self._all, listener)

        def leave() -> None:
            with self._lock:
                self._all = tuple(kept for kept in self._all if kept is not listener)

        return leave

    def tell(self, *args: Told.args, **kwargs: Told.kwargs) -> None:
        """Call all of them, in this thread."""
        for listener in self._all:
            try:
                listener(*args, **kwargs)
            except Exception:
                logger.exception("%s failed", self._what)
