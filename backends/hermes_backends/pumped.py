"""For backends whose SDK gives blocking streams: two threads turn them into `read` with a time-out."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from typing import TYPE_CHECKING

from .base import END, STDERR, STDOUT, Output, Process

if TYPE_CHECKING:
    from collections.abc import Callable

#: pieces that may wait to be read; then the other side has to
_BACKLOG = 64


class PumpedProcess(Process):
    """A process read by blocking functions; a subclass adds the rest.

    Args:
        read_stdout: Returns some bytes, or none at the end.
        read_stderr: The same for standard error; None if there is none.
    """

    def __init__(self, read_stdout: Callable[[], bytes], read_stderr: Callable[[], bytes] | None = None) -> None:
        self._pieces: queue.Queue[Output] = queue.Queue(_BACKLOG)
        sources = {STDOUT: read_stdout, STDERR: read_stderr}
        self._unfinished = sum(source is not None for source in sources.values())
        self._pumps = [
            threading.Thread(target=self._pump, args=(stream, source), daemon=True)
            for stream, source in sources.items()
            if source is not None
        ]
        for pump in self._pumps:
            pump.start()

    def read(self, timeout: float | None = None) -> Output | None:
        """See `Process.read`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._unfinished:
            try:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                piece = self._pieces.get(block=left != 0.0, timeout=left)
            except queue.Empty:
                return None
            if piece.data:
                return piece
            self._unfinished -= 1
        return END

    def join(self, timeout: float = 10.0) -> None:
        """Wait for the pumps to end, as they do with the streams; what was not read yet is dropped."""
        deadline = time.monotonic() + timeout
        while any(pump.is_alive() for pump in self._pumps) and time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):
                self._pieces.get(timeout=0.01)

    def _pump(self, stream: int, source: Callable[[], bytes]) -> None:
        try:
            while data := source():
                self._pieces.put(Output(stream, data))
        except (OSError, ValueError):  # closed under our hands
            pass
        self._pieces.put(Output(stream, b""))
