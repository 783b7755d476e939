"""What was approved is where it runs, and what is recorded: whatever happens while a person thinks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import hermes_nb as hermes
from hermes_backends import Backend, Capabilities, open_backend
from hermes_backends.local import LocalBackend
from hermes_nb import Decision
from hermes_nb.approval.decision import Request

ASK = {"approval": {"mode": "manual"}}


class Thinking:
    """Somebody who does other things while being asked, then says yes; or whatever the answers are."""

    def __init__(self, meanwhile: Callable[[], Any] = lambda: None, answers: list[Decision] | None = None) -> None:
        self.meanwhile = [meanwhile]
        self.answers = answers or []
        self.asked: list[Request] = []

    def decide(self, request: Request) -> Decision:
        self.asked.append(request)
        if self.meanwhile:
            self.meanwhile.pop(0)()
        return self.answers.pop(0) if self.answers else Decision.once


@pytest.fixture
def person() -> Thinking:
    return Thinking()


@pytest.fixture
def session(folder: Path, person: Thinking) -> Iterator[hermes.Session]:
    for name in ("here", "there"):
        (folder / name / "build").mkdir(parents=True)
    with hermes.Session(enabled_toolsets=["terminal", "file"], config=ASK, approver=person) as opened:
        opened.call("terminal", {"command": f"cd {folder}/here"})
        yield opened


@pytest.fixture
def other(folder: Path) -> Iterator[Backend]:
    with open_backend("local", cwd=str(folder / "there")) as backend:
        yield backend


def elsewhere(work: Callable[[], Any]) -> Callable[[], None]:
    """The work, done in another thread."""

    def run() -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    return run


def test_a_switch_while_a_person_thinks_does_not_move_the_call(
    session: hermes.Session, person: Thinking, other: Backend, folder: Path
) -> None:
    person.meanwhile = [lambda: session.use_backend(other)]
    result = session.call("terminal", {"command": "rm -rf build"})
    assert result.ok
    assert not (folder / "here" / "build").exists()
    assert (folder / "there" / "build").exists()
    record = list(session.journal)[-1]
    assert (record.backend, record.cwd) == (person.asked[0].backend, person.asked[0].cwd)
    assert record.cwd == str(folder / "here")


def test_a_shell_that_moved_while_a_person_thought_is_asked_about_again(
    session: hermes.Session, person: Thinking, folder: Path
) -> None:
    person.meanwhile = [elsewhere(lambda: session.call("terminal", {"command": f"cd {folder}/there"}))]
    person.answers = [Decision.once, Decision.deny("not there")]
    result = session.call("terminal", {"command": "rm -rf build"})
    assert [request.cwd for request in person.asked] == [str(folder / "here"), str(folder / "there")]
    assert result.outcome == "denied"
    assert (folder / "here" / "build").exists()
    assert (folder / "there" / "build").exists()


def test_a_second_yes_runs_it_where_the_second_question_said(
    session: hermes.Session, person: Thinking, folder: Path
) -> None:
    person.meanwhile = [elsewhere(lambda: session.call("terminal", {"command": f"cd {folder}/there"}))]
    result = session.call("terminal", {"command": "rm -rf build"})
    assert result.ok
    assert (folder / "here" / "build").exists()
    assert not (folder / "there" / "build").exists()
    assert list(session.journal)[-1].cwd == str(folder / "there")
    assert any("moved" in note for note in result.notes)


def test_a_shell_that_never_rests_is_given_up(session: hermes.Session, person: Thinking, folder: Path) -> None:
    move = elsewhere(
        lambda: session.call("terminal", {"command": 'cd ..; cd "$(ls -d here there | shuf -n1)/build/.."'})
    )

    def away() -> None:
        before = session.cwd
        while session.cwd == before:
            move()

    person.meanwhile = [away] * 20
    result = session.call("terminal", {"command": "rm -rf build"})
    assert result.outcome == "denied"
    assert "kept changing" in (result.error or "")
    assert (folder / "here" / "build").exists()
    assert (folder / "there" / "build").exists()


def test_the_question_names_the_folder_that_the_call_names(
    session: hermes.Session, person: Thinking, folder: Path
) -> None:
    session.call("terminal", {"command": "rm -rf build", "workdir": "../there"})
    assert person.asked[-1].cwd == str(folder / "there")
    assert not (folder / "there" / "build").exists()
    session.call("terminal", {"command": "rm -rf build", "workdir": "/tmp"})
    assert person.asked[-1].cwd == "/tmp"
    assert (folder / "here" / "build").exists()


def test_a_background_job_starts_where_it_was_approved(session: hermes.Session, person: Thinking, folder: Path) -> None:
    person.meanwhile = [elsewhere(lambda: session.call("terminal", {"command": f"cd {folder}/there"}))]
    job = session.call("terminal", {"command": "rm -rf build", "background": True}).raise_for_error().value["job"]
    session.workspace.job(job).wait(30)
    assert not (folder / "here" / "build").exists()
    assert (folder / "there" / "build").exists()


def test_a_file_is_written_where_it_was_approved(session: hermes.Session, person: Thinking, folder: Path) -> None:
    person.meanwhile = [elsewhere(lambda: session.call("terminal", {"command": f"cd {folder}/there"}))]
    assert session.call("write_file", {"path": ".bashrc", "content": "x"}).ok
    assert (folder / "here" / ".bashrc").exists()
    assert not (folder / "there" / ".bashrc").exists()
    assert person.asked


def test_a_backend_for_one_call_leaves_the_session_where_it_was(
    session: hermes.Session, other: Backend, folder: Path
) -> None:
    name = session.backend_name
    assert session.call("terminal", {"command": "pwd"}, backend=other).value.result.stdout == f"{folder}/there\n"
    assert session.call("terminal", {"command": "pwd"}).value.result.stdout == f"{folder}/here\n"
    assert session.backend_name == name
    assert [record.backend for record in session.journal][-2:] == [other.where, name]


async def test_a_backend_for_one_async_call(session: hermes.Session, other: Backend, folder: Path) -> None:
    result = await session.acall("terminal", {"command": "pwd"}, backend=other)
    assert result.value.result.stdout == f"{folder}/there\n"


def test_a_backend_for_many_calls(session: hermes.Session, other: Backend, folder: Path) -> None:
    results = session.call_many([("terminal", {"command": "pwd"}), ("read_file", {"path": "none"})], backend=other)
    assert results[0].value.result.stdout == f"{folder}/there\n"
    assert [record.cwd for record in session.journal][-2:] == [str(folder / "there")] * 2


def test_many_calls_stay_together_when_the_session_is_switched_meanwhile(
    session: hermes.Session, other: Backend, folder: Path, person: Thinking
) -> None:
    person.meanwhile = [lambda: session.use_backend(other)]
    results = session.call_many([("terminal", {"command": "rm -rf build"}), ("terminal", {"command": "pwd"})])
    assert results[1].value.result.stdout == f"{folder}/here\n"


def test_two_threads_on_two_backends_never_mix(session: hermes.Session, other: Backend, folder: Path) -> None:
    places = {"here": None, "there": other}
    wrong: list[str] = []

    def work(name: str) -> None:
        for number in range(40):
            printed = session.call("terminal", {"command": f"pwd; touch {number}"}, backend=places[name]).value
            if printed.result.stdout != f"{folder}/{name}\n":
                wrong.append(printed.result.stdout)

    threads = [threading.Thread(target=work, args=(name,)) for name in places for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_two_lent_backends_that_look_alike_stay_two(folder: Path) -> None:
    for name in ("one", "two"):
        (folder / name).mkdir()
    with open_backend("local", cwd=str(folder / "one")) as one, open_backend("local", cwd=str(folder / "two")) as two:
        session = hermes.Session(backend=one, enabled_toolsets=["terminal"])
        session.use_backend(two)
        assert session.cwd == folder / "two"
        first = session.backend_name
        session.use_backend(one)
        assert session.cwd == folder / "one"
        assert session.backend is one
        assert session.backend_name != first
        session.use_backend(first)
        assert session.backend is two
        session.close()
        assert one.run("true").ok, "what was lent is its owner's to close"


def test_options_of_a_backend_are_never_dropped(folder: Path) -> None:
    with hermes.Session(enabled_toolsets=["terminal"]) as session:
        session.call("terminal", {"command": "true"})
        session.use_backend("local", isolation="rlimits")
        assert isinstance(session.backend, LocalBackend)
        assert session.backend.isolation == "rlimits"
        assert "rlimits" in session.backend_name
        confined = session.backend
        session.use_backend("local")
        assert session.backend is not confined
        session.use_backend("local", isolation="rlimits")
        assert session.backend is confined, "switching back finds it as it was left"


def test_options_hold_when_only_the_name_is_given_later(folder: Path) -> None:
    with hermes.Session(backend="local?cwd=/", enabled_toolsets=["terminal"]) as session:
        session.use_backend("local", isolation="rlimits")
        confined = session.backend
        session.use_backend("local?cwd=/")
        session.use_backend("local")
        assert session.backend is confined


def test_a_password_among_the_options_is_not_in_the_name() -> None:
    with hermes.Session() as session:
        session.use_backend("ssh://me@host.example", password="correct horse", port=2222)
        assert "horse" not in session.backend_name
        assert "port=2222" in session.backend_name


def test_an_approval_for_the_session_is_one_for_that_backend_alone(
    session: hermes.Session, person: Thinking, other: Backend
) -> None:
    person.answers = [Decision.session, Decision.deny("no")]
    assert session.call("terminal", {"command": "rm -rf build"}).ok
    assert session.call("terminal", {"command": "rm -rf build"}, backend=other).outcome == "denied"


def test_a_folder_of_another_machine_is_no_path_of_this_one(folder: Path) -> None:
    class Remote(LocalBackend):
        name = "remote"

    with Remote() as backend, hermes.Session(backend=backend, enabled_toolsets=["terminal"]) as session:
        assert session.cwd is None
        session.call("terminal", {"command": "cd /tmp"})
        assert session.cwd == PurePosixPath("/tmp")
        assert not isinstance(session.cwd, Path)


def test_the_folder_of_an_unopened_remote_is_unknown_and_the_question_does_not_claim_one(person: Thinking) -> None:
    person.answers = [Decision.deny("no")]
    with hermes.Session(backend="docker://no/such/image", config=ASK, approver=person) as session:
        assert session.cwd is None
        session.call("terminal", {"command": "rm -rf build"})
        assert person.asked[0].cwd == ""
        assert list(session.journal)[-1].cwd == ""


def test_a_remote_that_was_used_while_its_first_question_was_open_is_asked_about_again(person: Thinking) -> None:
    class Remote(LocalBackend):
        name = "remote"

    with Remote() as backend, hermes.Session(backend=backend, config=ASK, approver=person) as session:
        person.meanwhile = [elsewhere(lambda: session.call("terminal", {"command": "cd /tmp"}))]
        person.answers = [Decision.once, Decision.deny("no")]
        assert session.call("terminal", {"command": "rm -rf build"}).outcome == "denied"
        assert [request.cwd for request in person.asked] == ["", "/tmp"]


class TestJobs:
    def test_ids_are_unique_and_jobs_stay_visible_after_a_switch(self, session: hermes.Session, other: Backend) -> None:
        first = session.call("terminal", {"command": "sleep 60", "background": True}).value["job"]
        session.use_backend(other)
        second = session.call("terminal", {"command": "sleep 60", "background": True}).value["job"]
        assert first != second
        assert [job.id for job in session.jobs] == [first, second]
        listed = session.call("process", {"action": "list"}).value["jobs"]
        assert [job["job"] for job in listed] == [first, second]
        assert session.call("process", {"action": "kill", "job": first}).value["status"] == "killed"

    def test_a_job_that_somebody_started_on_a_lent_backend_keeps_its_id(
        self, session: hermes.Session, other: Backend
    ) -> None:
        theirs = other.jobs.start("sleep 60")
        session.use_backend(other)
        ours = session.call("terminal", {"command": "sleep 60", "background": True}).value["job"]
        assert theirs.id != ours
        assert {job.id for job in session.jobs} == {theirs.id, ours}

    def test_threads_that_start_jobs_at_once_get_ids_of_their_own(self, session: hermes.Session) -> None:
        ids: list[str] = []

        def start() -> None:
            ids.append(session.call("terminal", {"command": "true", "background": True}).value["job"])

        threads = [threading.Thread(target=start) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(ids)) == 6

    def test_what_is_written_to_a_job_is_asked_about_and_recorded_where_the_job_runs(
        self, session: hermes.Session, person: Thinking, other: Backend
    ) -> None:
        job = session.call("terminal", {"command": "bash", "background": True}, backend=other).value["job"]
        session.call("process", {"action": "submit", "job": job, "data": "rm -rf build"})
        assert person.asked[-1].backend == other.where == list(session.journal)[-1].backend
        assert session.backend_name != other.where

    def test_an_isolated_backend_vouches_only_for_its_own_jobs(self, session: hermes.Session, person: Thinking) -> None:
        class Isolated(LocalBackend):
            name = "isolated"

            @property
            def capabilities(self) -> Capabilities:
                return Capabilities(isolated=True)

        session.config.set("approval.skip_when_isolated", True)
        outside = session.call("terminal", {"command": "bash", "background": True}).value["job"]
        with Isolated() as isolated:
            session.use_backend(isolated)
            person.answers = [Decision.deny("not out there")]
            denied = session.call("process", {"action": "submit", "job": outside, "data": "rm -rf build"})
            assert denied.outcome == "denied"
            inside = session.call("terminal", {"command": "bash", "background": True}).value["job"]
            assert session.call("process", {"action": "submit", "job": inside, "data": "rm -rf build"}).ok
            assert len(person.asked) == 1


class TestInside:
    """A handler that calls other tools, or uses the session's backend, works where its own call does."""

    @pytest.fixture
    def outer(self, session: hermes.Session) -> Iterator[None]:
        @hermes.tool(toolset="terminal")
        def where_am_i(context: hermes.Context) -> list[str]:
            """Say where."""
            inner = context.session.call("terminal", {"command": "pwd"}).value.result.stdout
            return [
                inner.strip(),
                str(context.cwd),
                str(context.session.cwd),
                context.session.backend.run("pwd").stdout,
            ]

        yield
        hermes.registry.deregister("where_am_i")

    @pytest.mark.usefixtures("outer")
    def test_everything_inside_is_in_one_place(self, session: hermes.Session, other: Backend, folder: Path) -> None:
        found = session.call("where_am_i", backend=other).raise_for_error().value
        assert [path.strip() for path in found] == [str(folder / "there")] * 4

    @pytest.mark.usefixtures("outer")
    def test_the_journal_says_which_call_was_made_inside_which(self, session: hermes.Session) -> None:
        outer = session.call("where_am_i")
        inner, around = list(session.journal)[-2:]
        assert (inner.tool, inner.parent) == ("terminal", outer.call_id)
        assert (around.id, around.parent) == (outer.call_id, None)


def test_after_the_end_of_a_session_nothing_is_opened_any_more(folder: Path) -> None:
    session = hermes.Session(enabled_toolsets=["terminal"], config={"approval": {"mode": "off"}})
    session.close()
    result = session.call("terminal", {"command": "true"})
    assert "closed" in (result.error or "")
    assert "closed" in (session.call("terminal", {"command": "true"}, backend="docker://x").error or "")


def test_what_is_kept_is_closed_with_the_session_the_last_first() -> None:
    closed: list[int] = []

    class Kept:
        def __init__(self, number: int) -> None:
            self.number = number

        def close(self) -> None:
            closed.append(self.number)

    with hermes.Session() as session:
        for number in (1, 2):
            session.workspace.keep(Kept(number))
    assert closed == [2, 1]
