"""Which backends are usable here, and what would make the others so. Fast, and never an exception."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .bubblewrap import Bubblewrap
from .cgroup import find_parents
from .errors import BackendUnavailable
from .registry import PLANNED

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Probe:
    """What is known about one backend.

    Attributes:
        name: The backend.
        usable: Whether it can be opened here.
        detail: What was found.
        fix: One line that makes it usable; empty if it is, or if nothing would.
    """

    name: str
    usable: bool
    detail: str
    fix: str = ""


def probe_all() -> list[Probe]:
    """All backends that are known by name."""
    return [_safely(name, probe) for name, probe in _PROBES.items()]


def _safely(name: str, probe: Callable[[], Probe]) -> Probe:
    try:
        return probe()
    except Exception as error:
        return Probe(name, usable=False, detail=f"{type(error).__name__}: {error}")


def _local() -> Probe:
    if shutil.which("bash") is None:
        return Probe("local", usable=False, detail="bash is not installed", fix="apt-get install bash")
    from .landlock import abi

    levels = ["rlimits"]
    with contextlib.suppress(BackendUnavailable):
        levels += ["cgroup"] if find_parents() else []
    levels += ["landlock"] if abi() else []
    with contextlib.suppress(BackendUnavailable):
        Bubblewrap([], network=False).close()
        levels.append("bubblewrap")
    detail = f"commands run as you and can read all your files; can be confined by isolation={'|'.join(levels)}"
    return Probe("local", usable=True, detail=detail)


def _docker() -> Probe:
    if importlib.util.find_spec("docker") is None:
        return Probe("docker", usable=False, detail="the docker SDK is missing", fix="pip install 'hermes-nb[docker]'")
    from .docker_daemon import Daemon

    try:
        daemon = Daemon.connect(timeout=3)
    except BackendUnavailable as error:
        return Probe("docker", usable=False, detail=str(error).splitlines()[0], fix=error.fix)
    try:
        return Probe("docker", usable=True, detail=f"{daemon.client.version().get('Version')} at {daemon.url}")
    finally:
        daemon.client.close()


def _ssh() -> Probe:
    if importlib.util.find_spec("paramiko") is None:
        return Probe("ssh", usable=False, detail="paramiko is missing", fix="pip install 'hermes-nb[ssh]'")
    home = Path("~/.ssh").expanduser()
    keys = [path.name for path in sorted(home.glob("id_*")) if path.suffix != ".pub"] if home.is_dir() else []
    found = [
        f"keys: {', '.join(keys)}" if keys else "no keys in ~/.ssh",
        "an agent" if os.environ.get("SSH_AUTH_SOCK") else "no agent",
        "a config file" if (home / "config").is_file() else "no config file",
    ]
    return Probe("ssh", usable=True, detail="; ".join(found))


def _planned(name: str) -> Callable[[], Probe]:
    return lambda: Probe(name, usable=False, detail="not part of this version", fix="use docker, podman or ssh instead")


_PROBES: dict[str, Callable[[], Probe]] = {
    "local": _local,
    "docker": _docker,
    "ssh": _ssh,
    **{name: _planned(name) for name in PLANNED},
}
