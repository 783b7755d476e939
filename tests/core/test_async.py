"""Async handlers: one loop that lives as long as the process, the same from a script, a cell and a thread."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from typing import Any

import pytest

from hermes_nb import Registry, Session
from hermes_nb.approval.approvers import CallbackApprover
from hermes_nb.approval.decision import Decision
from hermes_nb.common import aio
from hermes_nb.errors import LoopBlockedError

from ..parts import PATIENCE, eventually
from .support import add, error_of, raising, run_python


async def loop_id(args: Any) -> int:
    await asyncio.sleep(0)
    return id(asyncio.get_running_loop())


def in_thread(work: Any) -> Any:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(work()))
    thread.start()
    thread.join()
    return answers[0]


class Slow:
    """An async handler that takes too long, and says what becomes of it."""

    def __init__(self) -> None:
        self.started, self.cancelled = threading.Event(), threading.Event()

    async def handle(self, args: Any) -> None:
        self.started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


async def cancel_once(event: threading.Event, task: asyncio.Task[Any]) -> None:
    while not event.is_set():
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.fixture(autouse=True)
def tools(registry: Registry) -> None:
    """loop: which loop it runs on."""
    add(registry, "loop", loop_id)


def test_an_async_handler_runs_from_a_plain_script(session: Session) -> None:
    assert session.call("loop").ok


async def test_an_async_handler_runs_from_a_running_loop_as_in_a_cell(session: Session) -> None:
    assert session.call("loop").value != id(asyncio.get_running_loop())


async def test_every_caller_gets_the_same_loop_so_that_cached_clients_survive(session: Session) -> None:
    loops = {
        session.call("loop").value,
        (await session.acall("loop")).value,
        in_thread(lambda: session.call("loop").value),
        in_thread(lambda: asyncio.run(session.acall("loop")).value),
        *(result.value for result in session.call_many([("loop", {})] * 3)),
    }
    assert len(loops) == 1


async def test_a_client_kept_between_calls_stays_usable(registry: Registry, session: Session) -> None:
    kept: list[asyncio.Queue[int]] = []

    async def put(args: Any) -> str:
        if not kept:
            kept.append(asyncio.Queue(1))
        await kept[0].put(1)
        return "put"

    async def take(args: Any) -> int:
        return await asyncio.wait_for(kept[0].get(), PATIENCE)

    add(registry, "put", put)
    add(registry, "take", take)
    session.call("put")
    waiting = asyncio.create_task(session.acall("put"))  # has to wait until the queue of the first call is emptied
    assert in_thread(lambda: session.call("take").value) == 1
    assert (await waiting).ok


async def test_acall_does_not_block_the_callers_loop(registry: Registry, session: Session) -> None:
    released = threading.Event()
    add(registry, "wait", lambda args: released.wait(PATIENCE))
    task = asyncio.create_task(session.acall("wait"))
    await asyncio.sleep(0.01)
    assert not task.done()
    released.set()
    assert (await task).value is True


async def test_acalls_run_beside_each_other(registry: Registry, session: Session) -> None:
    barrier = threading.Barrier(40, timeout=PATIENCE)
    add(registry, "meet", lambda args: barrier.wait() >= 0)
    results = await asyncio.gather(*(session.acall("meet") for _ in range(40)))
    assert all(result.value is True for result in results)


async def test_an_async_handler_may_call_tools_as_deep_as_it_likes(registry: Registry, session: Session) -> None:
    async def deeper(args: dict[str, Any], session: Session) -> int:
        return 0 if args["n"] == 0 else 1 + (await session.acall("deeper", {"n": args["n"] - 1})).value

    add(registry, "deeper", deeper)
    assert session.call("deeper", {"n": 30}, timeout=PATIENCE).value == 30


def test_a_timeout_cancels_the_coroutine(registry: Registry, session: Session) -> None:
    slow = Slow()
    add(registry, "slow", slow.handle)
    result = session.call("slow", timeout=0.05)
    assert result.outcome == "timeout"
    assert error_of(result).startswith("Tool execution failed: TimeoutError: slow did not finish in time")
    assert slow.cancelled.wait(PATIENCE)


def test_the_sessions_own_timeout_cancels_too(registry: Registry, open_session: Any) -> None:
    add(registry, "slow", Slow().handle)
    assert open_session(config={"calls": {"timeout": 0.1}}).call("slow").outcome == "timeout"


def test_a_handlers_own_timeout_error_is_its_own(registry: Registry, session: Session) -> None:
    async def failing(args: Any) -> None:
        raise TimeoutError("the server did not answer")

    add(registry, "failing", failing)
    result = session.call("failing", timeout=PATIENCE)
    assert (result.outcome, result.error) == (
        "error",
        "Tool execution failed: TimeoutError: the server did not answer",
    )


def test_a_sync_handler_is_not_waited_for_longer_than_asked(registry: Registry, session: Session) -> None:
    released = threading.Event()
    add(registry, "stuck", lambda args: released.wait(PATIENCE))
    result = session.call("stuck", timeout=0.05)
    released.set()
    assert result.outcome == "timeout"
    assert "its outcome is unknown" in error_of(result)


@pytest.mark.parametrize("timeout", [None, PATIENCE])
def test_a_coroutine_of_a_handler_declared_sync_is_run(
    registry: Registry, session: Session, timeout: float | None
) -> None:
    add(registry, "hidden", lambda args: loop_id(args))
    assert session.call("hidden", timeout=timeout).value == session.call("loop").value


async def test_cancelling_acall_cancels_the_handler_and_is_journalled(registry: Registry, session: Session) -> None:
    slow = Slow()
    add(registry, "slow", slow.handle)
    await cancel_once(slow.started, asyncio.create_task(session.acall("slow")))
    assert slow.cancelled.wait(PATIENCE)
    assert eventually(lambda: len(session.journal) == 1)


async def test_a_call_cancelled_before_its_handler_started_is_cancelled_too(
    registry: Registry, open_session: Any
) -> None:
    asked, hold, finished = threading.Event(), threading.Event(), threading.Event()

    async def slow(args: Any) -> None:
        await asyncio.sleep(0.2)
        finished.set()

    add(registry, "slow", slow)

    def wait() -> None:
        asked.set()
        hold.wait(PATIENCE)

    session = open_session(hooks=[{"pre_tool_call": wait}])
    await cancel_once(asked, asyncio.create_task(session.acall("slow")))
    hold.set()
    assert eventually(lambda: len(session.journal) == 1)
    assert not finished.is_set()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_a_handler_that_exits_does_not_end_the_loop_of_all_others(
    registry: Registry, session: Session, error: type[BaseException]
) -> None:
    async def leave(args: Any) -> None:
        raise error

    add(registry, "leave", leave)
    try:
        assert not session.call("leave", timeout=PATIENCE).ok
    except KeyboardInterrupt:
        assert error is KeyboardInterrupt
    assert session.call("loop", timeout=PATIENCE).ok


def test_a_blocking_call_on_the_loop_is_refused_instead_of_hanging(registry: Registry, session: Session) -> None:
    async def nested(args: Any, session: Session) -> str:
        return session.call("loop").text

    add(registry, "nested", nested)
    result = session.call("nested", timeout=PATIENCE)
    assert "LoopBlockedError" in result.text
    assert "await session.acall" in result.text


def test_call_many_on_the_loop_is_refused_instead_of_hanging(registry: Registry, session: Session) -> None:
    async def nested(args: Any, session: Session) -> list[bool]:
        return ["LoopBlockedError" in result.text for result in session.call_many([("loop", {})] * 3)]

    add(registry, "nested", nested)
    assert session.call("nested", timeout=PATIENCE).value == [True] * 3


def test_the_loop_can_not_wait_for_itself() -> None:
    async def wait_for_itself() -> None:
        aio.run(lambda: asyncio.sleep(0))

    with pytest.raises(LoopBlockedError):
        aio.run(wait_for_itself)


def test_context_variables_reach_the_handler(registry: Registry, session: Session) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    async def read(args: Any) -> str:
        return variable.get()

    add(registry, "async", read)
    add(registry, "sync", lambda args: variable.get())
    variable.set("set")
    assert session.call("async").value == "set"
    assert session.call("sync", timeout=PATIENCE).value == "set"
    assert session.call_many([("async", {}), ("sync", {})])[1].value == "set"


async def test_context_variables_reach_the_handler_of_an_acall(registry: Registry, session: Session) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
    add(registry, "read", lambda args: variable.get())
    variable.set("set")
    assert (await session.acall("read")).value == "set"


def test_a_forked_child_has_a_loop_of_its_own(home: Any) -> None:
    code = """
