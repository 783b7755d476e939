"""Programs in namespaces of their own, by bubblewrap: nothing can be written but a few folders.

What confined code can write to must not decide how the next program is confined. So the folders are resolved once,
none is mounted on a path that another one leads through, and what is private lies where none of them reaches.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BackendClosed, BackendUnavailable, StillRunning
from .confine import check_out_of_reach, is_below, try_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..base import Process

_TMP = Path("/tmp")  # noqa: S108  (the programs' own)
#: of /proc: what can be written without any capability, most of it by root. bwrap itself covers only some
_PROC = ("acpi", "asound", "bus", "driver", "fs", "irq", "mtrr", "pressure", "scsi", "sys", "sysrq-trigger")
#: of /run, which is hidden for its sockets: where NixOS has its programs
_SHOWN_OF_RUN = "/run/current-system"
_CLOSED = "this local backend was closed meanwhile"
_OTHER = "use isolation='landlock', or a docker backend"
#: what keeps a user from making namespaces: the setting, its value, what to do
_REFUSALS = (
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
    ("kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=10000"),
)


class Bubblewrap:
    """What bubblewrap needs for as long as a backend is open.

    Args:
        folders: What may be written to, as `confine.writable_folders` gives them.
        network: Whether the network is left in reach.

    Raises:
        BackendUnavailable: It is not installed, or refused here.
    """

    def __init__(self, folders: Sequence[str], *, network: bool) -> None:
        self._held = contextlib.ExitStack()
        self._started: list[Process] = []
        self._is_over = False
        try:
            self.words = self._words(folders, network=network)
            try_out(self.words, "bubblewrap", _fix())
            self._thread = self._held.enter_context(ThreadPoolExecutor(1, thread_name_prefix="hermes-spawn"))
            self._held.callback(lambda: self._thread.submit(self._end_started).result())
        except BaseException:
            self.close()
            raise

    def start(self, start: Callable[[], Process]) -> Process:
        """Start a program from a thread that lasts: `--die-with-parent` means the thread, not the process.

        Raises:
            BackendClosed: After `close`.
        """
        try:
            started = self._thread.submit(self._start, start)
        except RuntimeError as error:
            raise BackendClosed(_CLOSED) from error
        return started.result()

    def _start(self, start: Callable[[], Process]) -> Process:
        if self._is_over:
            raise BackendClosed(_CLOSED)
        process = start()
        self._started = [*filter(_runs, self._started), process]
        return process

    def _end_started(self) -> None:
        """End the programs by hand, while their thread still lives.

        Its death alone would not do: bwrap asks to die with the thread, and the program's own bwrap to die with bwrap,
        only once they run. What was just started would miss it, and stay.
        """
        self._is_over = True
        for process in filter(_runs, self._started):
            process.kill()

    def close(self) -> None:
        """End what is left of the programs, and remove their /tmp."""
        self._held.close()

    def _words(self, folders: Sequence[str], *, network: bool) -> list[str]:
        bwrap = _program("bwrap", folders)
        words = [*_no_later_mounts(folders), *bwrap, "--die-with-parent", "--cap-drop", "ALL"]
        words += ["--unshare-user", "--unshare-pid", "--unshare-ipc", *([] if network else ["--unshare-net"])]
        words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        for name in _PROC:
            words += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
        for place in {Path("/run"), Path("/var/run").resolve()}:
            words += ["--tmpfs", str(place)] if place.is_dir() else []
        names = os.path.realpath("/etc/resolv.conf")
        for shown in (_SHOWN_OF_RUN, *([names] if is_below(names, ["/run"]) else [])):
            words += ["--ro-bind-try", shown, shown]
        if not is_below(_TMP, folders):
            words += ["--bind", self._held.enter_context(_private_folder(folders)), str(_TMP)]
        return [*words, *_binds(folders), "--chdir", "/", "--"]


def _runs(process: Process) -> bool:
    try:
        process.wait(0)
    except StillRunning:
        return True
    return False


def _binds(folders: Sequence[str]) -> Iterator[str]:
    """Mount the folders. The way to one below /tmp is a mount too, which the programs cannot rename or replace."""
    ways = set()
    for folder in folders:
        inside = Path(folder).relative_to(_TMP).parts if is_below(folder, [_TMP]) else ()
        if len(inside) > 1 and (way := str(_TMP / inside[0])) not in ways:
            ways.add(way)
            yield from ("--tmpfs", way)
        yield from ("--bind", folder, folder)
    for way in ways:
        yield from ("--remount-ro", way)


def _program(name: str, folders: Sequence[str]) -> list[str]:
    found = shutil.which(name)
    if found is None:
        package = {"bwrap": "bubblewrap", "unshare": "util-linux"}[name]
        raise BackendUnavailable(f"{name} is not installed", f"apt-get install {package}")
    path = os.path.realpath(found)  # the links on the way may be in reach
    check_out_of_reach(path, folders)
    return [path] if Path(path).name == name else [path, name]  # as busybox wants it


def _no_later_mounts(folders: Sequence[str]) -> list[str]:
    """Keep out what is mounted on this machine later, which would come writable. Only root may cut itself off."""
    shared = any(" shared:" in line for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return [*_program("unshare", folders), "-m"] if shared and os.geteuid() == 0 else []


@contextlib.contextmanager
def _private_folder(folders: Sequence[str]) -> Iterator[str]:
    """A folder that only we can read and none of the folders leads to, until the end."""
    place = os.path.realpath(tempfile.gettempdir())  # not by a link that they lead to
    try:
        folder = tempfile.mkdtemp(prefix="hermes-tmp-", dir=_TMP if is_below(place, folders) else place)
    except OSError as error:
        raise BackendUnavailable(f"no private /tmp can be made: {error}", "set TMPDIR to a folder of yours") from error
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: str) -> None:
    """Remove a folder whose contents others made: also what they made unreadable, and never what a link leads to."""
    with contextlib.suppress(OSError):
        Path(folder).chmod(0o700)
        for parent, names, _ in os.walk(folder):
            for path in (Path(parent, name) for name in names):
                if not path.is_symlink():
                    path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _fix() -> str:
    for setting, value, fix in _REFUSALS:
        with contextlib.suppress(OSError):
            if Path("/proc/sys", setting).read_text().strip() == value:
                return f"{fix}, or {_OTHER}"
    return _OTHER
