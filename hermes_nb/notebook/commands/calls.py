"""Doing things: ``call`` a tool, ``run`` a command; both on the one guarded path."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from hermes_nb.common.redact import redact
from hermes_nb.errors import CommandFailed, MagicError
from hermes_nb.notebook.arguments import from_cell, from_words, unknown_names
from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.commands.jobs import JobView
from hermes_nb.notebook.expansion import expand, spots, value_at
from hermes_nb.notebook.live import LiveOutput
from hermes_nb.notebook.ran import CommandRun
from hermes_nb.notebook.words import for_shell

if TYPE_CHECKING:
    from hermes_nb.calls.results import ToolResult

_VARIABLE = re.compile(r"[A-Za-z_]\w*")


def _call(invocation: Invocation) -> ToolResult:
    options, session = invocation.options, invocation.session
    parameters = _parameters(invocation)
    written = from_cell(invocation.cell, invocation.namespace) if invocation.cell is not None else {}
    written |= from_words(options.arguments, invocation.namespace, parameters, options.tool)
    unknown = unknown_names(written, parameters) if parameters else ""
    if unknown:
        raise MagicError(f"{options.tool}: {unknown}")
    live = LiveOutput()
    try:
        result = session.call(options.tool, written, timeout=options.timeout, on_output=live, backend=options.backend)
    finally:
        live.finish()
    return result if options.no_raise else result.raise_for_error()


def _parameters(invocation: Invocation) -> dict[str, Any]:
    """The schema of the tool's arguments; empty if it isn't known here, which the call itself will report better."""
    view, name = invocation.session.view, invocation.options.tool
    return dict(view.seen(name).tool.parameters) if view.resolve(name) is not None else {}


def _run(invocation: Invocation) -> CommandRun | JobView:
    options, session = invocation.options, invocation.session
    command = _command(invocation)
    given = {"command": command, "timeout": options.timeout, "workdir": options.cwd, "background": options.bg or None}
    arguments = {key: value for key, value in given.items() if value is not None}
    live = LiveOutput()
    try:
        result = session.call("terminal", arguments, on_output=None if options.quiet else live, backend=options.backend)
        if options.bg:
            return JobView(session.workspace.job(result.raise_for_error().value["job"]))
    finally:
        live.finish()
    backend = options.backend or session.backend_name
    shown_in = invocation.execution if live.written or not options.quiet else None
    ran = CommandRun(command, result, backend, shown_in=shown_in)
    if not options.no_raise:
        result.raise_for_error()
        if ran.exit_code:
            raise CommandFailed(result, redact(command), ran.exit_code)
    return ran


def _command(invocation: Invocation) -> str:
    line = invocation.rest
    sole = next(iter(spots(line, "shell")), None)
    if sole is not None and (sole.start, sole.end) == (0, len(line)):
        command = str(value_at(sole, invocation.namespace))  # the whole command is in a variable: it is no word of one
    else:
        command = expand(line, invocation.namespace, for_shell, "shell")
    script = "\n".join(part for part in (command, invocation.cell) if part)
    if not script.strip():
        raise MagicError("run what? %hermes run ls -l, or a cell that starts with %%hermes run")
    return "".join(_exports(invocation)) + script


def _exports(invocation: Invocation) -> list[str]:
    exports = []
    for pair in invocation.options.env:
        name, equals, value = pair.partition("=")
        if not equals or not _VARIABLE.fullmatch(name):
            raise MagicError(f"--env takes NAME=VALUE, not {pair!r}")
        exports.append(f"export {name}={shlex.quote(value)}\n")
    return exports


def _shared_options(parser: Parser) -> None:
    parser.option("--timeout", type=float, metavar="SECONDS", help="stop it after this long")
    parser.option("--backend", "-b", metavar="B", completes="backend", help="run it there, this once")
    parser.option("--no-raise", action="store_true", help="give back a failure as a result instead of raising it")


def _call_options(parser: Parser) -> None:
    parser.option("tool", completes="tool", help="the tool's name")
    parser.option("arguments", nargs="*", help="key=value, key={python}, or a JSON object; or as YAML or JSON below")
    _shared_options(parser)


def _run_options(parser: Parser) -> None:
    _shared_options(parser)
    parser.option("--cwd", metavar="FOLDER", help="run it there, without changing the shell's directory")
    parser.option("--bg", action="store_true", help="start it and go on; %%hermes ps shows it")
    parser.option("--env", "-e", action="append", default=[], metavar="NAME=VALUE", help="set a variable for it")
    parser.option("--quiet", "-q", action="store_true", help="don't show the output as it comes")


CALL = Command("call", "Call a tool.", _call, _call_options, raw_words=True, takes_cell=True)
RUN = Command(
    "run", "Run a command, or the cell as a script, in the session's shell.", _run, _run_options,
    rest="COMMAND", takes_cell=True,
)  # fmt: skip
