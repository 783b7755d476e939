"""A real shell that lives from command to command, on any backend.

What lasts: the directory, plain and exported variables, functions, aliases, options, background children.
`exit 3` ends the command with 3 and keeps the state. A time-out or an interrupt kills everything the command
started and leaves the state as it was before that command. How that is done is told at the top of
`driver.bash`.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import threading
import time
from importlib import resources
from typing import TYPE_CHECKING, NoReturn

from ..errors import (
    BackendClosed,
    CommandInterrupted,
    ConnectionLost,
    DirectoryChanged,
    ShellBusy,
    ShellUnavailable,
    SpawnFailed,
    StillRunning,
)
from .command import STREAMS, Call, message, script
from .frames import FrameSplitter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import EllipsisType

    from ..base import Backend, Process
    from ..output import OpenSpill
    from ..results import ExecResult

#: seconds within which a new shell must greet, and within which a killed command must be gone
START_PATIENCE = 60.0
KILL_PATIENCE = 15.0


def _driver() -> list[str]:
    text = resources.files(__package__).joinpath("driver.bash").read_text("utf-8")
    parts = dict(re.findall(r"(?ms)^#: (\w+)\n(.*?)(?=^#: |\Z)", text))
    return [parts[name] for name in ("main", "shell", "guard", "waiter", "exit", "renew", "main", "functions")]


class Shell:
    """The persistent shell of one task. Commands of several threads run one after the other.

    Args:
        backend: Where it lives.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._turn = threading.Lock()
        self._sending = threading.Lock()
        self._process: Process | None = None
        self._splitters: dict[int, FrameSplitter] = {}
        self._late: list[tuple[int, bytes]] = []
        self._call: Call | None = None
        self._count = 0
        self._cwd = backend.cwd
        self._restarted = False
        self._closed = False

    @property
    def cwd(self) -> str | None:
        """The directory after the last command; None before the first."""
        return self._cwd

    def run(
        self,
        command: str,
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        stdin: bytes | str | None = None,
        on_output: Callable[[str, str], None] | None = None,
        open_spill: OpenSpill | None = None,
        expected_cwd: str | EllipsisType | None = ...,
    ) -> ExecResult:
        """Run a command and wait for its end.

        Args:
            command: Any bash, also of many lines.
            cwd: Run it there; the shell's own directory is the same afterwards.
            env: Variables for this command only.
            timeout: Seconds after which it is killed; they include the wait for the commands before it.
            stdin: What it reads; nothing by default.
            on_output: Called with ("stdout" or "stderr", text) as output comes. If it raises, the command is
                killed.
            open_spill: Makes the file for an output that outgrows memory; the backend's own by default.
            expected_cwd: Run it only if this is the shell's directory: nobody may have left it meanwhile. None
                stands for that of a shell that has not been used yet, wherever it starts.

        Returns:
            What came of it. A lost connection is a result too, with exit_code None: the command may or may
            not have run to its end, and is never run again by itself. The next command finds a new
            connection.

        Raises:
            CommandInterrupted: On KeyboardInterrupt, once the command is gone; it carries the partial result.
            ShellUnavailable: There is no bash.
            ConnectionLost: The other side could not be reached, so nothing was run.
            DirectoryChanged: The shell is not in `expected_cwd`, so nothing was run.
            ShellBusy: The time was up before the command had its turn, so nothing was run.
            BackendClosed: After close.
        """
        if "\0" in command:
            raise ValueError("a command cannot contain a NUL character")
        data = stdin.encode() if isinstance(stdin, str) else stdin or b""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._my_turn(timeout):
            was_unused = self._cwd is None
            process = self._ready()
            if expected_cwd is not ... and self._cwd != expected_cwd and not (was_unused and expected_cwd is None):
                raise DirectoryChanged(self._cwd)
            if deadline is not None and deadline <= time.monotonic():
                raise ShellBusy(f"the shell in {self._backend.where} was not ready in time; nothing was run")
            restarted, self._restarted = self._restarted, False
            call = self._new_call(command, on_output, open_spill)
            text = message(call.number, script(command, cwd, env), data, come_back=bool(cwd))
            self._complete(process, call, text, deadline)
            result = call.result(self._backend.where, restarted=restarted)
        if isinstance(call.raised, KeyboardInterrupt):
            raise CommandInterrupted(result)
        if call.raised is not None:
            raise call.raised
        return result

    @contextlib.contextmanager
    def _my_turn(self, timeout: float | None) -> Iterator[None]:
        if not self._turn.acquire(timeout=-1 if timeout is None else max(timeout, 0)):
            raise ShellBusy(f"another command still runs in the shell in {self._backend.where}; nothing was run")
        try:
            yield
        finally:
            self._turn.release()

    def interrupt(self) -> bool:
        """Kill the running command, from any thread; its `run` then returns with `interrupted`.

        Returns:
            Whether there was one.
        """
        call = self._call
        if call is None:
            return False
        call.interrupted = True
        self._send_kill(call)
        return True

    def snapshot(self) -> str:
        """Write the shell's state to a file on its side, for a job to start from, and return the file's path.

        Raises:
            ShellUnavailable: No folder there can be written to.
        """
        result = self.run("__h_state")
        if result.exit_code != 0:
            raise ShellUnavailable(f"the shell's state could not be saved: {result.stderr or result.error}")
        return result.stdout

    def close(self) -> None:
        """End the shell and everything it started. A running command is interrupted."""
        self._closed = True
        self.interrupt()
        with self._turn:
            self._drop()

    # --- the connection

    def _ready(self) -> Process:
        if self._closed:
            raise BackendClosed("this shell is closed")
        if self._process is not None and not self._listens(self._process):
            self._drop()
            self._restarted = True
        return self._process or self._start()

    def _listens(self, process: Process) -> bool:
        """Whether the shell can take a command. What background children said is kept for the next."""
        try:
            while piece := process.read(0):
                if not piece.data:
                    return False
                for item in self._splitters[piece.stream].feed(piece.data):
                    if isinstance(item, bytes):
                        self._late.append((piece.stream, item))
                    elif item.kind == "D":
                        return False
        except ConnectionLost:
            return False
        return True

    def _start(self) -> Process:
        main, *parts = _driver()
        nonce = secrets.token_hex(12)
        argv = ["bash", "--norc", "--noprofile", "-c", main, "bash", nonce, *parts, self._cwd or ""]
        try:
            self._process = process = self._backend.spawn(argv)
        except SpawnFailed as error:
            raise ShellUnavailable(f"no bash in {self._backend.where}: {error}") from error
        self._splitters = {stream: FrameSplitter(nonce) for stream in STREAMS}
        self._count = -1
        greeting = self._new_call("")
        with contextlib.suppress(ConnectionLost):  # told below, with what the other side said
            self._follow(process, greeting, time.monotonic() + START_PATIENCE)
        if not greeting.ended:
            self._explain_no_start(process, greeting)
        self._cwd = greeting.cwd
        if self._backend.setup:
            setup = self._new_call(self._backend.setup)
            self._complete(process, setup, message(setup.number, setup.command, b"", come_back=False), None)
        return process

    def _explain_no_start(self, process: Process, greeting: Call) -> NoReturn:
        said = b" ".join(greeting.collector.contents()).decode("utf-8", "replace").strip()
        try:
            code: int | None = process.wait(5)
        except StillRunning:
            code = None
        finally:
            self._drop()
        if code in (126, 127):
            raise ShellUnavailable(f"{self._backend.where} has no bash, which the persistent shell needs: {said}")
        raise ConnectionLost(f"the shell in {self._backend.where} did not start (exit code {code}): {said}")

    def _drop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.kill()
        except ConnectionLost:
            pass  # out of reach; when its control stream closes, the driver ends itself and the command
        finally:
            process.close()

    # --- one command

    def _new_call(
        self,
        command: str,
        on_output: Callable[[str, str], None] | None = None,
        open_spill: OpenSpill | None = None,
    ) -> Call:
        self._count += 1
        call = Call(self._count, command, self._backend.collector(open_spill), on_output)
        late, self._late = self._late, []
        for stream, data in late:
            call.take(stream, data)
        return call

    def _complete(self, process: Process, call: Call, text: bytes, deadline: float | None) -> None:
        """Send the command and see it to its end, or to the end of the connection."""
        try:
            with self._sending:
                process.write(text)
                self._call = call
            self._watch(process, call, deadline)
        except (ConnectionLost, BrokenPipeError) as error:
            call.lost = f"the connection to {self._backend.where} was lost ({error})"
        finally:
            self._call = None
            call.collector.close()
        if call.ended:
            self._cwd = call.cwd
        else:
            self._drop()
            self._restarted = True
            call.cwd = self._cwd or ""

    def _watch(self, process: Process, call: Call, deadline: float | None) -> None:
        """Follow the call; kill it when its time is up, on an interrupt, or when `on_output` raises."""
        try:
            self._follow(process, call, deadline)
        except (ConnectionLost, BrokenPipeError):
            raise
        except BaseException as error:
            call.raised = error
            call.interrupted = True
        if call.ended:
            return
        call.timed_out = call.death is None and not call.interrupted
        self._send_kill(call)
        self._follow(process, call, time.monotonic() + KILL_PATIENCE)
        if not call.ended:
            call.lost = "the command did not die when it was killed, so its shell was given up"

    def _follow(self, process: Process, call: Call, deadline: float | None) -> None:
        """Take output until the call has ended, the deadline has passed, or the shell is newly found dead."""
        known_death = call.death
        while not call.ended and call.death == known_death:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return
            piece = process.read(left)
            if piece is None:
                continue
            if not piece.data:
                raise ConnectionLost("end of its output")
            for item in self._splitters[piece.stream].feed(piece.data):
                call.take(piece.stream, item)

    def _send_kill(self, call: Call) -> None:
        with self._sending:
            if self._process is not None:
                self._process.write(f"K {call.number}\n".encode())
