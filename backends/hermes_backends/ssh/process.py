"""A program on another machine, over one channel of an ssh connection."""

from __future__ import annotations

import contextlib
import select
import shlex
import socket
import threading
import time
from typing import TYPE_CHECKING

from ..base import END, STDERR, STDOUT, Output, Process
from ..errors import ConnectionLost, StillRunning
from ..supervise import KILL_SCRIPT

if TYPE_CHECKING:
    import paramiko

    from .connection import Connection

_CHUNK = 1 << 18


class SSHProcess(Process):
    """One session channel.

    Args:
        connection: The connection it belongs to; needed again to kill.
        channel: The channel, its command already running.
        mark: What the program and its descendants carry in their environment.
        tty: Whether it has a terminal.
    """

    def __init__(self, connection: Connection, channel: paramiko.Channel, *, mark: str, tty: bool) -> None:
        self._connection = connection
        self._channel = channel
        self._mark = mark
        self._tty = tty
        self._poll = select.poll()
        self._poll.register(channel.fileno(), select.POLLIN)
        self._closed = False
        self._closing = threading.Lock()

    def read(self, timeout: float | None = None) -> Output | None:
        """See `Process.read`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._closed:
            if self._channel.recv_ready():
                return Output(STDOUT, self._channel.recv(_CHUNK))
            if self._channel.recv_stderr_ready():
                return Output(STDERR, self._channel.recv_stderr(_CHUNK))
            if self._channel.eof_received or self._channel.closed:
                # Both may have come between the questions above and this one.
                if self._channel.recv_ready() or self._channel.recv_stderr_ready():
                    continue
                return END
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left < 0:
                return None
            self._poll.poll(None if left is None else left * 1000)
        return END

    def write(self, data: bytes) -> None:
        """See `Process.write`."""
        try:
            self._channel.sendall(data)
        except (OSError, EOFError) as error:
            if self._connection.alive:
                raise BrokenPipeError("the program no longer reads") from error
            raise ConnectionLost(f"the connection to {self._connection.name} was lost") from error

    def close_stdin(self) -> None:
        """See `Process.close_stdin`."""
        if self._tty:
            self.write(b"\x04")
            return
        with contextlib.suppress(OSError, EOFError):
            self._channel.shutdown_write()

    def resize(self, rows: int, columns: int) -> None:
        """See `Process.resize`."""
        if self._tty:
            self._channel.resize_pty(width=columns, height=rows)

    def wait(self, timeout: float | None = None) -> int:
        """See `Process.wait`."""
        if not self._channel.status_event.wait(timeout):
            raise StillRunning(f"the program on {self._connection.name} is still running")
        code = self._channel.exit_status
        if code >= 0:
            return int(code)
        # -1 is death by a signal as well as the loss of the connection, and only the connection tells them
        # apart.
        if self._connection.alive:
            return 128 + 9  # the wrapper itself was killed: it reports all other deaths as codes
        raise ConnectionLost(f"the connection to {self._connection.name} was lost")

    def kill(self) -> None:
        """See `Process.kill`."""
        if self._connection.alive:
            self._connection.execute("sh -c " + shlex.quote(KILL_SCRIPT) + f" sh {self._mark}")

    def close(self) -> None:
        """See `Process.close`."""
        with self._closing:
            if self._closed:
                return
            if not self._channel.exit_status_ready():
                with contextlib.suppress(ConnectionLost, socket.timeout):
                    self.kill()
            self._closed = True
            self._channel.close()
