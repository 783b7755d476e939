"""A program in a container, over the one socket that `docker exec` gives."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING, Any

import docker.errors

from ..base import END, STDERR, STDOUT, Output, Process
from ..errors import ConnectionLost, StillRunning
from ..supervise import KILL_SCRIPT
from .daemon import GONE

if TYPE_CHECKING:
    from .daemon import Daemon

_CHUNK = 1 << 18
_HEADER = struct.Struct(">BxxxL")


class DockerProcess(Process):
    """One exec in a container.

    Args:
        daemon: Whose container it is.
        container: The container's id.
        exec_id: The exec, created and not yet started.
        mark: What the program and its descendants carry in their environment.
        user: Who it runs as: only the same user may kill it.
        tty: Whether it has a terminal; its output then has no headers.
    """

    def __init__(self, daemon: Daemon, container: str, exec_id: str, *, mark: str, user: str, tty: bool) -> None:
        self._daemon = daemon
        self._api = api = daemon.client.api
        self._container = container
        self._exec_id = exec_id
        self._mark = mark
        self._user = user
        self._tty = tty
        holder = api.exec_start(exec_id, tty=tty, socket=True)
        self._socket: socket.socket = holder._sock.dup()  # ours alone: the response would close it when collected
        self._buffer = bytearray(_read_ahead(holder))
        holder._response.close()
        self._socket.settimeout(None)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._stream = STDOUT
        self._left = 0
        self._ended = False
        self._closed = False
        self._closing = threading.Lock()
        with contextlib.suppress(docker.errors.APIError):  # it may be over already
            self.resize(24, 80)

    def read(self, timeout: float | None = None) -> Output | None:
        """See `Process.read`."""
        while not self._ended:
            if piece := self._piece():
                return piece
            if not self._poll.poll(None if timeout is None else max(0, timeout) * 1000):
                return None
            try:
                data = self._socket.recv(_CHUNK)
            except OSError:
                data = b""
            if data:
                self._buffer += data
            else:
                self._ended = True
        return END

    def _piece(self) -> Output | None:
        """Take one piece out of what was received: 8 bytes of header (stream, length) before each block."""
        if self._tty:
            data, self._buffer = bytes(self._buffer), bytearray()
            return Output(STDOUT, data) if data else None
        while True:
            if self._left and self._buffer:
                data = bytes(self._buffer[: self._left])
                del self._buffer[: len(data)]
                self._left -= len(data)
                return Output(self._stream, data)
            if self._left or len(self._buffer) < _HEADER.size:
                return None
            kind, self._left = _HEADER.unpack_from(self._buffer)
            self._stream = STDERR if kind == STDERR else STDOUT
            del self._buffer[: _HEADER.size]

    def write(self, data: bytes) -> None:
        """See `Process.write`."""
        if self._closed:
            raise BrokenPipeError("the process is closed")
        self._socket.sendall(data)

    def close_stdin(self) -> None:
        """See `Process.close_stdin`."""
        if self._tty:
            self.write(b"\x04")
            return
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def resize(self, rows: int, columns: int) -> None:
        """See `Process.resize`."""
        if self._tty:
            self._api.exec_resize(self._exec_id, height=rows, width=columns)

    def wait(self, timeout: float | None = None) -> int:
        """See `Process.wait`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = 0.002
        while True:
            # A daemon that dies closes the stream as if all were well: only its own word on the exit code
            # counts.
            state = self._inspect()
            if not state["Running"] and state["ExitCode"] is not None:
                return int(state["ExitCode"])
            if deadline is not None and time.monotonic() >= deadline:
                raise StillRunning(f"exec {self._exec_id[:12]} is still running")
            time.sleep(pause)
            pause = min(0.1, pause * 2)

    def _inspect(self) -> dict[str, Any]:
        self._daemon.check()
        try:
            state: dict[str, Any] = self._api.exec_inspect(self._exec_id)
        except (*GONE, docker.errors.APIError) as error:
            raise ConnectionLost(f"docker does not know what came of it: {error}") from error
        return state

    def kill(self) -> None:
        """See `Process.kill`."""
        self._daemon.check()
        try:
            killer = self._api.exec_create(
                self._container, ["sh", "-c", KILL_SCRIPT, "sh", self._mark], user=self._user
            )
            self._api.exec_start(killer["Id"])
        except docker.errors.APIError:
            pass  # the container is not running, and so nothing in it
        except GONE as error:
            raise ConnectionLost(f"docker does not answer: {error}") from error

    def close(self) -> None:
        """See `Process.close`."""
        with self._closing:
            if self._closed:
                return
            with contextlib.suppress(ConnectionLost):
                if self._inspect()["Running"]:
                    self.kill()
            self._closed = self._ended = True
            self._socket.close()


def _read_ahead(holder: Any) -> bytes:
    """What was read from the socket with the head of the answer: a quick program's first output comes along with it."""
    holder._sock.settimeout(0)  # or an empty buffer would wait to be filled
    ahead: bytes = holder._response.raw._fp.fp.peek()
    return ahead
