"""What a stranger gets from ``pip install``: the files, the metadata, and something that works on its own."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

import hermes_nb

from ..parts import run
from .conftest import ROOT, Environment

#: extra -> the modules that must be importable with it
EXTRAS = {
    "docker": ["docker", "hermes_backends.docker"],
    "ssh": ["paramiko", "hermes_backends.ssh"],
    "modal": ["modal"],
    "daytona": ["daytona"],
    "mcp": ["mcp"],
    "agent": ["openai"],
    "demo": ["jupyterlab", "pandas"],
    "tokens": ["bpe_openai"],
    "semantic": ["wordllama", "hermes_nb.search.engine.semantic"],
}
pytestmark = pytest.mark.timeout(900)  # packages come from an index
PACKAGES = {"hermes_nb": ROOT / "hermes_nb", "hermes_backends": ROOT / "backends" / "hermes_backends"}


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        return Parser().parsestr(_member(archive, "METADATA"))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("base"))
    environment.install(str(wheel))
    return environment


@pytest.fixture(scope="module")
def growing(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("growing"))
    environment.install(str(wheel))
    return environment


def _member(archive: zipfile.ZipFile, name: str) -> str:
    found = next(member for member in archive.namelist() if member.endswith(f".dist-info/{name}"))
    return archive.read(found).decode()


def _files(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_of_a_package_is_in_the_wheel(package: str, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name.partition("/")[2] for name in archive.namelist() if name.startswith(f"{package}/")}
    assert {name for name in packed if not name.startswith("course/")} == _files(PACKAGES[package])


def test_the_whole_course_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        start = "hermes_nb/course/"
        packed = {name.removeprefix(start) for name in archive.namelist() if name.startswith(start)}
    assert packed == {name for name in _files(ROOT / "notebooks") if not name.endswith(".py")}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_that_it_is_typed(package: str, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert f"{package}/py.typed" in archive.namelist()


def test_the_wheel_holds_nothing_but_the_packages_and_its_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        top = {name.partition("/")[0] for name in archive.namelist()}
    assert top == {*PACKAGES, f"hermes_nb-{hermes_nb.__version__}.dist-info"}


def test_the_sdist_holds_the_tests_and_notebooks_but_no_workshop(distributions: Path) -> None:
    with tarfile.open(next(distributions.glob("*.tar.gz"))) as archive:
        top = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert {"tests", "notebooks", "docs", "LICENSE", "README.md", "pyproject.toml"} <= top
    assert not top & {".venv", ".git", ".ci", ".mypy_cache", ".ruff_cache"}


def test_an_index_would_accept_and_render_both_files(distributions: Path) -> None:
    files = [str(path) for path in distributions.iterdir() if path.suffix in (".whl", ".gz")]
    done = run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", *files)
    assert done.stdout.count("PASSED") == 2


def test_the_metadata_says_who_it_is_for(metadata: Message) -> None:
    classifiers = metadata.get_all("Classifier", [])
    assert metadata["Version"] == hermes_nb.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert {"Framework :: Jupyter", "Typing :: Typed", "Programming Language :: Python :: 3.11"} <= set(classifiers)


def test_every_classifier_is_one_that_exists(metadata: Message) -> None:
    from trove_classifiers import classifiers

    assert set(metadata.get_all("Classifier", [])) <= classifiers


def test_every_extra_is_tested_here_and_known_to_the_doctor(metadata: Message) -> None:
    from hermes_nb import doctor

    assert set(metadata.get_all("Provides-Extra", [])) == {*EXTRAS, "all", "dev"}
    assert doctor.EXTRAS.keys() == EXTRAS.keys()


def test_the_command_is_an_entry_point(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert "hermes-nb = hermes_nb.cli:main" in _member(archive, "entry_points.txt")


def test_the_base_imports_without_a_warning(base: Environment) -> None:
    shown = base.run("python", "-W", "error", "-c", "import hermes_nb, hermes_backends; print(hermes_nb.__file__)")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(str(base.folder))


def test_a_tool_can_be_declared_and_called_with_the_base_alone(base: Environment) -> None:
    code = """
import hermes_nb as hermes

@hermes.tool(toolset="sums")
def add(a: int, b: int = 1) -> int:
    '''Add two numbers.'''
    return a + b

with hermes.Session() as session:
    print(session.call("add", {"a": 41}))
    print(session.call("terminal", {"command": "echo from the shell"}).value.result.stdout)
"""
    assert base.python(code) == "42\nfrom the shell\n\n"


def test_the_command_tells_its_version(base: Environment) -> None:
    assert base.run("hermes-nb", "--version").stdout == f"hermes-nb {hermes_nb.__version__}\n"


def test_the_magic_loads_in_a_shell_with_the_base_alone(base: Environment) -> None:
    done = base.run(
        "python", "-m", "IPython", "--no-banner", "--colors=nocolor", "-c", "%load_ext hermes_nb\n%hermes tools"
    )
    assert done.returncode == 0, done.stderr
    assert "read_file" in done.stdout


def test_the_doctor_finds_nothing_broken_in_a_fresh_install(base: Environment) -> None:
    done = base.run("hermes-nb", "doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'pip install "hermes-nb[docker]"' in done.stdout


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_what_it_is_for(extra: str, growing: Environment, wheel: Path) -> None:
    growing.install(f"{wheel}[{extra}]")
    growing.python(f"import {', '.join(EXTRAS[extra])}")
