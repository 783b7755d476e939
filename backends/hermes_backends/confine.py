"""Confinement of local commands: a launcher in front of the program, chosen by name."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .errors import BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

Isolation = Literal["none", "rlimits", "cgroup", "landlock", "bubblewrap"]
LEVELS: tuple[Isolation, ...] = ("none", "rlimits", "cgroup", "landlock", "bubblewrap")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on each process (memory, file size, open files) and on all of the user's together (processes).

    With `cgroup`, memory and processes are bounds on all processes of the backend together.

    Attributes:
        memory: Bytes of address space of a process; with `cgroup`, of memory in use by all.
        processes: How many the user may have, and root is not bound by it; with `cgroup`, how many the backend
            may have, whoever runs it.
        file_size: Bytes of a file that a process may write.
        open_files: How many a process may have open.
    """

    memory: int = 4 << 30
    processes: int = 4096
    file_size: int = 8 << 30
    open_files: int = 4096


# `|| :` because a limit may already be lower than what is asked for, and can then not be raised.
_ULIMIT = 'for l in "-v $1" "-u $2" "-f $3" "-n $4"; do ulimit $l 2>/dev/null || :; done; shift 4; exec "$@"'


def launcher(isolation: Isolation, limits: Limits, writable: Sequence[str], *, network: bool) -> list[str]:
    """The words to put in front of a program; for `cgroup`, those that follow the ones that join the group.

    Args:
        isolation: The level.
        limits: For all levels but `none`.
        writable: Folders that may be written to under `landlock` and `bubblewrap`.
        network: Whether `bubblewrap` leaves the network in reach.

    Raises:
        BackendUnavailable: This machine cannot do it, or there is no such level.
    """
    alone = (limits.memory // 1024, limits.processes) if isolation != "cgroup" else ("unlimited", "unlimited")
    bounded = [
        *("bash", "-c", _ULIMIT, "bash"),
        *(str(n) for n in (*alone, limits.file_size // 1024, limits.open_files)),
    ]
    match isolation:
        case "none":
            return []
        case "rlimits" | "cgroup":
            return bounded
        case "landlock":
            return [*_landlock(writable), *bounded]
        case "bubblewrap":
            return [*_bubblewrap(writable, network=network), *bounded]
    raise BackendUnavailable(f"no isolation is called {isolation!r}", f"choose one of {', '.join(LEVELS)}")


def _landlock(writable: Sequence[str]) -> list[str]:
    from . import landlock

    if landlock.abi() < 1:
        raise BackendUnavailable("this kernel has no Landlock", "use isolation='bubblewrap' or a docker backend")
    return [sys.executable, "-I", "-S", str(Path(landlock.__file__)), *writable, "/dev", "--"]


def _bubblewrap(writable: Sequence[str], *, network: bool) -> list[str]:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise BackendUnavailable("bubblewrap is not installed", "apt-get install bubblewrap")
    binds = [word for folder in writable for word in ("--bind", folder, folder)]
    words = [bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", *binds]  # noqa: S108
    words += ["--unshare-pid", "--unshare-ipc", "--die-with-parent"]
    return [*words, *([] if network else ["--unshare-net"]), "--"]
