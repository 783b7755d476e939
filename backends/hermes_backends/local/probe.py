"""Whether commands can run on this machine, and how they can be confined."""

from __future__ import annotations

import contextlib
import shutil

from ..errors import BackendUnavailable
from ..probe import Probe
from .bubblewrap import Bubblewrap
from .cgroup import find_parents
from .landlock import abi


def look() -> Probe:
    """What is found, in a line."""
    if shutil.which("bash") is None:
        return Probe("local", usable=False, detail="bash is not installed", fix="apt-get install bash")
    levels = ["rlimits"]
    with contextlib.suppress(BackendUnavailable):
        levels += ["cgroup"] if find_parents() else []
    levels += ["landlock"] if abi() else []
    with contextlib.suppress(BackendUnavailable):
        Bubblewrap([], network=False).close()
        levels.append("bubblewrap")
    detail = f"commands run as you and can read all your files; can be confined by isolation={'|'.join(levels)}"
    return Probe("local", usable=True, detail=detail)
