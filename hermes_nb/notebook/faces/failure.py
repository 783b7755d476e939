"""Failures of a magic as people want to read them: what went wrong, not where in this package it was raised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.common.redact import redact
from hermes_nb.common.text import one_line, readable
from hermes_nb.errors import CommandFailed, HermesError, ToolCallError

if TYPE_CHECKING:
    from hermes_nb.calls.results import ToolResult

_RED, _DIM, _PLAIN = "\x1b[1;31m", "\x1b[2m", "\x1b[0m"


def compact(error: BaseException, line: str) -> None:
    """Give an error a traceback of a few lines, if it is one that speaks for itself."""
    if isinstance(error, HermesError | KeyboardInterrupt | FileNotFoundError) or _is_backend_error(error):
        # IPython asks the exception itself how it wants to be shown.
        error._render_traceback_ = _Rendering(error, line)  # type: ignore[attr-defined]


class _Rendering:
    """What IPython shows of an error: a few lines when it is raised; ``%tb`` adds the frames of a tool's author."""

    def __init__(self, error: BaseException, line: str) -> None:
        self._error, self._line = error, line
        self._was_shown = False

    def __call__(self) -> list[str]:
        lines = render(self._error, self._line)
        frames = _frames(self._error)
        if not frames:
            return lines
        if self._was_shown:
            return [*lines, "", *frames]
        self._was_shown = True
        return [*lines, f"{_DIM}  %tb shows where it was raised{_PLAIN}"]


def render(error: BaseException, line: str) -> list[str]:
    """The lines that stand for a traceback."""
    name = type(error).__name__
    if isinstance(error, KeyboardInterrupt):
        return [f"{_RED}KeyboardInterrupt{_PLAIN}: stopped: %hermes {readable(redact(line))}"]
    shown = [f"{_RED}{name}{_PLAIN}: {readable(_message(error))}"]
    if isinstance(error, ToolCallError) and not isinstance(error, CommandFailed):
        shown += [f"{_DIM}  {readable(detail)}{_PLAIN}" for detail in _details(error.result)]
    fix = getattr(error, "fix", "")
    if fix:
        shown.append(f"  → {readable(str(fix))}")
    return [*shown, f"{_DIM}  in %hermes {one_line(readable(redact(line)), 120)}{_PLAIN}"]


def _frames(error: BaseException) -> list[str]:
    traceback = error.result.traceback if isinstance(error, ToolCallError) else None
    return [readable(line) for line in traceback.splitlines()] if traceback else []


def _message(error: BaseException) -> str:
    """What an error says, without the tool's name twice."""
    if type(error) is not ToolCallError:
        return str(error)
    own = error.result.error or ""
    return own if own.startswith(error.result.tool) or error.result.outcome == "unknown" else str(error)


def _details(result: ToolResult) -> list[str]:
    lines: list[str] = []
    if result.decision is not None:
        lines += dict.fromkeys(f"found: {finding.description}: {finding.text}" for finding in result.decision.findings)
    if result.outcome == "invalid":
        lines.append(f"%hermes describe {result.tool} shows what it takes")
    return lines


def _is_backend_error(error: BaseException) -> bool:
    from hermes_backends import BackendError

    return isinstance(error, BackendError)
