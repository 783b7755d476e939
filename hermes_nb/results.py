"""What a call gives back: text for the model, the value for the notebook; bounded, sanitised, nothing lost."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_nb.common.described import text_of
from hermes_nb.common.jsonable import encodable, json_form
from hermes_nb.errors import ToolCallError
from hermes_nb.home import private_folder

if TYPE_CHECKING:
    from hermes_nb.approval.decision import Decision

logger = logging.getLogger(__name__)

HEAD_SHARE = 0.4  # the end of an output usually says more than its beginning
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
        value: What the handler returned; rebuilt from the text where a secret had to be taken out of it.
        outcome: ok, error, timeout, unknown, unavailable, invalid, vetoed or denied.
        error: What went wrong, in one line; None if nothing did.
        duration: Seconds from call to result.
        decision: Why the call was let through or stopped, where that had to be decided.
        call_id: Names the call in the journal.
        spill: The file that holds the whole text, where it was longer than the limit.
        notes: What was put right on the way.
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

    @property
    def ok(self) -> bool:
        """Whether the tool ran and did not fail."""
        return self.outcome == "ok"

    def raise_for_error(self) -> ToolResult:
        """This result, if the call succeeded.

        Raises:
            ToolCallError: It did not.
        """
        if not self.ok:
            raise ToolCallError(self)
        return self

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from hermes_nb.notebook.display import result_bundle

        return result_bundle(self)

    def __repr__(self) -> str:
        return f"<{self.tool}: {self.outcome}, {self.duration * 1000:.1f} ms>\n{self.text}"


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
    return cleaned if len(cleaned) <= ERROR_LIMIT else f"{cleaned[: ERROR_LIMIT - 1]}…"


def clip(text: str, limit: float, session_id: str, call_id: str) -> tuple[str, Path | None]:
    """The text cut to its head and tail, and the file that has all of it; as it is where it fits the limit."""
    if len(text) <= limit:
        return text, None
    spill, where = _spill(text, session_id, call_id)
    limit = int(limit)
    head, tail = int(limit * HEAD_SHARE), limit - int(limit * HEAD_SHARE)
    omitted = len(text) - limit
    marker = f"\n[… {omitted:,} of {len(text):,} characters omitted; the whole result {where} …]\n"
    return f"{text[:head]}{marker}{text[-tail:] if tail else ''}", spill


def _spill(text: str, session_id: str, call_id: str) -> tuple[Path | None, str]:
    try:
        spill = private_folder("spill", session_id) / f"{call_id}.txt"
        spill.touch(mode=0o600)
        spill.write_text(text, encoding="utf-8", newline="")
    except OSError as problem:
        logger.warning("a result could not be kept: %s", problem)
        return None, f"could not be kept: {problem}"
    return spill, f"is in {spill}"
