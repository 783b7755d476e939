"""The magic ``%hermes``, and ``%%hermes`` above a cell."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope, no_var_expand

from hermes_nb.errors import MagicError, ToolCallError
from hermes_nb.notebook import inspection, state
from hermes_nb.notebook.commands import COMMANDS, Invocation
from hermes_nb.notebook.commands.base import HelpWanted, read_options
from hermes_nb.notebook.faces.failure import compact
from hermes_nb.notebook.faces.help import Help, overview

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from hermes_nb.session import Session

#: What the notebook calls the result of the latest sub-command.
LATEST = "_hermes"


@magics_class
class HermesMagics(Magics):
    """``%hermes``."""

    shell: InteractiveShell

    @no_var_expand  # IPython's own expansion eats the braces of JSON
    @needs_local_scope
    @line_cell_magic
    def hermes(self, line: str, cell: str | None = None, local_ns: Mapping[str, Any] | None = None) -> Any:
        """Tools, search, guarded calls and commands."""
        namespace = {**vars(builtins), **self.shell.user_ns, **(local_ns or {})}
        try:
            return None if inspection.show_if_asked(line) else self._run(line, cell, namespace)
        except BaseException as error:
            if isinstance(error, ToolCallError):
                self.shell.user_ns[LATEST] = error.result
            compact(error, line.strip())
            raise

    hermes.__doc__ = overview(COMMANDS.values()).text  # what IPython shows of it, wherever it is asked

    def _run(self, line: str, cell: str | None, namespace: Mapping[str, Any]) -> Any:
        name, _, typed = line.strip().partition(" ")
        if name in ("", "help", "-h", "--help"):
            return inspection.help_on(typed.split())
        command = inspection.find(name)
        if cell is not None and not command.takes_cell:
            raise MagicError(f"{name} takes no cell; write %hermes {line.strip()} on a line of its own")
        try:
            options, rest = read_options(command, typed.strip(), namespace)
        except HelpWanted:
            return Help.of(command)
        if options.out is not None and not options.out.isidentifier():
            raise MagicError(f"-o {options.out}: not a name that a variable can have")
        session = state.current()
        execution = self.shell.execution_count
        result = command.run(Invocation(session, options, rest, cell, namespace, execution))
        self.shell.user_ns[LATEST] = result
        if options.out is None:
            return result
        self.shell.user_ns[options.out] = result
        return None


def load(shell: InteractiveShell) -> None:
    """Register the magic with its completion and help, and say what is there."""
    from hermes_nb.notebook import completion

    shell.register_magics(HermesMagics(shell))
    completion.install(shell)
    inspection.install(shell)
    print(greeting(state.current()))


def unload(shell: InteractiveShell) -> None:
    """Take back what ``load`` did, and close the session that it made."""
    from hermes_nb.notebook import completion

    completion.remove(shell)
    inspection.remove(shell)
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("hermes", None)
    state.forget()


def greeting(session: Session) -> str:
    """One line: what is there, where commands run, and who is asked."""
    from hermes_nb import __version__

    mode = session.config.get("approval.mode")
    there = f"{len(session.view)} tools · {session.backend_name} backend · approval: {mode}"
    return f"hermes-nb {__version__}: {there} · %hermes for help"
