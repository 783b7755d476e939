"""Bounds on all processes of a backend together, by the kernel's control groups (version 1 or 2).

Unlike an rlimit, which bounds each process alone and root hardly at all, a group has one memory and one count
for all that was started in it, and nothing that is started in it can leave without the right to write there.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BackendUnavailable
from ..supervise import started_at

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEEDED = ("memory", "pids")
_BOUNDS = ("memory.max", "memory.high", "memory.limit_in_bytes", "pids.max", "cpu.max")
#: version 1 says "no limit" with a number about as large as there is
_NO_LIMIT = 1 << 60
_FIX = "use isolation='rlimits', or a docker backend, which has such limits of its own"
# A program that could not be bounded must not run.
_JOIN = 'while [ "$1" != -- ]; do echo $$ >"$1" || exit 126; shift; done; shift; exec "$@"'


class Cgroup:
    """A group of its own, in every hierarchy that it takes, until `close`.

    Args:
        memory: Bytes for all of it together, swap included.
        processes: How many, threads included.

    Raises:
        BackendUnavailable: No group can be made here.
    """

    def __init__(self, memory: int, processes: int) -> None:
        parents = find_parents()
        name = f"hermes-{os.getpid()}-{started_at(os.getpid())}-{secrets.token_hex(4)}"
        self._folders = [parent / name for parent in parents]
        try:
            for folder in self._folders:
                _sweep(folder.parent)
                folder.mkdir()
                _bound(folder, memory, processes)
        except OSError as error:
            self.close()
            raise BackendUnavailable(f"no cgroup can be made here: {error}", _FIX) from error

    @property
    def join(self) -> list[str]:
        """The words to put in front of a program that is to run in the group."""
        return ["sh", "-c", _JOIN, "sh", *(str(folder / "cgroup.procs") for folder in self._folders), "--"]

    def close(self, patience: float = 5.0) -> None:
        """End all that is still in the group, and the group."""
        deadline = time.monotonic() + patience
        for folder in self._folders:
            while folder.is_dir() and time.monotonic() < deadline:
                with contextlib.suppress(OSError):  # gone meanwhile, or not quite dead yet
                    for pid in (folder / "cgroup.procs").read_text().split():
                        os.kill(int(pid), signal.SIGKILL)
                    folder.rmdir()
                    break
                time.sleep(0.005)


def find_parents() -> list[Path]:
    """The groups below which ours can be made: one in version 2, one for each controller in version 1.

    Each is the nearest that can be divided, our own if possible: whoever put us into a group wants what we start to
    stay in it. In version 2 that is often one above, and then never above a group that has a bound.

    Raises:
        BackendUnavailable: There are none.
    """
    chains = dict(_hierarchies())
    for controllers in (_NEEDED, ("",)):  # what version 1 has taken, version 2 has not
        if all(name in chains for name in controllers):
            found = [_nearest(chains[name], unified=not name) for name in controllers]
            if all(found):
                return [group for group in found if group is not None]
    raise BackendUnavailable("there is no cgroup that we may divide here", _FIX)


def _nearest(chain: list[Path], *, unified: bool) -> Path | None:
    for group in chain:
        if os.access(group, os.W_OK) and os.access(group / "cgroup.procs", os.W_OK):
            handed_on = (group / "cgroup.subtree_control").read_text().split() if unified else _NEEDED
            if set(_NEEDED) <= set(handed_on):
                return group
        if any(_has_bound(group / name) for name in _BOUNDS):
            break
    return None


def _has_bound(file: Path) -> bool:
    try:
        text = file.read_text().split()[0]
    except (OSError, IndexError):  # another version's, or the root, which has no bounds
        return False
    return text != "max" and int(text) < _NO_LIMIT


def _hierarchies() -> Iterator[tuple[str, list[Path]]]:
    """Each controller ("" for version 2) with the group we are in and all above it."""
    ours = {}
    for line in _lines("/proc/self/cgroup"):
        _, names, path = line.split(":", 2)
        ours.update(dict.fromkeys(names.split(","), path))
    for line in _lines("/proc/self/mountinfo"):
        mount, _, kind = line.partition(" - ")
        root, place = mount.split()[3:5]
        version, _, options = kind.split(" ", 2)
        mounted = {"cgroup": options.split(","), "cgroup2": [""]}.get(version, [])
        for name in set(mounted) & set(ours):
            with contextlib.suppress(ValueError):  # mounted from a place that we are not below
                within = Path(place) / Path(ours[name]).relative_to(root)
                yield name, [g for g in (within, *within.parents) if g.is_relative_to(place)]


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text().splitlines()
    except OSError:
        return []


def _bound(folder: Path, memory: int, processes: int) -> None:
    # In this order: memory with swap cannot be bounded below memory without.
    limits = {
        "memory.limit_in_bytes": memory,
        "memory.memsw.limit_in_bytes": memory,
        "memory.max": memory,
        "memory.swap.max": 0,
        "pids.max": processes,
    }
    for name, value in limits.items():
        if (folder / name).exists():
            (folder / name).write_text(str(value))


def _sweep(parent: Path) -> None:
    """Remove groups whose Python is no more. One with processes in it cannot be removed, so no harm is done."""
    for folder in parent.glob("hermes-*-*-*"):
        _, pid, start, _ = folder.name.split("-", 3)
        if pid.isdigit() and started_at(int(pid)) != start:
            with contextlib.suppress(OSError):
                folder.rmdir()
