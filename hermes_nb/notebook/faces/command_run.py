"""What ``%hermes run`` gives back: a command's output, its exit code, and the result of the call behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.common.redact import redact
from hermes_nb.common.text import first_line, readable
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.face import Shown
from hermes_nb.notebook.faces.marks import colour_of, edit_html, mark_chip
from hermes_nb.notebook.faces.markup import Html, code, dim
from hermes_nb.notebook.faces.results import edit_lines, result_html, result_text, took
from hermes_nb.notebook.faces.streams import Streams, streams_of
from hermes_nb.notebook.faces.table import clipped

if TYPE_CHECKING:
    from hermes_nb.calls.results import ToolResult

_LONGEST = 60


def script_line(command: str) -> Html:
    """A command in a heading: as it is, or the first line of a script, which opens to all of them."""
    shown = readable(redact(command)).strip("\n")
    first = dim(code(first_line(shown, _LONGEST)))
    if "\n" not in shown:
        return first
    style = "display:inline-block;vertical-align:top;max-width:100%"
    summary = markup.tag("summary", first, style="cursor:pointer")
    return markup.tag("details", summary, markup.block(markup.text(shown)), style=style)


class CommandRun(Shown):
    """A command that has run. ``str()`` of it is what it printed.

    In the cell that showed the output as it came, its face is one line; anywhere else it shows the output again.

    Attributes:
        command: What ran, without secrets: the edited one, where somebody edited it before it was approved.
        result: The call's result, as the model would get it.
        backend: Where it ran.
    """

    def __init__(self, command: str, result: ToolResult, backend: str, *, shown_in: int | None = None) -> None:
        self.command = str((result.args or {}).get("command", command))  # whoever approved it may have changed it
        self.result = result
        self.backend = backend
        self._shown_in = shown_in
        self._streams = streams_of(result.value) or Streams("", "", None)

    @property
    def stdout(self) -> str:
        """Standard output, colours and all."""
        return self._streams.stdout

    @property
    def stderr(self) -> str:
        """Standard error."""
        return self._streams.stderr

    @property
    def lines(self) -> list[str]:
        """The lines of standard output."""
        return self.stdout.splitlines()

    @property
    def exit_code(self) -> int | None:
        """The exit code; None if the command did not run or its outcome is unknown."""
        return self._streams.exit_code

    @property
    def ok(self) -> bool:
        """Whether it ran to its end and succeeded."""
        return self.result.ok and self.exit_code == 0

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.result.duration

    def __str__(self) -> str:
        return self.stdout

    def __repr__(self) -> str:
        return self._line() if self._was_just_shown() else result_text(self.result)

    def _html(self) -> Html:
        if not self._was_just_shown():
            return result_html(self.result)
        head = [
            mark_chip(self.result.mark),
            dim(took(self.result)),
            dim(self.backend),
            script_line(self.command),
            markup.text(clipped(self.result.error, 200)) if self.result.error else None,
        ]
        return markup.tag(
            "div",
            markup.line(head),
            edit_html(self.result.edit) if self.result.edit else None,
            style=f"border-left:3px solid {colour_of(self.result.mark)};padding:0 .8em;margin:.2em 0;font-size:.92em",
        )

    def _line(self) -> str:
        if not self.result.ok:
            line = f"{self.result.outcome}: {clipped(self.result.error or '', 300)}"
        else:
            line = str(self.result.mark) if self.exit_code else f"exit code {self.exit_code}"
        return "\n".join([line, *edit_lines(self.result.edit)])

    def _was_just_shown(self) -> bool:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        return shell is not None and self._shown_in is not None and shell.execution_count == self._shown_in
