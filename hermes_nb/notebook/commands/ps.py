"""``ps``: background jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_nb.calls.marks import mark_of_job
from hermes_nb.common.redact import redact
from hermes_nb.common.text import first_line, head_and_tail, readable
from hermes_nb.errors import MagicError
from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.command_run import script_line
from hermes_nb.notebook.faces.face import Shown
from hermes_nb.notebook.faces.marks import colour_of, mark_chip
from hermes_nb.notebook.faces.markup import Html, code
from hermes_nb.notebook.panels import PANELS

if TYPE_CHECKING:
    from hermes_backends import Job

_TAIL = 4_000
_COMMAND = 72


class JobView(Shown):
    """A background job with faces; ``job`` is the job itself, to poll, write to and kill."""

    def __init__(self, job: Job) -> None:
        self.job = job

    @property
    def id(self) -> str:
        """What ``%hermes ps`` and the tool ``process`` call it."""
        return self.job.id

    @property
    def status(self) -> str:
        """running, exited, killed or lost."""
        return self.job.status

    @property
    def exit_code(self) -> int | None:
        """The exit code once it has ended."""
        return self.job.exit_code

    def log(self) -> str:
        """All it has printed so far."""
        return self.job.log()

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for its end; the exit code."""
        return self.job.wait(timeout)

    def kill(self) -> None:
        """End it and everything it started."""
        self.job.kill()

    def __repr__(self) -> str:
        mark = mark_of_job(self.status, self.exit_code)
        lines = [
            f"{self.id}: {mark.text}: {first_line(readable(redact(self.job.command)), _COMMAND)}",
            readable(self._tail()).rstrip("\n"),
        ]
        return "\n".join(line for line in lines if line)

    def _html(self) -> Html:
        mark = mark_of_job(self.status, self.exit_code)
        tail = self._tail()
        return markup.card(
            [markup.tag("b", code(self.id)), mark_chip(mark), script_line(self.job.command)],
            markup.printed(tail.rstrip("\n")) if tail.strip() else None,
            edge=colour_of(mark),
        )

    def _tail(self) -> str:
        return head_and_tail(redact(self.job.log()), _TAIL)


def _ps(invocation: Invocation) -> Any:
    options, session = invocation.options, invocation.session
    if options.job is None:
        if options.stop:
            raise MagicError("stop which job? %hermes ps lists them, %hermes ps --stop job-1 ends one")
        return PANELS["jobs"](session)
    view = JobView(session.workspace.job(options.job))
    if options.stop:
        view.kill()
    return view


def _ps_options(parser: Parser) -> None:
    parser.option("job", nargs="?", completes="job", help="show this one, with the end of its output")
    parser.option("--stop", also=["--kill"], action="store_true", help="end it, and everything it started")


PS = Command(
    "ps", "The background jobs: all of them live, or one with its output.", _ps, _ps_options,
    order=41, example="%hermes ps", more=("%hermes ps job-1", "%hermes ps job-1 --stop"),
)  # fmt: skip
