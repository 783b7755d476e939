"""``backend``: where commands run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.face import Shown
from hermes_nb.notebook.faces.markup import AMBER, GREEN, Html, chip, code, dim

if TYPE_CHECKING:
    from hermes_nb.session import Session


@dataclass(frozen=True, slots=True)
class BackendState(Shown):
    """Where a session's commands run.

    Attributes:
        name: As it was given.
        where: The place in words.
        isolated: Whether commands can't touch this machine.
        cwd: The directory of the next command; empty where that is not known before the first.
        known: The backends there are.
    """

    name: str
    where: str
    isolated: bool
    cwd: str
    known: tuple[str, ...]

    @property
    def warning(self) -> str:
        """What this backend does not protect from; empty if it isolates."""
        return "" if self.isolated else "commands run with your rights and can touch everything that you can"

    def __repr__(self) -> str:
        isolation = "isolated" if self.isolated else f"not isolated: {self.warning}"
        return f"{self.name}: {isolation}\nothers: {', '.join(name for name in self.known if name != self.name)}"

    def _html(self) -> Html:
        mark = chip("isolated", GREEN) if self.isolated else chip("not isolated", AMBER)
        return markup.card(
            [markup.tag("b", code(self.name)), mark, dim(self.where if self.where != self.name else "")],
            markup.tag("div", self.warning) if self.warning else None,
            markup.tag("div", dim("directory: "), code(self.cwd)) if self.cwd else None,
            markup.tag("div", dim("there are: "), dim(", ".join(self.known))),
            edge=GREEN if self.isolated else AMBER,
        )


def _backend(invocation: Invocation) -> BackendState:
    session, wanted = invocation.session, invocation.options.backend
    if wanted is not None:
        before = session.backend_name
        session.use_backend(wanted)
        try:
            _ = session.backend  # opened now, so that what is wrong with it is known now
        except BaseException:
            session.use_backend(before)
            raise
    return backend_state(session)


def backend_state(session: Session) -> BackendState:
    """Where a session's commands run now."""
    from hermes_backends import backend_names

    place = session.place()
    return BackendState(place.name, place.backend.where, place.is_isolated, place.cwd, tuple(backend_names()))


def _backend_options(parser: Parser) -> None:
    parser.option("backend", nargs="?", completes="backend", help="local, docker://image, ssh://user@host, …")


BACKEND = Command(
    "backend", "Where commands run; with a name, switch to it.", _backend, _backend_options,
    order=40, example="%hermes backend",
    more=("%hermes backend local", "%hermes backend docker://debian:12", "%hermes backend ssh://me@box"),
)  # fmt: skip
