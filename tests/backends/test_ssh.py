"""What only the ssh backend promises."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess

import pytest

from hermes_backends import AuthenticationFailed, BackendUnavailable, ConnectionLost, HostKeyRefused, open_backend

from .conftest import Server, SSHServer, eventually, find


def fingerprint(sshd):
    shown = subprocess.run(
        [find("ssh-keygen"), "-lf", sshd.folder / "host.pub"], capture_output=True, text=True, check=True
    )
    return shown.stdout.split()[1]


def make_key(path, *, kind="ed25519", passphrase=""):
    subprocess.run([find("ssh-keygen"), "-q", "-t", kind, "-N", passphrase, "-f", path], check=True)
    return path


@contextlib.contextmanager
def serving(folder, **settings):
    """One more sshd, with settings of its own."""
    folder.mkdir()
    server = SSHServer(folder, **settings)
    try:
        yield server
    finally:
        server.cut()


def test_an_unknown_host_is_refused_and_the_command_shown_accepts_it(sshd, tmp_path):
    known = tmp_path / "known hosts".replace(" ", "_")
    known.touch()
    options = {**sshd.options, "known_hosts": str(known)}
    with pytest.raises(HostKeyRefused) as refused:
        open_backend(sshd.target, **options)
    assert fingerprint(sshd) in str(refused.value)
    command = refused.value.fix.partition(": ")[2]
    subprocess.run(command, shell=True, check=True, capture_output=True)
    with open_backend(sshd.target, **options) as backend:
        assert backend.run("echo in").stdout == "in\n"


def test_a_changed_key_is_refused_and_the_command_shown_forgets_the_old(sshd, tmp_path):
    make_key(tmp_path / "other")
    kind, key, *_ = (tmp_path / "other.pub").read_text().split()
    known = tmp_path / "known"
    known.write_text(f"[127.0.0.1]:{sshd.port} {kind} {key}\n")
    options = {**sshd.options, "known_hosts": str(known)}
    with pytest.raises(HostKeyRefused, match="CHANGED") as refused:
        open_backend(sshd.target, **options)
    assert fingerprint(sshd) in str(refused.value)
    subprocess.run(refused.value.fix.partition(": ")[2], shell=True, check=True, capture_output=True)
    assert known.read_text() == ""


def test_a_wrong_key_is_refused_with_the_command_to_try(sshd, tmp_path):
    make_key(tmp_path / "wrong")
    with pytest.raises(AuthenticationFailed, match=f"ssh -p {sshd.port}"):
        open_backend(sshd.target, **{**sshd.options, "key_filename": str(tmp_path / "wrong")})


def test_nobody_there_is_said_at_once(sshd):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(BackendUnavailable, match=f"127.0.0.1:{port}"):
            open_backend(f"ssh://root@127.0.0.1:{port}", **sshd.options)


def test_a_refused_key_of_any_kind_is_a_failure_to_log_in(sshd, tmp_path):
    for kind in ("rsa", "ecdsa"):
        key = make_key(tmp_path / kind, kind=kind)
        with pytest.raises(AuthenticationFailed, match=f"ssh -p {sshd.port}"):
            open_backend(sshd.target, **{**sshd.options, "key_filename": str(key)})


def test_an_encrypted_key_needs_its_passphrase_and_says_so(tmp_path):
    key = make_key(tmp_path / "locked", passphrase="open sesame")
    with serving(tmp_path / "server", AuthorizedKeysFile=f"{key}.pub") as server:
        options = {**server.options, "key_filename": str(key)}
        with pytest.raises(AuthenticationFailed, match="encrypted") as refused:
            open_backend(server.target, **options)
        assert "passphrase=" in refused.value.fix
        assert "ssh-add" in refused.value.fix
        with pytest.raises(AuthenticationFailed, match="passphrase="):
            open_backend(server.target, **options, passphrase="wrong")
        with open_backend(server.target, **options, passphrase="open sesame") as backend:
            assert backend.run("echo in").stdout == "in\n"


def test_a_key_of_the_agent_opens_without_any_file(sshd, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))  # no keys of the user's own
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    options = {"known_hosts": str(sshd.known_hosts), "config": "/dev/null"}
    agent = Server(
        [find("ssh-agent"), "-D", "-a", str(tmp_path / "agent")], (tmp_path / "agent").exists, tmp_path / "l"
    )
    try:
        with pytest.raises(BackendUnavailable):
            open_backend(sshd.target, **options)
        subprocess.run([find("ssh-add"), "-q", str(sshd.key)], check=True)
        with open_backend(sshd.target, **options) as backend:
            assert backend.run("echo in").stdout == "in\n"
        with pytest.raises(BackendUnavailable):
            open_backend(sshd.target, **options, agent=False)
    finally:
        agent.end()


def gated(sshd, gate, tmp_path, way):
    """Options with a config in which `inner` is reached by way of `gate`, and the keys of both are known."""
    hosts = {"gate": gate, "inner": sshd}
    config, known = tmp_path / "config", tmp_path / "known"
    known.write_text("".join(server.known_hosts.read_text() for server in hosts.values()))
    lines = [
        f"Host {name}\n  HostName 127.0.0.1\n  Port {server.port}\n  User root\n  IdentityFile {server.key}\n"
        for name, server in hosts.items()
    ]
    config.write_text("".join(lines) + way.format(config=config, known=known))
    return {"config": str(config), "known_hosts": str(known), "agent": False}


def test_a_jump_leads_through_another_host_and_ends_with_the_backend(sshd, tmp_path):
    with serving(tmp_path / "gate") as gate:
        with open_backend("ssh://inner", **gated(sshd, gate, tmp_path, "  ProxyJump gate\n")) as backend:
            assert backend.run("echo $SSH_CONNECTION").stdout.split()[3] == str(sshd.port)
            assert len(gate.sessions()) == 1
        assert eventually(lambda: not gate.sessions())


PROXY = "  ProxyCommand ssh -F {config} -o UserKnownHostsFile={known} -W %h:%p gate\n"


def test_a_proxy_command_leads_to_the_host_and_ends_with_the_backend(sshd, tmp_path):
    find("ssh")
    with serving(tmp_path / "gate") as gate:
        with open_backend("ssh://inner", **gated(sshd, gate, tmp_path, PROXY)) as backend:
            assert backend.run("echo $SSH_CONNECTION").stdout.split()[3] == str(sshd.port)
            assert len(gate.sessions()) == 1
        assert eventually(lambda: not gate.sessions())


def test_the_death_of_a_proxy_command_leaves_the_outcome_unknown_and_the_next_starts_another(sshd, tmp_path):
    find("ssh")
    with (
        serving(tmp_path / "gate") as gate,
        open_backend("ssh://inner", **gated(sshd, gate, tmp_path, PROXY), heartbeat=0) as backend,
    ):
        result = backend.run("echo up; sleep 1000", on_output=lambda *_: gate.signal_sessions(signal.SIGKILL))
        assert (result.exit_code, result.stdout) == (None, "up\n")
        assert "outcome unknown" in result.error
        assert backend.run("echo back").stdout == "back\n"


def test_a_proxy_command_that_fails_is_said(sshd, tmp_path):
    options = gated(sshd, sshd, tmp_path, "  ProxyCommand false\n")
    with pytest.raises(BackendUnavailable, match="ssh -p"):
        open_backend("ssh://inner", **options)


def test_one_session_too_many_is_refused_with_what_to_do_and_the_others_go_on(tmp_path):
    with (
        serving(tmp_path / "server", MaxSessions=2) as server,
        open_backend(server.target, **server.options) as backend,
    ):
        ran = tmp_path / "ran"
        for task in ("one", "two"):
            backend.run("a=1", task=task)
        with pytest.raises(ConnectionLost, match="MaxSessions"):
            backend.run(f"touch {ran}", task="three")
        assert not ran.exists()
        assert backend.run("sleep 1000", timeout=0.1, task="one").timed_out
        assert [backend.run("echo $a", task=task).stdout for task in ("one", "two")] == ["1\n", "1\n"]
        backend.shell("two").close()
        assert backend.run("echo room", task="three").stdout == "room\n"


def test_names_keys_and_jumps_of_the_config_file_are_honoured(sshd, tmp_path):
    config = tmp_path / "config"
    common = f"  HostName 127.0.0.1\n  Port {sshd.port}\n  User root\n  IdentityFile {sshd.key}\n"
    config.write_text(f"Host gate\n{common}Host inner\n{common}  ProxyJump gate\n")
    with open_backend("ssh://inner", config=str(config), known_hosts=str(sshd.known_hosts), agent=False) as backend:
        assert backend.run("echo through").stdout == "through\n"
        assert backend.run("echo $SSH_CONNECTION").stdout.split()[0] == "127.0.0.1"


def test_variables_are_not_seen_in_the_list_of_processes(sshd):
    with open_backend(sshd.target, **sshd.options, env={"TOKEN": "very-secret-word"}) as backend:
        assert backend.run("echo $TOKEN").stdout == "very-secret-word\n"
        assert backend.run("cat /proc/[0-9]*/cmdline | grep -c 'very-secret[-]word'").stdout == "0\n"


def test_small_packets_are_not_held_back(sshd):
    with open_backend(sshd.target, **sshd.options) as backend:
        sock = backend._connection._client.get_transport().sock
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
