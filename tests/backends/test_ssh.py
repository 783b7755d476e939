"""What only the ssh backend promises."""

from __future__ import annotations

import socket
import subprocess

import pytest

from hermes_backends import AuthenticationFailed, BackendUnavailable, HostKeyRefused, open_backend

from .conftest import find


def fingerprint(sshd):
    shown = subprocess.run(
        [find("ssh-keygen"), "-lf", sshd.folder / "host.pub"], capture_output=True, text=True, check=True
    )
    return shown.stdout.split()[1]


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
    subprocess.run([find("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "other"], check=True)
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
    subprocess.run([find("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "wrong"], check=True)
    with pytest.raises(AuthenticationFailed, match=f"ssh -p {sshd.port}"):
        open_backend(sshd.target, **{**sshd.options, "key_filename": str(tmp_path / "wrong")})


def test_nobody_there_is_said_at_once(sshd):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(BackendUnavailable, match=f"127.0.0.1:{port}"):
            open_backend(f"ssh://root@127.0.0.1:{port}", **sshd.options)


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
