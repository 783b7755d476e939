"""The path of one call, from name to result. Read `_take` from top to bottom: there is no other way to run a tool."""

from __future__ import annotations

import contextvars
import inspect
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_nb import aio
from hermes_nb.approval.assessment import ALLOWED, Assessment, Finding
from hermes_nb.approval.decision import Decision, Request
from hermes_nb.arguments import prepare
from hermes_nb.common.iterated import settled
from hermes_nb.common.jsonable import copy_json, encode_anything
from hermes_nb.context import Context, OnOutput, accepted_keywords
from hermes_nb.errors import CallRefused, ToolError
from hermes_nb.hooks import Ask, Rewrite
from hermes_nb.journal import Record
from hermes_nb.redact import holds_secret, redact, redact_json
from hermes_nb.results import ToolResult, clip, error_json, sanitise, to_text

if TYPE_CHECKING:
    from hermes_nb.declaration import Tool
    from hermes_nb.session import Session

logger = logging.getLogger(__name__)

_EDITS_AT_MOST = 5


class Call(msgspec.Struct, eq=False):
    """One call on its way: what was asked for, and what became of it so far."""

    session: Session
    name: str
    written: Any
    id: str
    timeout: float | None = None
    user_task: str | None = None
    tool_call_id: str | None = None
    on_output: OnOutput | None = None
    on_start: Callable[[Future[Any]], None] | None = None
    tool: Tool | None = None
    args: dict[str, Any] | None = None
    decision: Decision | None = None
    notes: list[str] = []
    started: float = 0.0

    def context(self) -> Context:
        """What handlers, hooks and guards may know of it."""
        return Context(self.session, self.id, self.timeout, self.user_task, self.tool_call_id, self.on_output)


def run(call: Call) -> ToolResult:
    """Take a call all the way. Whatever happens on it comes out as a ToolResult; only an interrupt gets through."""
    call.started = time.time()
    running = call.session.running
    try:
        running.begin(call)
        return _take(call)
    finally:
        running.end(call)


def _take(call: Call) -> ToolResult:
    clock = time.perf_counter()
    outcome, ran = "ok", False
    value: Any = None
    text: str | None = None
    error: str | None = None
    details: dict[str, Any] = {}
    try:
        tool, raw = call.session.unwrap(call)
        _check_available(call, tool)
        args = _prepare(tool, raw)
        call.tool, call.args = tool, args
        context = call.context()
        args, assessment = _ask_hooks(call, tool, args, context)
        args = _approve(call, tool, args, assessment, context)
        call.args = args
        ran = True
        value = _handle(call, tool, args, context)
        text = to_text(value)
        error = _reported_error(value, text)
        outcome = "ok" if error is None else "error"
    except CallRefused as refusal:
        outcome, error, details = refusal.outcome, str(refusal), refusal.details
    except aio.DeadlineExceeded as late:
        outcome, error = (
            "timeout",
            f"Tool execution failed: TimeoutError: {call.name} did not finish in time: {late}",
        )
    except _HandlerFailed as failure:
        outcome, error = "error", str(failure)
    except Exception as unexpected:
        logger.exception("the call of %s failed outside its handler", call.name)
        outcome, error = "error", f"Error executing {call.name}: {unexpected}"
    except BaseException as interrupt:
        so_far = getattr(interrupt, "result", None)  # what a command had printed until then
        printed = {"stdout": so_far.stdout, "stderr": so_far.stderr} if so_far is not None else {}
        _finish(call, "interrupted", clock, None, error_json("interrupted", **printed), "interrupted")
        raise
    if text is None:
        error = sanitise(error or outcome)
        value, text = None, error_json(error, **details)
    if ran and call.session.hooks.has_after:
        _, value = _without_secrets(text, value)  # the hooks may hide from the text what is in the value
        text = _after_hooks(call, text)
    return _finish(call, outcome, clock, value, text, error)


class _HandlerFailed(Exception):
    """A handler raised; the message is what the model reads."""


