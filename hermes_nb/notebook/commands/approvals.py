"""``approvals``: what was approved for more than one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.errors import MagicError, did_you_mean
from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.markup import chip, code, dim
from hermes_nb.notebook.faces.table import Column, Table

if TYPE_CHECKING:
    from hermes_nb.approval.policy import Approval
    from hermes_nb.session import Session


def _approvals(invocation: Invocation) -> Table[Approval]:
    options, policy = invocation.options, invocation.session.policy
    if options.action == "revoke":
        if not options.rules:
            raise MagicError("revoke which rule? %hermes approvals lists them")
        known = {approval.rule for approval in policy}
        for rule in options.rules:
            if not policy.revoke(rule):
                raise MagicError(f"nothing is approved under {rule!r}{did_you_mean(rule, known)}")
    return approvals_table(invocation.session)


def approvals_table(session: Session) -> Table[Approval]:
    """What was approved for more than once."""
    columns: tuple[Column[Approval], ...] = (
        Column("rule", lambda row: row.rule, lambda row: markup.tag("b", code(row.rule))),
        Column("lasts", lambda row: row.lasts, lambda row: chip(row.lasts)),
        Column("backend", lambda row: row.backend or "any", lambda row: dim(row.backend or "any")),
    )
    note = "%hermes approvals revoke RULE takes one back"
    return Table(tuple(session.policy), columns, empty="nothing is approved beyond single calls", note=note)


def _approvals_options(parser: Parser) -> None:
    parser.option("action", nargs="?", choices=("list", "revoke"), default="list", help="list, or revoke RULE")
    parser.option("rules", nargs="*", completes="rule", help="the rules to revoke")


APPROVALS = Command(
    "approvals", "What was approved for longer; revoke it.", _approvals, _approvals_options,
    order=42, example="%hermes approvals", more=("%hermes approvals revoke delete-recursive",),
)  # fmt: skip
