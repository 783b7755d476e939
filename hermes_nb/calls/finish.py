"""The end of every call, however it went: after-hooks, then once: redact, bound, spill, record."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_nb.calls.journal import Record
from hermes_nb.calls.results import ToolResult, error_json, sanitise
from hermes_nb.common.jsonable import copy_json, encode_anything
from hermes_nb.common.redact import holds_secret, redact, redact_json, redact_value
from hermes_nb.common.text import head_and_tail

if TYPE_CHECKING:
    from hermes_nb.approval.decision import Decision
    from hermes_nb.calls.path import Call

_SHORTEST_CUT = 400  # characters of a text inside a result that stay in any case: less would tell nothing


@dataclass(slots=True)
class Ending:
    """What became of a call, before anything is taken out of it.

    Attributes:
        outcome: As in ToolResult.
        value: What the handler returned.
        text: What the model shall read; None where only the error is known.
        error: What went wrong.
        details: What else the model should get to read, beside the error.
        traceback: The frames of the handler's author, where it raised.
        ran: Whether the handler was reached, so that there is something for after-hooks to see.
    """

    outcome: str = "ok"
    value: Any = None
    text: str | None = None
    error: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    traceback: str | None = None
    ran: bool = False


def finish(call: Call, ending: Ending) -> ToolResult:
    """Take the secrets out, bound the text, keep the rest in one file, write the record."""
    taken = time.perf_counter() - call.clock
    tool, value, error, notes = call.tool, ending.value, ending.error, call.notes
    if ending.text is None:
        error = sanitise(error or ending.outcome)
        text = error_json(error, **ending.details)
    else:
        text = ending.text
    is_replaced = False
    if ending.ran and call.session.hooks.has_after and tool is not None and call.args is not None:
        value = _value_without_secrets(value)  # a hook may hide from the text what is in the value
        shown, text = text, call.session.hooks.after(tool, call.args, text, call.context())
        is_replaced = text is not shown
    name = tool.name if tool is not None else redact(str(call.name))
    args = call.args if call.args is not None else call.written
    written = {"name": call.name, "args": call.written} if name != call.name or notes else None
    decision = call.decision.record() if call.decision is not None else None
    edit, traceback = call.edit, ending.traceback
    rest = encode_anything((args, written, decision, notes, edit))
    if holds_secret(f"{text}\0{error}\0{rest.decode()}"):
        text, value = _without_secrets(text), _value_without_secrets(value)
        error = redact(error) if error is not None else None
        args, written, decision, notes, _ = redact_json(msgspec.json.decode(rest))
        edit = edit and edit.without_secrets()
        call.decision = call.decision and _without_secrets_in(call.decision)
    if traceback is not None:
        traceback = redact(traceback)  # it is for people, and lives no longer than the result: no file has it
    text, spill = _bounded(call, text, None if is_replaced else value)  # what a hook took out stays out of the file too
    waited = min(call.waiting.seconds, taken)
    result = ToolResult(
        tool=name,
        text=text,
        value=value,
        outcome=ending.outcome,
        error=error,
        duration=taken - waited,
        waited=waited,
        decision=call.decision,
        call_id=call.id,
        spill=spill,
        notes=tuple(notes),
        args=args if call.args is not None else None,
        edit=edit,
        traceback=traceback,
    )
    call.session.journal.append(_record(call, result, args, written, decision))
    return result


def _record(call: Call, result: ToolResult, args: Any, written: Any, decision: Any) -> Record:
    session, tool, target = call.session, call.tool, call.target
    return Record(
        id=call.id,
        time=call.started,
        session=session.id,
        task=session.task_id,
        tool=result.tool,
        args=args,
        outcome=result.outcome,
        duration=result.duration,
        text=result.text,
        decision=decision,
        toolset=tool.toolset if tool is not None else "",
        backend=target.name if target is not None else "",
        written=written,
        notes=result.notes,
        exit_code=result.exit_code,
        edit=result.edit,
        spill=str(result.spill) if result.spill is not None else None,
        waited=result.waited,
        parent=call.parent_id,
        cwd=target.cwd if target is not None else "",
    )


# Secrets -------------------------------------------------------------------------------------------------------


def _without_secrets(text: str) -> str:
    """A result's text without secrets; JSON stays JSON, whatever a secret looks like."""
    parsed = _parsed(text)
    if not isinstance(parsed, dict | list):
        return redact(text)
    cleaned = redact_json(parsed)
    return text if cleaned == parsed else msgspec.json.encode(cleaned).decode()


