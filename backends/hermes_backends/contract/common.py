"""What the parts of the suite share."""

from __future__ import annotations

import itertools
import random
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..base import Backend, Process
    from ..shell import Shell

#: seconds to wait for what must come; only a test that fails spends them, so a busy machine may take them
PATIENCE = 120.0
#: time-outs to try until a command has begun in one: how long that takes is the machine's affair
TIMEOUTS = (0.5, 2.0, 8.0, 32.0)
GIGABYTE = 1 << 30
_numbers = itertools.count()


def number() -> int:
    """One that was not used before."""
    return next(_numbers)


def read_all(process: Process, stream: int = 1) -> bytes:
    """All that a process puts out on one stream, until it ends."""
    found = b""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        piece = process.read(1)
        if piece is None:
            continue
        if not piece.data:
            return found
        found += piece.data if piece.stream == stream else b""
    raise AssertionError("the process did not end")


def read_until(process: Process, wanted: bytes) -> bytes:
    """What a process puts out until `wanted` is among it."""
    found = b""
    deadline = time.monotonic() + PATIENCE
    while wanted not in found:
        assert time.monotonic() < deadline, found
        piece = process.read(1)
        assert piece is None or piece.data, found
        found += piece.data if piece else b""
    return found


def eventually(what: Callable[[], bool]) -> bool:
    """Whether it becomes true in time."""
    deadline = time.monotonic() + PATIENCE
    while not what() and time.monotonic() < deadline:
        time.sleep(0.02)
    return what()


def unique_sleep() -> str:
    """A command that sleeps for so peculiar a time that it can be found among all others."""
    return f"sleep {random.randint(10**8, 10**9)}"  # noqa: S311


def sleeps(shell: Shell, command: str) -> bool:
    """Whether such a sleep lives on the shell's side. The dead that nobody reaped have no command line."""
    number = command.split()[1]
    # By what grep finds: its status is an error whenever some other process ends while it looks.
    return shell.run(f"grep -ls '[{number[0]}]{number[1:]}' /proc/[0-9]*/cmdline").stdout != ""


class Fixtures:
    """What the suite's parts share. A subclass gives `open`."""

    #: bytes of the largest output that is tried; HERMES_CONTRACT_HUGE=1 in the environment makes it a gigabyte for all
    huge = GIGABYTE

    def open(self, **options: Any) -> Backend:
        """A new backend of the kind to be tested, best one that is not open yet."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Iterator[Backend]:
        """One backend for all tests that leave it as it was."""
        with cls().open() as backend:
            yield backend

    @pytest.fixture
    def shell(self, backend: Backend) -> Iterator[Shell]:
        """A shell of the test's own."""
        shell = backend.shell(f"contract-{number()}")
        yield shell
        shell.close()

    @pytest.fixture
    def watcher(self, shell: Shell) -> Shell:
        """A shell that sees all processes of the backend: any of its own, unless they do not see each other."""
        return shell
