"""What a command gave back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_ANSI = re.compile(
    r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: titles, hyperlinks
    r"|[PX^_][^\x1b]*\x1b\\"  # DCS, SOS, PM, APC
    r"|\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|[ -/]*[0-~])"  # the rest
)


def strip_ansi(text: str) -> str:
    r"""Text without terminal escape sequences, and with `\r`-overwritten progress bars left at their end."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = re.sub(r"[^\n]*\r(?=[^\n\r])", "", text).replace("\r", "")
    return text


@dataclass(frozen=True, slots=True)
class ExecResult:
    """The outcome of one command.

    Attributes:
        command: What was run.
        stdout_bytes: Standard output as it came; the head and tail of it when `truncated`.
        stderr_bytes: The same of standard error.
        exit_code: The exit status; 128 + n for death by signal n; 124 after a time-out, 130 after an
            interrupt; None when the outcome is unknown, and then `error` says why.
        timed_out: The command was killed because its time was up.
        interrupted: The command was killed on request.
        truncated: More was put out than is held here.
        spill: The file with the whole output, both streams as they came, when `truncated`.
        duration: Seconds.
        cwd: The shell's directory afterwards.
        where: Which backend ran it.
        error: Why the outcome is unknown or the state was lost; empty when all is well.
        restarted: The shell was new: variables and functions of earlier commands were not there.
    """

    command: str
    stdout_bytes: bytes
    stderr_bytes: bytes
    exit_code: int | None
    duration: float
    cwd: str = ""
    where: str = ""
    timed_out: bool = False
    interrupted: bool = False
    truncated: bool = False
    spill: Path | None = None
    error: str = ""
    restarted: bool = False

    @property
    def ok(self) -> bool:
        """Ran to its end and succeeded."""
        return self.exit_code == 0

    @property
    def stdout(self) -> str:
        """Standard output as text, escape sequences and all."""
        return self.stdout_bytes.decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        """Standard error as text, escape sequences and all."""
        return self.stderr_bytes.decode("utf-8", "replace")

    @property
    def plain_stdout(self) -> str:
        """Standard output as a model should read it: without escape sequences."""
        return strip_ansi(self.stdout)

    @property
    def plain_stderr(self) -> str:
        """Standard error as a model should read it: without escape sequences."""
        return strip_ansi(self.stderr)
