"""What only the local backend promises."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from hermes_backends import BackendUnavailable, open_backend
from hermes_backends.local.cgroup import find_parents
from hermes_backends.local.confine import Limits

from ..parts import PATIENCE, eventually, is_alive, missing


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


def test_rlimits_bound_memory_and_files(tmp_path):
    limits = Limits(memory=512 << 20, file_size=1 << 20)
    with open_backend("local", isolation="rlimits", limits=limits, cwd=str(tmp_path)) as backend:
        assert backend.run("head -c 800000000 /dev/zero | tail -c 800000000 | wc -c").stdout != "800000000\n"
        backend.run("head -c 3000000 /dev/zero > big")
        assert (tmp_path / "big").stat().st_size == 1 << 20


@pytest.fixture
def dividable():
    """What `isolation="cgroup"` needs."""
    try:
        return find_parents()
    except BackendUnavailable as error:
        missing(str(error))


def groups(parents):
    return {str(group) for parent in parents for group in parent.glob(f"hermes-{os.getpid()}-*")}


def test_a_cgroup_stops_a_memory_hog_and_the_shell_lives(dividable):
    with open_backend("local", isolation="cgroup", limits=Limits(memory=64 << 20)) as backend:
        backend.run("a=1")
        assert backend.run("head -c 1000000000 /dev/zero | tail -c 1000000000", timeout=PATIENCE).exit_code == 137
        # Each of these alone would fit: it is the sum that does not.
        hold = "tail -c 30000000 <(head -c 30000000 /dev/zero; sleep 1000) >/dev/null; echo ended $?"
        jobs = [backend.jobs.start(hold) for _ in range(3)]
        assert eventually(lambda: any("ended 137" in job.log() for job in jobs))
        assert backend.run("echo $a").stdout == "1\n"


def test_a_cgroup_stops_a_fork_bomb_even_of_root(dividable):
    with open_backend("local", isolation="cgroup", limits=Limits(processes=60)) as backend:
        backend.run("a=1")
        said = threading.Event()
        result = backend.run(
            "bomb() { bomb | bomb & }; bomb; sleep 1000",
            timeout=PATIENCE,
            on_output=lambda _, text: "unavailable" in text and (said.set() or backend.shell().interrupt()),
        )
        assert said.is_set()
        assert result.interrupted
        assert backend.run("echo $a").stdout == "1\n"


def test_a_cgroup_is_gone_after_close_with_all_that_hid_in_it(dividable):
    before = groups(dividable)
    with open_backend("local", isolation="cgroup") as backend:
        made = groups(dividable) - before
        assert len(made) == len(dividable)
        hidden = int(backend.run("env -i setsid sleep 1000 >/dev/null 2>&1 & echo $!").stdout)
        assert eventually(lambda: b"sleep" in Path(f"/proc/{hidden}/cmdline").read_bytes())
    assert groups(dividable) == before
    assert eventually(lambda: not is_alive(hidden))


def test_an_unknown_isolation_names_the_known_ones():
    with pytest.raises(BackendUnavailable, match="landlock"):
        open_backend("local", isolation="magic")
