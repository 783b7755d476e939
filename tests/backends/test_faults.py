"""Faults caused for real: the other side is killed, stopped, filled up or overrun."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import threading
import time
from functools import partial

import pytest

from hermes_backends import CommandInterrupted, ConnectionLost, ContainerGone, open_backend

from ..parts import PATIENCE, eventually, is_alive, need_root, run
from .conftest import DockerServer, Network, SSHServer, answers

#: Seconds in which a peer that lives answers, on a busy machine too.
BEAT = 2.0


def run_until_up(backend, command, then):
    """Run a command and do something to it once it has said something."""
    up = threading.Event()
    results = []
    thread = threading.Thread(target=lambda: results.append(backend.run(command, on_output=lambda *_: up.set())))
    thread.start()
    assert up.wait(PATIENCE)
    then()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    return results[0]


def assert_outcome_unknown(result):
    assert result.exit_code is None
    assert not result.ok
    assert result.stdout == "up\n"
    assert "outcome unknown" in result.error
    assert "not run again" in result.error


@pytest.fixture
def mortal_dockerd():
    server = DockerServer()
    yield server
    server.end()


@pytest.fixture
def mortal_sshd(tmp_path):
    server = SSHServer(tmp_path)
    yield server
    server.end()


@pytest.fixture
def far_sshd(tmp_path):
    """An sshd at the other end of a cable."""
    network = Network()
    try:
        server = SSHServer(tmp_path, network)
        yield network, server
        server.end()
    finally:
        network.end()


# The docker SDK forgets a socket when it finds nobody listening.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_killed_dockerd_leaves_the_outcome_unknown_and_the_next_command_reconnects(mortal_dockerd):
    with open_backend(f"docker://{mortal_dockerd.image}", base_url=mortal_dockerd.url) as backend:
        backend.run("cd /usr; a=1")
        result = run_until_up(backend, "echo x >> /count; echo up; sleep 1000", mortal_dockerd.kill)
        assert_outcome_unknown(result)
        with pytest.raises(ConnectionLost):
            backend.run("echo nobody is there")
        mortal_dockerd.start()
        again = backend.run('echo "$(cat /count) $PWD [$a]"')
        assert (again.stdout, again.exit_code) == ("x /usr []\n", 0)
        assert again.restarted
        assert not backend.run("true").restarted
    gc.collect()


def test_a_killed_sshd_leaves_the_outcome_unknown_and_the_next_command_reconnects(mortal_sshd, tmp_path):
    count = tmp_path / "count"
    with open_backend(mortal_sshd.target, **mortal_sshd.options) as backend:
        backend.run("cd /usr; a=1")
        result = run_until_up(backend, f"echo x >> {count}; echo up; sleep 1000", mortal_sshd.cut)
        assert_outcome_unknown(result)
        with pytest.raises(ConnectionLost):
            backend.run("echo nobody is there")
        mortal_sshd.start()
        again = backend.run(f'echo "$(cat {count}) $PWD [$a]"')
        assert (again.stdout, again.restarted) == ("x /usr []\n", True)


def test_a_command_whose_connection_was_cut_ends_on_the_other_side(mortal_sshd):
    peculiar = f"sleep {time.time_ns()}"
    with open_backend(mortal_sshd.target, **mortal_sshd.options) as backend:
        run_until_up(backend, f"echo up; {peculiar}", mortal_sshd.cut)
        assert eventually(
            lambda: subprocess.run(["pgrep", "-f", peculiar], check=False, capture_output=True).returncode
        )


def test_a_stopped_peer_is_noticed_by_the_heartbeat(mortal_sshd):
    with open_backend(mortal_sshd.target, **mortal_sshd.options, heartbeat=BEAT) as backend:
        backend.run("a=1")
        stop = partial(mortal_sshd.signal_sessions, signal.SIGSTOP)
        assert_outcome_unknown(run_until_up(backend, "echo up; sleep 1000", stop))
        assert backend.run("echo back").stdout == "back\n"


def test_a_pulled_cable_is_noticed_by_the_heartbeat_and_nothing_is_run_twice(far_sshd, tmp_path):
    network, server = far_sshd
    count = tmp_path / "count"
    with open_backend(server.target, **server.options, heartbeat=BEAT) as backend:
        backend.run("cd /usr; a=1")
        assert backend.run("echo $SSH_CONNECTION").stdout.split()[2] == network.address
        assert_outcome_unknown(run_until_up(backend, f"echo x >> {count}; echo up; sleep 1000", network.pull))
        network.plug()
        assert eventually(lambda: answers(server.host, server.port))  # a cable is found out to be back a while later
        again = backend.run(f'echo "$(cat {count}) $PWD [$a]"')
        assert (again.stdout, again.exit_code, again.restarted) == ("x /usr []\n", 0, True)
        assert not backend.run("true").restarted
    assert count.read_text() == "x\n"


def test_a_job_of_a_lost_connection_says_so_and_is_ended_over_the_next(mortal_sshd):
    peculiar = f"sleep {time.time_ns()}"
    with open_backend(mortal_sshd.target, **mortal_sshd.options) as backend:
        job = backend.jobs.start(f"echo up; {peculiar}")
        assert eventually(lambda: "up" in job.log())
        mortal_sshd.cut()
        assert job.wait(PATIENCE) is None
        assert (job.status, job.log()) == ("lost", "up\n")
        mortal_sshd.start()
    assert subprocess.run(["pgrep", "-f", peculiar], check=False, capture_output=True).returncode == 1


def test_a_full_disk_stops_the_spill_and_not_the_command(tmp_path):
    need_root("mount a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk)
    try:
        with open_backend("local", spill_dir=disk) as backend:
            result = backend.run("head -c 20000000 /dev/zero; echo end")
            assert (result.exit_code, result.truncated) == (0, True)
            assert result.stdout.endswith("\0end\n")
            assert "holds only the beginning" in result.stdout
            assert "No space left" in result.stdout
            assert backend.run("echo fine").stdout == "fine\n"
    finally:
        run("umount", "-l", disk)


def test_a_missing_spill_folder_stops_the_spill_and_not_the_command(tmp_path):
    with open_backend("local", spill_dir=tmp_path / "none", max_output=1000) as backend:
        result = backend.run("head -c 5000 /dev/zero; echo end")
        assert (result.exit_code, result.spill) == (0, None)
        assert "the rest is lost" in result.stdout


def test_a_fork_bomb_is_bounded_and_swept_away(dockerd):
    with open_backend(f"docker://{dockerd.image}", base_url=dockerd.url, pids=80) as backend:
        backend.run("a=1")
        result = backend.run("bomb() { bomb | bomb & }; bomb; sleep 1000", timeout=2)
        assert result.timed_out
        assert backend.run("echo $a").stdout == "1\n"
        assert eventually(lambda: int(backend.run("ls -d /proc/[0-9]* | wc -l").stdout) < 20)


def test_a_command_that_eats_all_memory_dies_and_the_shell_lives(dockerd):
    with open_backend(f"docker://{dockerd.image}", base_url=dockerd.url, memory="64m") as backend:
        backend.run("a=1")
        assert backend.run("tail -c 1000000000 /dev/zero", timeout=PATIENCE).exit_code == 137
        assert backend.run("echo $a").stdout == "1\n"


def ours(client):
    return {container.id for container in client.containers.list(all=True, filters={"label": "hermes-nb=1"})}


def test_a_container_that_was_removed_is_an_error_and_never_a_new_one(dockerd, tmp_path):
    client = dockerd.client()
    with open_backend(f"docker://{dockerd.image}", base_url=dockerd.url) as backend:
        result = run_until_up(
            backend,
            "echo up; sleep 1000",
            lambda: client.containers.get(backend.container_id).remove(force=True),
        )
        assert_outcome_unknown(result)
        left = ours(client)
        (tmp_path / "file").touch()
        for use in (
            lambda: backend.run("echo anew"),
            lambda: backend.run("echo anew", task="other"),
            lambda: backend.spawn(["true"]),
            lambda: backend.jobs.start("true"),
            lambda: backend.put(tmp_path / "file", "/tmp/file"),
            lambda: backend.get("/etc", tmp_path / "etc"),
            lambda: backend.snapshot("hermes-snapshot"),
        ):
            with pytest.raises(ContainerGone, match=f"open_backend.*{dockerd.image}.*use_backend") as caught:
                use()
            assert "nothing was run" in str(caught.value)
            assert not isinstance(caught.value, ConnectionLost)  # whose outcome is unknown
        assert ours(client) == left
    client.close()


def test_a_container_removed_between_commands_is_an_error_too(dockerd):
    client = dockerd.client()
    with open_backend(f"docker://{dockerd.image}", base_url=dockerd.url) as backend:
        backend.run("a=1")
        client.containers.get(backend.container_id).remove(force=True)
        with pytest.raises(ContainerGone):
            backend.run("echo $a")
    client.close()


def test_a_container_that_was_stopped_is_started_again_with_its_files(dockerd):
    client = dockerd.client()
    with open_backend(f"docker://{dockerd.image}", base_url=dockerd.url) as backend:
        backend.run("cd /usr; a=1; echo kept > /root/file")
        before = backend.container_id
        client.containers.get(before).stop(timeout=0)
        result = backend.run("cat /root/file; echo $PWD [$a]")
        assert (result.stdout, result.restarted) == ("kept\n/usr []\n", True)
        assert backend.container_id == before
    client.close()


def test_a_strangers_container_that_was_stopped_is_not_started_by_us(dockerd):
    client = dockerd.client()
    container = client.containers.run(dockerd.image, ["sleep", "1000"], detach=True, network_mode="none")
    try:
        with open_backend("docker", container=container.id, base_url=dockerd.url) as backend:
            container.stop(timeout=0)
            with pytest.raises(ConnectionLost, match="not running"):
                backend.run("true")
            container.reload()
            assert container.status == "exited"
            container.remove()
            with pytest.raises(ContainerGone):
                backend.run("true")
    finally:
        with contextlib.suppress(Exception):
            container.remove(force=True)
        client.close()


def test_a_shell_killed_between_commands_is_started_again_where_it_was():
    with open_backend("local") as backend:
        pids = [int(pid) for pid in backend.run("cd /usr; echo $BASHPID; echo $$").stdout.split()]
        os.kill(pids[0], signal.SIGKILL)
        assert eventually(lambda: not any(is_alive(pid) for pid in pids))
        result = backend.run("echo $PWD")
        assert (result.stdout, result.restarted) == ("/usr\n", True)


def test_a_keyboard_interrupt_ends_the_command_first_and_carries_the_output():
    with open_backend("local") as backend:
        backend.run("a=1")
        with pytest.raises(CommandInterrupted) as caught:
            backend.run("echo part; sleep 1000", on_output=lambda *_: os.kill(os.getpid(), signal.SIGINT))
        assert caught.value.result.stdout == "part\n"
        assert caught.value.result.exit_code == 130
        assert backend.run("echo $a").stdout == "1\n"
