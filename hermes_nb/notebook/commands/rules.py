"""Where and under which rules things run: ``backend``, ``approvals``, ``config``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_nb.common.jsonable import written
from hermes_nb.config import OPTIONS
from hermes_nb.errors import MagicError, did_you_mean
from hermes_nb.notebook import markup
from hermes_nb.notebook.arguments import read
from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.markup import AMBER, GREEN, Html, chip, code, dim
from hermes_nb.notebook.table import Column, Table
from hermes_nb.notebook.words import meaning

if TYPE_CHECKING:
    from hermes_nb.approval.policy import Approval
    from hermes_nb.session import Session


@dataclass(frozen=True, slots=True)
class BackendState:
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

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> Html:
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


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: what is in force, what would be without the config, and what it accepts."""

    key: str
    value: Any
    default: Any
    accepts: str


def _config(invocation: Invocation) -> Table[Setting]:
    options, config = invocation.options, invocation.session.config
    key, equals, typed = (options.key or "").partition("=")
    written = [typed] if equals else options.value
    if len(written) > 1:
        raise MagicError(f"one value at a time; quote what has spaces: %hermes config {key} '…'")
    if written:
        config.set(key, read(meaning(written[0], invocation.namespace), {}))
    keys = [key] if key else list(OPTIONS)
    return settings_table(invocation.session, keys)


def settings_table(session: Session, keys: list[str]) -> Table[Setting]:
    """Settings as they are in force.

    Raises:
        ConfigError: There is no such setting.
    """
    config = session.config
    values = {key: config.get(key) for key in keys}
    rows = [Setting(key, value, OPTIONS[key].default, OPTIONS[key].accepted) for key, value in values.items()]
    columns: tuple[Column[Setting], ...] = (
        Column("setting", lambda row: row.key, lambda row: markup.tag("b", code(row.key))),
        Column("value", lambda row: written(row.value), _value),
        Column("takes", lambda row: row.accepts, lambda row: dim(row.accepts)),
    )
    return Table(rows, columns, note="; ".join(config.problems))


def _value(row: Setting) -> str:
    content = code(written(row.value))
    return content if row.value == row.default else markup.join([content, " ", chip("changed", AMBER)])


def _backend_options(parser: Parser) -> None:
    parser.option("backend", nargs="?", completes="backend", help="local, docker://image, ssh://user@host, …")


def _approvals_options(parser: Parser) -> None:
    parser.option("action", nargs="?", choices=("list", "revoke"), default="list", help="list, or revoke RULE")
    parser.option("rules", nargs="*", completes="rule", help="the rules to revoke")


def _config_options(parser: Parser) -> None:
    parser.option("key", nargs="?", completes="setting", help="only this setting")
    parser.option("value", nargs="*", completes="setting_value", help="its new value; kept in config.yaml")


BACKEND = Command("backend", "Where commands run; with a name, switch to it.", _backend, _backend_options)
APPROVALS = Command("approvals", "What was approved for longer; revoke it.", _approvals, _approvals_options)
CONFIG = Command("config", "Read the settings, or change one.", _config, _config_options, raw_words=True)
