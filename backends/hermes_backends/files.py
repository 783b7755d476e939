"""Copying files by tar over a process's own streams: the same on every backend, fast for many small files.

Both ways the archive is made and unpacked on our side by `tarfile`, and on the other by its `tar`. What
comes from the other side is not trusted: absolute paths, `..`, links that lead out of the folder, and
devices are refused.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from .errors import TransferFailed, UnsafePath

if TYPE_CHECKING:
    from collections.abc import Callable

    from .base import Backend, Process

_CHUNK = 1 << 18


def put(
    backend: Backend, src: str | os.PathLike[str], dest: str, *, progress: Callable[[int], None] | None = None
) -> None:
    """Copy a local file or folder to the path `dest`, making folders on the way, merging into what is there.

    Links are copied as links, but one that leads out of `src` is refused.

    Args:
        backend: Where to.
        src: What to copy.
        dest: Its path there.
        progress: Called with the number of bytes sent so far.

    Raises:
        TransferFailed: The other side could not unpack it.
        UnsafePath: A link in `src` leads out of it.
        FileNotFoundError: There is no `src`.
    """
    source = Path(src)
    source.lstat()
    target = PurePosixPath(dest)
    parent = str(target.parent)
    script = 'mkdir -p -- "$1" && exec tar -x -f - -C "$1"'
    process = backend.spawn(["sh", "-c", script, "sh", parent])
    try:
        writer = _Writer(process, progress)
        try:
            with tarfile.open(fileobj=writer, mode="w|", format=tarfile.PAX_FORMAT, bufsize=_CHUNK) as archive:
                archive.add(source, arcname=target.name, filter=_stays_inside(source, target.name))
            process.close_stdin()
        except BrokenPipeError:
            pass  # it gave up, and says why
        _finish(process, f"cannot write {dest} in {backend.where}")
    finally:
        process.close()


def get(
    backend: Backend, src: str, dest: str | os.PathLike[str], *, progress: Callable[[int], None] | None = None
) -> None:
    """Copy a file or folder of the other side to the local path `dest`.

    Args:
        backend: Where from.
        src: What to copy.
        dest: Its path here; a folder is merged into one that is there.
        progress: Called with the number of bytes received so far.

    Raises:
        TransferFailed: There is no `src`, or it could not be read.
        UnsafePath: The archive tried to leave `dest`; nothing of it is kept.
    """
    target = Path(dest)
    target.parent.mkdir(parents=True, exist_ok=True)
    name = PurePosixPath(src).name or "."
    process = backend.spawn(["tar", "-c", "-f", "-", "-C", str(PurePosixPath(src).parent), "--", name], stdin=False)
    try:
        # Beside its destination, so that a move is a rename and nothing half-made is ever seen there.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".hermes-get-") as folder:
            reader = _Reader(process, progress)
            try:
                with tarfile.open(fileobj=reader, mode="r|*", bufsize=_CHUNK) as archive:
                    archive.extractall(folder, filter="data")
            except tarfile.FilterError as error:
                raise UnsafePath(f"refused what {backend.where} sent for {src}: {error}") from error
            except tarfile.TarError:
                reader.drain()
                _finish(process, f"cannot read {src} in {backend.where}", reader.complaint)
                raise TransferFailed(f"{backend.where} sent no archive for {src}") from None
            reader.drain()
            _finish(process, f"cannot read {src} in {backend.where}", reader.complaint)
            _move(Path(folder) / name, target)
    finally:
        process.close()


class _Writer(io.RawIOBase):
    """A file that writes to a process's input."""

    def __init__(self, process: Process, progress: Callable[[int], None] | None) -> None:
        self._process = process
        self._progress = progress
        self._sent = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self._process.write(piece)
        self._sent += len(piece)
        if self._progress:
            self._progress(self._sent)
        return len(piece)


class _Reader(io.RawIOBase):
    """A file that reads a process's output, and keeps what it complains about."""

    def __init__(self, process: Process, progress: Callable[[int], None] | None) -> None:
        self.complaint = b""
        self._process = process
        self._progress = progress
        self._received = 0
        self._buffer = bytearray()
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        while not self._ended and (size < 0 or len(self._buffer) < size):
            piece = self._process.read()
            if piece is None:
                continue
            if not piece.data:
                self._ended = True
            elif piece.stream == 1:
                self._buffer += piece.data
                self._received += len(piece.data)
                if self._progress:
                    self._progress(self._received)
            else:
                self.complaint = (self.complaint + piece.data)[-4000:]
        size = len(self._buffer) if size < 0 else size
        data, self._buffer = bytes(self._buffer[:size]), self._buffer[size:]
        return data

    def drain(self) -> None:
        while self.read(_CHUNK):
            pass


def _finish(process: Process, failure: str, complaint: bytes = b"") -> None:
    while (piece := process.read()) is None or piece.data:
        if piece is not None and piece.stream == 2:
            complaint = (complaint + piece.data)[-4000:]
    code = process.wait()
    if code == 127:
        raise TransferFailed(f"{failure}: there is no tar")
    if code != 0:
        raise TransferFailed(f"{failure}: {complaint.decode('utf-8', 'replace').strip() or f'exit code {code}'}")


def _stays_inside(source: Path, name: str) -> Callable[[tarfile.TarInfo], tarfile.TarInfo]:
    root = source.resolve()

    def check(member: tarfile.TarInfo) -> tarfile.TarInfo:
        if member.issym() and source.is_dir():
            inside = PurePosixPath(member.name).relative_to(name)
            to = Path(os.path.normpath(root / inside.parent / member.linkname))
            if not to.is_relative_to(root):
                raise UnsafePath(f"{inside} is a link to {member.linkname}, outside of what is copied")
        return member

    return check


def _move(found: Path, target: Path) -> None:
    """Put what was unpacked in its place, merging folders; a link there is replaced, never followed."""
    if found.is_dir() and not found.is_symlink() and target.is_dir() and not target.is_symlink():
        for child in list(found.iterdir()):
            _move(child, target / child.name)
        return
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    found.replace(target)
