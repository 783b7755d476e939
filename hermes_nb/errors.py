"""Every exception that hermes-nb raises on purpose.

::

    HermesError
    ├── RegistrationError      a tool was declared in a way that can't work (also a ValueError)
    ├── UnknownToolError       no such tool in this session's scope          (also a LookupError)
    ├── UnknownToolsetError    no such toolset                               (also a LookupError)
    ├── ConfigError            a setting has a value that can't be used      (also a ValueError)
    ├── SessionClosedError     a session was used after it was closed        (also a RuntimeError)
    ├── LoopBlockedError       a blocking call on the tools' own event loop  (also a RuntimeError)
    ├── ToolError              raise it in a handler: the model reads its message as it is
    ├── ToolCallError          a failed call, when you ask for an exception: ``result.raise_for_error()``
    │   └── CommandFailed      a command ran to its end and reported failure
    ├── MagicError             a %hermes line that can't be understood       (also a ValueError)
    ├── NotATableError         a result that has no rows was asked for them (also a TypeError)
    ├── FolderChangedError     raise it in a handler: nothing was run, decide anew for this folder
    └── CallRefused            a call was stopped before its handler ran; becomes a ToolResult

``Session.call`` itself never raises for what happens in a call: the error is in the ToolResult.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hermes_nb.common.text import cut

if TYPE_CHECKING:
    from hermes_nb.calls.results import ToolResult


class HermesError(Exception):
    """The base of all errors of hermes-nb."""


class RegistrationError(HermesError, ValueError):
    """A tool or toolset was declared in a way that can't work."""


class UnknownToolError(HermesError, LookupError):
    """No tool of that name is in this session's scope."""

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        super().__init__(f"Unknown tool: {name}{did_you_mean(name, known)}")


class UnknownToolsetError(HermesError, LookupError):
    """No toolset of that name exists."""

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        hint = did_you_mean(name, known) or ". List what there is with registry.toolset_names()"
        super().__init__(f"Unknown toolset: {name}{hint}")


class ConfigError(HermesError, ValueError):
    """A setting has a value that can't be used."""


class SessionClosedError(HermesError, RuntimeError):
    """The session was closed: its backends are gone, and no new ones are opened."""


class LoopBlockedError(HermesError, RuntimeError):
    """A blocking call was made on the event loop that has to do the work."""


class ToolError(HermesError):
    """Raise this in a handler to tell the model what went wrong, in exactly these words."""


class NotATableError(HermesError, TypeError):
    """A value has no rows that could be a table."""


class ToolCallError(HermesError):
    """A call did not succeed. ``result`` has the whole story."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(f"{result.tool}: {result.error}")
        self.result = result
        if result.traceback is not None:
            self.add_note(f"\nIn the tool's own code:\n{result.traceback}")


class CommandFailed(ToolCallError):
    """A command ran to its end with an exit code other than 0. ``result`` has its output."""

    def __init__(self, result: ToolResult, command: str, exit_code: int) -> None:
        super().__init__(result)
        self.args = (f"exit code {exit_code}: {cut(command, 200)}",)
        self.exit_code = exit_code


class MagicError(HermesError, ValueError):
    """What was typed after ``%hermes`` can't be understood."""


class FolderChangedError(HermesError):
    """The shell has left the folder that the call was decided for; nothing was run, and it is decided anew.

    Attributes:
        folder: Where the shell is now.
    """

    def __init__(self, folder: str | None) -> None:
        super().__init__(f"the shell is in {folder} now")
        self.folder = folder


class CallRefused(HermesError):
    """A call was stopped before its handler ran.

    Attributes:
        outcome: The word for it in the journal: unknown, unavailable, invalid, vetoed or denied.
        details: What else the model should get to read, beside ``error``.
    """

    def __init__(self, outcome: str, message: str, **details: object) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.details = details


def did_you_mean(name: str, known: Iterable[str], limit: int = 3) -> str:
    """A sentence that names the nearest known names, or nothing."""
    near = nearest(name, known, limit)
    return f". Did you mean {', '.join(near)}?" if near else ""


def nearest(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known names that are nearly this one, the nearest first."""
    by_lower_case = {candidate.lower(): candidate for candidate in known}
    return [by_lower_case[match] for match in difflib.get_close_matches(name.lower(), by_lower_case, n=limit)]
