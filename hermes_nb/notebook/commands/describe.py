"""``describe``: what a tool does and takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.commands.tools import tool_row
from hermes_nb.notebook.faces.schema import Description
from hermes_nb.toolbox.availability import missing_variables

if TYPE_CHECKING:
    from hermes_nb.session import Session


def _describe(invocation: Invocation) -> Description:
    return description_of(invocation.session, invocation.options.tool)


def description_of(session: Session, name: str) -> Description:
    """What a tool does and takes, and what becomes of it in a session."""
    view = session.view
    seen = view.seen(name)
    row, lacks = tool_row(seen), missing_variables(seen.tool) or ""
    return Description(
        view.describe(name), toolset=row.toolset, emoji=row.emoji, state=row.state, tokens=row.tokens, lacks=lacks
    )


def _describe_options(parser: Parser) -> None:
    parser.option("tool", completes="tool", help="the tool's name")


DESCRIBE = Command(
    "describe", "What a tool does and takes.", _describe, _describe_options,
    order=13, example="%hermes describe read_file",
)  # fmt: skip
