"""Ending everything that a process started, wherever it runs.

Every process that a backend spawns carries a mark in its environment (`HERMES_SPAWN=<id>`), which its
descendants inherit, even those that leave its process group or session. To kill is to stop and then kill all
that carry the mark. What starts its children with an emptied environment *and* a session of its own escapes:
a container or a pid namespace is the answer to that, not a signal.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from pathlib import Path

MARK = "HERMES_SPAWN"

#: POSIX sh: `sh -c KILL_SCRIPT sh <mark>` ends all that carry the mark. Stopping comes first, so that
#: nothing forks away.
KILL_SCRIPT = r"""
seen= signal=STOP round=0
while [ $round -lt 50 ]; do
  round=$((round + 1)) fresh=
  for file in $(grep -ls "HERMES_SPAWN=$1" /proc/[0-9]*/environ 2>/dev/null); do
    pid=${file#/proc/}; pid=${pid%/environ}
    [ "$pid" != "$$" ] || continue
    state=
    read -r state <"/proc/$pid/stat" 2>/dev/null || continue
    case ${state##*) } in Z*|X*) continue ;; esac
    case "$signal $seen " in "STOP "*" $pid "*) continue ;; esac
    fresh="$fresh $pid"
  done
  if [ -n "$fresh" ]; then seen="$seen$fresh"; kill -$signal $fresh 2>/dev/null
  elif [ $signal = STOP ]; then signal=KILL
  else exit 0; fi
done
exit 1
"""


def new_mark() -> str:
    """A mark no other process carries."""
    return secrets.token_hex(8)


def kill_marked(mark: str, session: int | None = None, patience: float = 5.0) -> bool:
    """End, on this machine, all that carry the mark or belong to the session.

    Returns:
        Whether nothing of it is left.
    """
    deadline = time.monotonic() + patience
    stopped: set[int] = set()
    sign = signal.SIGSTOP
    while time.monotonic() < deadline:
        found = _living(mark, session)
        fresh = found - stopped if sign == signal.SIGSTOP else found
        for pid in fresh:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, sign)
        if sign == signal.SIGSTOP:
            stopped |= fresh
            if not fresh:
                sign = signal.SIGKILL
        elif not found:
            return True
        else:
            time.sleep(0.002)
    return False


def _living(mark: str, session: int | None) -> set[int]:
    wanted = f"{MARK}={mark}".encode()
    return {
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit() and int(folder.name) != os.getpid() and _belongs(folder, wanted, session)
    }


def _belongs(folder: Path, wanted: bytes, session: int | None) -> bool:
    try:
        fields = (folder / "stat").read_bytes().rpartition(b") ")[2].split()
        if fields[0] in (b"Z", b"X"):
            return False
        if session is not None and int(fields[3]) == session:
            return True
        return wanted in (folder / "environ").read_bytes().split(b"\0")
    except (OSError, IndexError):  # gone meanwhile, or another user's
        return False


def started_at(pid: int) -> str:
    """When a process started, in the kernel's ticks; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19]
    except (OSError, IndexError):
        return ""
