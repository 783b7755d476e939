"""Holding the output of a command: bounded in memory, whole on disk."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self

#: bytes of each stream that are held in memory
DEFAULT_LIMIT = 1_000_000
_HEAD_SHARE = 0.4
_LONGEST_WORD = 4096


class _Stream:
    """The head and the tail of one stream, once it has outgrown memory."""

    def __init__(self, limit: int) -> None:
        self.size = 0
        self._head_limit = int(limit * _HEAD_SHARE)
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            while self._tail_size - len(self._tail[0]) >= self._tail_limit:
                self._tail_size -= len(self._tail.popleft())

    def content(self, whole: str) -> bytes:
        head, tail = bytes(self._head), b"".join(self._tail)[-self._tail_limit :]
        if self.size == len(head) + len(tail):
            return head + tail
        # Between words: half of one, such as half of a password, is not recognised for what it is.
        head, tail = _to_last_space(head), _to_last_space(tail[::-1])[::-1]
        return head + f"\n[… {self.size - len(head) - len(tail):,} bytes cut; {whole} …]\n".encode() + tail


def _to_last_space(data: bytes) -> bytes:
    """The beginning, up to a space that is not far from its end; all of it if there is none."""
    cut = max(data.rfind(space, max(0, len(data) - _LONGEST_WORD)) for space in (b" ", b"\n", b"\t"))
    return data if cut < 0 else data[: cut + 1]


class Spill(Protocol):
    """Takes all of an output that has outgrown memory. What it can't take is an OSError."""

    @property
    def path(self) -> Path:
        """The file."""

    def write(self, stream: int, data: bytes) -> None:
        """Take the next piece, of stdout (1) or stderr (2)."""

    def close(self) -> None:
        """Finish the file; twice is fine."""


#: Opens the file when it is needed, which for most commands is never.
OpenSpill = Callable[[], Spill]


class SpillFile:
    """A file that takes both streams as they come. It is never deleted: it is the user's.

    Args:
        path: The file, made for this output alone.
        descriptor: The file, open for writing.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def temporary(cls, folder: str | os.PathLike[str] | None = None) -> Self:
        """A new file in a folder, the system's temporary one by default."""
        descriptor, path = tempfile.mkstemp(prefix="hermes-output-", suffix=".log", dir=folder)
        return cls(Path(path), descriptor)

    def write(self, stream: int, data: bytes) -> None:  # noqa: ARG002  (this one keeps both alike)
        """Take the next piece."""
        view = memoryview(data)
        while view and self._descriptor is not None:
            view = view[os.write(self._descriptor, view) :]

    def close(self) -> None:
        """Finish the file."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)


class Collector:
    """Collects stdout (1) and stderr (2) as they come.

    Up to `limit` bytes of each stream stay in memory. Beyond that the head and the tail stay, and
    everything, both streams in the order in which they came, goes to one file.

    Args:
        limit: Bytes of each stream held in memory.
        open_spill: Makes that file; by default one in the system's temporary folder.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT, open_spill: OpenSpill = SpillFile.temporary) -> None:
        self.spill: Path | None = None
        self.spill_error = ""
        self._open_spill = open_spill
        self._limit = limit
        self._early: list[tuple[int, bytes]] | None = []
        self._streams = {1: _Stream(limit), 2: _Stream(limit)}
        self._sizes = {1: 0, 2: 0}
        self._file: Spill | None = None

    @property
    def truncated(self) -> bool:
        """More came than memory holds."""
        return self._early is None

    def add(self, stream: int, data: bytes) -> None:
        """Take one piece of output. A full disk stops the file, never the command."""
        self._sizes[stream] += len(data)
        if self._early is not None:
            self._early.append((stream, data))
            if self._sizes[stream] > self._limit:
                self._overflow(self._early)
            return
        self._streams[stream].add(data)
        self._write(stream, data)

    def contents(self) -> tuple[bytes, bytes]:
        """What is held of stdout and of stderr."""
        if self._early is not None:
            return self._joined(1), self._joined(2)
        whole = f"the whole output is in {self.spill}" if not self.spill_error else self.spill_error
        return self._streams[1].content(whole), self._streams[2].content(whole)

    def close(self) -> None:
        """Finish the file. Nothing can be added afterwards."""
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError as error:
                self.spill_error = f"{self.spill} lacks the end: {error.strerror}"

    def _joined(self, wanted: int) -> bytes:
        return b"".join(data for stream, data in self._early or () if stream == wanted)

    def _overflow(self, early: list[tuple[int, bytes]]) -> None:
        self._early = None
        try:
            self._file = self._open_spill()
            self.spill = self._file.path
        except OSError as error:
            self.spill_error = f"the rest is lost: {error.strerror}"
        for stream, data in early:
            self._streams[stream].add(data)
            self._write(stream, data)

    def _write(self, stream: int, data: bytes) -> None:
        if self._file is None:
            return
        try:
            self._file.write(stream, data)
        except OSError as error:
            self.spill_error = f"{self.spill} holds only the beginning: {error.strerror}"
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None
