"""Program output as a screen would show it, in plain characters."""

from __future__ import annotations

import re

_CODES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def screen(output: str) -> str:
    """The text without terminal codes, and of a line that was written over and over only the last state."""
    lines = _CODES.sub("", output.replace("\r\n", "\n")).split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)
