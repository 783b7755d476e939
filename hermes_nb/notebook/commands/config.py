"""``config``: the settings in force, and changing one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_nb.common.jsonable import written
from hermes_nb.config import OPTIONS
from hermes_nb.errors import MagicError
from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.markup import AMBER, chip, code, dim
from hermes_nb.notebook.faces.table import Column, Table
from hermes_nb.notebook.line.arguments import read
from hermes_nb.notebook.line.words import meaning

if TYPE_CHECKING:
    from hermes_nb.session import Session


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


def _config_options(parser: Parser) -> None:
    parser.option("key", nargs="?", completes="setting", help="only this setting")
    parser.option("value", nargs="*", completes="setting_value", help="its new value; kept in config.yaml")


CONFIG = Command(
    "config", "Read the settings, or change one.", _config, _config_options,
    order=43, example="%hermes config approval.mode",
    more=("%hermes config approval.mode smart", "%hermes config approval.allow [\"terminal(git push*)\"]"),
    raw_words=True,
)  # fmt: skip
