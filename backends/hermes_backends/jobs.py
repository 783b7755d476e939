"""Background jobs: commands that run while others do.

A job starts from a copy of its task's shell (directory, variables, functions, aliases, options) and is then
on its
own: it outlives the next commands, has its own input and, if asked, its own terminal.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .errors import BackendError, ConnectionLost, NoSuchJob, StillRunning
from .shell.command import script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from .base import Backend, Process
    from .output import Collector, OpenSpill

Status = Literal["running", "exited", "killed", "lost"]

# The mark that kill goes by is the job's own, not the shell's whose state it takes.
_JOB = """m=$HERMES_SPAWN c=$2; . "$1" 2>/dev/null; rm -f -- "$1"
export HERMES_SPAWN="$m"; set --; unset m; eval "$c\""""
#: seconds between two notices of watched patterns of one job
WATCH_INTERVAL = 5.0


@dataclass(frozen=True, slots=True)
class Event:
    """What a job tells: that it ended, or that a watched pattern came up.

    Attributes:
        job: The job's id.
        kind: `completed` or `matched`.
        text: The line that matched, or the end of the output.
        exit_code: Of a completed job; None if unknown.
        held_back: How many matches were not told since the last notice, to spare the listener.
    """

    job: str
    kind: Literal["completed", "matched"]
    text: str
    exit_code: int | None = None
    held_back: int = 0


