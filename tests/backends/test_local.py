"""What only the local backend promises."""

from __future__ import annotations

import pytest

from hermes_backends import BackendUnavailable, open_backend
from hermes_backends.confine import Limits
from hermes_backends.landlock import abi

from .conftest import find, missing


def test_credentials_are_not_seen_unless_named(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-secret")
    monkeypatch.setenv("LC_TEST", "harmless")
    with open_backend("local") as backend:
        said = backend.run("env").stdout + backend.run("cat /proc/self/environ /proc/$$/environ").stdout
        assert "secret" not in said
        assert "LC_TEST=harmless" in said
    with open_backend("local", pass_env=["OPENAI_API_KEY"]) as backend:
        assert backend.run("echo $OPENAI_API_KEY$AWS_SECRET_ACCESS_KEY").stdout == "sk-secret\n"


def test_setup_runs_first_in_every_shell():
    with open_backend("local", setup="greet() { echo hello; }; export A=1") as backend:
        assert backend.run("greet; echo $A", task="one").stdout == "hello\n1\n"
        assert backend.run("greet", task="two").stdout == "hello\n"


def test_landlock_lets_nothing_be_written_elsewhere(tmp_path, monkeypatch):
    if abi() < 1:
        missing("this kernel has no Landlock")
    inside, outside, temporary = (tmp_path / name for name in ("in", "out", "temporary"))
    for folder in (inside, outside, temporary):
        folder.mkdir()
    (outside / "file").write_text("kept")
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with open_backend("local", isolation="landlock", cwd=str(inside)) as backend:
        assert backend.run("echo x > here && cat here").stdout == "x\n"
        for attack in ("echo x > {}/new", "rm {}/file", "truncate -s 0 {}/file", "mv here {}/", "mkdir {}/d"):
            assert backend.run(attack.format(outside)).exit_code != 0
        assert backend.run(f"cat {outside}/file").stdout == "kept"
        assert backend.run("sleep 1000", timeout=0.2).timed_out
        assert backend.run("echo alive").stdout == "alive\n"
    assert [path.name for path in outside.iterdir()] == ["file"]


def test_bubblewrap_has_its_own_processes_no_network_and_one_writable_folder(tmp_path):
    find("bwrap")
    with open_backend("local", isolation="bubblewrap", cwd=str(tmp_path)) as backend:
        assert backend.run("echo x > here && cat here").stdout == "x\n"
        assert backend.run("touch /etc/hermes-test").exit_code != 0
        assert backend.run("ls /sys/class/net /proc/net/dev >/dev/null; grep -c : /proc/net/dev").stdout == "1\n"
        assert int(backend.run("ls -d /proc/[0-9]* | wc -l").stdout) < 20
        assert backend.run("setsid sleep 1000 & sleep 1000", timeout=0.2).timed_out
        assert backend.run("echo alive").stdout == "alive\n"
    assert (tmp_path / "here").read_text() == "x\n"


def test_rlimits_bound_memory_and_files(tmp_path):
    limits = Limits(memory=512 << 20, file_size=1 << 20)
    with open_backend("local", isolation="rlimits", limits=limits, cwd=str(tmp_path)) as backend:
        assert backend.run("head -c 800000000 /dev/zero | tail -c 800000000 | wc -c").stdout != "800000000\n"
        backend.run("head -c 3000000 /dev/zero > big")
        assert (tmp_path / "big").stat().st_size == 1 << 20


def test_an_unknown_isolation_names_the_known_ones():
    with pytest.raises(BackendUnavailable, match="landlock"):
        open_backend("local", isolation="magic")