def _check_available(call: Call, tool: Tool) -> None:
    if tool.check_fn is None and not tool.requires_env:
        return
    reason = call.session.registry.availability.reason(tool)
    if reason is not None:
        raise CallRefused("unavailable", f"{tool.name} is not available: {reason}")


def _prepare(tool: Tool, raw: Any) -> dict[str, Any]:
    current = tool if tool.dynamic_schema_overrides is None else tool.overridden()
    try:
        return prepare(raw, current.parameters, current.validator, tool.name)
    except CallRefused as refusal:
        refusal.details = {"parameters": current.parameters}  # so that the model's next try can succeed
        raise


def _ask_hooks(call: Call, tool: Tool, args: dict[str, Any], context: Context) -> tuple[dict[str, Any], Assessment]:
    if not call.session.hooks.has_before:
        return args, ALLOWED
    asked: list[Finding] = []
    for answer in call.session.hooks.before(tool, args, context, lambda rewritten: _prepare(tool, rewritten)):
        if isinstance(answer, Rewrite):
            args = dict(answer.args)
            call.notes.append("arguments rewritten by a hook")
        elif isinstance(answer, Ask):
            asked.append(Finding(answer.rule, answer.message, tool.name))
    return args, Assessment(tuple(asked)) if asked else ALLOWED


def _approve(call: Call, tool: Tool, args: dict[str, Any], asked: Assessment, context: Context) -> dict[str, Any]:
    """The arguments to run with, once nothing stands against them; edited ones are assessed like any others."""
    policy = call.session.policy
    if tool.guard is None and asked is ALLOWED and not policy.has_rules:
        return args
    for _ in range(_EDITS_AT_MOST):
        assessment = _assess(tool, args, context) + asked
        approved = msgspec.json.encode(args)
        request = Request(
            tool=tool.name,
            args=msgspec.json.decode(approved),
            findings=assessment.findings,
            backend=call.session.backend_name,
            cwd=str(call.session.cwd),
            timeout=call.session.config.get("approval.timeout"),
            session_id=call.session.id,
            call_id=call.id,
        )
        decision = policy.decide(request, assessment, isolated=lambda: call.session.is_isolated)
        call.decision = decision or call.decision
        if decision is None:
            return args
        if not decision.allowed:
            raise CallRefused("denied", f"{tool.name} was denied: {decision.reason}")
        if decision.args is None:
            # What was approved is what runs, whoever else held a reference to the arguments meanwhile.
            decoded: dict[str, Any] = msgspec.json.decode(approved)
            return decoded
        args = call.args = _prepare(tool, decision.args)
        call.notes.append("arguments edited by the approver")
        asked = ALLOWED
    raise CallRefused("denied", f"{tool.name} was denied: edited {_EDITS_AT_MOST} times without an approval")


def _assess(tool: Tool, args: Mapping[str, Any], context: Context) -> Assessment:
    if tool.guard is None:
        return ALLOWED
    try:
        return tool.guard(args, context)
    except (Exception, SystemExit) as error:
        logger.exception("the guard of %s failed; a person has to decide", tool.name)
        return Assessment((Finding("undecidable", f"its guard failed: {error}", tool.name),))


def _handle(call: Call, tool: Tool, args: dict[str, Any], context: Context) -> Any:
    handler = call.session.handler_of(tool)
    accepted = tool.accepted if handler is tool.handler else accepted_keywords(handler)
    work = partial(handler, copy_json(args), **(context.keywords(accepted) if accepted != frozenset() else {}))
    try:
        if tool.is_async:
            value = settled(aio.run(work, _limit(call), call.on_start))
        else:
            value = settled(work()) if call.timeout is None else _in_thread(lambda: settled(work()), call.timeout)
        if inspect.iscoroutine(value):  # declared sync, but async after all
            return settled(aio.run(lambda: value, _limit(call), call.on_start))
    except aio.DeadlineExceeded:
        raise
    except ToolError as error:
        raise _HandlerFailed(str(error)) from error
    except (Exception, SystemExit) as error:
        logger.debug("%s failed", tool.name, exc_info=True)
        raise _HandlerFailed(f"Tool execution failed: {type(error).__name__}: {error}") from error
    return value


