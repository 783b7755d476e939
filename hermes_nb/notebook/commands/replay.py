"""``replay``: a session's calls, shown again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.notebook.commands.base import Command, Invocation, Parser

if TYPE_CHECKING:
    from hermes_nb.calls.journal import Replay


def _replay(invocation: Invocation) -> Replay:
    from hermes_nb.calls.journal import Replay, replay

    wanted = invocation.options.session
    return Replay(invocation.session.journal) if wanted is None else replay(wanted)


def _replay_options(parser: Parser) -> None:
    parser.option("session", nargs="?", completes="session", help="a session's id or journal; this one by default")


REPLAY = Command(
    "replay", "A session's calls, shown again without running anything.", _replay, _replay_options,
    order=51, example="%hermes replay", more=("%hermes replay --out records",),
)  # fmt: skip
