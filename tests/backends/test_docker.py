"""What only the docker backend promises."""

from __future__ import annotations

import fcntl
import http.client
import signal
import socket
import subprocess
import sys
import termios

import pytest

from hermes_backends import BackendUnavailable, ImageMissing, ShellUnavailable, open_backend

from ..parts import PATIENCE, eventually


@pytest.fixture
def client(dockerd):
    client = dockerd.client()
    yield client
    client.close()


def opened(dockerd, **options):
    return open_backend(f"docker://{dockerd.image}", base_url=dockerd.url, **options)


def test_inspect_shows_the_hardening(dockerd, client):
    with opened(dockerd, memory="128m", cpus=0.5, pids=99) as backend:
        shown = client.api.inspect_container(backend.container_id)
        host = shown["HostConfig"]
        assert host["CapDrop"] == ["ALL"]
        assert not {"SYS_ADMIN", "NET_ADMIN", "NET_RAW", "SYS_PTRACE", "SYS_MODULE"} & set(host["CapAdd"])
        assert "no-new-privileges:true" in host["SecurityOpt"]
        assert not any("seccomp" in option for option in host["SecurityOpt"])
        assert (host["Memory"], host["MemorySwap"], host["PidsLimit"]) == (128 << 20, 128 << 20, 99)
        assert host["NanoCpus"] == 500_000_000
        assert host["NetworkMode"] == "none"
        assert host["Binds"] is None
        assert shown["Mounts"] == []
        assert not host["Privileged"]
        assert host["Init"]
        assert host["PidMode"] == host["UTSMode"] == ""
        assert shown["Config"]["Labels"]["hermes-nb"] == "1"


def test_only_the_loopback_is_there(dockerd):
    with opened(dockerd) as backend:
        assert backend.run("ls /sys/class/net").stdout == "lo\n"


def test_a_read_only_container_still_has_a_shell_jobs_and_a_tmp(dockerd, tmp_path):
    (tmp_path / "file").write_text("text")
    with opened(dockerd, read_only=True) as backend:
        assert "Read-only" in backend.run("touch /etc/x").stderr
        backend.put(tmp_path / "file", "/tmp/file")
        job = backend.jobs.start("cat /tmp/file")
        assert (job.wait(PATIENCE), job.log()) == (0, "text")


def test_commands_run_as_the_user_asked_for_and_can_be_killed(dockerd):
    with opened(dockerd, user="nobody") as backend:
        assert backend.run("id -un").stdout == "nobody\n"
        process = backend.spawn(["sleep", "1000"])
        process.kill()
        assert process.wait(PATIENCE) == 137
        process.close()


def test_a_mount_is_there_only_when_asked_for_and_can_be_read_only(dockerd, tmp_path):
    (tmp_path / "file").write_text("text")
    with opened(dockerd, mounts=[f"{tmp_path}:/srv/shared:ro"]) as backend:
        assert backend.run("cat /srv/shared/file").stdout == "text"
        assert backend.run("touch /srv/shared/x").exit_code == 1


def test_the_socket_is_never_mounted(dockerd):
    for source in (dockerd.url.removeprefix("unix://"), "/", "/var/run"):
        with pytest.raises(BackendUnavailable, match="machine"):
            opened(dockerd, mounts=[f"{source}:/x"])


def test_our_environment_stays_here(dockerd, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with opened(dockerd, env={"GIVEN": "yes"}) as backend:
        said = backend.run("env").stdout
        assert "sk-secret" not in said
        assert "GIVEN=yes" in said


def test_a_missing_image_says_what_to_do(dockerd):
    for pull in (True, False):
        with pytest.raises(ImageMissing, match="docker pull no-such-image:1"):
            open_backend("docker://no-such-image:1", base_url=dockerd.url, pull=pull)


def test_an_image_without_bash_says_so_and_spawn_works_all_the_same(dockerd):
    with open_backend("docker://hermes-bare", base_url=dockerd.url) as backend:
        with pytest.raises(ShellUnavailable, match="bash"):
            backend.run("true")
        process = backend.spawn(["echo", "hi"])
        assert process.read(PATIENCE).data == b"hi\n"
        process.close()


def _waiting(connection):
    return int.from_bytes(fcntl.ioctl(connection, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_output_that_comes_together_with_the_daemons_answer_is_not_lost(dockerd, monkeypatch):
    begin = http.client.HTTPResponse.begin

    def begin_late(response):
        connection = response.fp.raw._sock
        head = connection.recv(1 << 16, socket.MSG_PEEK)  # of a UNIX socket: what came first, not all that is there
        assert b" 101 " not in head or b"early" in head or eventually(lambda: _waiting(connection) > len(head))
        begin(response)

    with opened(dockerd) as backend:
        monkeypatch.setattr(http.client.HTTPResponse, "begin", begin_late)
        process = backend.spawn(["echo", "early"])
        assert process.read(PATIENCE).data == b"early\n"
        process.close()


def test_no_daemon_says_how_to_start_one(tmp_path):
    with pytest.raises(BackendUnavailable, match="start the daemon at unix:"):
        open_backend("docker://x", base_url=f"unix://{tmp_path}/nobody.sock")


def test_close_removes_the_container(dockerd, client):
    backend = opened(dockerd)
    backend.close()
    assert backend.container_id not in [c.id for c in client.containers.list(all=True)]


def test_attaching_leaves_the_container_as_it_was(dockerd, client):
    container = client.containers.run(dockerd.image, ["sleep", "1000"], detach=True, network_mode="none")
    try:
        with open_backend("docker", container=container.id, base_url=dockerd.url) as backend:
            assert backend.run("echo in").stdout == "in\n"
            backend.run("sleep 999 &")
        container.reload()
        assert container.status == "running"
        assert b"sleep 999" not in container.exec_run(["ps"]).output
    finally:
        container.remove(force=True)


def test_a_container_whose_python_was_killed_is_reaped_by_the_next(dockerd, client):
    code = (
        "import sys; from hermes_backends import open_backend\n"
        "b = open_backend(f'docker://{sys.argv[1]}', base_url=sys.argv[2])\n"
        "print(b.container_id, flush=True)\n"
        "sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, dockerd.image, dockerd.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        orphan = other.stdout.readline().strip()
        with opened(dockerd) as mine:
            assert {orphan, mine.container_id} <= {c.id for c in client.containers.list()}
        other.send_signal(signal.SIGKILL)
        other.wait(PATIENCE)
        with opened(dockerd):
            assert orphan not in {c.id for c in client.containers.list(all=True)}


def test_a_snapshot_is_an_image_with_the_files(dockerd, client):
    with opened(dockerd) as backend:
        backend.run("echo kept > /root/file")
        image = backend.snapshot("hermes-snapshot")
    with open_backend(f"docker://{image}", base_url=dockerd.url) as backend:
        assert backend.run("cat /root/file").stdout == "kept\n"
    client.images.remove(image, force=True)
