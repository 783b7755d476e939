"""Calls that have begun and not ended can be seen."""

from __future__ import annotations

import contextlib

import pytest

from hermes_nb import Registry, Session
from hermes_nb.calls.running import RunningCall

from .support import add, raising

SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def seen(registry: Registry, session: Session) -> list[RunningCall]:
    """What a tool called ``look`` saw running when it ran."""
    calls: list[RunningCall] = []
    add(registry, "look", lambda args: calls.extend(session.running))
    return calls


def test_a_call_is_there_while_it_runs_under_the_id_that_the_journal_gets(
    session: Session, seen: list[RunningCall]
) -> None:
    session.call("look", {"n": 1})
    (call,), (record,) = seen, session.journal
    assert (call.id, call.time, call.tool, call.toolset, call.args) == (
        *(record.id, record.time, "look", "test"),
        {"n": 1},
    )


def test_its_arguments_are_without_secrets(session: Session, seen: list[RunningCall]) -> None:
    session.call("look", {"key": SECRET})
    assert SECRET not in str(seen)


@pytest.mark.parametrize("error", [None, ValueError("no"), KeyboardInterrupt()])
def test_nothing_runs_when_the_call_is_over(error: BaseException | None, registry: Registry, session: Session) -> None:
    add(registry, "t", raising(error) if error else None)
    with contextlib.suppress(KeyboardInterrupt):
        session.call("t")
    session.call("no_such_tool")
    assert len(session.running) == 0


def test_a_watcher_hears_of_each_beginning_until_it_ends(registry: Registry, session: Session) -> None:
    add(registry, "t")
    counts: list[int] = []
    unwatch = session.running.watch(lambda: counts.append(len(session.running)))
    session.call("t")
    unwatch()
    session.call("t")
    assert counts == [1]


def test_a_watcher_that_fails_never_breaks_the_call(registry: Registry, session: Session) -> None:
    add(registry, "t")
    session.running.watch(raising(ValueError("no")))
    assert session.call("t").ok
