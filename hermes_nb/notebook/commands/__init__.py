"""The sub-commands of ``%hermes``, by name: every module of this folder declares its own."""

from __future__ import annotations

from hermes_nb.common.modules import declared_in
from hermes_nb.notebook.commands.base import Command, Invocation

__all__ = ["COMMANDS", "Command", "Invocation"]

#: In the order in which help lists them.
COMMANDS: dict[str, Command] = {
    command.name: command for command in sorted(declared_in(__name__, Command), key=lambda command: command.order)
}
