"""Help where people ask for it: ``%hermes call?``, ``?%hermes``, and Shift+Tab on a line with ``%hermes``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from IPython.core.inputtransformer2 import TokenTransformBase
from IPython.core.page import page
from IPython.utils.tokenutil import line_at_cursor

from hermes_nb.errors import MagicError, did_you_mean
from hermes_nb.notebook import state
from hermes_nb.notebook.commands import COMMANDS, Command
from hermes_nb.notebook.faces.help import Help, overview
from hermes_nb.notebook.line.expansion import spots
from hermes_nb.notebook.line.words import split

if TYPE_CHECKING:
    from tokenize import TokenInfo

    from IPython.core.interactiveshell import InteractiveShell

    from hermes_nb.notebook.faces.schema import Description

_MAGIC = re.compile(r"(?:^|[=(,]|\breturn\b)\s*(?P<magic>%{1,2}hermes\b)(?P<typed>(?:[ \t].*)?)$")
_ASKING = re.compile(
    r"(?P<before>\s*(?:[\w.]+\s*=\s*)?)(?:\?{1,2}\s*%{1,2}hermes\b(?P<after>[^?\n]*)|%{1,2}hermes\b(?P<typed>.*\?))\s*"
)
#: Sub-commands whose first word is a tool's name: help on that is what the tool says of itself.
_OF_TOOLS = ("call", "describe")


def install(shell: InteractiveShell) -> None:
    """Let a shell, and its kernel if it has one, give help on ``%hermes`` lines."""
    remove(shell)
    shell.input_transformers_cleanup.insert(0, _with_one_percent)
    shell.input_transformer_manager.token_transformers.append(AskingLine)
    kernel = getattr(shell, "kernel", None)
    if kernel is not None:
        kernel.do_inspect = Inspecting(kernel.do_inspect)


def remove(shell: InteractiveShell) -> None:
    """Take that back."""
    for transformers, own in (
        (shell.input_transformers_cleanup, _with_one_percent),
        (shell.input_transformer_manager.token_transformers, AskingLine),
    ):
        transformers[:] = [kept for kept in transformers if kept is not own]
    kernel = getattr(shell, "kernel", None)
    if kernel is not None and isinstance(kernel.do_inspect, Inspecting):
        del kernel.do_inspect


def find(name: str) -> Command:
    """The sub-command of that name.

    Raises:
        MagicError: There is none; the message suggests the nearest.
    """
    command = COMMANDS.get(name)
    if command is None:
        hint = did_you_mean(name, COMMANDS) or ". %hermes help lists what there is"
        raise MagicError(f"there is no %hermes {name}{hint}")
    return command


def help_on(words: list[str]) -> Help | Description:
    """Help on what was typed after ``%hermes``: all of it, one sub-command, or a tool that it names.

    Raises:
        MagicError: There is no such sub-command.
    """
    name, *rest = words[1:] if words[:1] == ["help"] else words or [""]
    if not name:
        return overview(COMMANDS.values())
    command = find(name)
    if rest and command.name in _OF_TOOLS:
        session = state.current()
        if session.view.resolve(rest[0]) is not None:
            from hermes_nb.notebook.commands.describe import description_of

            return description_of(session, rest[0])
    return Help.of(command)


def show_if_asked(typed: str) -> bool:
    """Show help in IPython's pager if the line asks for it: ``call?``, not ``search what is it?``."""
    asking = re.fullmatch(r"(?P<what>.*?)\s*\?{1,2}", typed.strip(), re.DOTALL)
    if asking is None:
        return False
    words = asking["what"].split()
    names_tool = len(words) == 2 and words[0] in _OF_TOOLS and state.current().view.resolve(words[1]) is not None
    if len(words) > 1 and words[0] != "help" and not names_tool:
        return False
    page(help_on(words)._repr_mimebundle_())
    return True


class AskingLine(TokenTransformBase):
    """A line with a question mark at its end or beginning, as the magic's own: it knows whether it asks for help.

    IPython takes the last word before one for the name of an object, also in ``%hermes search what is it?``.
    """

    priority = 4  # before IPython's own, which has 5

    @classmethod
    def find(cls, tokens_by_line: list[list[TokenInfo]]) -> AskingLine | None:
        """The first such line of a cell."""
        for line in tokens_by_line:
            asks = [at for at in (0, -2) if len(line) > 2 and line[at].string == "?"]
            if asks and _ASKING.fullmatch(line[-2].line) and line[0].start[0] == line[-2].start[0]:
                return cls((line[-2].start[0], 0))
        return None

    def transform(self, lines: list[str]) -> list[str]:
        """The lines, with a call of the magic in place of this one."""
        found = _ASKING.fullmatch(lines[self.start_line])
        assert found is not None
        typed = f"{found['after'].strip()}?" if found["after"] is not None else found["typed"].strip()
        call = f"{found['before']}get_ipython().run_line_magic('hermes', {typed!r})\n"
        return [*lines[: self.start_line], call, *lines[self.start_line + 1 :]]


def _with_one_percent(lines: list[str]) -> list[str]:
    """``%%hermes call?`` with nothing below is no cell magic without its cell: it asks for help."""
    first, *below = lines or [""]
    if first.startswith("%%hermes") and first.rstrip().endswith("?") and not "".join(below).strip():
        return [first[1:]]
    return lines


class Inspecting:
    """What a kernel answers to Shift+Tab: help on a ``%hermes`` line, and its own answer on all others."""

    def __init__(self, otherwise: Any) -> None:
        self._otherwise = otherwise

    def __call__(self, code: str, cursor_pos: int, *args: Any, **options: Any) -> Any:
        """The reply to an inspect request."""
        found = help_at(code, cursor_pos)
        if found is None:
            return self._otherwise(code, cursor_pos, *args, **options)
        return {"status": "ok", "found": True, "data": {"text/plain": repr(found)}, "metadata": {}}


def help_at(code: str, cursor: int) -> Help | Description | None:
    """Help on the part of a ``%hermes`` line, or of the cell below one, where the cursor is; None anywhere else."""
    line, start = line_at_cursor(code, cursor)
    column = cursor - start
    magic = _MAGIC.search(line.rstrip("\r\n"))
    if magic is None:  # in the cell below it, help is on all that its head says
        line = code.lstrip().partition("\n")[0]
        column = len(line)
        magic = _MAGIC.match(line) if line.startswith("%%") else None
    if magic is None or column < magic.start("magic"):
        return None
    typed, column = magic["typed"], column - magic.start("typed")
    if any(spot.start < column < spot.end for spot in spots(typed)):
        return None  # a Python expression
    words = [word.raw for word in split(typed) if word.start <= column]
    return help_on(words if words[:1] in ([name] for name in (*COMMANDS, "help")) else [])
