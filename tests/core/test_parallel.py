"""call_many: beside each other where that is safe, answers in order, each failure with its own call."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from typing import Any

import pytest

import hermes_nb as hermes
from hermes_nb import Registry, Session

from ..parts import PATIENCE
from .support import add


class Watch:
    """Sees which calls were at work at the same time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: set[str] = set()
        self.together: set[frozenset[str]] = set()
        self.order: list[str] = []
        self.meetings: dict[str, threading.Barrier] = {}

    def expect(self, *names: str) -> None:
        """Have these wait for one another: how soon one begins after the other says nothing."""
        self.meetings |= dict.fromkeys(names, threading.Barrier(len(names), timeout=PATIENCE))

    def __call__(self, name: str) -> str:
        with self.lock:
            self.order.append(name)
            self.running.add(name)
            self.together |= {frozenset({name, other}) for other in self.running - {name}}
        if name in self.meetings:
            self.meetings[name].wait()
        else:
            threading.Event().wait(0.05)  # long enough for another to be seen beside it, if one may be
        with self.lock:
            self.running.discard(name)
        return name

    def met(self, *names: str) -> bool:
        return frozenset(names) in self.together


@pytest.fixture
def watch(registry: Registry) -> Watch:
    """read: safe beside anything; write: touches its path; act: runs alone."""
    seen = Watch()

    @hermes.tool(registry=registry, parallel=True)
    def read(name: str) -> str:
        return seen(name)

    @hermes.tool(registry=registry, parallel=lambda args: [args["path"]])
    def write(name: str, path: str) -> str:
        return seen(name)

    @hermes.tool(registry=registry)
    def act(name: str) -> str:
        return seen(name)

    return seen


def test_answers_come_in_the_order_of_the_calls(registry: Registry, session: Session) -> None:
    events = [threading.Event() for _ in range(6)]

    @hermes.tool(registry=registry, parallel=True)
    def backwards(n: int) -> int:
        if n < 5:
            assert events[n + 1].wait(PATIENCE)
        events[n].set()
        return n

    assert [r.value for r in session.call_many([("backwards", {"n": n}) for n in range(6)])] == list(range(6))


def test_what_is_safe_runs_beside_each_other(watch: Watch, session: Session) -> None:
    watch.expect("a", "b")
    session.call_many([("read", {"name": "a"}), ("read", {"name": "b"})])
    assert watch.met("a", "b")


def test_what_is_not_declared_safe_runs_alone_and_in_its_place(watch: Watch, session: Session) -> None:
    names = ["a", "b", "ACT", "c", "d"]
    calls = [("act" if name == "ACT" else "read", {"name": name}) for name in names]
    assert [result.value for result in session.call_many(calls)] == names
    assert not any("ACT" in pair for pair in watch.together)
    assert set(watch.order[:2]) == {"a", "b"}
    assert watch.order[2] == "ACT"


def test_writes_to_different_things_run_beside_each_other(watch: Watch, session: Session) -> None:
    watch.expect("a", "b")
    session.call_many([("write", {"name": "a", "path": "x"}), ("write", {"name": "b", "path": "y"})])
    assert watch.met("a", "b")


@pytest.mark.parametrize("second", [{"name": "b", "path": "x"}, '{"name": "b", "path": "x"}'])
def test_writes_to_the_same_thing_run_in_order(watch: Watch, session: Session, second: Any) -> None:
    session.call_many([("write", {"name": "a", "path": "x"}), ("write", second)])
    assert watch.order == ["a", "b"]
    assert not watch.together


def test_what_a_call_touches_is_read_by_the_schema_in_force(watch: Watch, registry: Registry, session: Session) -> None:
    registered: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "integer"}}, "required": ["path"]}
    in_force = {**registered, "properties": {"path": {"type": "string"}}}
    registry.add(
        hermes.Tool(
            "save",
            "test",
            "",
            registered,
            lambda args: watch(args["name"]),
            dynamic_schema_overrides=lambda: {"parameters": in_force},
            parallel=lambda args: [args["path"]],
        )
    )
    results = session.call_many([("save", {"name": name, "path": "same"}) for name in ("a", "b")])
    assert [result.text for result in results] == ["a", "b"]
    assert not watch.met("a", "b")


def test_a_tool_that_can_not_say_what_it_touches_runs_alone(registry: Registry, session: Session) -> None:
    seen = Watch()

    @hermes.tool(registry=registry, parallel=lambda args: 1 / 0)
    def unsure(name: str) -> str:
        return seen(name)

    session.call_many([("unsure", {"name": "a"}), ("unsure", {"name": "b"})])
    assert not seen.together


def test_a_failure_belongs_to_its_own_call(registry: Registry, session: Session) -> None:
    @hermes.tool(registry=registry, parallel=True)
    def divide(n: int) -> float:
        return 1 / n

    results = session.call_many(
        [("divide", {"n": 1}), ("divide", {"n": 0}), ("nothing", {}), ("divide", {"n": "x"}), ("divide", {"n": 2})]
    )
    assert [result.outcome for result in results] == ["ok", "error", "unknown", "invalid", "ok"]
    assert len(session.journal) == 5


def test_no_more_run_at_once_than_the_config_allows(watch: Watch, open_session: Callable[..., Session]) -> None:
    session = open_session(config={"calls": {"parallel": 1}})
    session.call_many([("read", {"name": name}) for name in "abc"])
    assert not watch.together


def test_no_calls_give_no_results(session: Session) -> None:
    assert session.call_many([]) == []


def test_any_iterable_of_calls_will_do(registry: Registry, session: Session) -> None:
    add(registry, "t")
    assert [r.value for r in session.call_many(("t", {"n": n}) for n in range(3))] == [{"n": n} for n in range(3)]


def test_an_interrupt_is_not_held_up_by_calls_that_still_run(registry: Registry, session: Session) -> None:
    released, waiting = threading.Event(), threading.Event()

    @hermes.tool(registry=registry, parallel=True)
    def stuck() -> bool:
        waiting.set()
        return released.wait(PATIENCE)

    @hermes.tool(registry=registry, parallel=True)
    def interrupt() -> None:
        waiting.wait(PATIENCE)
        _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        session.call_many([("stuck", {}), ("interrupt", {})])
    assert not released.is_set()
    released.set()
