"""``terminal`` and ``process``: commands and background jobs on the session's backend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from hermes_nb.approval.assessment import ALLOWED, Assessment
from hermes_nb.context import Context
from hermes_nb.decorator import tool
from hermes_nb.errors import ToolError
from hermes_nb.results import clip

if TYPE_CHECKING:
    from hermes_backends import ExecResult, Job

DEFAULT_TIMEOUT = 180
LONGEST_TIMEOUT = 600
STREAM_LIMIT = 40_000


class CommandResult:
    """What a command gave back: for the notebook with its colours, for the model without."""

    def __init__(self, result: ExecResult, context: Context) -> None:
        self.result = result
        self._session_id = context.session_id
        self._call_id = context.call_id

    @property
    def error(self) -> str:
        """Why the outcome is unknown or the command was stopped; empty when it ran to its end."""
        if self.result.timed_out:
            return f"timed out after {self.result.duration:.1f} s and was killed, with everything it started"
        return self.result.error

    @property
    def exit_code(self) -> int | None:
        """The exit status; None when the outcome is unknown."""
        return self.result.exit_code

    def model_dump(self, mode: str = "json") -> dict[str, Any]:  # noqa: ARG002
        """What the model reads."""
        dumped: dict[str, Any] = {
            "stdout": self._bounded(self.result.plain_stdout, "stdout"),
            "stderr": self._bounded(self.result.plain_stderr, "stderr"),
            "exit_code": self.result.exit_code,
            "cwd": self.result.cwd,
            "where": self.result.where,
        }
        if not dumped["stderr"]:
            del dumped["stderr"]
        if self.error:
            dumped["error"] = self.error
        if self.result.truncated:
            dumped["whole_output"] = str(self.result.spill)
        if self.result.restarted:
            dumped["note"] = "the shell was new: variables and functions of earlier commands were gone"
        return dumped

    def _bounded(self, text: str, stream: str) -> str:
        return clip(text, STREAM_LIMIT, self._session_id, f"{self._call_id}-{stream}")[0]

    def __repr__(self) -> str:
        return f"<exit code {self.result.exit_code} on {self.result.where}>"


def _guard_command(args: Mapping[str, Any], context: Context) -> Assessment:
    from hermes_nb.approval import assess

    return assess(args["command"], cwd=args.get("workdir") or str(context.cwd))


@tool(toolset="terminal", emoji="💻", guard=_guard_command)
def terminal(
    command: str,
    context: Context,
    background: bool = False,
    timeout: float = DEFAULT_TIMEOUT,
    workdir: str | None = None,
    pty: bool = False,
    notify_on_complete: bool = False,
    watch_patterns: list[str] | None = None,
) -> Any:
    """Run a bash command. Directory, variables and functions last from command to command.

    For servers and other long work use background=true, then the tool process. Files are better read, written and
    searched with read_file, write_file, patch and search_files.

    Args:
        command: Any bash, also of many lines.
        background: Start it and return at once with a job id.
        timeout: Seconds until it is killed, at most 600.
        workdir: Run it there, without changing the shell's directory.
        pty: Give a background job a terminal.
        notify_on_complete: Tell when a background job ends.
        watch_patterns: Regular expressions; tell when a line of a background job's output matches one.
    """
    session = context.session
    if background:
        job = session.backend.jobs.start(
            command,
            cwd=workdir,
            pty=pty,
            task=session.task_id,
            notify=session.notify,
            notify_on_complete=notify_on_complete,
            watch=watch_patterns or (),
        )
        return {"job": job.id, "status": job.status, "where": session.backend.where}
    if pty:
        raise ToolError("pty needs background=true; then read and write with the tool process")
    seconds = min(timeout, LONGEST_TIMEOUT)
    result = session.backend.run(
        command, cwd=workdir, timeout=seconds, task=session.task_id, on_output=context.on_output
    )
    return CommandResult(result, context)


def _guard_input(args: Mapping[str, Any], context: Context) -> Assessment:
    """Text for a job's input may be a command for a shell that reads it."""
    if args["action"] not in ("write", "submit") or not args.get("data") or args.get("job") is None:
        return ALLOWED
    from hermes_nb.approval import assess

    return assess(args["data"], cwd=str(context.cwd))


@tool(toolset="terminal", emoji="⚙️", guard=_guard_input)
def process(
    action: Literal["list", "poll", "log", "wait", "kill", "write", "submit", "close"],
    context: Context,
    job: str | None = None,
    data: str = "",
    timeout: float = 60,
) -> dict[str, Any]:
    """Manage background jobs that terminal started.

    Args:
        action: list all; poll for new output; log for all output; wait for the end; kill; write to its input, submit
            the same with a newline; close its input.
        job: The job's id; not for list.
        data: What to write or submit.
        timeout: Seconds to wait, at most 600.
    """
    jobs = context.session.backend.jobs
    if action == "list":
        return {"jobs": [_summary(each) for each in jobs.list()]}
    if job is None:
        raise ToolError(f"{action} needs a job; list shows them")
    chosen = jobs.get(job)
    match action:
        case "poll":
            return {**_summary(chosen), "output": _plain(chosen.poll(), context, job)}
        case "log":
            return {**_summary(chosen), "output": _plain(chosen.log(), context, job)}
        case "wait":
            return _waited(chosen, min(timeout, LONGEST_TIMEOUT), context)
        case "kill":
            chosen.kill()
        case "write" | "submit":
            chosen.write(data if action == "write" else f"{data}\n")
        case "close":
            chosen.close_stdin()
    return _summary(chosen)


def _waited(job: Job, seconds: float, context: Context) -> dict[str, Any]:
    from hermes_backends import StillRunning

    try:
        job.wait(seconds)
    except StillRunning:
        return {**_summary(job), "note": f"still running after {seconds:g} s"}
    return {**_summary(job), "output": _plain(job.poll(), context, job.id)}


def _plain(text: str, context: Context, job: str) -> str:
    from hermes_backends import strip_ansi

    return clip(strip_ansi(text), STREAM_LIMIT, context.session_id, f"{context.call_id}-{job}")[0]


def _summary(job: Job) -> dict[str, Any]:
    return {"job": job.id, "command": job.command, "status": job.status, "exit_code": job.exit_code}
