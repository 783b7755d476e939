"""What a command printed, found in whatever shape a tool gave it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes_nb.common.redact import redact


@dataclass(frozen=True, slots=True)
class Streams:
    """The output of a command.

    Attributes:
        stdout: Standard output, colours and all.
        stderr: Standard error.
        exit_code: None if the outcome is unknown.
        where: The place it ran, in words.
        cwd: The shell's directory afterwards.
    """

    stdout: str
    stderr: str
    exit_code: int | None
    where: str = ""
    cwd: str = ""


def streams_of(value: Any) -> Streams | None:
    """The output of a command if a tool's value is that of one, without the secrets that are known."""
    if isinstance(value, Mapping):
        if "exit_code" not in value or not {"stdout", "stderr", "output"} & value.keys():
            return None
        held: Mapping[str, Any] = {"stdout": value.get("output", ""), **value}
    else:
        inner = getattr(value, "result", value)
        if not all(hasattr(inner, name) for name in ("stdout", "stderr", "exit_code")):
            return None
        if not isinstance(inner.exit_code, int | None):  # a data frame has its columns as attributes
            return None
        held = {name: getattr(inner, name, "") for name in ("stdout", "stderr", "exit_code", "where", "cwd")}
    texts = {name: redact(str(held.get(name) or "")) for name in ("stdout", "stderr", "where", "cwd")}
    return Streams(exit_code=held["exit_code"], **texts)
