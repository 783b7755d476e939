"""``terminal`` and ``process``: commands and background jobs on the session's backend."""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from hermes_nb.approval.assessment import ALLOWED, Assessment
from hermes_nb.approval.view import ApprovalView
from hermes_nb.calls.results import CommandResult
from hermes_nb.common.redact import MASK, names_credential, register_variables
from hermes_nb.context import Context
from hermes_nb.errors import FolderChangedError, ToolError
from hermes_nb.toolbox.decorator import tool

if TYPE_CHECKING:
    from hermes_backends import Job
    from hermes_nb.calls.place import Place

DEFAULT_TIMEOUT = 180
LONGEST_TIMEOUT = 600
LONGEST_RESULT = 50_000


def _guard_command(args: Mapping[str, Any], context: Context) -> Assessment:
    from hermes_nb.approval import assess

    command, variables = args["command"], args.get("env") or {}
    register_variables(variables)
    script = f"{_exports(variables)}{command}"
    assessment = assess(script, cwd=_where(args, context).cwd or None)
    if script == command:
        return assessment
    # The rules of the config speak of the command: for them too, its variables stand before it.
    return Assessment(assessment.findings, {command: assessment.readings.get(script, ())})


def _exports(variables: Mapping[str, str]) -> str:
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())


def _show_command(args: Mapping[str, Any]) -> ApprovalView:
    usual = _defaults()
    unusual = [(name, value) for name, value in args.items() if name not in ("command", "env") and value != usual[name]]
    variables = [
        (f"env {name}", MASK if names_credential(name) else value) for name, value in (args.get("env") or {}).items()
    ]
    return ApprovalView(text=args["command"], rows=[*unusual, *variables], edits="command", language="shell")


@functools.cache
def _defaults() -> dict[str, Any]:
    return {name: parameter.default for name, parameter in inspect.signature(terminal).parameters.items()}


def _where(args: Mapping[str, Any], context: Context) -> Place:
    return context.place.inside(args.get("workdir"))


@tool(
    toolset="terminal",
    emoji="💻",
    guard=_guard_command,
    where=_where,
    approval_view=_show_command,
    keeps_deadline=True,
    max_result_size_chars=LONGEST_RESULT,
)
def terminal(
    command: str,
    context: Context,
    background: bool = False,
    timeout: float = DEFAULT_TIMEOUT,
    workdir: str | None = None,
    env: dict[str, str] | None = None,
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
        env: Variables for this command only.
        pty: Give a background job a terminal.
        notify_on_complete: Tell when a background job ends.
        watch_patterns: Regular expressions; tell when a line of a background job's output matches one.
    """
    place, variables = context.place, env or {}
    _check_variables(variables)
    if background:
        job = context.session.workspace.start_job(
            place,
            command,
            cwd=place.inside(workdir).cwd or workdir,
            env=variables,
            pty=pty,
            notify=context.session.notify,
            notify_on_complete=notify_on_complete,
            watch=watch_patterns or (),
        )
        return {"job": job.id, "status": job.status, "where": job.where}
    if pty:
        raise ToolError("pty needs background=true; then read and write with the tool process")
    return _run(command, workdir, variables, timeout, context)


def _check_variables(variables: Mapping[str, str]) -> None:
    """What is no name would be read as code by the shell."""
    for name, value in variables.items():
        if not (name.isascii() and name.isidentifier()):
            raise ToolError(f"env: {name!r} is not a name that a variable can have")
        if "\0" in value:
            raise ToolError(f"env: {name} holds a NUL character, which no variable can")


def _run(
    command: str, workdir: str | None, variables: Mapping[str, str], timeout: float, context: Context
) -> CommandResult:
    from hermes_backends import DirectoryChanged

    backend, place, session = context.backend, context.place, context.session
    try:
        result = backend.run(
            command,
            cwd=workdir,
            env=variables,
            timeout=context.at_most(min(timeout, LONGEST_TIMEOUT)),
            task=session.task_id,
            on_output=context.on_output,
            open_spill=session.spills.opener(context.call_id),
            # A folder that is named in full is the same wherever the shell has gone.
            expected_cwd=... if workdir and workdir.startswith(("/", "~")) else place.cwd or None,
        )
    except DirectoryChanged as moved:
        raise FolderChangedError(moved.cwd) from None
    return CommandResult(result)


def _guard_input(args: Mapping[str, Any], _context: Context) -> Assessment:
    """Text for a job's input may be a command for a shell that reads it."""
    if args["action"] not in ("write", "submit") or not args.get("data") or args.get("job") is None:
        return ALLOWED
    from hermes_nb.approval import assess

    return assess(args["data"])


def _where_job_runs(args: Mapping[str, Any], context: Context) -> Place:
    job = args.get("job")
    return context.place if job is None else context.session.workspace.place_of(job)


def _show_input(args: Mapping[str, Any]) -> ApprovalView:
    rest = [(name, value) for name, value in args.items() if name != "data"]
    if args["action"] not in ("write", "submit") or "data" not in args:
        return ApprovalView(args["action"], rows=rest, language="text")
    title = f"{args['action']} to {args.get('job')}"
    return ApprovalView(title, args["data"], rest, edits="data", language="shell")


@tool(
    toolset="terminal",
    emoji="⚙️",
    guard=_guard_input,
    where=_where_job_runs,
    approval_view=_show_input,
    keeps_deadline=True,
    max_result_size_chars=LONGEST_RESULT,
)
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
    workspace = context.session.workspace
    if action == "list":
        return {"jobs": [_summary(each) for each in workspace.jobs()]}
    if job is None:
        raise ToolError(f"{action} needs a job; list shows them")
    chosen = workspace.job(job)
    match action:
        case "poll":
            return {**_summary(chosen), "output": _plain(chosen.poll())}
        case "log":
            return {**_summary(chosen), "output": _plain(chosen.log()), **_whole(chosen)}
        case "wait":
            return _waited(chosen, context.at_most(min(timeout, LONGEST_TIMEOUT)))
        case "kill":
            chosen.kill()
        case "write" | "submit":
            chosen.write(data if action == "write" else f"{data}\n")
        case "close":
            chosen.close_stdin()
    return _summary(chosen)


def _waited(job: Job, seconds: float) -> dict[str, Any]:
    from hermes_backends import StillRunning

    try:
        job.wait(seconds)
    except StillRunning:
        return {**_summary(job), "note": f"still running after {seconds:g} s"}
    return {**_summary(job), "output": _plain(job.poll())}


def _plain(text: str) -> str:
    from hermes_backends import strip_ansi

    return strip_ansi(text)


def _whole(job: Job) -> dict[str, str]:
    return {"whole_output": str(job.spill)} if job.spill is not None else {}


def _summary(job: Job) -> dict[str, Any]:
    summary = {"job": job.id, "command": job.command, "status": job.status, "exit_code": job.exit_code}
    return {**summary, "where": job.where}
