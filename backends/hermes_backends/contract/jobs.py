"""The contract of background jobs."""

# ruff: noqa: D102  (the names are the promises; /tmp is the other side's)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..errors import BackendError, StillRunning
from .common import PATIENCE, Fixtures, eventually, sleeps, unique_sleep

if TYPE_CHECKING:
    from ..base import Backend
    from ..shell import Shell


class JobContract(Fixtures):
    """Background jobs."""

    def test_a_job_inherits_the_state_and_outlives_commands(self, backend: Backend) -> None:
        backend.run("cd /usr; a=1; export b=2; f() { echo f $a $b $PWD; }; alias g=f; set -o pipefail", task="job")
        job = backend.jobs.start("f; g; read -r line; echo got $line; exit 5", task="job")
        assert backend.run("echo meanwhile", task="job").stdout == "meanwhile\n"
        assert job.running
        job.write("word\n")
        assert job.wait(PATIENCE) == 5
        assert job.log() == "f 1 2 /usr\nf 1 2 /usr\ngot word\n"
        assert job.status == "exited"
        assert job in backend.jobs.list()

    def test_a_job_can_be_given_a_name_that_no_other_has(self, backend: Backend) -> None:
        job = backend.jobs.start("true", id="mine")
        assert backend.jobs.get("mine") is job
        with pytest.raises(ValueError, match="mine"):
            backend.jobs.start("true", id="mine")
        assert job.where == backend.where

    def test_poll_gives_each_piece_once(self, backend: Backend) -> None:
        job = backend.jobs.start("echo one; read -r x; echo two")
        assert eventually(lambda: "one" in job.log())
        assert job.poll() == "one\n"
        assert job.poll() == ""
        job.write("go\n")
        job.wait(PATIENCE)
        assert job.poll() == "two\n"

    def test_closing_its_input_ends_a_reader(self, backend: Backend) -> None:
        job = backend.jobs.start("cat; echo end")
        job.write("text\n")
        job.close_stdin()
        assert (job.wait(PATIENCE), job.log()) == (0, "text\nend\n")

    def test_a_job_in_a_terminal_is_interactive(self, backend: Backend) -> None:
        if not backend.capabilities.pty:
            pytest.skip("this backend has no terminals")
        job = backend.jobs.start("read -r -p 'name? ' n; echo hello $n", pty=True)
        assert eventually(lambda: "name?" in job.log())
        job.write("you\n")
        assert job.wait(PATIENCE) == 0
        assert "hello you" in job.log()

    def test_killing_a_job_ends_its_whole_tree(self, backend: Backend, watcher: Shell) -> None:
        one, two = unique_sleep(), unique_sleep()
        job = backend.jobs.start(f"setsid {one} & {two}")
        assert eventually(lambda: sleeps(watcher, one) and sleeps(watcher, two))
        job.kill()
        assert job.status == "killed"
        assert not sleeps(watcher, one)
        assert not sleeps(watcher, two)

    def test_completion_and_patterns_are_told_but_not_too_often(self, backend: Backend) -> None:
        events: list[Any] = []
        job = backend.jobs.start(
            "for i in 1 2 3; do echo ready $i; done; exit 2",
            notify=events.append,
            notify_on_complete=True,
            watch=[r"ready \d"],
        )
        job.wait(PATIENCE)
        assert eventually(lambda: len(events) == 2)
        assert [(e.kind, e.exit_code, e.held_back) for e in events] == [
            ("matched", None, 0),
            ("completed", 2, 2),
        ]
        assert events[0].text == "ready 1"

    def test_waiting_for_a_job_can_time_out_and_a_wrong_id_is_an_error(self, backend: Backend) -> None:
        job = backend.jobs.start("sleep 1000")
        with pytest.raises(StillRunning):
            job.wait(0.01)
        job.kill()
        with pytest.raises(BackendError, match=job.id):
            backend.jobs.get("no-such-job")
