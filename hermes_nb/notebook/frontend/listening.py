"""How a widget hears its front end while a cell runs.

A running cell holds the kernel's shell, and that is where a front end's clicks wait. Each generation of ipykernel has
its own way around that; every private name that one of them needs is guarded, so that a change in ipykernel costs the
live card and nothing else: the question is then asked by ``input()``.

- 6.x: the shell channel is pumped by jupyter_ui_poll while we wait.
- 7.1 to 7.3: front ends send widget messages to a subshell of their own; nothing has to be done.
- 7.4 and later: a message goes to the shell that last spoke on its comm, which is the blocked one; so the comm is
  pinned to a subshell that belongs to us.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

logger = logging.getLogger(__name__)

#: Waits for an event, at most so many seconds; whether it came.
Wait = Callable[[threading.Event, float], bool]

_STEP = 0.05  # seconds between two looks: short enough for an interrupt to feel immediate
_EVENTS_A_STEP = 5
_lock = threading.Lock()
_subshell: str | None = None


def running_kernel() -> Any | None:
    """The IPython kernel that this process is, or None outside of one."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return getattr(get_ipython(), "kernel", None)


def is_executing_here(kernel: Any) -> bool:
    """Whether this very thread is running a cell, so that what is displayed lands in its output."""
    header = (kernel.get_parent() or {}).get("header") or {}
    return threading.current_thread() is threading.main_thread() and header.get("msg_type") == "execute_request"


def someone_is_there(kernel: Any) -> bool:
    """Whether a person can answer: nbclient, nbval, papermill and Voilà run cells without a standard input."""
    content = (kernel.get_parent() or {}).get("content") or {}
    return bool(content.get("allow_stdin", getattr(kernel, "_allow_stdin", False)))


def pin(comm: Any) -> None:
    """Have what the front end says on a comm served by our own subshell, where ipykernel routes by comm."""
    if not hasattr(comm, "_reply_subshell_for"):
        return
    subshell = _own_subshell(getattr(comm, "kernel", None))
    if subshell is not None:
        comm._reply_subshell_id = subshell


def _own_subshell(kernel: Any) -> str | None:
    global _subshell  # one for all widgets of the kernel: it only passes messages on
    thread = getattr(kernel, "shell_channel_thread", None)
    if thread is None:
        return None
    with _lock:
        try:
            if _subshell is None or _subshell not in thread.manager.list_subshell():
                made: queue.Queue[str] = queue.Queue()
                thread.io_loop.add_callback(lambda: made.put(thread.manager._create_subshell()))
                _subshell = made.get(timeout=3)
        except Exception:
            logger.debug("this ipykernel gives us no subshell", exc_info=True)
            return None
        return _subshell


@contextmanager
def listening(kernel: Any) -> Iterator[Wait]:
    """A way to wait that lets the front end's messages through meanwhile, as far as this kernel allows it."""
    if getattr(kernel, "shell_channel_thread", None) is not None or not is_executing_here(kernel):
        yield _wait
        return
    with _pumped() as wait:
        yield wait


@contextmanager
def _pumped() -> Iterator[Wait]:
    try:
        from jupyter_ui_poll import ui_events

        events = ui_events()
        poll = events.__enter__()
    except Exception:
        logger.debug("the shell channel can't be polled here", exc_info=True)
        yield _wait
        return

    def wait(event: threading.Event, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not event.is_set() and time.monotonic() < until:
            poll(_EVENTS_A_STEP)
            event.wait(_STEP)
        return event.is_set()

    try:
        yield wait
    finally:
        events.__exit__(None, None, None)


def _wait(event: threading.Event, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not event.is_set() and time.monotonic() < until:
        event.wait(_STEP)
    return event.is_set()
