"""Finding a daemon that speaks docker's language, and clearing up what lost owners left in it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path

import docker
import docker.errors
import requests.exceptions

from ..errors import BackendUnavailable, ConnectionLost
from ..owners import Owner

LABEL = "hermes-nb"
#: what the SDK raises when the daemon is gone
GONE = (requests.exceptions.RequestException, ConnectionError)
_TIMEOUT = 20.0


@dataclass(frozen=True, slots=True)
class Daemon:
    """A daemon that answered once."""

    client: docker.DockerClient
    url: str

    @classmethod
    def connect(cls, base_url: str = "", timeout: float = _TIMEOUT) -> Daemon:
        """The first daemon that answers: the one given, DOCKER_HOST's, docker's own, or podman's.

        Raises:
            BackendUnavailable: None does.
        """
        tried = []
        denied = ""
        for url in [base_url] if base_url else _addresses():
            client = None
            try:
                _knock(url)
                client = docker.DockerClient(base_url=url, timeout=timeout)
                client.ping()
            except (docker.errors.DockerException, OSError, *GONE) as error:
                tried.append(f"{url}: {str(error).splitlines()[0][:120]}")
                denied = url if isinstance(error, PermissionError) else denied
                if client is not None:
                    client.close()
            else:
                return cls(client, url)
        raise BackendUnavailable("no docker or podman answers (" + "; ".join(tried) + ")", _fix(base_url, denied))

    def check(self) -> None:
        """Raise ConnectionLost if nobody listens any more."""
        try:
            _knock(self.url)
        except OSError as error:
            raise ConnectionLost(f"docker does not answer at {self.url}: {error.strerror}") from error


def _fix(base_url: str, denied: str) -> str:
    """What makes a daemon answer, by what keeps it from it."""
    if denied:
        return f"become a member of the group of {denied.removeprefix('unix://')} (`sudo usermod -aG docker $USER`)"
    if base_url:
        return f"start the daemon at {base_url}, or leave out base_url= to look in the usual places"
    if host := os.environ.get("DOCKER_HOST"):
        return f"start the daemon at {host}, or `unset DOCKER_HOST` to look in the usual places"
    if shutil.which("docker") or shutil.which("dockerd"):
        managed = Path("/run/systemd/system").is_dir()
        return "sudo systemctl start docker" if managed else "sudo dockerd &"
    if shutil.which("podman"):
        return "podman system service --time=0 &"
    return "apt-get install docker.io (or podman), then start its daemon"


def _knock(url: str) -> None:
    """Connect to a unix socket and hang up. The SDK would find out too, but leaks a socket when it does."""
    if url.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(url.removeprefix("unix://"))


def _addresses() -> list[str]:
    if host := os.environ.get("DOCKER_HOST"):
        return [host]
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    sockets = (
        "/var/run/docker.sock",
        f"{runtime}/docker.sock",
        f"{runtime}/podman/podman.sock",
        "/run/podman/podman.sock",
    )
    return [f"unix://{path}" for path in sockets if Path(path).exists()] or ["unix:///var/run/docker.sock"]


def labels() -> dict[str, str]:
    """What a container of ours carries: that it is ours, and whose."""
    return {LABEL: "1", f"{LABEL}.host": socket.gethostname(), **Owner.current().labels(LABEL)}


def reap_orphans(client: docker.DockerClient) -> list[str]:
    """Remove containers of ours whose Python surely is no more. Returns their ids."""
    reaped = []
    for container in client.containers.list(all=True, filters={"label": f"{LABEL}=1"}, ignore_removed=True):
        owner = Owner.from_labels(container.labels, LABEL)
        if owner is not None and owner.is_gone():
            with contextlib.suppress(docker.errors.APIError):
                container.remove(force=True, v=True)
                reaped.append(str(container.id))
    return reaped
