"""Long work says how far it has come, to a listener if there is one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hermes_backends
import hermes_nb as hermes
from hermes_backends import Backend, BackendError
from hermes_nb import Registry, Session
from hermes_nb.common.progress import Progress

from .support import add, raising


@pytest.fixture
def heard(session: Session) -> list[Progress]:
    reports: list[Progress] = []
    session.progress.listener = reports.append
    return reports


def amounts(reports: list[Progress]) -> list[tuple[int, int | None]]:
    return [(report.done, report.total) for report in reports]


@pytest.mark.parametrize("parallel", [True, False])
def test_many_calls_report_each_that_ended(
    parallel: bool, registry: Registry, session: Session, heard: list[Progress]
) -> None:
    @hermes.tool(registry=registry, parallel=parallel)
    def t() -> str:
        return "done"

    session.call_many([("t", {})] * 3)
    assert amounts(heard) == [(0, 3), (1, 3), (2, 3), (3, 3), (3, 3)]
    assert [report.finished for report in heard] == [False] * 4 + [True]


def test_the_first_search_of_a_large_catalog_reports_its_indexing(
    registry: Registry, session: Session, heard: list[Progress]
) -> None:
    for number in range(2_000):
        add(registry, f"tool_{number}", toolset="mcp-many", description=f"Does thing {number}")
    assert session.search("thing 7").matches
    assert amounts(heard) == [(done, 2_000) for done in (0, 500, 1_000, 1_500, 2_000, 2_000)]


def test_a_small_catalog_is_indexed_without_a_word(registry: Registry, session: Session, heard: list[Progress]) -> None:
    add(registry, "t", toolset="mcp-few", description="Does a thing")
    assert session.search("thing").matches
    assert heard == []


def test_a_file_that_is_sent_reports_its_bytes_up_to_all_of_them(
    session: Session, heard: list[Progress], tmp_path: Path
) -> None:
    (tmp_path / "sent").write_bytes(b"x" * 1_000_000)
    session.put(tmp_path / "sent", str(tmp_path / "there"))
    assert (tmp_path / "there").read_bytes() == b"x" * 1_000_000
    assert len(heard) > 3
    assert amounts(heard)[-1] == (1_000_000, 1_000_000)
    assert {report.unit for report in heard} == {"bytes"}


def test_a_folder_that_is_fetched_reports_its_bytes(session: Session, heard: list[Progress], tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_bytes(b"x" * 1_000_000)
    session.get(str(tmp_path / "there"), tmp_path / "here")
    assert (tmp_path / "here" / "file").stat().st_size == 1_000_000
    assert heard[-1].finished
    assert heard[-1].done >= 1_000_000


def test_files_travel_as_well_when_nobody_listens(session: Session, tmp_path: Path) -> None:
    (tmp_path / "sent").write_text("x")
    session.put(tmp_path / "sent", str(tmp_path / "there"))
    session.get(str(tmp_path / "there"), tmp_path / "back")
    assert (tmp_path / "back").read_text() == "x"


def test_work_that_fails_is_reported_as_over(session: Session, heard: list[Progress], tmp_path: Path) -> None:
    with pytest.raises(BackendError):
        session.get(str(tmp_path / "missing"), tmp_path / "here")
    assert heard[-1].finished


def test_an_image_that_is_pulled_reports_its_layers(
    open_session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = hermes_backends.open_backend

    def pulling(spec: str, on_progress: Callable[[str], None]) -> Backend:  # a pull takes a registry that is not here
        for line in (
            "12 Pulling from debian",
            "a1 Already exists",
            "b2 Pulling fs layer",
            "b2 Downloading [=> ] 1MB/9MB",
        ):
            on_progress(line)
        on_progress("b2 Pull complete")
        return real("local")

    monkeypatch.setattr(hermes_backends, "open_backend", pulling)
    session = open_session(backend="docker://debian:12")
    heard: list[Progress] = []
    session.progress.listener = heard.append
    assert session.backend.name == "local"
    assert amounts(heard) == [(0, None), (0, None), (1, 1), (1, 2), (1, 2), (2, 2), (2, 2)]
    assert heard[4].note == "b2 Downloading [=> ] 1MB/9MB"
    assert heard[0].label == "opening docker://debian:12"


def test_a_listener_that_fails_never_breaks_the_work(registry: Registry, session: Session) -> None:
    add(registry, "t")
    session.progress.listener = raising(ValueError("no"))
    assert [result.ok for result in session.call_many([("t", {})] * 2)] == [True, True]


def test_works_beside_each_other_can_be_told_apart(registry: Registry, session: Session, heard: list[Progress]) -> None:
    add(registry, "t")

    @hermes.tool(registry=registry)
    def many(context: hermes.Context) -> Any:
        return len(context.session.call_many([("t", {})]))

    session.call_many([("many", {})])
    outer, inner = dict.fromkeys(report.work for report in heard)
    assert [report.work for report in heard] == [outer, inner, inner, inner, outer, outer]
