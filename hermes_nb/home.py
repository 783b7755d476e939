"""Where hermes-nb keeps what outlives a process: ``HERMES_NB_HOME``, or ``~/.hermes-nb``."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """The folder of config.yaml, the journals, spilled results and the user's own tools."""
    given = os.environ.get("HERMES_NB_HOME")
    return Path(given).expanduser().absolute() if given else Path.home() / ".hermes-nb"


def private_folder(*parts: str) -> Path:
    """A folder below home() that only this user can read, made if need be."""
    folder = home()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for part in parts:  # one by one: mkdir gives parents that it makes on the way the usual, public mode
        folder /= part
        folder.mkdir(exist_ok=True, mode=0o700)
    return folder