def _limit(call: Call) -> float | None:
    limit: float | None = call.session.config.get("calls.timeout") if call.timeout is None else call.timeout
    return limit


def _in_thread(work: Callable[[], Any], timeout: float) -> Any:
    """Wait for a sync handler no longer than the caller wants. Python can't stop it, and the message says so."""
    future: Future[Any] = Future()
    context = contextvars.copy_context()

    def target() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=target, name="hermes-nb-handler", daemon=True).start()
    try:
        return future.result(timeout)
    except TimeoutError:
        if future.done():  # the handler's own TimeoutError, or its result at the last moment
            return future.result()
        message = f"still running after {timeout:g} s; its outcome is unknown"
        raise aio.DeadlineExceeded(message) from None


def _reported_error(value: Any, text: str) -> str | None:
    """The error that a handler reports in its result, by the convention of an object with an ``error``."""
    if isinstance(value, dict):
        found = value.get("error")
    elif not isinstance(value, str):
        found = getattr(value, "error", None)
    elif text.startswith("{") and '"error"' in text:
        try:
            found = _decode_report(text).error
        except msgspec.DecodeError:
            return None
    else:
        return None
    # A number is not an error but how far off a measurement may be.
    return str(found) if isinstance(found, str | dict | bool) and found else None


class _Report(msgspec.Struct):
    error: Any = None


_decode_report = msgspec.json.Decoder(_Report).decode


def _after_hooks(call: Call, text: str) -> str:
    if call.tool is None or call.args is None:
        return text
    return call.session.hooks.after(call.tool, call.args, text, call.context())


def _finish(call: Call, outcome: str, clock: float, value: Any, text: str, error: str | None) -> ToolResult:
    """Take the secrets out, bound the text, write the record: for every call, however it went."""
    session, tool, notes = call.session, call.tool, call.notes
    name = tool.name if tool is not None else redact(str(call.name))
    args = call.args if call.args is not None else call.written
    written = {"name": call.name, "args": call.written} if name != call.name or notes else None
    decision = call.decision.record() if call.decision is not None else None
    rest = encode_anything((args, written, decision, notes))
    if holds_secret(f"{text}\0{error}\0{rest.decode()}"):
        text, value = _without_secrets(text, value)
        error = redact(error) if error is not None else None
        args, written, decision, notes = redact_json(msgspec.json.decode(rest))
        call.decision = call.decision and _without_secrets_in(call.decision)
    text, spill = _bounded(call, text)
    duration = time.perf_counter() - clock
    session.journal.append(
        Record(
            id=call.id,
            time=call.started,
            session=session.id,
            task=session.task_id,
            tool=name,
            args=args,
            outcome=outcome,
            duration=duration,
            text=text,
            decision=decision,
            toolset=tool.toolset if tool is not None else "",
            backend=session.backend_name,
            written=written,
            notes=tuple(notes),
            spill=str(spill) if spill is not None else None,
        )
    )
    return ToolResult(name, text, value, outcome, error, duration, call.decision, call.id, spill, tuple(notes))


def _bounded(call: Call, text: str) -> tuple[str, Path | None]:
    limit = call.session.config.get("results.max_chars")
    if call.tool is not None and call.tool.max_result_size_chars is not None:
        limit = min(limit, call.tool.max_result_size_chars)
    return clip(text, limit, call.session.id, call.id)


def _without_secrets(text: str, value: Any) -> tuple[str, Any]:
    """A result's text without secrets, and its value: rebuilt from the text if there was one."""
    if not holds_secret(text):
        return text, value
    parsed = _parsed(text)
    if isinstance(parsed, dict | list):
        cleaned = redact_json(parsed)
        clean = text if cleaned == parsed else msgspec.json.encode(cleaned).decode()
    else:
        clean = redact(text)
    if clean == text:
        return text, value
    return clean, clean if isinstance(value, str) else _parsed(clean)


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
