"""The contract: what a backend must give, and what it gets for it.

A backend gives `spawn` and says what it is (`capabilities`, `where`); a process gives streams and an end.
Everything else is shared code on top of those: the persistent shell, time-outs, background jobs, file
transfer.

A constructor only stores and checks its arguments. What connects, creates or costs is done by `open`, through the hook
`_open`, and undone by `_release`.
"""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Self

from . import files
from .errors import BackendClosed, ConnectionLost
from .jobs import Jobs
from .output import Collector, SpillFile
from .shell import Shell

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from types import EllipsisType

    from .output import OpenSpill
    from .results import ExecResult

STDOUT, STDERR = 1, 2


class Output(NamedTuple):
    """A piece of output: which stream (1 or 2) and the bytes; empty bytes mean the end of both."""

    stream: int
    data: bytes


END = Output(STDOUT, b"")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend can do and what it protects from.

    Attributes:
        isolated: What a command does is gone when the backend closes: it reaches no files that outlive it, neither on
            the machine that Python runs on nor on another.
        pty: `spawn(pty=True)` works.
        snapshot: The state of the file system can be saved.
        limits: Memory, processes or time are bounded.
    """

    isolated: bool = False
    pty: bool = True
    snapshot: bool = False
    limits: bool = False


class Process(ABC):
    """A running program. Not for use by several threads at once, except `write` and `kill`."""

    @abstractmethod
    def read(self, timeout: float | None = None) -> Output | None:
        """The next piece of output, or None if none came in time; `END` for ever after the last.

        Raises:
            ConnectionLost: The other side is gone.
        """

    @abstractmethod
    def write(self, data: bytes) -> None:
        """Write all of it to the program's standard input.

        Raises:
            BrokenPipeError: The program no longer reads.
            ConnectionLost: The other side is gone.
        """

    @abstractmethod
    def close_stdin(self) -> None:
        """End the program's standard input. With a PTY: send end-of-file."""

    @abstractmethod
    def wait(self, timeout: float | None = None) -> int:
        """The exit code; 128 + n for death by signal n.

        Raises:
            StillRunning: The time was up.
            ConnectionLost: Nobody can tell any more.
        """

    @abstractmethod
    def kill(self) -> None:
        """End the program and everything it started. Killing the dead is no error."""

    @abstractmethod
    def close(self) -> None:
        """End the program if it still runs, and let go of its streams. Never raises; twice is fine."""

    def resize(self, rows: int, columns: int) -> None:  # noqa: B027  (no terminal, nothing to do)
        """Tell the program's terminal its size; without a PTY this does nothing."""


