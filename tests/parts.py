"""What tests of several folders share: real parts that may be missing, and waiting for what is still to come."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

#: Seconds to wait for what must come. They are only ever spent by a test that fails: a busy machine may take them.
PATIENCE = 120.0
#: Daemons live where a user's PATH does not look.
PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


def missing(what: str) -> NoReturn:
    """A missing real part fails in CI, where it must not be missing, and skips elsewhere."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}, and CI must have it")
    pytest.skip(what, allow_module_level=True)


def find(program: str) -> str:
    """Where a program is."""
    path = shutil.which(program, path=PATH)
    return path or missing(f"{program} is not installed (tests/prepare.py installs it)")


def need_root(what: str) -> None:
    """Only root may do what the test needs."""
    if os.geteuid() != 0:
        missing(f"only root may {what}")


def eventually(condition: Callable[[], object], patience: float = PATIENCE) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def is_alive(pid: int) -> bool:
    """Whether a process runs: one that is dead and not yet reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def run(*command: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program that must succeed, and not for ever."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, **{"timeout": PATIENCE, **options})
    assert done.returncode == 0, f"{words}:\n{done.stdout}{done.stderr}"
    return done


def free_port() -> int:
    """A port for a server that is yet to start: below the range from which the kernel gives ports to whoever asks."""
    first_given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(10_000, first_given)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
