"""The contract of `close`."""

# ruff: noqa: D102  (the names are the promises; /tmp is the other side's)
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from ..errors import BackendClosed
from .common import PATIENCE, Fixtures, sleeps, unique_sleep

if TYPE_CHECKING:
    from ..shell import Shell


class ClosingContract(Fixtures):
    """`close` leaves nothing behind."""

    def test_close_ends_shells_jobs_and_all_they_started(self, watcher: Shell) -> None:
        one, two, three = unique_sleep(), unique_sleep(), unique_sleep()
        own = self.open().open()
        own.run(f"{one} & setsid {two} &")
        own.jobs.start(three)
        own.close()
        own.close()
        assert not any(sleeps(watcher, s) for s in (one, two, three))
        with pytest.raises(BackendClosed):
            own.run("true")
        with pytest.raises(BackendClosed):
            own.spawn(["true"])
        assert "closed" in repr(own)

    def test_close_ends_a_running_command(self) -> None:
        own = self.open().open()
        started = threading.Event()
        results: list[Any] = []
        command = threading.Thread(
            target=lambda: results.append(own.run("echo up; sleep 1000", on_output=lambda *_: started.set()))
        )
        command.start()
        assert started.wait(PATIENCE)
        own.close()
        command.join(PATIENCE)
        assert not command.is_alive()
        assert results[0].exit_code != 0
