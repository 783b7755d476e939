"""Binder: what repo2docker would build from ``binder/``, and that the tour runs with what is installed there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import nbformat
import pytest

from ..kernels import execute
from ..parts import run
from .conftest import ROOT, Environment

pytestmark = pytest.mark.timeout(900)  # packages come from an index
INSTALLS = 'bin/pip install --no-cache-dir -r "binder/requirements.txt"'


@pytest.fixture(scope="module")
def dockerfile() -> str:
    words = ["--no-build", "--debug", "--user-id", "1000", "--user-name", "jovyan"]
    done = run(sys.executable, "-m", "repo2docker", *words, ROOT)
    return done.stderr + done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment(tmp_path_factory.mktemp("binder"))
    made.install("--requirement", "binder/requirements.txt")
    return made


def test_repo2docker_builds_the_python_that_the_runtime_names(dockerfile: str) -> None:
    version = (ROOT / "binder" / "runtime.txt").read_text().strip().removeprefix("python-")
    assert f"Building conda environment for python={version}" in dockerfile


def test_the_requirements_are_installed_once_the_whole_repository_is_there(dockerfile: str) -> None:
    assert dockerfile.count(INSTALLS) == 1
    assert dockerfile.index(INSTALLS) > dockerfile.index("COPY --chown=1000:1000 src/ ${REPO_DIR}")


def test_nothing_on_binder_runs_as_root_but_repo2docker_itself(dockerfile: str) -> None:
    assert not (ROOT / "binder" / "apt.txt").exists()
    assert dockerfile.rindex("USER ${NB_USER}") > dockerfile.rindex("USER root")


def test_what_is_installed_is_what_the_tests_run_with(environment: Environment) -> None:
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split())
    code = "import ipykernel, ipywidgets; print(ipykernel.__version__, ipywidgets.__version__)"
    assert environment.python(code).split() == [pinned["ipykernel"], pinned["ipywidgets"]]


def test_what_binder_cannot_reach_is_not_installed(environment: Environment) -> None:
    code = "from importlib.util import find_spec; print(find_spec('docker'), find_spec('paramiko'))"
    assert environment.python(code) == "None None\n"


def test_the_tour_runs_with_what_is_installed(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = tmp_path / "kernels" / "binder"
    kernel.mkdir(parents=True)
    argv = [str(environment.bin / "python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Binder", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    notebook = nbformat.read(ROOT / "notebooks" / "01-tour.ipynb", as_version=4)
    execute(notebook, tmp_path, kernel="binder")
    assert any(cell.get("outputs") for cell in notebook.cells)
