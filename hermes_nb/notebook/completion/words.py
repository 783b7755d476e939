"""Completing a shell command: the files of the place where it will run, or the words that were typed in it before."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_nb.calls.place import LOCAL
from hermes_nb.notebook import state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_nb.calls.place import Place

_MOST = 500
#: What ends a word in a shell, besides spaces.
_BREAKS = frozenset("=<>|;&()")
#: What a shell reads as something else than itself, and what the options of a magic do.
_SHELL_SPECIAL, _LINE_SPECIAL = re.compile(r"([^\w@%+:,./~-])"), re.compile(r"""([\s"'\\{])""")
#: What does not stay itself in quotes.
_QUOTE_SPECIAL = {"'": frozenset("'"), '"': frozenset('"$`\\')}
#: Parts that the shell or the notebook makes something of: what that will be is not known yet.
_COMPUTED = re.compile(r"[{$`*?\[]")


def complete_command(command: str, given: Mapping[str, str]) -> tuple[list[str], str]:
    """What can stand at the end of a command, and the part of it that is being typed.

    Args:
        command: The command so far.
        given: The options of ``%hermes run`` that stand before it, by what they set.
    """
    fragment = command[_word_start(command) :]
    folder = _runs_in(given)
    if folder is None:
        return _words_before(command, fragment), fragment
    return files(fragment, folder), fragment


def folders(fragment: str, inside: Path) -> list[str]:
    """The folders that a path may go on to, written as the option of a magic."""
    return files(fragment, inside, special=_LINE_SPECIAL, folders_only=True)


def files(
    fragment: str, folder: Path, *, special: re.Pattern[str] = _SHELL_SPECIAL, folders_only: bool = False
) -> list[str]:
    """The files that a path may go on to, written as the shell will read them; folders end with a slash."""
    quote = fragment[:1] if fragment[:1] in ("'", '"') else ""
    typed = fragment[1:] if quote else re.sub(r"\\(.)", r"\1", fragment)
    if _COMPUTED.search(typed):
        return []
    above, slash, name = typed.rpartition("/")
    found = _entries(folder / Path(f"{above}{slash}").expanduser(), name, folders_only=folders_only)
    paths = [f"{above}{slash}{entry}" for entry in found]
    if quote:
        plain = (path for path in paths if not _QUOTE_SPECIAL[quote] & set(path))
        return [f"{quote}{path}{'' if path.endswith('/') else quote}" for path in plain]
    return [special.sub(r"\\\1", path) for path in paths]


def local_folder(place: Place, cwd: str | None = None) -> Path | None:
    """The folder on this machine that a command would run in; None if that is elsewhere, or not known."""
    folder = place.inside(cwd).folder
    return folder.expanduser() if isinstance(folder, Path) else None


def _runs_in(given: Mapping[str, str]) -> Path | None:
    session, backend = state.current(), given.get("backend")
    if backend not in (None, LOCAL, session.backend_name):
        return None  # nothing is opened, and no place made, by typing its name
    return local_folder(session.place(backend), given.get("cwd"))


def _entries(folder: Path, start: str, *, folders_only: bool) -> list[str]:
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                is_hidden = entry.name.startswith(".") and not start
                if not entry.name.startswith(start) or is_hidden or not entry.name.isprintable():
                    continue
                is_folder = entry.is_dir()
                if is_folder or not folders_only:
                    names.append(f"{entry.name}/" if is_folder else entry.name)
                if len(names) == _MOST:
                    break
    except OSError:
        return []
    return sorted(names)


def _word_start(command: str) -> int:
    """Where the last word of a command begins; quotes and backslashes hold it together."""
    start, quote, position = 0, "", 0
    while position < len(command):
        char = command[position]
        if char == "\\" and quote != "'":
            position += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char.isspace() or char in _BREAKS:
            start = position + 1
        position += 1
    return start


def _words_before(command: str, fragment: str) -> list[str]:
    earlier = re.split(r"[\s=<>|;&()]+", command[: len(command) - len(fragment)])
    return list(dict.fromkeys(word for word in earlier if len(word) > 1 and word != fragment))
