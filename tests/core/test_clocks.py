"""Two clocks: how long a tool ran, and how long a person was asked; and one deadline for all that a call does."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import hermes_nb as hermes
from hermes_nb import Decision, Registry, Session
from hermes_nb.approval.decision import Request
from hermes_nb.calls.journal import Replay, replay
from hermes_nb.calls.waiting import Waiting

from .support import add, dangerous

OLD_JOURNAL = Path(__file__).parent / "data" / "journal-0.1.jsonl"


class Slow:
    """Somebody who takes a while to say yes, and says how long it took."""

    def __init__(self) -> None:
        self.took = 0.0
        self.asked: list[Request] = []

    def decide(self, request: Request) -> Decision:
        self.asked.append(request)
        began = time.perf_counter()
        threading.Event().wait(0.3)
        self.took += time.perf_counter() - began
        return Decision.once


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.chdir(tmp_path)
    with Session(enabled_toolsets=["terminal", "file"], config={"approval": {"mode": "off"}}) as session:
        yield session


def guarded(registry: Registry, name: str, handler: Callable[..., Any]) -> None:
    hermes.tool(registry=registry, name=name, guard=dangerous())(handler)


class TestDuration:
    def test_a_person_s_thinking_is_no_time_of_the_tool(
        self, registry: Registry, open_session: Callable[..., Session]
    ) -> None:
        person = Slow()
        guarded(registry, "t", lambda: "done")
        session = open_session(approver=person)
        result = session.call("t")
        assert result.waited >= person.took
        assert result.duration < result.waited
        record = next(iter(session.journal))
        assert (record.duration, record.waited) == (result.duration, result.waited)
        told = Replay([msgspec.structs.replace(record, waited=3.8)])
        assert "asked for 3.8 s" in str(told)

    def test_a_question_inside_is_no_time_of_the_call_around_it(
        self, registry: Registry, open_session: Callable[..., Session]
    ) -> None:
        person = Slow()
        guarded(registry, "inner", lambda: "done")
        add(registry, "outer", lambda args, session: session.call("inner").text)
        result = open_session(approver=person).call("outer")
        assert result.waited >= person.took
        assert result.duration < result.waited

    def test_questions_that_are_open_at_once_count_once(self) -> None:
        outer = Waiting()
        began = time.perf_counter()
        both = threading.Barrier(2)

        def ask() -> None:
            with Waiting(outer).asking():
                both.wait()
                threading.Event().wait(0.1)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 0.1 <= outer.seconds <= time.perf_counter() - began

    def test_nobody_was_asked(self, registry: Registry, session: Session) -> None:
        add(registry, "t")
        assert session.call("t").waited == 0


class TestDeadline:
    def test_a_command_is_killed_and_its_shell_is_free_at_once(self, shell: Session) -> None:
        result = shell.call("terminal", {"command": "echo begun; sleep 600"}, timeout=1)
        assert result.outcome == "timeout"
        assert result.value.result.stdout == "begun\n"
        assert shell.call("terminal", {"command": "echo free"}, timeout=30).value.result.stdout == "free\n"

    def test_it_reaches_a_command_inside_a_tool_that_nobody_waits_for_any_more(
        self, shell: Session, tmp_path: Path
    ) -> None:
        @hermes.tool(toolset="terminal", override=True)
        def around(context: hermes.Context) -> str:
            """Run a command for ever."""
            return context.session.call("terminal", {"command": "sleep 600; touch late"}).text

        try:
            assert shell.call("around", timeout=1).outcome == "timeout"
            assert shell.call("terminal", {"command": "echo free"}, timeout=30).value.result.stdout == "free\n"
            assert not (tmp_path / "late").exists()
        finally:
            hermes.registry.deregister("around")

    async def test_it_reaches_a_command_inside_an_async_tool(self, shell: Session) -> None:
        @hermes.tool(toolset="terminal")
        async def around(context: hermes.Context) -> str:
            """Run a command for ever."""
            return (await context.session.acall("terminal", {"command": "sleep 600"})).text

        try:
            assert (await shell.acall("around", timeout=1)).outcome == "timeout"
            freed = await asyncio.wait_for(shell.acall("terminal", {"command": "echo free"}), 60)
            assert freed.value.result.stdout == "free\n"
        finally:
            hermes.registry.deregister("around")

    def test_it_includes_the_wait_for_the_shell(self, shell: Session) -> None:
        started = threading.Event()
        busy = threading.Thread(
            target=shell.call,
            args=("terminal", {"command": "echo on; read -t 600 < <(sleep 600)"}),
            kwargs={"on_output": lambda *_: started.set()},
        )
        busy.start()
        assert started.wait(60)
        late = shell.call("terminal", {"command": "touch late"}, timeout=0.5)
        assert not late.ok
        assert "nothing was run" in (late.error or "")
        shell.backend.shell(shell.task_id).interrupt()
        busy.join()

    def test_nothing_begins_when_the_caller_has_given_up(
        self, registry: Registry, open_session: Callable[..., Session]
    ) -> None:
        ran = threading.Event()
        guarded(registry, "inner", ran.set)
        person = Slow()
        asked: list[Any] = []

        @hermes.tool(registry=registry)
        def outer(context: hermes.Context) -> None:
            """Ask, too late."""
            asked.append(context.session.call("inner"))

        session = open_session(approver=person)
        assert session.call("outer", timeout=0.05).outcome == "timeout"
        while not asked:
            threading.Event().wait(0.01)
        assert asked[0].outcome in ("timeout", "denied")
        assert not ran.is_set()
        assert all(request.timeout <= 0.05 for request in person.asked)

    def test_a_person_s_thinking_does_not_use_up_the_time_of_the_run(
        self, registry: Registry, open_session: Callable[..., Session]
    ) -> None:
        guarded(registry, "t", lambda: "done")
        assert open_session(approver=Slow()).call("t", timeout=0.25).text == "done"

    def test_a_time_out_of_the_command_s_own_is_one_too(self, shell: Session) -> None:
        assert shell.call("terminal", {"command": "sleep 600", "timeout": 0.2}).outcome == "timeout"

    def test_waiting_for_a_job_ends_in_time(self, shell: Session) -> None:
        job = shell.call("terminal", {"command": "sleep 600", "background": True}).value["job"]
        result = shell.call("process", {"action": "wait", "job": job, "timeout": 500}, timeout=0.2)
        assert "still running" in result.value["note"]


def test_a_journal_of_the_first_version_still_replays() -> None:
    records = replay(OLD_JOURNAL)
    assert [record.tool for record in records] == ["add", "terminal", "terminal", "nothing", "add", "terminal"]
    assert {record.waited for record in records} == {0.0}
    assert {record.parent for record in records} == {None}
    assert "denied by" not in str(records)
    assert "deny by approver: not today" in str(records)
