"""One command of a persistent shell: how it is sent, and what came of it so far."""

from __future__ import annotations

import codecs
import shlex
import time
from typing import TYPE_CHECKING

from ..results import ExecResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..output import Collector
    from .frames import Frame

STREAMS = {1: "stdout", 2: "stderr"}


def script(command: str, cwd: str | None, env: Mapping[str, str] | None) -> str:
    """The command as the shell evaluates it, in a directory and with variables of its own if it has them."""
    if not cwd and not env:
        return command
    wrapped = " ".join(
        [
            *(f"{name}={shlex.quote(value)}" for name, value in (env or {}).items()),
            "eval",
            shlex.quote(command),
        ]
    )
    return f"builtin cd -- {_path(cwd)} && {wrapped}" if cwd else wrapped


def _path(path: str) -> str:
    home, slash, rest = path.partition("/")
    return '"$HOME"' + slash + (shlex.quote(rest) if rest else "") if home == "~" else shlex.quote(path)


def message(number: str, text: str, stdin: bytes, *, come_back: bool) -> bytes:
    r"""For the driver: a header, the command, its input with `\` and NUL escaped, for bash has no NUL."""
    body = text.encode("utf-8", "surrogateescape")
    data = stdin.replace(b"\\", b"\\\\").replace(b"\0", b"\\0000")
    return f"R {number} {len(body)} {len(data)} {1 if come_back else ''}\n".encode() + body + data


class Call:
    """A command under way.

    Args:
        number: Its number within its shell; 0 is the shell's greeting.
        command: What the user asked for.
        collector: Where its output goes.
        on_output: Who sees the output as it comes.
    """

    def __init__(
        self,
        number: int,
        command: str,
        collector: Collector,
        on_output: Callable[[str, str], None] | None = None,
    ) -> None:
        self.number = str(number)
        self.command = command
        self.collector = collector
        self.cwd = ""
        self.lost = ""
        self.death: int | None = None
        self.raised: BaseException | None = None
        self.timed_out = self.interrupted = False
        self._code: int | None = None
        self._began = time.monotonic()
        self._on_output = on_output
        self._decoders = {n: codecs.getincrementaldecoder("utf-8")("replace") for n in STREAMS}
        self._unfinished = set(STREAMS)

    @property
    def ended(self) -> bool:
        """Both streams have said so."""
        return not self._unfinished

    def take(self, stream: int, item: bytes | Frame) -> None:
        """Take a piece of output or a word of the driver."""
        if isinstance(item, bytes):
            self.collector.add(stream, item)
            if self._on_output and not self.raised and (text := self._decoders[stream].decode(item)):
                self._on_output(STREAMS[stream], text)
        elif item.kind == "D":
            self.death = int(item.fields[1])
        elif item.fields[0] == self.number:  # else: a call that was given up long ago
            self._unfinished.discard(stream)
            if stream == 1:
                self._code, self.cwd = int(item.fields[1]), item.fields[2]

    def result(self, where: str, *, restarted: bool) -> ExecResult:
        """What came of it. Whoever killed it is told by flags; a death of unknown cause has no exit code."""
        stdout, stderr = self.collector.contents()
        return ExecResult(
            command=self.command,
            stdout_bytes=stdout,
            stderr_bytes=stderr,
            exit_code=self._exit_code(),
            duration=time.monotonic() - self._began,
            cwd=self.cwd,
            where=where,
            timed_out=self.timed_out,
            interrupted=self.interrupted,
            truncated=self.collector.truncated,
            spill=self.collector.spill,
            error=f"outcome unknown: {self.lost}; the command was not run again" if self.lost else "",
            restarted=restarted,
        )

    def _exit_code(self) -> int | None:
        if self.lost:
            return None
        if self.timed_out:
            return 124
        if self.interrupted:
            return 130
        return self._code if self.death is None else self.death
