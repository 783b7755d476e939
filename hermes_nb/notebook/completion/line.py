"""Completing a ``%hermes`` line: sub-commands, their options and values, tools, arguments, commands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_nb.common.jsonable import written
from hermes_nb.notebook import state
from hermes_nb.notebook.commands import COMMANDS
from hermes_nb.notebook.completion import schema
from hermes_nb.notebook.completion.sources import SOURCES
from hermes_nb.notebook.completion.words import complete_command
from hermes_nb.notebook.line.words import Word, split

if TYPE_CHECKING:
    from hermes_nb.notebook.commands.base import Command


def complete(typed: str) -> tuple[list[str], str]:
    """What can stand at the end of what was typed after ``%hermes``, and the part of it that is being typed."""
    words = split(typed)
    last = words.pop() if words and not typed[-1:].isspace() else Word("", len(typed), len(typed))
    if not words:
        return [*COMMANDS, "help"], last.raw
    if words[0].raw == "help":
        return list(COMMANDS), last.raw
    command = COMMANDS.get(words[0].raw)
    if command is None:
        return [], last.raw
    return _in_command(command, words[1:], last, typed)


def options_before(command: Command, words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The options among the words of a line, by what they set, and the words that are none."""
    known = command.parser.options
    given: dict[str, str] = {}
    rest: list[str] = []
    waiting: argparse.Action | None = None
    for word in words:
        name, _, value = word.partition("=")
        if waiting is not None:
            given[waiting.dest], waiting = word, None
        elif name not in known or (command.rest and rest):
            rest.append(word)
        elif known[name].nargs is None and name == word:
            waiting = known[name]
        else:
            given[known[name].dest] = value
    return given, rest


def _in_command(command: Command, words: list[Word], last: Word, typed: str) -> tuple[list[str], str]:
    known, fragment, before = command.parser.options, last.raw, [word.raw for word in words]
    given, positional = options_before(command, before)
    setting = known.get(before[-1]) if before else None
    if setting is not None and setting.nargs is None and not (command.rest and positional):
        return _offered(setting, [], fragment), fragment
    name, equals, value = fragment.partition("=")
    if equals and name in known and not (command.rest and positional):
        return _offered(known[name], [], value), value
    if fragment.startswith("-") and not (command.rest and positional):
        return sorted(option for option in known if option not in before), fragment
    if command.name == "run":
        return complete_command(typed[_rest_start(words, last, positional) :], given)
    if command.name == "call" and positional:
        return _argument(positional, fragment)
    slots = command.parser.positionals
    if not slots:
        return [], fragment
    slot = slots[min(len(positional), len(slots) - 1)]
    return (_offered(slot, positional, fragment) if len(positional) < len(slots) or slot.nargs == "*" else []), fragment


def _rest_start(words: list[Word], last: Word, positional: list[str]) -> int:
    """Where the command begins that follows the options."""
    return words[-len(positional)].start if positional else last.start


def _offered(action: argparse.Action, before: list[str], fragment: str) -> list[str]:
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    source = SOURCES.get(getattr(action, "completes", ""))
    return list(source(state.current(), before, fragment)) if source is not None else []


def _argument(words: list[str], fragment: str) -> tuple[list[str], str]:
    """Argument names after a tool's name, and values after ``name=``."""
    root = schema.parameters_of(words[0])
    if root is None:
        return [], fragment
    name, equals, value = fragment.partition("=")
    if equals:
        here = schema.inside(root, root, [name])
        listed = [*schema.values(here, root), *schema.values(schema.items(here, root), root)]
        return [choice if isinstance(choice, str) else written(choice) for choice in listed], value
    given = {word.partition("=")[0] for word in words[1:]}
    return [f"{key}=" for key in schema.names(root, root, given)], fragment
