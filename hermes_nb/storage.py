"""What is kept below HERMES_NB_HOME, how much that is, and for how long: journals, and results too long to be shown."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_nb.home import home

if TYPE_CHECKING:
    from hermes_nb.config import Config

logger = logging.getLogger(__name__)

_DAY = 86_400.0
#: Folder below home -> the setting that says how many days its files are kept.
KEPT = {"journal": "journal.keep_days", "spill": "results.keep_days"}

_swept: set[Path] = set()


@dataclass(frozen=True, slots=True)
class Holding:
    """What one folder holds.

    Attributes:
        name: journal or spill.
        files: How many.
        size: Bytes.
        oldest: When the oldest of them was last written, in seconds since 1970; None if there is none.
    """

    name: str
    files: int
    size: int
    oldest: float | None


def holdings() -> list[Holding]:
    """What is kept now."""
    found = []
    for name in KEPT:
        stats = [stat for _, stat in _files(home() / name)]
        oldest = min((stat.st_mtime for stat in stats), default=None)
        found.append(Holding(name, len(stats), sum(stat.st_size for stat in stats), oldest))
    return found


def sweep(config: Config) -> int:
    """Remove what is older than the settings want it kept; how many files that were.

    A file's age counts from when it was last written, so what a running session writes is never old.
    """
    removed = 0
    for name, setting in KEPT.items():
        days = config.get(setting)
        if days is None:
            continue
        limit = time.time() - days * _DAY
        old_folders = _older(home() / name, limit)  # asked first: a folder is as young as the last file taken out of it
        for path, stat in list(_files(home() / name)):
            if stat.st_mtime < limit:
                with contextlib.suppress(OSError):  # somebody else was faster, or it is not ours to remove
                    path.unlink()
                    removed += 1
        for folder in old_folders:
            with contextlib.suppress(OSError):  # not empty
                folder.rmdir()
    return removed


def sweep_once(config: Config) -> None:
    """Do it in the background, once in the life of a process: nobody waits for it."""
    if home() not in _swept:
        _swept.add(home())
        threading.Thread(target=_sweep_quietly, args=(config,), name="hermes-nb-sweep", daemon=True).start()


def _sweep_quietly(config: Config) -> None:
    try:
        sweep(config)
    except Exception:
        logger.exception("old journals and results could not be removed")


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file() and not path.is_symlink():
                yield path, path.lstat()


def _older(folder: Path, limit: float) -> list[Path]:
    return [path for path in folder.glob("*/") if not path.is_symlink() and path.lstat().st_mtime < limit]
