"""How a call went, in a mark that every face shows: this is the one place where that is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

#: good, failed (a command ran and failed by itself), bad (the call failed), held (it was stopped), running
Tone = Literal["good", "failed", "bad", "held", "running"]

_HELD = frozenset({"denied", "vetoed", "unavailable", "interrupted", "killed"})
_PLAIN = frozenset({str, int, float, bool, list, bytes, type(None)})
_STREAMS = frozenset({"stdout", "stderr", "output"})


@dataclass(frozen=True, slots=True)
class Mark:
    """How something went: ``✓ ok``, ``✗ exit 1``, ``⊘ denied``.

    Attributes:
        symbol: Its sign.
        word: Its word.
        tone: What the colour says.
    """

    symbol: str
    word: str
    tone: Tone

    @property
    def text(self) -> str:
        """What stands in plain text: the word, and the sign where the word alone could be overlooked."""
        return str(self) if self.tone == "failed" else self.word

    def __str__(self) -> str:
        return f"{self.symbol} {self.word}"


def mark_of(outcome: str, exit_code: int | None = None) -> Mark:
    """The mark of a call, by its outcome and the exit code of the command that it ran, if it ran one."""
    if outcome == "ok":
        return Mark("✗", f"exit {exit_code}", "failed") if exit_code else Mark("✓", "ok", "good")
    return Mark("⊘", outcome, "held") if outcome in _HELD else Mark("✗", outcome, "bad")


def mark_of_job(status: str, exit_code: int | None) -> Mark:
    """The mark of a background job."""
    if status == "running":
        return Mark("…", status, "running")
    if status == "exited":
        return mark_of("ok", exit_code) if exit_code else Mark("✓", "exited 0", "good")
    return mark_of(status)


def exit_code_of(value: Any) -> int | None:
    """The exit code in what a tool gave back, where that is what a command left behind."""
    if type(value) in _PLAIN:
        return None
    try:
        if isinstance(value, Mapping):
            code = value.get("exit_code") if _STREAMS & value.keys() else None
        else:
            inner = getattr(value, "result", value)
            code = getattr(inner, "exit_code", None) if hasattr(inner, "stdout") else None
    except Exception:  # whatever a tool gave back: to look at it must not fail
        return None
    return code if isinstance(code, int) and not isinstance(code, bool) else None
