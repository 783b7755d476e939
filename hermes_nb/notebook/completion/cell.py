"""Completing the cell below ``%%hermes call NAME``: the names of arguments and listed values, in YAML and in JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from hermes_nb.common.jsonable import written
from hermes_nb.notebook.commands import COMMANDS
from hermes_nb.notebook.completion import schema
from hermes_nb.notebook.completion.line import options_before
from hermes_nb.notebook.completion.words import complete_command
from hermes_nb.notebook.line.words import split

_YAML_LINE = re.compile(r"(?P<indent>[ \t]*)(?P<dashes>(?:-[ \t]+)*)(?:(?P<key>[\w.-]+):(?:[ \t]+|$))?(?P<rest>.*)")
_PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off)$)[A-Za-z][\w./-]*", re.IGNORECASE)


@dataclass
class Spot:
    """Where the cursor is in a document.

    Attributes:
        path: The names that lead to the object, or to the value, at the cursor.
        given: The names that this object has already.
        fragment: What was typed of the name or value.
        of_name: Whether a name can stand here.
        of_value: Whether a value can stand here.
        in_array: Whether it would be an item.
        quoted: Whether it stands in a quote that was opened.
    """

    path: list[str] = field(default_factory=list)
    given: set[str] = field(default_factory=set)
    fragment: str = ""
    of_name: bool = False
    of_value: bool = False
    in_array: bool = False
    quoted: bool = False


def complete_cell(head: str, cell: str, after: str) -> tuple[list[str], str]:
    """What can stand at the end of a cell, and the part of it that is being typed.

    Args:
        head: What was typed after ``%%hermes``.
        cell: The lines below, up to the cursor.
        after: The rest of the cursor's line.
    """
    name, *words = [word.raw for word in split(head)] or [""]
    if name == "run":
        return complete_command(cell, options_before(COMMANDS["run"], words)[0])
    _, positional = options_before(COMMANDS["call"], words) if name == "call" else ({}, [])
    root = schema.parameters_of(positional[0]) if positional else None
    if root is None:
        return [], ""
    is_json = cell.lstrip().startswith("{")
    spot = in_json(cell) if is_json else in_yaml(cell)
    if not spot.path:
        spot.given |= {word.partition("=")[0] for word in positional[1:]}
    here = schema.inside(root, root, spot.path)
    offered: list[str] = []
    if spot.of_name:
        offered += [_name(key, after, spot, is_json=is_json) for key in schema.names(here, root, spot.given)]
    if spot.of_value:
        here = schema.items(here, root) if spot.in_array else here
        offered += [_value(value, after, spot, is_json=is_json) for value in schema.values(here, root)]
    return list(dict.fromkeys(offered)), spot.fragment


def _name(key: str, after: str, spot: Spot, *, is_json: bool) -> str:
    if not is_json:
        return key if after.startswith(":") else f"{key}: "
    inner = written(key)[1:-1]
    if spot.quoted:
        return inner if after.startswith('"') else f'{inner}": '
    return f'"{inner}": '


def _value(value: Any, after: str, spot: Spot, *, is_json: bool) -> str:
    text = written(value)
    if spot.quoted:
        return text[1:-1] if after.startswith('"') else text[1:]
    return value if not is_json and isinstance(value, str) and _PLAIN.fullmatch(value) else text


def in_yaml(text: str) -> Spot:
    """Where the end of a text is in the YAML before it; told by the indentation, as YAML does."""
    *above, last = text.split("\n")
    parents: list[tuple[int, str]] = []
    given: dict[tuple[str, ...], set[str]] = {}
    for line in above:
        found = _YAML_LINE.fullmatch(line)
        if found is None or found["key"] is None:
            continue
        parents = _outside(parents, found)
        inside = tuple(key for _, key in parents)
        if found["dashes"]:
            given.pop(inside, None)  # the next item of a list
        given.setdefault(inside, set()).add(found["key"])
        parents.append((_column(found), found["key"]))
    found = _YAML_LINE.fullmatch(last)
    if found is None:
        return Spot()
    path = [key for _, key in _outside(parents, found)]
    if found["key"] is not None:
        quoted = found["rest"].startswith('"')
        return Spot([*path, found["key"]], fragment=found["rest"][quoted:], of_value=True, quoted=quoted)
    is_item = bool(found["dashes"])
    taken = set() if is_item else given.get(tuple(path), set())
    return Spot(path, taken, found["rest"], of_name=True, of_value=is_item, in_array=is_item)


def _column(found: re.Match[str]) -> int:
    return len(found["indent"]) + len(found["dashes"])


def _outside(parents: list[tuple[int, str]], found: re.Match[str]) -> list[tuple[int, str]]:
    return [(column, key) for column, key in parents if column < _column(found)]


@dataclass
class _Open:
    """An object or array that is not closed yet."""

    is_object: bool
    given: set[str] = field(default_factory=set)
    key: str | None = None


def in_json(text: str) -> Spot:
    """Where the end of a text is in the JSON before it."""
    opened: list[_Open] = []
    start, position = 0, 0
    quoted = False
    while position < len(text):
        char = text[position]
        if quoted:
            if char == "\\":
                position += 1
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted, start = True, position + 1
        elif char in "{[":
            opened.append(_Open(char == "{"))
            start = position + 1
        elif char in "}]" and opened:
            opened.pop()
        elif char == ":" and opened and opened[-1].is_object and opened[-1].key is None:
            opened[-1].key = text[start:position].strip().strip('"')
            start = position + 1
        elif char == "," and opened:
            opened[-1].given |= {opened[-1].key or ""}
            opened[-1].key = None
            start = position + 1
        elif char.isspace() and not text[start:position].strip():
            start = position + 1
        position += 1
    if not opened:
        return Spot()
    here = opened[-1]
    of_name = here.is_object and here.key is None
    path = [each.key for each in opened if each.key is not None]
    return Spot(path, here.given, text[start:], of_name, not of_name, not here.is_object, quoted)
