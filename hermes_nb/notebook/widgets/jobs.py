"""Jobs: the background processes of a session, with their output, their input, and a way to stop them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, ClassVar

from hermes_nb.calls.marks import Mark, mark_of_job
from hermes_nb.common.redact import redact
from hermes_nb.common.text import first_line, readable
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.marks import colour_of, mark_chip
from hermes_nb.notebook.faces.markup import Html, code, dim
from hermes_nb.notebook.frontend.assets import script, style
from hermes_nb.notebook.frontend.widget import HermesWidget, Message

if TYPE_CHECKING:
    from hermes_backends import Job
    from hermes_nb.session import Session

logger = logging.getLogger(__name__)

_TAIL = 8_000
_COMMAND = 200
_IN_SNAPSHOT = 20
_TAIL_IN_SNAPSHOT = 2_000


def jobs_of(session: Session) -> list[Job]:
    """The background jobs of a session, on whichever backend they run."""
    return list(session.jobs)


class JobsView(HermesWidget):
    """The background jobs of a session. The front end asks for news while it is in sight, so nothing runs otherwise."""

    _esm = script("dom", "living", "jobs")
    _css = style("base", "jobs")
    answers: ClassVar[dict[str, str]] = {"refresh": "_refresh", "write": "_write", "end": "_end", "stop": "_stop"}

    def __init__(self, session: Session) -> None:
        self.session = session
        super().__init__()

    def text_face(self) -> str:
        """One line for each job."""
        lines = [f"{job.id} {_mark(job).text}: {_command(job)}" for job in jobs_of(self.session)]
        return "\n".join(lines) or "no background jobs"

    def html_face(self) -> str:
        """The same as a table."""
        rows = "".join(
            f"<tr><td>{escape(job.id)}</td><td>{escape(_mark(job).text)}</td><td><code>{escape(_command(job))}</code></td></tr>"
            for job in jobs_of(self.session)
        )
        head = "<tr><th>job</th><th>state</th><th>command</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>" if rows else "<p>no background jobs</p>"

    def snapshot_face(self) -> str:
        """The jobs, each with the end of its output."""
        jobs = jobs_of(self.session)[-_IN_SNAPSHOT:]
        return markup.join(map(_kept, jobs)) if jobs else markup.tag("p", "no background jobs")

    def _refresh(self, message: Message) -> None:
        jobs = jobs_of(self.session)
        self.kept.changed()
        chosen = next((job for job in jobs if job.id == message.get("job")), None)
        self.send(
            {
                "kind": "jobs",
                "jobs": [
                    {
                        "job": job.id,
                        "command": _command(job),
                        "status": job.status,
                        "state": _mark(job).text,
                        "tone": _mark(job).tone,
                        "age": time.time() - job.started,
                    }
                    for job in jobs
                ],
                "chosen": chosen.id if chosen is not None else None,
                "tail": tail(chosen.log()) if chosen is not None else "",
            }
        )

    def _write(self, message: Message) -> None:
        self._do(message, lambda job: job.write(f"{message.get('text', '')}\n"))

    def _end(self, message: Message) -> None:
        self._do(message, lambda job: job.close_stdin())

    def _stop(self, message: Message) -> None:
        self._do(message, lambda job: job.kill())

    def _do(self, message: Message, action: Callable[[Job], None]) -> None:
        # In a thread of its own: a full pipe or a slow end must not hold up the kernel.
        job = next((job for job in jobs_of(self.session) if job.id == message.get("job")), None)

        def work() -> None:
            try:
                if job is not None:
                    action(job)
                problem: str | None = None if job is not None else "there is no such job any more"
            except Exception as error:
                logger.debug("a job refused", exc_info=True)
                problem = f"{type(error).__name__}: {error}"
            self._refresh(message)
            if problem is not None:
                self.send({"kind": "problem", "text": problem})

        threading.Thread(target=work, name="hermes-nb-jobs", daemon=True).start()


def tail(log: str, limit: int = _TAIL) -> str:
    """The end of an output, from the start of a line."""
    end = log[-limit:]
    if len(log) > limit:
        end = end.partition("\n")[2] or end
    return redact(readable(end))


def _kept(job: Job) -> Html:
    printed = tail(job.log(), _TAIL_IN_SNAPSHOT).rstrip("\n")
    started = dim(time.strftime("started at %H:%M:%S", time.localtime(job.started)))
    return markup.card(
        [
            markup.tag("b", code(job.id)),
            mark_chip(_mark(job)),
            code(_command(job)),
            started,
        ],
        markup.printed(printed) if printed else None,
        edge=colour_of(_mark(job)),
    )


def _command(job: Job) -> str:
    return first_line(readable(redact(job.command)), _COMMAND)


def _mark(job: Job) -> Mark:
    return mark_of_job(job.status, job.exit_code)
