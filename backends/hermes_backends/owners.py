"""Whose a thing is that outlives processes, such as a container, and whether that process is surely no more.

A pid means something only within its pid namespace, and a namespace only within one boot of one machine: two containers
with the same host name have the same pids. So an owner is all of that, and who cannot know leaves things alone.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .supervise import started_at

if TYPE_CHECKING:
    from collections.abc import Mapping

#: the kernel's fixed number of the first pid namespace, in which every process of the machine is seen
_FIRST = "4026531836"


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, told apart from all others that ever were. What is not known is empty.

    Attributes:
        machine: The machine's id.
        boot: Which of the times that it ran.
        namespace: The number of the pid namespace.
        pid: The number in there.
        started: When it started, as numbers come again.
    """

    machine: str
    boot: str
    namespace: str
    pid: int
    started: str

    @classmethod
    def current(cls) -> Owner:
        """This process."""
        pid = os.getpid()
        return cls(
            _text("/etc/machine-id"), _text("/proc/sys/kernel/random/boot_id"), _namespace(), pid, started_at(pid)
        )

    @classmethod
    def from_labels(cls, labels: Mapping[str, str], prefix: str) -> Owner | None:
        """The owner that was written down; None if there is none. Older versions wrote down less."""
        pid, _, started = labels.get(f"{prefix}.owner", "").partition("-")
        if not pid.isdecimal() or int(pid) < 1:
            return None
        machine, boot, namespace = (labels.get(f"{prefix}.{name}", "") for name in ("machine", "boot", "namespace"))
        return cls(machine, boot, namespace, int(pid), started)

    def labels(self, prefix: str) -> dict[str, str]:
        """It, to be written down."""
        return {
            f"{prefix}.machine": self.machine,
            f"{prefix}.boot": self.boot,
            f"{prefix}.namespace": self.namespace,
            f"{prefix}.owner": f"{self.pid}-{self.started}",
        }

    def is_gone(self) -> bool:
        """Whether the process surely is no more; False also if that cannot be told from here."""
        here = Owner.current()
        if not all((self.boot, self.namespace, self.started, here.boot, here.namespace)):
            return False
        if self.boot != here.boot:
            # In a container the id may be that of its image, which others have too; outside it is the machine's.
            same = self.machine != "" and self.machine == here.machine
            return same and self.namespace == here.namespace == _FIRST
        if self.namespace == here.namespace:
            return not _runs(self.pid, self.started)
        return here.namespace == _FIRST and not _runs_in(self.namespace, self.pid, self.started)


def _runs(pid: int, started: str) -> bool:
    try:
        os.kill(pid, 0)  # finds also those that /proc hides from us
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return started_at(pid) in (started, "")


def _runs_in(namespace: str, pid: int, started: str) -> bool:
    """Whether a process of another pid namespace may still run. Only who is in the first one, and sees all, can tell.

    That somebody is in the namespace says little: its number is given to the next one as soon as it is gone.
    """
    if "hidepid=" in _text("/proc/self/mountinfo"):
        return True
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if _is_called(pid, folder) and _is_in(namespace, folder):
                if _clock(folder) != _clock(Path("/proc/self")):
                    return True  # the start that it reads of itself is another than the one that we do
                if started_at(int(folder.name)) in (started, ""):
                    return True
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended meanwhile
        except OSError:
            return True
    return False


def _is_called(pid: int, folder: Path) -> bool:
    """Whether the process of a folder in /proc has the number in a namespace other than the first."""
    for line in (folder / "status").read_text().splitlines():
        if line.startswith("NSpid:"):  # its number in each namespace that it is seen in, its own last
            numbers = line.split()[1:]
            return len(numbers) > 1 and int(numbers[-1]) == pid
    return True  # an old kernel, which doesn't tell


def _is_in(namespace: str, folder: Path) -> bool:
    return str((folder / "ns/pid").stat().st_ino) == namespace


def _clock(folder: Path) -> int:
    """The time namespace of a process: by its clock the start is counted. 0 where there are none."""
    try:
        return (folder / "ns/time").stat().st_ino
    except FileNotFoundError:
        return 0


def _namespace() -> str:
    """Our pid namespace, if /proc tells of it: who has that of another one sees other processes under its numbers."""
    with contextlib.suppress(OSError):
        if os.readlink("/proc/self") == str(os.getpid()):  # noqa: PTH115  (a number, not a path)
            return str(os.stat("/proc/self/ns/pid").st_ino)  # noqa: PTH116
    return ""


def _text(file: str) -> str:
    try:
        return Path(file).read_text().strip()
    except OSError:
        return ""
