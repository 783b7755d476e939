"""The bar for long work: where a person looks, and nowhere else."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import hermes_nb as hermes
from hermes_nb.common.progress import Progress, Reporter
from hermes_nb.notebook import state
from hermes_nb.notebook.faces.progress import Bars, TerminalSurface, html_line, line, surface_here

from ..kernels import running_kernel
from .test_kernel import Kernel, streamed

LONG = """
import time
import hermes_nb as hermes
tools = hermes.Registry()

@hermes.tool(registry=tools)
def slow() -> str:
    "Take a while."
    time.sleep(0.2)
    return "done"

session = hermes.notebook.use(hermes.Session(tools))
"""
MANY = "print(len(session.call_many([('slow', {})] * 5)))"


class Paper:
    """A surface that keeps what was drawn."""

    def __init__(self) -> None:
        self.pictures: list[list[str]] = []

    def draw(self, reports: Sequence[Progress]) -> None:
        self.pictures.append([line(report) for report in reports])

    def clear(self) -> None:
        self.pictures.append([])


@pytest.fixture
def paper() -> Paper:
    return Paper()


@pytest.fixture
def reporter(paper: Paper) -> Reporter:
    made = Reporter()
    made.listener = Bars(lambda: paper, patience=0, pace=0)
    return made


def test_a_bar_follows_the_work_and_goes_when_it_is_over(reporter: Reporter, paper: Paper) -> None:
    with reporter.work("calls", 2) as work:
        work.advance()
    assert paper.pictures == [[f"calls {'░' * 20} 0 of 2"], [f"calls {'█' * 10}{'░' * 10} 1 of 2"], []]


def test_a_bar_goes_when_the_work_fails(reporter: Reporter, paper: Paper) -> None:
    with pytest.raises(KeyboardInterrupt), reporter.work("calls", 2):
        raise KeyboardInterrupt
    assert paper.pictures[-1] == []


def test_works_beside_each_other_are_shown_together(reporter: Reporter, paper: Paper) -> None:
    with reporter.work("outer"), reporter.work("inner"):
        pass
    assert paper.pictures == [["outer"], ["outer", "inner"], []]


def test_short_work_shows_nothing(paper: Paper) -> None:
    reporter = Reporter()
    reporter.listener = Bars(lambda: paper, patience=3_600)
    with reporter.work("calls", 2) as work:
        work.advance()
    assert paper.pictures == []


def test_many_reports_become_few_pictures(paper: Paper) -> None:
    reporter = Reporter()
    reporter.listener = Bars(lambda: paper, patience=0, pace=60)
    with reporter.work("calls", 1_000) as work:
        for _ in range(1_000):
            work.advance()
    assert len(paper.pictures) == 2


def test_bytes_are_shown_as_people_count_them() -> None:
    assert line(Progress(1, "sending a", 1_500_000, 3_000_000, "bytes")).endswith("1.5 MB of 3.0 MB")
    assert line(Progress(1, "fetching a", 1_500_000, None, "bytes")) == "fetching a 1.5 MB"


def test_what_another_machine_says_is_inert() -> None:
    report = Progress(1, "opening <b>", note="\x1b[2Jgone\r\n<script>alert(1)</script>")
    assert "\x1b" not in line(report)
    assert "\n" not in line(report)
    assert "<script" not in html_line(report)
    assert "<b>" not in html_line(report)


def test_a_session_that_the_magics_speak_to_shows_its_work(session: hermes.Session) -> None:
    assert session.progress.listener is None
    state.use(session)
    assert isinstance(session.progress.listener, Bars)
    state.forget()


def test_a_listener_of_your_own_stays(session: hermes.Session) -> None:
    heard: list[Progress] = []
    session.progress.listener = heard.append
    state.use(session)
    assert session.progress.listener == heard.append
    state.forget()


def test_a_pipe_gets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert surface_here() is None


def test_a_terminal_shows_one_line_and_wipes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal, os.fdopen(ours, "rb", buffering=0) as screen:
        monkeypatch.setattr(sys, "stderr", terminal)
        surface = surface_here()
        assert isinstance(surface, TerminalSurface)
        surface.draw([Progress(1, "calls", 1, 2)])
        surface.clear()
        shown = b""
        while shown.count(b"\x1b[K") < 2:  # a terminal hands on what it has, in pieces
            shown += screen.read(4_096)
        written = shown.decode()
        monkeypatch.undo()
    assert written.startswith("\r\x1b[Kcalls ██████████")
    assert written.endswith("\r\x1b[K")
    assert "\n" not in written


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    home = tmp_path_factory.mktemp("home")
    with running_kernel(env={**os.environ, "HERMES_NB_HOME": str(home)}) as (manager, client):
        made = Kernel(manager, client)
        made.run(LONG)
        yield made


def displays(contents: list[dict[str, Any]]) -> list[tuple[str, dict[str, str]]]:
    return [(entry["kind"], entry["data"]) for entry in contents if "display_data" in entry["kind"]]


def test_a_cell_shows_a_bar_that_leaves_an_empty_output(kernel: Kernel) -> None:
    first, *later = displays(kernel.run(MANY))
    assert first[0] == "display_data"
    assert "<progress" in first[1]["text/html"]
    assert "of 5" in first[1]["text/plain"]
    assert {kind for kind, _ in later} == {"update_display_data"}
    assert later[-1][1] == {}


def test_a_cell_that_nobody_watches_shows_nothing(kernel: Kernel) -> None:
    request = kernel.client.execute(MANY, allow_stdin=False)
    contents = kernel.until_idle(request)
    assert displays(contents) == []
    assert streamed(contents, "stdout") == "5\n"
    assert streamed(contents, "stderr") == ""
