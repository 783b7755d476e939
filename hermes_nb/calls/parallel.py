"""Several calls at once: beside each other where that is safe, in order where it is not."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_nb.calls.path import Call
from hermes_nb.common import aio
from hermes_nb.errors import HermesError

if TYPE_CHECKING:
    from hermes_backends import Backend
    from hermes_nb.calls.results import ToolResult
    from hermes_nb.common.progress import Work
    from hermes_nb.session import Session

Written = tuple[str, "Mapping[str, Any] | str | None"]


def call_many(
    session: Session, calls: list[Written], *, timeout: float | None = None, backend: str | Backend | None = None
) -> list[ToolResult]:
    """Run calls in batches: a batch holds calls that don't touch the same things, and is done before the next."""
    # Where they work is decided once: a switch meanwhile must not part the calls of one list.
    make = partial(session.call, timeout=timeout, backend=session.place().name if backend is None else backend)
    if aio.on_background_loop():  # threads that wait for the loop can't be waited for on it
        return [make(*written) for written in calls]
    with session.progress.work("calls", len(calls)) as work:
        return _run_batches(session, calls, make, work)


def _run_batches(
    session: Session, calls: list[Written], make: Callable[..., ToolResult], work: Work
) -> list[ToolResult]:
    results: list[ToolResult] = []
    pool = ThreadPoolExecutor(int(session.config.get("calls.parallel")), thread_name_prefix="hermes-nb-call")
    try:
        for batch in _batches(session, calls):
            if len(batch) == 1:
                results.append(make(*batch[0]))
                work.advance()
                continue
            futures = [pool.submit(contextvars.copy_context().run, partial(make, *written)) for written in batch]
            for future in as_completed(futures):
                future.result()  # an interrupt of one call is not held up by the others
                work.advance()
            results += [future.result() for future in futures]
    finally:  # after an interrupt: what has not started must not start, and what runs is not waited for
        pool.shutdown(wait=False, cancel_futures=True)
    return results


def _batches(session: Session, calls: list[Written]) -> Iterable[list[Written]]:
    batch: list[Written] = []
    taken: set[str] = set()
    for written in calls:
        resources = _resources(session, written)
        if batch and (resources is None or taken & resources):
            yield batch
            batch, taken = [], set()
        if resources is None:
            yield [written]
            continue
        batch.append(written)
        taken |= resources
    if batch:
        yield batch


def _resources(session: Session, written: Written) -> set[str] | None:
    """What a call touches that others must not touch beside it; None if it has to run alone."""
    try:
        tool, args = session.unwrap(Call(session, *written, id=""))
        if not callable(tool.parallel):
            return set() if tool.parallel else None
        return set(tool.parallel(tool.prepare(args)))
    except HermesError:
        return set()  # it will be refused, which harms nobody
    except Exception:
        return None  # whoever can't say what a call touches runs it alone
