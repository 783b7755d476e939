"""Taking over a hermes-agent config: what has a counterpart here is carried over, the rest is named with the reason.

Nothing is carried over that would approve more than the user approved there. An approval names a kind of danger, and
the kinds are cut differently: a rule of ours is taken over only when everything that it asks about was approved.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_nb.errors import ConfigError
from hermes_nb.search.settings import ToolSearchConfig

if TYPE_CHECKING:
    from hermes_nb.config import Config


class Counterpart(NamedTuple):
    """Rules of ours, and the approvals that they need: one of each group."""

    rules: tuple[str, ...]
    needs: tuple[frozenset[str], ...]


def _counterpart(rules: str, *groups: Iterable[str]) -> Counterpart:
    return Counterpart(tuple(rules.split()), tuple(frozenset(group) for group in groups))


#: hermes-agent stores an approval under the words that it showed; several of them may mean the same act.
COUNTERPARTS: tuple[Counterpart, ...] = (
    # rm -rf is forced as well as recursive; hermes-agent asks only about the latter
    _counterpart("delete-recursive delete-forced", ["recursive delete", "recursive delete (long flag)"]),
    _counterpart("delete-bulk", ["xargs with rm"], ["find -exec/-execdir rm"]),
    _counterpart("find-delete", ["find -delete"]),
    _counterpart("chmod-world-writable", ["world/other-writable permissions"]),
    _counterpart("chmod-world-writable chmod-recursive", ["recursive world/other-writable (long flag)"]),
    _counterpart("sql-lose-data", ["SQL DROP"], ["SQL DELETE without WHERE"], ["SQL TRUNCATE"]),
    _counterpart("service-change", ["stop/restart system service"]),
    _counterpart("format-image", ["format filesystem"]),
    _counterpart(
        "kill-bulk",
        ["force kill processes", "force kill processes (killall -KILL)", "force kill processes (killall -s KILL)"],
        ["kill processes by regex (killall -r)"],
    ),
    _counterpart(
        "git-force-push",
        ["git force push (rewrites remote history)", "git force push short flag (rewrites remote history)"],
    ),
    _counterpart(
        "git-lose-work",
        ["git reset --hard (destroys uncommitted changes)"],
        ["git clean with force (deletes untracked files)"],
    ),
    _counterpart(
        "sudo-password",
        ["sudo with privilege flag (stdin/askpass/shell/list)"],
        ["sudo with combined-flag privilege escalation"],
    ),
    _counterpart(
        "write-system-file",
        ["overwrite system config", "overwrite system file via redirection"],
        ["overwrite system file via tee"],
        ["copy/move file into system config path"],
        ["in-place edit of system config", "in-place edit of system config (long flag)"],
    ),
    _counterpart(
        "write-startup-file write-credential-file",
        ["overwrite system file via redirection"],
        ["copy/move file into sensitive credential/SSH/shell-rc path"],
        [
            "in-place edit of sensitive credential/SSH/shell-rc path",
            "in-place edit of sensitive credential/SSH/shell-rc path (long flag)",
            "in-place edit of sensitive credential/SSH/shell-rc path (perl/ruby)",
        ],
    ),
)

#: What no approval allows here.
FLOOR = frozenset({"fork bomb", "kill all processes", "write to block device"})

#: Approvals whose rule here asks about much more; keyed by how they start.
WIDER: Mapping[str, str] = {
    "pipe remote content to shell": "unknown-code",
    "execute remote ": "unknown-code",
    "pipe decoded content to shell": "unknown-code",
    "pipe xxd-decoded content to shell": "unknown-code",
    "pipe tr-transformed output to shell": "unknown-code",
    "pipe openssl-decoded content to shell": "unknown-code",
    "recursive chown to root": "chown-recursive",
    "git branch force delete": "git-rewrite-history",
    "kill process via ": "kill-bulk",
}

#: What no rule here asks about as such; keyed by how the approval starts.
UNASKED = (
    "delete in root path",
    "disk copy",
    "overwrite project env/config",
    "docker compose restart/stop/kill/down",
    "docker restart/stop/kill",
    "shell execution via heredoc",
    "script execution via ",
    "chmod +x followed by immediate execution",
    "Windows ",
    "PowerShell ",
)

_OF_THE_AGENT_ITSELF = re.compile(r"\b(hermes|gateway)\b", re.IGNORECASE)
_SHELL_OPERATORS = re.compile(r"[\n;&|<>`]|\$\(")


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do.

    Attributes:
        source: The hermes-agent config.
        target: Ours.
        settings: The values to set, by key.
        changes: What that changes, in words; empty when everything is already in force.
        left_out: What is not carried over, each with its reason.
    """

    source: Path
    target: Config
    settings: Mapping[str, Any]
    changes: tuple[str, ...]
    left_out: tuple[str, ...]

    def apply(self) -> None:
        """Write the settings; the comments of the file stay.

        Raises:
            ConfigError: The file can't be changed safely.
        """
        for key, value in self.settings.items():
            self.target.set(key, value)

    def __str__(self) -> str:
        lines = [f"{self.source} → {self.target.path}"]
        lines += [f"  {change}" for change in self.changes] or ["  nothing to change"]
        if self.left_out:
            lines += ["left out:", *(f"  {entry}" for entry in self.left_out)]
        return "\n".join(lines)