class Job:
    """One background job. All methods may be called from any thread."""

    def __init__(
        self,
        id: str,  # noqa: A002  (what it is called everywhere else)
        command: str,
        process: Process,
        collector: Collector,
        *,
        notify: Callable[[Event], None] | None = None,
        on_complete: bool = False,
        watch: Iterable[str] = (),
        where: str = "",
    ) -> None:
        self.id = id
        self.command = command
        self.where = where
        self.started = time.time()
        self.exit_code: int | None = None
        self.status: Status = "running"
        self._process = process
        self._collector = collector
        self._notify = notify
        self._on_complete = on_complete
        self._patterns = [re.compile(pattern) for pattern in watch]
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._killed = False
        self._unread = bytearray()
        self._line = b""
        self._told = float("-inf")
        self._held_back = 0
        self._pump = threading.Thread(target=self._follow, name=f"hermes-job-{id}", daemon=True)
        self._pump.start()

    @property
    def running(self) -> bool:
        """Not ended yet."""
        return not self._done.is_set()

    @property
    def spill(self) -> Path | None:
        """The file with all of its output, once that is more than memory holds."""
        return self._collector.spill

    def poll(self) -> str:
        """What was put out since the last poll; the latest megabyte of it if there is more."""
        with self._lock:
            fresh, self._unread = bytes(self._unread), bytearray()
        return fresh.decode("utf-8", "replace")

    def log(self) -> str:
        """All output so far: head and tail if it is long, and then the name of the file with the whole."""
        with self._lock:
            return b"".join(self._collector.contents()).decode("utf-8", "replace")

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end and return the exit code, None if it is unknown.

        Raises:
            StillRunning: The time was up; the job runs on.
        """
        if not self._done.wait(timeout):
            raise StillRunning(f"job {self.id} is still running")
        return self.exit_code

    def write(self, data: str | bytes) -> None:
        """Write to its standard input.

        Raises:
            BrokenPipeError: It does not read any more.
        """
        self._process.write(data.encode() if isinstance(data, str) else data)

    def close_stdin(self) -> None:
        """End its standard input."""
        self._process.close_stdin()

    def resize(self, rows: int, columns: int) -> None:
        """Tell its terminal its size."""
        self._process.resize(rows, columns)

    def kill(self) -> None:
        """End it and everything it started."""
        if self.running:
            self._killed = True
            self._process.kill()
            self._done.wait(10)

    def close(self) -> None:
        """Kill it and let go of its streams."""
        with contextlib.suppress(ConnectionLost):
            if self.status == "lost":
                self._process.kill()  # it may well be alive over there
            else:
                self.kill()
        self._process.close()
        self._pump.join(10)

    def _follow(self) -> None:
        try:
            while (piece := self._process.read()) is None or piece.data:
                if piece is not None:
                    self._take(piece.stream, piece.data)
            self.exit_code = self._process.wait()
            self.status = "killed" if self._killed else "exited"
        except (BackendError, OSError, ValueError):  # the latter two: closed under our hands
            self.status = "killed" if self._killed else "lost"
        finally:
            with self._lock:
                self._collector.close()
            self._done.set()
            if self._on_complete:
                self._tell(Event(self.id, "completed", self.log()[-2000:], self.exit_code, self._held_back))

    def _take(self, stream: int, data: bytes) -> None:
        with self._lock:
            self._collector.add(stream, data)
            self._unread += data
            del self._unread[: max(0, len(self._unread) - 1_000_000)]
        if self._patterns:
            *lines, self._line = (self._line + data).split(b"\n")
            self._line = self._line[-65536:]
            for line in lines:
                self._look_at(line.decode("utf-8", "replace"))

    def _look_at(self, line: str) -> None:
        if not any(pattern.search(line) for pattern in self._patterns):
            return
        if time.monotonic() - self._told < WATCH_INTERVAL:
            self._held_back += 1
            return
        self._told = time.monotonic()
        held_back, self._held_back = self._held_back, 0
        self._tell(Event(self.id, "matched", line, held_back=held_back))

    def _tell(self, event: Event) -> None:
        if self._notify is not None:
            self._notify(event)


class Jobs:
    """The background jobs of a backend.

    Args:
        backend: Where they run.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._jobs: dict[str, Job] = {}
        self._numbers = itertools.count(1)

    def start(
        self,
        command: str,
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
        task: str = "default",
        notify: Callable[[Event], None] | None = None,
        notify_on_complete: bool = False,
        watch: Iterable[str] = (),
        id: str | None = None,  # noqa: A002
        open_spill: OpenSpill | None = None,
    ) -> Job:
        """Start a job from the state of a task's shell.

        Args:
            command: Any bash.
            cwd: Its directory; the shell's by default.
            env: Variables on top of the shell's.
            pty: Give it a terminal.
            task: Whose shell it starts from.
            notify: Called from the job's thread with each event.
            notify_on_complete: Tell when it ends.
            watch: Regular expressions; a line that one of them finds is told, at most one in five seconds.
            id: What it is called, for whoever numbers the jobs of several backends; otherwise the next `job-1`.
            open_spill: Makes the file for an output that outgrows memory; the backend's own by default.

        Raises:
            ValueError: There is a job of that name.
            ShellUnavailable: There is no bash, or its state could not be saved.
            ConnectionLost: The other side is gone.
        """
        id = id or next(name for number in self._numbers if (name := f"job-{number}") not in self._jobs)  # noqa: A001
        if id in self._jobs:
            raise ValueError(f"there is a job {id!r} already")
        state = self._backend.shell(task).snapshot()
        argv = ["bash", "--norc", "--noprofile", "-c", _JOB, "bash", state, script(command, cwd, env)]
        process = self._backend.spawn(argv, pty=pty)
        collector = self._backend.collector(open_spill)
        job = Job(
            id,
            command,
            process,
            collector,
            notify=notify,
            on_complete=notify_on_complete,
            watch=watch,
            where=self._backend.where,
        )
        self._jobs[id] = job
        return job

    def list(self) -> list[Job]:
        """All jobs, ended ones too, in the order of their start."""
        return list(self._jobs.values())

    def get(self, id: str) -> Job:  # noqa: A002
        """The job with that id.

        Raises:
            NoSuchJob: There is none; the error names those there are.
        """
        try:
            return self._jobs[id]
        except KeyError:
            raise NoSuchJob(f"no job is called {id!r}; there are: {', '.join(self._jobs) or 'none'}") from None

    def close(self) -> None:
        """End all jobs and everything they started, those of a lost connection too if there is a new one."""
        if any(job.status == "lost" for job in self.list()):
            with contextlib.suppress(BackendError):
                self._backend.reconnect()
        for job in self.list():
            job.close()
