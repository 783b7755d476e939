"""``hermes-nb demo``: the tour, from whatever is installed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..parts import PATIENCE, eventually, is_alive
from .conftest import Environment

pytestmark = pytest.mark.timeout(900)  # packages come from an index
DEMO = [sys.executable, "-m", "hermes_nb.cli", "demo"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("demo"))
    environment.install(str(wheel))
    return environment


def test_the_wheel_alone_shows_the_tour_in_the_terminal(installed: Environment, tmp_path: Path) -> None:
    shown = installed.run("hermes-nb", "demo")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "pip install 'hermes-nb[demo]'" in shown.stdout
    assert "# A tour of hermes-nb" in shown.stdout
    assert "summarise (stats, shown" in shown.stdout
    assert "denied: terminal was denied" in shown.stdout
    assert "block  timeout 5 sudo rm -rf /usr" in shown.stdout


def test_a_tour_leaves_nothing_behind(tmp_path: Path) -> None:
    variables = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    variables.pop("HERMES_NB_HOME", None)
    shown = subprocess.run([*DEMO, "--print"], env=variables, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert [path.name for path in tmp_path.iterdir() if "hermes" in path.name] == []


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A demo, and what it prints first."""
    command = [*DEMO, "--folder", str(tmp_path / "mine"), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tempfile.gettempdir())
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        process.stdout.close()


def test_the_address_is_printed_when_the_server_answers(
    served: tuple[subprocess.Popen[str], str], tmp_path: Path
) -> None:
    process, line = served
    address = line.split()[-1]
    notebook = address.replace("/lab/tree/", "/api/contents/")
    with urllib.request.urlopen(notebook, timeout=PATIENCE) as answer:
        assert json.load(answer)["content"]["cells"][0]["source"].startswith("# A tour of hermes-nb")
    children = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    token = address.partition("token=")[2]
    assert all(token.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    assert eventually(lambda: not any(map(is_alive, children)))
    assert (tmp_path / "mine" / "01-tour.ipynb").is_file()


def test_notebooks_that_are_there_already_stay_as_they_are(tmp_path: Path) -> None:
    from hermes_nb.demo.course import TOUR, copy_course

    (tmp_path / TOUR).write_text("mine")
    copy_course(tmp_path)
    assert (tmp_path / TOUR).read_text() == "mine"
    assert (tmp_path / "02-declare-tools.ipynb").is_file()


def test_what_python_left_beside_the_data_is_no_part_of_the_course(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hermes_nb.demo import course

    (tmp_path / "from" / "data" / "__pycache__").mkdir(parents=True)
    (tmp_path / "from" / course.TOUR).write_text("{}")
    monkeypatch.setattr(course, "_FOLDERS", (tmp_path / "from",))
    course.copy_course(tmp_path / "to")
    assert [path.name for path in (tmp_path / "to").rglob("*")] == [course.TOUR]


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        shown = subprocess.run(
            [*DEMO, "--folder", str(tmp_path), "--port", port], capture_output=True, text=True, check=False
        )
    assert shown.returncode == 1
    assert "JupyterLab did not start" in shown.stderr
    assert port in shown.stderr