def default_source() -> Path:
    """Where hermes-agent keeps its config: below HERMES_HOME, or ``~/.hermes``."""
    given = os.environ.get("HERMES_HOME")
    return (Path(given).expanduser() if given else Path.home() / ".hermes") / "config.yaml"


def plan_import(source: Path, target: Config) -> Plan:
    """Work out what of a hermes-agent config can be carried over; changes nothing.

    Raises:
        ConfigError: The file isn't there, or isn't a YAML mapping.
    """
    theirs = _read(source)
    settings: dict[str, Any] = {}
    changes: list[str] = []
    left_out: list[str] = []
    _tool_search(theirs, target, settings, changes, left_out)
    rules, commands = _approvals(theirs, left_out)
    _extend(target, "command_allowlist", rules, settings, changes)
    _extend(target, "approval.allow", commands, settings, changes)
    left_out += _servers(theirs)
    return Plan(source, target, settings, tuple(changes), tuple(left_out))


def _read(source: Path) -> Mapping[str, Any]:
    from ruamel.yaml import YAML

    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{source} can't be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        found = YAML(typ="safe", pure=True).load(text)
    except Exception as error:  # whatever is wrong with the file, the user hears of it in one line
        raise ConfigError(f"{source} is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(found, Mapping):
        raise ConfigError(f"{source} holds no mapping of settings")
    return found


def _tool_search(
    theirs: Mapping[str, Any], target: Config, settings: dict[str, Any], changes: list[str], left_out: list[str]
) -> None:
    section = theirs.get("tools")
    raw = section.get("tool_search") if isinstance(section, Mapping) else None
    if raw is None:
        return
    read = ToolSearchConfig.from_raw(raw)
    left_out += [f"tools.{warning}" for warning in read.warnings]
    written = raw if isinstance(raw, Mapping) else {"enabled": read.enabled}
    in_force = {key: getattr(read, key) for key in _SEARCH_KEYS if key in written}
    wanted = {key: written[key] if written[key] == value else value for key, value in in_force.items()}
    mine = target.get("tools.tool_search")
    mine = {"enabled": ToolSearchConfig.from_raw(mine).enabled} if isinstance(mine, bool) else dict(mine or {})
    changed = {key: value for key, value in wanted.items() if mine.get(key) != value}
    changes += [f"tools.tool_search.{key}: {mine.get(key, 'not set')} → {value}" for key, value in changed.items()]
    if changed:
        settings["tools.tool_search"] = {**mine, **changed}


_SEARCH_KEYS = ("enabled", "threshold_pct", "search_default_limit", "max_search_limit")


def _approvals(theirs: Mapping[str, Any], left_out: list[str]) -> tuple[list[str], list[str]]:
    """The rules of ours that the approvals stand for, and the rules for single commands."""
    listed = theirs.get("command_allowlist") or []
    if not isinstance(listed, list):
        left_out.append("command_allowlist: not a list")
        return [], []
    entries = [str(entry).strip() for entry in listed]
    granted = frozenset(entries)
    carried = [part for part in COUNTERPARTS if all(group & granted for group in part.needs)]
    done = frozenset[str]().union(*(group for part in carried for group in part.needs))
    rules = list(dict.fromkeys(rule for part in carried for rule in part.rules))
    commands = []
    for entry in dict.fromkeys(entry for entry in entries if entry and entry not in done):
        reason = _why_not(entry, granted)
        if reason is None:
            commands.append(f"terminal(command={entry})")
        else:
            left_out.append(f"command_allowlist, {entry!r}: {reason}")
    return rules, commands


def _why_not(entry: str, granted: frozenset[str]) -> str | None:
    """Why an approval is not carried over; None for the text of a command, which is."""
    part = next((part for part in COUNTERPARTS if any(entry in group for group in part.needs)), None)
    if part is not None:
        missing = " and ".join(repr(min(group, key=len)) for group in part.needs if not group & granted)
        return f"here it belongs to {' and '.join(part.rules)}, which would also approve {missing}"
    if entry in FLOOR:
        return "never allowed here, whoever approves it"
    wider = next((rule for start, rule in WIDER.items() if entry.startswith(start)), None)
    if wider is not None:
        return f"here it needs {wider}, which covers much more; approve it when you are asked"
    if entry.startswith(UNASKED):
        return "no rule here asks about it as such, so there is nothing to approve"
    if entry.startswith(("plugin_rule:", "tirith:")):
        return "an approval of one of hermes-agent's plugins"
    if "\\" in entry:
        return "a regular expression, the form of older versions; approve it when you are asked"
    if _OF_THE_AGENT_ITSELF.search(entry):
        return "about hermes-agent's own processes and files"
    if _SHELL_OPERATORS.search(entry):
        return "more than one command; hermes-agent doesn't honour it either"
    if any(char in entry for char in "*?["):
        return f"a pattern; decide yourself whether terminal(command={entry}) belongs into approval.allow"
    return None


def _extend(target: Config, key: str, found: list[str], settings: dict[str, Any], changes: list[str]) -> None:
    mine = list(target.get(key))
    added = [entry for entry in found if entry not in mine]
    changes += [f"{key}: + {entry}" for entry in added]
    if added:
        settings[key] = [*mine, *added]


def _servers(theirs: Mapping[str, Any]) -> Iterator[str]:
    # Only their names: what is below them may hold credentials.
    for name in theirs.get("mcp_servers") or {}:
        yield f"mcp_servers, {name}: this version attaches no MCP servers"
