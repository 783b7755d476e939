"""One background event loop for async handlers, so that a client they keep survives from call to call.

A notebook cell already runs inside an event loop, a worker thread has none, and a script may have neither: handing
every coroutine to the same loop in its own thread behaves the same from all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from hermes_nb.errors import LoopBlockedError

T = TypeVar("T")


class DeadlineExceeded(TimeoutError):
    """The caller's time was up; not a TimeoutError of the handler's own."""


_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None


def background_loop() -> asyncio.AbstractEventLoop:
    """The loop that async handlers run on; it starts with its first use and lives as long as the process."""
    global _loop, _thread  # one per process is the point
    loop = _loop
    if loop is not None:
        return loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_keep_running, args=(_loop,), name="hermes-nb-async", daemon=True)
            _thread.start()
        return _loop


def _keep_running(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):  # asyncio lets them through; one handler must not end the loop of all
            continue
        return


def on_background_loop() -> bool:
    """Whether the caller runs on the background loop, where waiting for an async handler would never end."""
    return threading.current_thread() is _thread


def _forget_after_fork() -> None:
    global _loop, _thread, _lock  # the child has the objects, but not the thread that ran them
    _loop = _thread = None
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


def run(
    make: Callable[[], Coroutine[Any, Any, T]],
    timeout: float | None = None,
    on_start: Callable[[Future[T]], None] | None = None,
) -> T:
    """Run a coroutine on the background loop and wait for its result.

    A time-out or an interrupt cancels the coroutine before this returns.

    Args:
        make: Makes the coroutine, on the loop.
        timeout: Seconds to wait; None waits for ever.
        on_start: Receives the future, so that another thread can cancel it.

    Raises:
        DeadlineExceeded: The coroutine took longer, and was cancelled.
        LoopBlockedError: The caller is on the background loop itself, where waiting would never end.
    """
    loop = background_loop()
    if on_background_loop():
        raise LoopBlockedError("an async handler must not call tools with call(); use `await session.acall(...)`")
    future = asyncio.run_coroutine_threadsafe(_started(make), loop)
    if on_start is not None:
        on_start(future)
    try:
        return future.result(timeout)
    except TimeoutError:
        if future.done():  # the handler's own TimeoutError, or its result at the last moment
            return future.result()
        future.cancel()
        raise DeadlineExceeded(f"cancelled after {timeout:g} s") from None
    except BaseException:
        future.cancel()
        raise


async def in_thread(work: Callable[[], T]) -> T:
    """Run a blocking function in a thread of its own, with the caller's context variables.

    Not in a pool: a call that waits for the calls its handler makes would hold a place that those need.
    """
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def tell(_: Future[T]) -> None:
        with contextlib.suppress(RuntimeError):  # the caller's loop is closed
            loop.call_soon_threadsafe(ended.set)

    future = _in_new_thread(work)
    future.add_done_callback(tell)
    await ended.wait()
    return future.result()


def within(seconds: float, work: Callable[[], T]) -> T:
    """Wait for a blocking function no longer than so many seconds; it has the caller's context variables.

    Python can't stop it: once the time is up it goes on in its thread, and what it returns is lost.

    Raises:
        DeadlineExceeded: It is still running.
    """
    future = _in_new_thread(work)
    try:
        return future.result(seconds)
    except TimeoutError:
        if future.done():  # the function's own TimeoutError, or its result at the last moment
            return future.result()
        raise DeadlineExceeded(f"still running after {seconds:g} s; its outcome is unknown") from None


def _in_new_thread(work: Callable[[], T]) -> Future[T]:
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # nobody can cancel it: whoever stops waiting only stops waiting
    context = contextvars.copy_context()

    def target() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=target, name="hermes-nb-call", daemon=True).start()
    return future


async def _started(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    return await make()
