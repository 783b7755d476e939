"""A child process of ours, on pipes or in a terminal."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import shutil
import struct
import subprocess
import termios
from typing import IO, TYPE_CHECKING

from ..base import END, STDERR, STDOUT, Output, Process
from ..errors import SpawnFailed, StillRunning
from ..supervise import MARK, kill_marked, new_mark

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHUNK = 1 << 18
_PIPE = 1 << 20


class _Child(Process):
    """What both kinds share. Never `preexec_fn`: it costs a copy of our whole memory map."""

    def __init__(self, popen: subprocess.Popen[bytes], mark: str) -> None:
        self._popen = popen
        self._mark = mark
        self._poll = select.poll()

    def wait(self, timeout: float | None = None) -> int:
        """See `Process.wait`."""
        try:
            code = self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise StillRunning(f"process {self._popen.pid} is still running") from None
        return code if code >= 0 else 128 - code

    def kill(self) -> None:
        """See `Process.kill`."""
        # The number of a child that was reaped may be another's by now; the mark never is.
        kill_marked(self._mark, self._popen.pid if self._popen.poll() is None else None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(1)

    def _end(self) -> None:
        if self._popen.poll() is None:
            self.kill()

    def _ready(self, timeout: float | None) -> list[int]:
        return [fd for fd, _ in self._poll.poll(None if timeout is None else max(0, timeout) * 1000)]


class PipedProcess(_Child):
    """A child with a pipe for each stream."""

    def __init__(self, argv: Sequence[str], cwd: str | None, env: dict[str, str], *, stdin: bool) -> None:
        mark = new_mark()
        try:
            popen = subprocess.Popen(  # noqa: S603  (running what it is told is its purpose)
                argv,
                cwd=cwd,
                env={**env, MARK: mark},
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise SpawnFailed(f"cannot start {argv[0]!r}: {error.strerror}: {error.filename}") from error
        super().__init__(popen, mark)
        assert popen.stdout is not None
        assert popen.stderr is not None
        self._streams: dict[int, tuple[int, IO[bytes]]] = {
            popen.stdout.fileno(): (STDOUT, popen.stdout),
            popen.stderr.fileno(): (STDERR, popen.stderr),
        }
        for fd in self._streams:
            self._poll.register(fd, select.POLLIN)
        with contextlib.suppress(OSError):  # a user may not have so much pipe: slower, no more
            fcntl.fcntl(popen.stdout, fcntl.F_SETPIPE_SZ, _PIPE)

    def read(self, timeout: float | None = None) -> Output | None:
        """See `Process.read`."""
        while self._streams:
            ready = self._ready(timeout)
            if not ready:
                return None
            fd = ready[0]
            stream, pipe = self._streams[fd]
            if data := os.read(fd, _CHUNK):
                return Output(stream, data)
            self._poll.unregister(fd)
            del self._streams[fd]
            pipe.close()
        return END

    def write(self, data: bytes) -> None:
        """See `Process.write`."""
        if self._popen.stdin is None or self._popen.stdin.closed:
            raise BrokenPipeError(errno.EPIPE, "standard input is closed")
        view = memoryview(data)
        while view:
            view = view[os.write(self._popen.stdin.fileno(), view) :]

    def close_stdin(self) -> None:
        """See `Process.close_stdin`."""
        if self._popen.stdin is not None:
            self._popen.stdin.close()

    def close(self) -> None:
        """See `Process.close`."""
        self._end()
        self.close_stdin()
        for _, pipe in self._streams.values():
            pipe.close()
        self._streams.clear()


class TerminalProcess(_Child):
    """A child with a terminal of its own."""

    def __init__(self, argv: Sequence[str], cwd: str | None, env: dict[str, str]) -> None:
        mark = new_mark()
        self._master, self._slave = os.openpty()
        self.resize(24, 80)
        # A session leader that opens a terminal gets it as its controlling one: so the child opens it by
        # name.
        opener = ["/bin/sh", "-c", 'exec <"$0" >"$0" 2>&1; exec "$@"', os.ttyname(self._slave), *argv]
        null = subprocess.DEVNULL
        try:
            if shutil.which(argv[0], path=env.get("PATH")) is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), argv[0])
            popen = subprocess.Popen(  # noqa: S603  (running what it is told is its purpose)
                opener,
                cwd=cwd,
                env={"TERM": "xterm-256color", **env, MARK: mark},
                stdin=null,
                stdout=null,
                stderr=null,
                start_new_session=True,
            )
        except OSError as error:
            self._close_slave()
            os.close(self._master)
            raise SpawnFailed(f"cannot start {argv[0]!r}: {error.strerror}: {error.filename}") from error
        super().__init__(popen, mark)
        # Our own hold on the child's end keeps reads from failing before it has opened it; its death ends
        # the hold.
        self._death = os.pidfd_open(popen.pid)
        for fd in (self._master, self._death):
            self._poll.register(fd, select.POLLIN)

    def read(self, timeout: float | None = None) -> Output | None:
        """See `Process.read`."""
        while self._master >= 0:
            ready = self._ready(timeout)
            if not ready:
                return None
            if self._death in ready:
                self._poll.unregister(self._death)
                self._close_slave()
            try:
                if self._master in ready and (data := os.read(self._master, _CHUNK)):
                    return Output(STDOUT, data)
            except OSError:  # EIO: nobody has the other end any more
                break
        return END

    def write(self, data: bytes) -> None:
        """See `Process.write`."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._master, view) :]

    def close_stdin(self) -> None:
        """See `Process.close_stdin`."""
        self.write(b"\x04")

    def resize(self, rows: int, columns: int) -> None:
        """See `Process.resize`."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self) -> None:
        """See `Process.close`."""
        self._end()
        self._close_slave()
        if self._master >= 0:
            os.close(self._master)
            os.close(self._death)
            self._master = -1

    def _close_slave(self) -> None:
        if self._slave >= 0:
            os.close(self._slave)
            self._slave = -1
