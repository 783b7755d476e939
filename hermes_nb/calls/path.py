"""The path of one call, from name to result. Read `_take` from top to bottom: there is no other way to run a tool."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_nb.approval.assessment import ALLOWED, Assessment, Finding
from hermes_nb.approval.decision import Decision, Request
from hermes_nb.approval.edit import Edit
from hermes_nb.approval.view import view_of
from hermes_nb.calls.finish import Ending, finish
from hermes_nb.calls.frames import authors_traceback
from hermes_nb.calls.results import ToolResult, error_json, to_text
from hermes_nb.calls.waiting import Waiting
from hermes_nb.common import aio
from hermes_nb.common.jsonable import copy_json
from hermes_nb.context import Context, OnOutput, accepted_keywords, current_call
from hermes_nb.errors import CallRefused, FolderChangedError, ToolError
from hermes_nb.hooks import Ask, Rewrite
from hermes_nb.returned.iterated import settled

if TYPE_CHECKING:
    from hermes_backends import Backend
    from hermes_nb.calls.place import Place
    from hermes_nb.session import Session
    from hermes_nb.toolbox.declaration import Tool

logger = logging.getLogger(__name__)

_EDITS_AT_MOST = 5
_MOVES_AT_MOST = 5


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
    backend: str | Backend | None = None
    place: Place | None = None
    parent: Call | None = None
    extra: Mapping[str, Any] = {}
    tool: Tool | None = None
    args: dict[str, Any] | None = None
    decision: Decision | None = None
    unedited: dict[str, Any] | None = None
    edit: Edit | None = None
    notes: list[str] = []
    started: float = 0.0
    clock: float = 0.0
    deadline: float | None = None
    waiting: Waiting = msgspec.field(default_factory=Waiting)

    def context(self) -> Context:
        """What handlers, hooks and guards may know of it."""
        assert self.place is not None
        return Context(
            self.session,
            self.id,
            self.place,
            self.timeout,
            self.user_task,
            self.tool_call_id,
            self.on_output,
            self.deadline,
            self.extra,
        )

    @property
    def target(self) -> Place | None:
        """Where it works: as its arguments say, or else where the session does. A person is asked about this one."""
        if self.place is None or self.tool is None or self.tool.where is None or self.args is None:
            return self.place
        try:
            return self.tool.where(self.args, self.context())
        except Exception:  # its handler will say what is wrong
            logger.debug("it can't be told where %s works", self.name, exc_info=True)
            return self.place

    @property
    def parent_id(self) -> str | None:
        """What the journal calls the call inside which this one was made."""
        if self.parent is None:
            return None
        same = self.parent.session is self.session
        return self.parent.id if same else f"{self.parent.session.id}/{self.parent.id}"


def run(call: Call) -> ToolResult:
    """Take a call all the way. Whatever happens on it comes out as a ToolResult; only an interrupt gets through."""
    call.started, call.clock = time.time(), time.perf_counter()
    call.parent = current_call.get()
    if call.parent is not None:
        call.deadline, call.waiting = call.parent.deadline, Waiting(call.parent.waiting)
    running = call.session.running
    inside = current_call.set(call)
    try:
        running.begin(call)
        return finish(call, _take(call))
    except BaseException as interrupt:
        finish(call, _interrupted(interrupt))
        raise
    finally:
        current_call.reset(inside)
        running.end(call)


def _take(call: Call) -> Ending:
    ran = False
    try:
        call.place = call.session.place(call.backend)
        tool, raw = call.session.unwrap(call)
        _check_available(call, tool)
        call.tool, call.args = tool, tool.prepare(raw)
        asked = _ask_hooks(call, tool)
        for _ in range(_MOVES_AT_MOST):
            _approve(call, tool, asked)
            _set_deadline(call)
            ran = True
            try:
                value = _handle(call, tool)
            except FolderChangedError as moved:  # nothing was run: what was decided was decided for another folder
                ran = False
                call.place = call.place.at(moved.folder)
                call.notes.append(f"the shell had moved to {moved.folder} meanwhile; decided anew")
                continue
            text = to_text(value)
            error = _reported_error(value, text)
            outcome = getattr(value, "outcome", "error") if error is not None else "ok"
            return Ending(outcome, value, text, error, ran=True)
        raise CallRefused("denied", f"{tool.name} was not run: the shell's folder kept changing meanwhile")  # noqa: TRY301
    except CallRefused as refusal:
        return Ending(refusal.outcome, error=str(refusal), details=refusal.details, ran=ran)
    except aio.DeadlineExceeded as late:
        message = f"Tool execution failed: TimeoutError: {call.name} did not finish in time: {late}"
        return Ending("timeout", error=message, ran=ran)
    except _HandlerFailed as failure:
        return Ending("error", error=str(failure), traceback=failure.traceback, ran=ran)
    except Exception as unexpected:
        logger.exception("the call of %s failed outside its handler", call.name)
        return Ending("error", error=f"Error executing {call.name}: {unexpected}", ran=ran)


def _interrupted(interrupt: BaseException) -> Ending:
    so_far = getattr(interrupt, "result", None)  # what a command had printed until then
    printed = {"stdout": so_far.stdout, "stderr": so_far.stderr} if so_far is not None else {}
    return Ending("interrupted", text=error_json("interrupted", **printed), error="interrupted")


class _HandlerFailed(Exception):
    """A handler raised; the message is what the model reads, the traceback what its author does."""

    def __init__(self, message: str, error: BaseException) -> None:
        super().__init__(message)
        self.traceback = authors_traceback(error)


def _check_available(call: Call, tool: Tool) -> None:
    if tool.check_fn is None and not tool.requires_env:
        return
    reason = call.session.view.availability.reason(tool)
    if reason is not None:
        raise CallRefused("unavailable", f"{tool.name} is not available: {reason}")


def _ask_hooks(call: Call, tool: Tool) -> Assessment:
    """What hooks want a person to decide; they may veto the call, or rewrite its arguments."""
    assert call.args is not None
    if not call.session.hooks.has_before:
        return ALLOWED
    asked: list[Finding] = []
    for answer in call.session.hooks.before(tool, call.args, call.context(), tool.prepare):
        if isinstance(answer, Rewrite):
            call.args = dict(answer.args)
            call.notes.append("arguments rewritten by a hook")
        elif isinstance(answer, Ask):
            asked.append(Finding(answer.rule, answer.message, tool.name))
    return Assessment(tuple(asked)) if asked else ALLOWED


def _approve(call: Call, tool: Tool, asked: Assessment) -> None:
    """Come back once nothing stands against the arguments; edited ones are assessed like any others."""
    policy = call.session.policy
    if tool.guard is None and asked is ALLOWED and not policy.has_rules:
        return
    for _ in range(_EDITS_AT_MOST):
        assert call.args is not None
        target = call.target
        assert target is not None
        assessment = _assess(tool, call.args, call.context()) + asked
        approved = msgspec.json.encode(call.args)
        request = Request(
            tool=tool.name,
            args=msgspec.json.decode(approved),
            findings=assessment.findings,
            backend=target.name,
            cwd=target.cwd,
            timeout=call.context().at_most(call.session.config.get("approval.timeout")),
            session_id=call.session.id,
            call_id=call.id,
            view=view_of(tool, msgspec.json.decode(approved)),
        )
        isolated = partial(getattr, target, "is_isolated")  # opens the backend, so that is asked only if it matters
        decision = policy.decide(request, assessment, isolated=isolated, asking=call.waiting.asking)
        call.decision = decision or call.decision
        if decision is None:
            return
        if not decision.allowed:
            raise CallRefused("denied", f"{tool.name} was denied: {decision.reason}")
        if decision.args is None:
            # What was approved is what runs, whoever else held a reference to the arguments meanwhile.
            call.args = msgspec.json.decode(approved)
            return
        call.args = tool.prepare(decision.args)
        call.unedited = call.unedited or msgspec.json.decode(approved)
        call.edit = Edit.between(call.unedited, call.args, request.view.edits)
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


def _set_deadline(call: Call) -> None:
    """Start the clock of the run, within that of the call around it: nothing may begin when its caller has given up."""
    inherited = call.parent.deadline if call.parent is not None else None
    if inherited is None and call.timeout is None:
        return
    own = time.monotonic() + call.timeout if call.timeout is not None else None
    call.deadline = min((each for each in (inherited, own) if each is not None), default=None)
    if inherited is not None and inherited <= time.monotonic():
        raise aio.DeadlineExceeded("its time was up before it began; nothing was run")


def _handle(call: Call, tool: Tool) -> Any:
    context = call.context()
    handler = call.session.handler_of(tool)
    accepted = tool.accepted if handler is tool.handler else accepted_keywords(handler)
    work = partial(handler, copy_json(call.args), **(context.keywords(accepted) if accepted != frozenset() else {}))
    try:
        if tool.is_async:
            return settled(aio.run(work, _async_limit(call, context), call.on_start))
        remaining = None if tool.keeps_deadline else context.remaining
        value = settled(work()) if remaining is None else aio.within(remaining, lambda: settled(work()))
        if inspect.iscoroutine(value):  # declared sync, but async after all
            return settled(aio.run(lambda: value, _async_limit(call, context), call.on_start))
    except (aio.DeadlineExceeded, FolderChangedError):
        raise
    except ToolError as error:
        raise _HandlerFailed(str(error), error) from error
    except (Exception, SystemExit) as error:
        logger.debug("%s failed", tool.name, exc_info=True)
        raise _HandlerFailed(f"Tool execution failed: {type(error).__name__}: {error}", error) from error
    return value


def _async_limit(call: Call, context: Context) -> float | None:
    limit: float | None = context.remaining
    return call.session.config.get("calls.timeout") if limit is None else limit


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