class Backend(ABC):
    """A place where commands run. A context manager that opens and closes; `close` leaves nothing of ours behind.

    Args:
        cwd: Where the shells start; the other side's own choice by default.
        env: Variables for every process.
        setup: A command that every new shell runs first, such as `source ~/.bashrc`.
        max_output: Bytes of each stream of a command that are held in memory.
        spill_dir: The folder for whole outputs that did not fit.
    """

    #: the name in `open_backend("name://…")`
    name: str = ""

    def __init__(
        self,
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        setup: str = "",
        max_output: int = 1_000_000,
        spill_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        self.cwd = cwd
        self.env = dict(env or {})
        self.setup = setup
        self.max_output = max_output
        self.spill_dir = spill_dir
        self.jobs = Jobs(self)
        self._shells: dict[str, Shell] = {}
        self._shells_lock = threading.Lock()
        #: held for as long as opening takes; reentrant because `_open` may call back into code of the user's
        self._opening = threading.RLock()
        self._ready = type(self)._open is Backend._open
        self._closed = False

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What it can do and what it protects from."""

    @property
    @abstractmethod
    def where(self) -> str:
        """A short, honest description of the place, shown with every result."""

    @abstractmethod
    def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
        stdin: bool = True,
    ) -> Process:
        """Start a program, reconnecting first if the connection was lost.

        Args:
            argv: The program and its arguments, untouched by any shell.
            cwd: Its directory; the backend's default otherwise.
            env: Variables on top of the backend's own.
            pty: Give it a terminal; stderr then comes with stdout.
            stdin: Give it a standard input to write to; otherwise it reads an empty one.

        Raises:
            SpawnFailed: No such program or directory.
            ConnectionLost: The other side does not answer.
            BackendClosed: Before `open`, or after `close`.
        """

    def open(self) -> Self:
        """Make the place ready for use. Twice is fine, and from any thread: who comes second waits for the first.

        After a failure nothing is left behind, and it can be tried again.

        Raises:
            BackendUnavailable: It cannot be opened here; `.fix` says what to do.
            BackendClosed: After `close`.
        """
        with self._opening:
            self._check_not_closed()
            if not self._ready:
                try:
                    self._open()
                    self._check_not_closed()  # as it may be by now
                except BaseException as error:
                    self._release_after(error)
                    raise
                self._ready = True
        return self

    @property
    def is_open(self) -> bool:
        """Whether it can be used now. A backend without `_open` is open from the start."""
        return self._ready and not self._closed

    def _open(self) -> None:  # noqa: B027  (a backend that needs nothing is open from the start)
        """Connect, create, start: whatever `spawn` needs. If it raises, `_release` is called."""

    def reconnect(self) -> None:  # noqa: B027  (most find a lost connection again by themselves)
        """Make a lost connection anew, for the sake of what was left behind on the other side.

        Raises:
            BackendUnavailable: It cannot be reached.
        """

    def _release(self) -> None:  # noqa: B027  (a backend that holds nothing has nothing to release)
        """Let go of what the backend itself holds: after shells and jobs are gone, or after `_open` failed.

        Called once for each `_open`. After one that failed, a part of what there is to let go of may be missing, and
        `_open` may be called again.
        """

    def _release_after(self, error: BaseException) -> None:
        try:
            self._release()
        except Exception as late:
            error.add_note(f"and what had been opened by then could not be let go of: {late!r}")

    def shell(self, task: str = "default") -> Shell:
        """The persistent shell of a task. Tasks do not see each other's state and run in parallel.

        It starts with its first command, so a backend that is not open yet has shells too, and where they will be.
        """
        with self._shells_lock:
            self._check_not_closed()
            if task not in self._shells:
                self._shells[task] = Shell(self)
            return self._shells[task]

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
        task: str = "default",
    ) -> ExecResult:
        """Run a command in the persistent shell of a task: see `Shell.run`."""
        return self.shell(task).run(
            command,
            cwd=cwd,
            env=env,
            timeout=timeout,
            stdin=stdin,
            on_output=on_output,
            open_spill=open_spill,
            expected_cwd=expected_cwd,
        )

    def collector(self, open_spill: OpenSpill | None = None) -> Collector:
        """What holds the output of one command, and puts all of a long one into a file."""
        return Collector(self.max_output, open_spill or partial(SpillFile.temporary, self.spill_dir))

    def put(self, src: str | os.PathLike[str], dest: str, *, progress: Callable[[int], None] | None = None) -> None:
        """Copy a local file or folder to the path `dest` on the other side: see `files.put`."""
        self.check_open()
        files.put(self, src, dest, progress=progress)

    def get(self, src: str, dest: str | os.PathLike[str], *, progress: Callable[[int], None] | None = None) -> None:
        """Copy a file or folder of the other side to the local path `dest`: see `files.get`."""
        self.check_open()
        files.get(self, src, dest, progress=progress)

    def check_open(self) -> None:
        """Raise BackendClosed before `open` and after `close`. For `spawn` to begin with."""
        self._check_not_closed()
        if not self._ready:
            raise BackendClosed(
                f"this {self.name} backend is not open: call its open(), use it in a `with` statement, "
                "or get it from open_backend()"
            )

    def _check_not_closed(self) -> None:
        if self._closed:
            raise BackendClosed(f"this {self.name} backend is closed")

    def close(self) -> None:
        """End all shells and jobs and everything they started, then let go of the place. Twice is fine.

        One that is being opened by another thread is waited for, and then let go of.
        """
        with self._shells_lock:
            if self._closed:
                return
            self._closed = True
            shells = list(self._shells.values())
        try:
            for close in (*(shell.close for shell in shells), self.jobs.close):
                with contextlib.suppress(ConnectionLost):
                    close()
        finally:
            with self._opening:
                if self._ready:
                    self._release()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.where}{' (closed)' if self._closed else ''}>"