def _value_without_secrets(value: Any) -> Any:
    return _without_secrets(value) if isinstance(value, str) else redact_value(value)


def _without_secrets_in(decision: Decision) -> Decision:
    findings = tuple(
        replace(finding, description=redact(finding.description), text=redact(finding.text))
        for finding in decision.findings
    )
    args = None if decision.args is None else redact_json(copy_json(decision.args))
    return replace(decision, reason=redact(decision.reason), args=args, findings=findings)


def _parsed(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


# Bounds --------------------------------------------------------------------------------------------------------


def _bounded(call: Call, text: str, value: Any) -> tuple[str, Path | None]:
    """The text within its limit, and the one file that has all of it where it was longer."""
    limit: float = call.session.config.get("results.max_chars")
    if call.tool is not None and call.tool.max_result_size_chars is not None:
        limit = min(limit, call.tool.max_result_size_chars)
    if len(text) <= limit and '"whole_output"' not in text:
        return text, None
    parsed = _parsed(text)
    spill = _named_spill(call, parsed)
    if len(text) <= limit:
        return text, spill
    where = f"is in {spill}"
    if spill is None:
        spill, where = call.session.spills.keep(call.id, _whole(text, parsed, value))
    if isinstance(parsed, dict | list):
        shortened = _shortened(parsed, int(limit), where)
        if shortened is not None:
            return shortened, spill
    return _clipped(text, int(limit), where), spill


def _named_spill(call: Call, parsed: Any) -> Path | None:
    """The file that a backend has already put all of the output into."""
    named = parsed.get("whole_output") if isinstance(parsed, dict) else None
    return call.session.spills.holds(named) if isinstance(named, str) else None


def _whole(text: str, parsed: Any, value: Any) -> str:
    """All of a result as one would want to read it in a file: what a command printed, not that in JSON."""
    printed = getattr(value, "printed", None)
    if isinstance(printed, str):
        return printed
    long = [text for text in _texts(parsed) if len(text) > _SHORTEST_CUT]
    return long[0] if len(long) == 1 else text


def _shortened(parsed: Any, limit: int, where: str) -> str | None:
    """The JSON with its longest texts cut, each to the same length; None where that is not enough."""
    low, high = _SHORTEST_CUT, max((len(text) for text in _texts(parsed)), default=0)
    best: str | None = None
    while low <= high:
        middle = (low + high) // 2
        shorter = msgspec.json.encode(_with_texts_cut(parsed, middle, where)).decode()
        if len(shorter) <= limit:
            best, low = shorter, middle + 1
        else:
            high = middle - 1
    return best


def _with_texts_cut(parsed: Any, length: int, where: str) -> Any:
    if isinstance(parsed, str):
        return _clipped(parsed, length, where)
    if isinstance(parsed, dict):
        return {key: _with_texts_cut(item, length, where) for key, item in parsed.items()}
    return [_with_texts_cut(item, length, where) for item in parsed] if isinstance(parsed, list) else parsed


def _clipped(text: str, limit: int, where: str) -> str:
    omitted = f"[… {len(text) - limit:,} of {len(text):,} characters omitted; the whole result {where} …]"
    return head_and_tail(text, limit, omitted)


def _texts(parsed: Any) -> Iterator[str]:
    if isinstance(parsed, str):
        yield parsed
    elif isinstance(parsed, dict | list):
        for item in parsed.values() if isinstance(parsed, dict) else parsed:
            yield from _texts(item)