import os, hermes_nb
registry = hermes_nb.Registry()
async def handler(args): return "ran"
registry.register("t", "x", {}, handler)
session = hermes_nb.Session(registry=registry)
assert session.call("t").ok
child = os.fork()
if child == 0:
    os._exit(0 if session.call("t", timeout=60).ok else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run_python(code, home).stdout.strip() == "0"


def test_a_process_ends_though_a_handler_hangs(home: Any) -> None:
    code = """
import asyncio, threading, hermes_nb
registry = hermes_nb.Registry()
async def forever(args): await asyncio.sleep(3600)
registry.register("async", "x", {}, forever)
registry.register("sync", "x", {}, lambda args: threading.Event().wait())
session = hermes_nb.Session(registry=registry)
print(session.call("async", timeout=0.05).outcome, session.call("sync", timeout=0.05).outcome)
"""
    assert run_python(code, home).stdout.strip() == "timeout timeout"


async def test_an_async_approver_answers_from_any_caller(registry: Registry, open_session: Any) -> None:
    async def decide(request: Any) -> Decision:
        await asyncio.sleep(0)
        return Decision.once

    add(registry, "t", lambda args: "ran")
    ask = {"pre_tool_call": lambda: {"action": "approve"}}
    session = open_session(approver=CallbackApprover(decide), hooks=[ask])
    assert session.call("t").ok
    assert (await session.acall("t")).ok


class TestWaitingNoLongerThan:
    def test_the_result_and_the_error_are_the_functions_own(self) -> None:
        assert aio.within(30, lambda: 7) == 7
        with pytest.raises(TimeoutError, match="mine") as caught:
            aio.within(30, raising(TimeoutError("mine")))
        assert not isinstance(caught.value, aio.DeadlineExceeded)
        with pytest.raises(SystemExit):
            aio.within(30, raising(SystemExit(1)))

    def test_what_takes_longer_goes_on_alone_and_is_said_to(self) -> None:
        go_on, done = threading.Event(), threading.Event()
        with pytest.raises(aio.DeadlineExceeded, match=r"still running after 0\.01 s; its outcome is unknown"):
            aio.within(0.01, lambda: go_on.wait(60) and done.set())
        go_on.set()
        assert done.wait(60)

    def test_context_variables_come_along(self) -> None:
        variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")
        variable.set("set")
        assert aio.within(30, variable.get) == "set"


def test_nobody_hears_of_a_thread_whose_loop_is_gone(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    go_on = threading.Event()
    loop = asyncio.new_event_loop()

    async def impatient() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(aio.in_thread(lambda: go_on.wait(60)), 0.01)

    loop.run_until_complete(impatient())
    waiting = loop.create_task(aio.in_thread(lambda: go_on.wait(60)))
    waiting._log_destroy_pending = False  # type: ignore[attr-defined]  # it is this test's aim to leave it behind
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == "hermes-nb-call":
            thread.join(60)
    assert not waiting.done()
    assert (caplog.text, capfd.readouterr().err) == ("", "")
