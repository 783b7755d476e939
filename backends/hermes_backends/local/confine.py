"""Confinement of local commands: words in front of the program, chosen by name, and the folders that stay writable."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..errors import BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
_BOUND = """for l in "-v $1" "-u $2" "-f $3" "-n $4"; do ulimit $l 2>/dev/null || :; done
[ -z "$5" ] || cd -- "$5" || exit 126; shift 5; exec "$@\""""
#: all that may be written of /dev; the rest is disks, memory and the like
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
_PATIENCE = 30.0


def bounds(limits: Limits, folder: str = "", *, together: bool = False) -> list[str]:
    """The words that bound a program by rlimits.

    Args:
        limits: The bounds.
        folder: Where it starts, if not where the words do.
        together: Memory and processes are bounded by a group already.
    """
    alone = ("unlimited", "unlimited") if together else (limits.memory // 1024, limits.processes)
    numbers = (*alone, limits.file_size // 1024, limits.open_files)
    return ["bash", "-c", _BOUND, "bash", *(str(number) for number in numbers), folder]


def behind(
    launcher: Sequence[str], argv: Sequence[str], variables: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The words and variables that start a program behind a launcher.

    What makes a program load other code (`LD_…`) is for the program, and not for what confines it.
    """
    if not launcher:
        return list(argv), dict(variables)
    steering = {name: value for name, value in variables.items() if name.startswith("LD_")}
    words = ["env", *(f"{name}={value}" for name, value in steering.items())] if steering else []
    others = {name: value for name, value in variables.items() if name not in steering}
    return [*launcher, *words, *argv], others


def writable_folders(folders: Sequence[str | os.PathLike[str]]) -> list[str]:
    """The folders by their real paths, and none within another.

    Raises:
        BackendUnavailable: One is not there, or with it in reach nothing would be confined.
    """
    found: list[Path] = []
    for path in sorted(Path(folder).resolve() for folder in folders):
        if not os.path.exists(path):  # noqa: PTH110  (that of pathlib raises where we may not look)
            raise BackendUnavailable(f"{path} is to be writable, but it is not there", f"mkdir -p {path}")
        top = path.parts[1] if len(path.parts) > 1 else ""
        if top in ("", "dev", "proc", "sys") and not path.is_relative_to("/dev/shm"):  # noqa: S108
            raise BackendUnavailable(
                f"with {path} writable, nothing would be confined", "give cwd=, a folder of your own to work in"
            )
        if not is_below(path, found):
            found.append(path)
    return [str(path) for path in found]


def is_below(path: str | os.PathLike[str], folders: Sequence[str | os.PathLike[str]]) -> bool:
    """Whether a path is one of the folders or in one of them."""
    return any(Path(path).resolve().is_relative_to(folder) for folder in folders)


def check_out_of_reach(program: str, folders: Sequence[str]) -> None:
    """Refuse to be confined by a program that what it confines can replace: the next start would run anything.

    Raises:
        BackendUnavailable: It is in one of the folders.
    """
    if is_below(program, folders):
        raise BackendUnavailable(
            f"{program} is to confine commands that may overwrite it", "work in a folder that it is not in"
        )


def landlock_words(folders: Sequence[str]) -> list[str]:
    """The words that let a program write to these folders only, and to what is harmless in /dev.

    Raises:
        BackendUnavailable: This machine cannot do it.
    """
    from . import landlock

    other = "use isolation='bubblewrap' or a docker backend"
    if landlock.abi() < 1:
        raise BackendUnavailable("this kernel has no Landlock", other)
    python = os.path.realpath(sys.executable)
    for needed in (python, sys.base_prefix):
        check_out_of_reach(needed, folders)
    devices = [path for name in _DEVICES if Path(path := f"/dev/{name}").exists()]
    # By its text: the file may well be in a folder that is writable.
    text = Path(landlock.__file__).read_text("utf-8")
    words = [python, "-I", "-S", "-c", text, *folders, *devices, "--"]
    try_out(words, "Landlock", other)
    return words


def try_out(words: Sequence[str], what: str, fix: str) -> None:
    """Run `true` behind the words: many refusals of the kernel, of AppArmor or of a container come only then.

    Raises:
        BackendUnavailable: It was refused.
    """
    try:
        done = subprocess.run(  # noqa: S603  (our own words)
            [*words, "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BackendUnavailable(f"{what} cannot be used here: {error}", fix) from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
        raise BackendUnavailable(f"{what} cannot be used here: {said.splitlines()[-1]}", fix)
