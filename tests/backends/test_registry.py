"""Finding backends, and saying what is missing."""

from __future__ import annotations

import sys

import pytest

import hermes_backends
from hermes_backends import BackendError, MissingDependency, UnknownBackend, backend_names, open_backend
from hermes_backends.probe import probe_all

from ..parts import run


def python(code: str, *path: str) -> str:
    return run(sys.executable, "-c", code, cwd=path[0] if path else None).stdout.strip()


def test_importing_loads_no_sdk_and_no_event_loop():
    heavy = ("docker", "paramiko", "asyncio", "hermes_nb")
    code = f"import sys, hermes_backends; print([m for m in {heavy} if m in sys.modules])"
    assert python(code) == "[]"


def test_the_public_names_are_these():
    assert sorted(hermes_backends.__all__) == sorted(n for n in hermes_backends.__all__ if hasattr(hermes_backends, n))
    assert len(hermes_backends.__all__) == 35


def test_every_error_is_a_backend_error_with_a_docstring():
    for name in hermes_backends.__all__:
        thing = getattr(hermes_backends, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            assert issubclass(thing, BackendError)
            assert thing.__doc__


def test_an_unknown_backend_names_the_known_ones():
    with pytest.raises(UnknownBackend, match=r"docker, local, ssh.*hermes_nb\.backends"):
        open_backend("dokcer://x")


@pytest.mark.parametrize("name", ["singularity", "modal", "daytona"])
def test_a_planned_backend_says_that_it_is_not_here_yet(name):
    with pytest.raises(UnknownBackend, match="not part of this version"):
        open_backend(name)


@pytest.mark.parametrize(("name", "package"), [("docker", "docker"), ("ssh", "paramiko")])
def test_an_uninstalled_backend_names_what_to_install(monkeypatch, name, package):
    for module in [m for m in sys.modules if m.partition(".")[0] == package or m.startswith(f"hermes_backends.{name}")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependency, match=rf"pip install 'hermes-nb\[{name}\]'"):
        open_backend(f"{name}://x")


def test_an_unknown_option_is_named():
    with pytest.raises(BackendError, match="colour"):
        open_backend("local?colour=red")


def test_options_come_from_the_address_too(tmp_path):
    with open_backend(f"local?cwd={tmp_path}&max_output=100", max_output=200) as backend:
        assert (backend.run("pwd").stdout.strip(), backend.max_output) == (str(tmp_path), 200)


def test_other_packages_add_backends_by_entry_point(tmp_path):
    info = tmp_path / "other-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[hermes_nb.backends]\nother = other:Other\n")
    (tmp_path / "other.py").write_text(
        "from hermes_backends.local import LocalBackend\nclass Other(LocalBackend):\n  name = 'other'\n"
    )
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from hermes_backends import open_backend, backend_names\n"
        "with open_backend('other') as b: print(b.name, 'other' in backend_names(), b.run('echo hi').stdout)"
    )
    assert python(code, str(tmp_path)) == "other True hi"


def test_the_probe_covers_every_name_and_gives_one_line_fixes(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    probes = {probe.name: probe for probe in probe_all()}
    assert {*backend_names(), "singularity", "modal", "daytona"} == set(probes)
    assert probes["local"].usable
    assert not probes["docker"].usable
    assert all("\n" not in probe.fix for probe in probes.values())
    assert all(probe.fix for probe in probes.values() if not probe.usable)
    assert "not part of this version" in probes["modal"].detail


def test_the_probe_finds_a_daemon(monkeypatch, dockerd):
    monkeypatch.setenv("DOCKER_HOST", dockerd.url)
    assert {probe.name: probe.usable for probe in probe_all()}["docker"]
