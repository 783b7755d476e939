from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hermes_nb import Registry, Session
from hermes_nb.notebook.widgets.jobs import JobsView, jobs_of, tail

from ...parts import PATIENCE

if TYPE_CHECKING:
    import pytest


class Job:
    """The least that a job must offer."""

    def __init__(self, command: str, output: str = "", status: str = "running") -> None:
        self.id, self.command, self.status, self.started = "job-1", command, status, time.time()
        self.exit_code = 0 if status == "exited" else None
        self.output = output
        self.written: list[str] = []

    def log(self) -> str:
        return self.output

    def write(self, data: str) -> None:
        if self.status != "running":
            raise BrokenPipeError("it does not read any more")
        self.written.append(data)

    def close_stdin(self) -> None: ...

    def kill(self) -> None:
        self.status = "killed"


def view(*jobs: Job) -> JobsView:
    listed: Any = SimpleNamespace(jobs=list(jobs))
    return JobsView(listed)


def told(widget: JobsView, monkeypatch: pytest.MonkeyPatch, message: dict[str, Any], kind: str) -> dict[str, Any]:
    heard = threading.Event()
    found: list[dict[str, Any]] = []

    def send(content: dict[str, Any]) -> None:
        if content["kind"] == kind:
            found.append(content)
            heard.set()

    monkeypatch.setattr(widget, "send", send)
    widget.receive(message)
    assert heard.wait(PATIENCE)
    return found[0]


def test_a_session_without_a_backend_has_no_jobs(tools: Registry) -> None:
    with Session(registry=tools) as session:
        assert jobs_of(session) == []
        assert JobsView(session).text_face() == "no background jobs"


def test_a_backend_that_can_not_be_opened_has_no_jobs(tools: Registry) -> None:
    with Session(registry=tools, backend="docker://there/is/none") as session:
        assert jobs_of(session) == []


def test_the_end_of_the_output_comes_with_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    widget = view(Job("make", "compiling\n"))
    news = told(widget, monkeypatch, {"kind": "refresh", "job": "job-1"}, "jobs")
    assert (news["jobs"][0]["state"], news["tail"]) == ("running", "compiling\n")


def test_a_line_is_written_to_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job("cat")
    told(view(job), monkeypatch, {"kind": "write", "job": "job-1", "text": "hello"}, "jobs")
    assert job.written == ["hello\n"]


def test_stopping_shows_the_new_state(monkeypatch: pytest.MonkeyPatch) -> None:
    news = told(view(Job("sleep 9")), monkeypatch, {"kind": "stop", "job": "job-1"}, "jobs")
    assert news["jobs"][0]["status"] == "killed"


def test_a_job_that_refuses_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    widget = view(Job("true", status="exited"))
    problem = told(widget, monkeypatch, {"kind": "write", "job": "job-1", "text": "x"}, "problem")
    assert "it does not read any more" in problem["text"]


def test_a_progress_line_shows_its_last_state_without_codes() -> None:
    assert tail("\x1b[32mstart\x1b[0m\r\n 10 %\r 50 %\r100 %\r\nend") == "start\n100 %\nend"


def test_a_long_output_shows_its_end_from_the_start_of_a_line() -> None:
    shown = tail("\n".join(f"line {number}" for number in range(5_000)))
    assert shown.startswith("line ")
    assert shown.endswith("line 4999")


def test_the_static_face_lists_jobs_without_secrets() -> None:
    key = "sk-" + "a1b2c3d4" * 5
    widget = view(Job(f"curl -H {key}", status="exited"))
    assert widget.text_face() == "job-1 exited 0: curl -H [redacted]"
    assert key not in widget.html_face()
