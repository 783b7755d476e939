"""``call``: a tool, on the one guarded path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_nb.errors import MagicError
from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.faces.live import LiveOutput
from hermes_nb.notebook.line.arguments import from_cell, from_words, unknown_names

if TYPE_CHECKING:
    from hermes_nb.calls.results import ToolResult


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


def options_of_a_call(parser: Parser) -> None:
    """What every command that makes a call takes."""
    parser.option("--timeout", "-t", type=float, metavar="SECONDS", help="stop it after this long")
    parser.option("--backend", "-b", also=["--on"], metavar="B", completes="backend", help="run it there, this once")
    parser.option(
        "--no-raise", also=["--ignore-errors"], action="store_true", help="give back a failure instead of raising it"
    )


def _call_options(parser: Parser) -> None:
    parser.option("tool", completes="tool", help="the tool's name")
    parser.option(
        "arguments", nargs="*", metavar="key=value", help="or key={python}, or a JSON object; or as YAML or JSON below"
    )
    options_of_a_call(parser)


CALL = Command(
    "call", "Call a tool.", _call, _call_options,
    order=20, example="%hermes call read_file path=notes.txt limit=20",
    more=(
        "result = %hermes call read_file path={path} --no-raise",
        "%%hermes call write_file path=notes.txt\ncontent: |\n  Two lines, with 'quotes' as they are,\n  and {value}.",
    ),
    raw_words=True, takes_cell=True,
)  # fmt: skip
