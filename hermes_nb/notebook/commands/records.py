"""Looking back and looking around: ``replay``, ``doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.notebook.commands.base import Command, Invocation, Parser

if TYPE_CHECKING:
    from hermes_nb.calls.journal import Replay
    from hermes_nb.doctor import Report


def _doctor(_invocation: Invocation) -> Report:
    from hermes_nb.doctor import examine

    return examine()


def _replay(invocation: Invocation) -> Replay:
    from hermes_nb.calls.journal import Replay, replay

    wanted = invocation.options.session
    return Replay(invocation.session.journal) if wanted is None else replay(wanted)


def _replay_options(parser: Parser) -> None:
    parser.option("session", nargs="?", completes="session", help="a session's id or journal; this one by default")


DOCTOR = Command("doctor", "What is installed, what can run here, and how to fix the rest.", _doctor)
REPLAY = Command("replay", "A session's calls, shown again without running anything.", _replay, _replay_options)
