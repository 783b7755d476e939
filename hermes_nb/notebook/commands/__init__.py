"""The sub-commands of ``%hermes``, by name."""

from __future__ import annotations

from hermes_nb.notebook.commands.base import Command, Invocation
from hermes_nb.notebook.commands.calls import CALL, RUN
from hermes_nb.notebook.commands.jobs import PS
from hermes_nb.notebook.commands.look import DESCRIBE, SEARCH, TOOLS, TOOLSETS
from hermes_nb.notebook.commands.records import DOCTOR, REPLAY
from hermes_nb.notebook.commands.rules import APPROVALS, BACKEND, CONFIG
from hermes_nb.notebook.commands.widgets import BUDGET, EXPLORE, FEED

__all__ = ["COMMANDS", "Command", "Invocation"]

#: In the order in which help lists them.
COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        *(TOOLS, TOOLSETS, SEARCH, DESCRIBE, CALL, RUN, EXPLORE, FEED, BUDGET),
        *(BACKEND, PS, APPROVALS, CONFIG, DOCTOR, REPLAY),
    )
}
