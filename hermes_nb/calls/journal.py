"""The journal: one line for every call, written when it ends, readable while it grows.

A line goes to the file in a single write, so records of parallel calls don't mix and a killed process leaves whole
lines behind; a reader passes over a line that was cut by a full disk or a power failure.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from hermes_nb.approval.edit import Edit  # noqa: TC001  # msgspec reads the hints
from hermes_nb.calls.marks import Mark, exit_code_of, mark_of
from hermes_nb.common.jsonable import encode_anything
from hermes_nb.common.listeners import Listeners
from hermes_nb.common.text import one_line
from hermes_nb.home import home, private_folder

logger = logging.getLogger(__name__)


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call, as it is kept.

    Attributes:
        id: The call's id, unique in its session.
        time: When it began, in seconds since 1970.
        session: The session's id.
        task: The task's id.
        tool: The real tool's name; ``written`` has what the model wrote, where that was something else.
        args: The arguments that the tool got, without secrets.
        outcome: As in ToolResult.
        duration: Seconds that the call took, without those in `waited`.
        text: What the model read.
        decision: What was decided on it, by whom and why.
        toolset: The tool's toolset.
        backend: Where it ran.
        written: The call as the model wrote it, when it came through the bridge or under another name.
        notes: What was put right on the way.
        spill: The file with the whole text, where it was longer than the limit.
        waited: Seconds for which a person was asked.
        parent: The call inside which this one was made; with its session's id before it where that is another.
        cwd: The folder it ran in; empty where that was not known beforehand.
        exit_code: The exit code of the command that it ran, where it ran one.
        edit: What an approver changed of it before it ran.
    """

    id: str
    time: float
    session: str
    task: str
    tool: str
    args: Any
    outcome: str
    duration: float
    text: str
    decision: dict[str, Any] | None = None
    toolset: str = ""
    backend: str = "local"
    written: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    spill: str | None = None
    waited: float = 0.0
    parent: str | None = None
    cwd: str = ""
    exit_code: int | None = None
    edit: Edit | None = None

    @property
    def ok(self) -> bool:
        """Whether the tool ran and did not fail; a command that it ran may have: see `exit_code`."""
        return self.outcome == "ok"

    @property
    def mark(self) -> Mark:
        """How it went, as every face shows it."""
        return mark_of(self.outcome, self.exit_code)


_decode = msgspec.json.Decoder(Record).decode


def _read(line: bytes) -> Record:
    record = _decode(line)
    if record.exit_code is None and '"exit_code"' in record.text:  # as it was kept before it had a field of its own
        try:
            return msgspec.structs.replace(record, exit_code=exit_code_of(msgspec.json.decode(record.text)))
        except msgspec.DecodeError:
            return record
    return record


class Journal:
    """The records of one session, on disk. Iterating reads them from the start."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._lock = threading.Lock()
        self._subscribers: Listeners[[Record]] = Listeners("a subscriber of the journal")

    @classmethod
    def for_session(cls, session_id: str) -> Journal:
        """The journal of a session below HERMES_NB_HOME, or in a temporary folder if that can't be written."""
        try:
            folder = private_folder("journal")
            if not os.access(folder, os.W_OK):
                raise PermissionError(f"{folder} is not writable")
        except OSError as error:
            folder = Path(tempfile.gettempdir())
            logger.warning("%s; the journal goes to %s. Set HERMES_NB_HOME to keep it elsewhere", error, folder)
        return cls(folder / f"{session_id}.jsonl")

    @classmethod
    def open(cls, session: str | Path) -> Journal:
        """The journal of a past session, by its id or its file.

        Raises:
            FileNotFoundError: There is none; the message says where it was looked for.
        """
        path = Path(session)
        if not path.suffix:
            path = home() / "journal" / f"{session}.jsonl"
        if not path.exists():
            raise FileNotFoundError(f"no journal at {path}")
        return cls(path)

    def append(self, record: Record) -> None:
        """Keep a record, from which secrets have been taken.

        A disk that can't take it is logged: the call itself has already happened.
        """
        line = encode_anything(record) + b"\n"
        try:
            with self._lock:  # a file that is being closed must not be written to: its number may be another's by now
                if os.write(self._open(), line) < len(line):
                    self._close()  # cut short: opening it again puts the next record on a line of its own
                    raise OSError("the disk is full")  # noqa: TRY301
        except OSError:
            logger.exception("the journal %s can't take a record of %s", self.path, record.tool)
        self._subscribers.tell(record)

    def df(self) -> Any:
        """The records as a data frame of pandas, one call a row.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        from hermes_nb.returned.frames import frame_of

        return frame_of(self)

    def _open(self) -> int:
        if self._descriptor is None:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._descriptor = os.open(self.path, flags, 0o600)
            size = os.fstat(self._descriptor).st_size
            if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
                os.write(self._descriptor, b"\n")
        return self._descriptor

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def subscribe(self, subscriber: Callable[[Record], None]) -> Callable[[], None]:
        """Call a function with every new record; returns a function that ends it."""
        return self._subscribers.add(subscriber)

    def close(self) -> None:
        """Close the file; the next record opens it again."""
        with self._lock:
            self._close()

    def __iter__(self) -> Iterator[Record]:
        try:
            lines = self.path.open("rb")
        except FileNotFoundError:
            return
        with lines:
            for line in lines:
                try:
                    yield _read(line)
                except msgspec.DecodeError:
                    logger.warning("%s: a damaged line was passed over", self.path)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from hermes_nb.notebook.faces.results import journal_bundle

        return journal_bundle(self)

    def __repr__(self) -> str:
        return f"<Journal {self.path.stem}: {len(self)} calls>"


def replay(session: str | Path) -> Replay:
    """A past session's calls, shown again without running anything.

    Raises:
        FileNotFoundError: There is no such journal.
    """
    return Replay(tuple(Journal.open(session)))


class Replay(tuple[Record, ...]):
    """The records of a past run; printing it tells the story."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(_story(number, record) for number, record in enumerate(self, 1)) or "no calls"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from hermes_nb.notebook.faces.results import replay_html

        return str(replay_html(self))


def _story(number: int, record: Record) -> str:
    arguments = msgspec.json.encode(record.args).decode()
    lines = [f"{number:3} {record.tool} {one_line(arguments, 200)}"]
    if record.decision and record.decision.get("by"):
        lines.append(
            f"      {record.decision['choice']} by {record.decision['by']}: {record.decision.get('reason', '')}"
        )
    lines += [f"      {line}" for line in str(record.edit).splitlines()] if record.edit is not None else []
    waited = f", asked for {record.waited:.1f} s" if record.waited >= 1 else ""
    inside = f", inside {record.parent}" if record.parent else ""
    lines.append(
        f"    → {record.mark.text} in {record.duration * 1000:.1f} ms{waited}{inside}: {one_line(record.text, 200)}"
    )
    return "\n".join(lines)
