"""What a call gives back: text for the model, the value for the notebook."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_nb.calls.marks import Mark, exit_code_of, mark_of
from hermes_nb.common.jsonable import encodable, json_form
from hermes_nb.common.text import cut
from hermes_nb.errors import ToolCallError
from hermes_nb.returned.described import text_of

if TYPE_CHECKING:
    from hermes_backends import ExecResult
    from hermes_nb.approval.decision import Decision
    from hermes_nb.approval.edit import Edit

ERROR_LIMIT = 2000

_FRAMING = re.compile(
    r"</?(?:system|user|assistant|human|tool|function|tool_call|tool_result|tool_response|function_calls?|invoke)\b[^>]*>"
    r"|<\|[^|>]{1,40}\|>|<!\[CDATA\[|\]\]>|```\w*",
    re.IGNORECASE,
)
_encode = msgspec.json.Encoder(enc_hook=json_form).encode


class ToolResult(msgspec.Struct, frozen=True, eq=False):
    """The outcome of one call.

    Attributes:
        tool: The real tool's name, also when it was called through the bridge.
        text: What the model reads: the result, or a JSON object with an ``error``.
        value: What the handler returned; where a secret had to be taken out of it, a copy of the same type.
        outcome: ok, error, timeout, unknown, unavailable, invalid, vetoed or denied.
        error: What went wrong, in one line; None if nothing did.
        duration: Seconds from call to result, without those in `waited`.
        waited: Seconds for which a person, or a judging model, was asked.
        decision: Why the call was let through or stopped, where that had to be decided.
        call_id: Names the call in the journal.
        spill: The file that holds the whole text, where it was longer than the limit.
        notes: What was put right on the way.
        args: The arguments that it ran with, without secrets: not what was asked for, where somebody changed it.
        edit: What an approver changed of it.
        traceback: Where a handler raised: the frames of its author, for people; no model and no journal gets it.
    """

    tool: str
    text: str
    value: Any = None
    outcome: str = "ok"
    error: str | None = None
    duration: float = 0.0
    decision: Decision | None = None
    call_id: str = ""
    spill: Path | None = None
    notes: tuple[str, ...] = ()
    waited: float = 0.0
    args: Any = None
    edit: Edit | None = None
    traceback: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the tool ran and did not fail; a command that it ran may have: see `exit_code`."""
        return self.outcome == "ok"

    @property
    def exit_code(self) -> int | None:
        """The exit code of the command that it ran; None if it ran none, or if that is not known."""
        return exit_code_of(self.value)

    @property
    def mark(self) -> Mark:
        """How it went, as every face shows it."""
        return mark_of(self.outcome, self.exit_code)

    def raise_for_error(self) -> ToolResult:
        """This result, if the call succeeded.

        Raises:
            ToolCallError: It did not.
        """
        if not self.ok:
            raise ToolCallError(self)
        return self

    def df(self) -> Any:
        """The value as a data frame of pandas.

        It may be a frame of pandas or polars, an Arrow table, a list of dicts or other records, a dict of lists, a list
        of rows or values, a dict with one list of records in it, a journal, or the JSON of one of them.

        Raises:
            ToolCallError: The call did not succeed.
            ModuleNotFoundError: pandas is not installed.
            NotATableError: The value is no table.
        """
        from hermes_nb.returned.frames import frame_of

        return frame_of(self.raise_for_error().value)

    def show(self, kind: str | None = None, limit: int | None = None) -> None:
        """Show the result in the cell in a way of your choice.

        Args:
            kind: json, table, text, markdown, html (in a locked frame), image or audio; by default what suits it best.
            limit: How many rows, items or lines at most.

        Raises:
            ValueError: There is no such kind, the limit is not positive, or the value can't be shown that way.
        """
        from IPython.display import display

        from hermes_nb.notebook.faces.shown import Shown

        display(Shown.of(self, kind, limit))  # type: ignore[no-untyped-call]

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from hermes_nb.notebook.faces.results import result_bundle

        return result_bundle(self)

    def __repr__(self) -> str:
        return f"<{self.tool}: {self.mark.text}, {self.duration * 1000:.1f} ms>\n{self.text}"


class CommandResult:
    """What a command gave back: for the notebook with its colours, for the model without.

    Args:
        result: The command's result, as the backend gave it.
    """

    #: As models of pydantic name their fields: where secrets are looked for.
    model_fields = ("result",)

    def __init__(self, result: ExecResult) -> None:
        self.result = result

    @property
    def outcome(self) -> str:
        """The word for it in the journal."""
        return "timeout" if self.result.timed_out else "error" if self.error else "ok"

    @property
    def error(self) -> str:
        """Why the outcome is unknown or the command was stopped; empty when it ran to its end."""
        if self.result.timed_out:
            return f"timed out after {self.result.duration:.1f} s and was killed, with everything it started"
        return self.result.error

    @property
    def exit_code(self) -> int | None:
        """The exit status; None when the outcome is unknown."""
        return self.result.exit_code

    @property
    def printed(self) -> str:
        """All that is held of what it printed, standard output first."""
        return self.result.plain_stdout + self.result.plain_stderr

    def model_dump(self, mode: str = "json") -> dict[str, Any]:  # noqa: ARG002
        """What the model reads."""
        dumped: dict[str, Any] = {
            "stdout": self.result.plain_stdout,
            "stderr": self.result.plain_stderr,
            "exit_code": self.result.exit_code,
            "cwd": self.result.cwd,
            "where": self.result.where,
        }
        if not dumped["stderr"]:
            del dumped["stderr"]
        if self.error:
            dumped["error"] = self.error
        if self.result.spill is not None:
            dumped["whole_output"] = str(self.result.spill)
        if self.result.restarted:
            dumped["note"] = "the shell was new: variables and functions of earlier commands were gone"
        return dumped

    def __repr__(self) -> str:
        return f"<exit code {self.result.exit_code} on {self.result.where}>"


def to_text(value: Any) -> str:
    """What the model reads of a handler's value: a text as it is, all else as JSON that says what there is to know.

    Raises:
        TypeError: The value has no form that a model could read.
    """
    if isinstance(value, str):
        text = value if type(value) is str else str.__str__(value)
        return text if text.isascii() else encodable(text)
    return text_of(value)


def error_json(message: str, **details: object) -> str:
    """The JSON object that reports an error to the model."""
    return _encode({"error": message, **details}).decode()


def sanitise(message: str) -> str:
    """An error's text without what a model could take for the structure of its conversation, and not too long."""
    cleaned = _FRAMING.sub("", message).strip()
    return cut(cleaned, ERROR_LIMIT)
