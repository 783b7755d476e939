"""``run``: a command or a script in the session's shell, by the tool ``terminal``."""

from __future__ import annotations

import argparse

from hermes_nb.common.redact import redact, register_variables
from hermes_nb.errors import CommandFailed, MagicError
from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.commands.call import options_of_a_call
from hermes_nb.notebook.commands.ps import JobView
from hermes_nb.notebook.faces.command_run import CommandRun
from hermes_nb.notebook.faces.live import LiveOutput
from hermes_nb.notebook.line.expansion import expand, spots, value_at
from hermes_nb.notebook.line.words import for_shell


def _run(invocation: Invocation) -> CommandRun | JobView:
    options, session = invocation.options, invocation.session
    command, variables = _command(invocation), dict(options.env)
    register_variables(variables)
    given = {"timeout": options.timeout, "workdir": options.cwd}
    given |= {"env": variables or None, "background": options.bg or None}
    arguments = {"command": command} | {key: value for key, value in given.items() if value is not None}
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
            raise CommandFailed(result, redact(ran.command), ran.exit_code)
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
    return script


def _variable(pair: str) -> tuple[str, str]:
    name, equals, value = pair.partition("=")
    if not equals or not (name.isascii() and name.isidentifier()):
        raise argparse.ArgumentTypeError(f"it takes NAME=VALUE, not {name!r}")
    return name, value


def _run_options(parser: Parser) -> None:  # fmt: skip
    options_of_a_call(parser)
    parser.option(
        "--cwd",
        also=["--workdir", "--directory", "--dir", "--folder"],
        metavar="FOLDER",
        completes="folder",
        help="run it there, without changing the shell's directory",
    )
    parser.option(
        "--bg", also=["--background", "--detach"], action="store_true", help="start it and go on; %%hermes ps shows it"
    )
    parser.option(
        "--env",
        "-e",
        also=["--variable", "--environment"],
        action="append",
        default=[],
        type=_variable,
        metavar="NAME=VALUE",
        help="a variable for this command only; may be given several times",
    )
    parser.option("--quiet", "-q", also=["--silent"], action="store_true", help="don't show the output as it comes")


RUN = Command(
    "run", "Run a command, or the cell as a script, in the session's shell.", _run, _run_options,
    order=21, example="%hermes run ls -l {folder}",
    more=(
        "%hermes run -t 60 --cwd {folder} --env MODE=test --env TOKEN={token} make check",
        "%hermes run --backend docker://python:3.12 python -V",
        "%hermes run --bg python -m http.server",
        "%%hermes run -q\nfor name in *.txt; do\n  wc -l \"$name\"\ndone",
    ),
    rest="COMMAND", takes_cell=True,
)  # fmt: skip
