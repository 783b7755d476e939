"""What a sub-command is: its options, what it takes after them, and the function that runs it."""

from __future__ import annotations

import argparse
import functools
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from hermes_nb.errors import MagicError, did_you_mean, nearest
from hermes_nb.notebook.line.words import meaning, split

if TYPE_CHECKING:
    from hermes_nb.session import Session

#: What Tab offers for an option or a positional argument.
Completes = Literal["tool", "toolset", "backend", "job", "setting", "setting_value", "rule", "session", "folder", ""]


class HelpWanted(Exception):
    """``--help`` was among the options."""


class Parser(argparse.ArgumentParser):
    """argparse that raises instead of ending the process, and prints the same wherever it runs."""

    def __init__(self, command: str, summary: str, examples: Iterable[str] = ()) -> None:
        shown = "\n\n".join(textwrap.indent(example, "  ") for example in examples)
        super().__init__(
            prog=f"%hermes {command}",
            description=f"{summary}\n\nfor example:\n{shown}" if shown else summary,
            add_help=False,
            allow_abbrev=False,
            formatter_class=functools.partial(argparse.RawDescriptionHelpFormatter, width=100, max_help_position=34),
        )
        self.add_argument("-h", "--help", action="store_true", help="show this")
        self.option("-o", "--out", also=["--output", "--save"], metavar="NAME", help="keep the result in this variable")

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print before it ends the process.

        Raises:
            MagicError: Always.
        """
        raise MagicError(f"{message}{'' if message.endswith('?') else '.'} Usage: {self.usage_line()}")

    def usage_line(self) -> str:
        """How the command is typed."""
        return " ".join(self.format_usage().split()).removeprefix("usage: ")

    def option(self, *names: str, completes: Completes = "", also: Iterable[str] = (), **settings: Any) -> None:
        """Add an argument.

        Args:
            names: As for ``add_argument``.
            completes: What Tab offers for it.
            also: What others call it: typed, it is no option, but the error says which one is meant.
            settings: As for ``add_argument``.
        """
        action = self.add_argument(*names, **settings)
        action.completes, action.also = completes, tuple(also)  # type: ignore[attr-defined]

    @property
    def options(self) -> dict[str, argparse.Action]:
        """The options by each of their names."""
        return {name: action for action in self._actions for name in action.option_strings}

    @property
    def positionals(self) -> list[argparse.Action]:
        """What is no option, in its order."""
        return [action for action in self._actions if not action.option_strings]

    def check(self, typed: str) -> None:
        """Refuse a word that looks like an option and is none; the error names the one that may be meant."""
        name = typed.partition("=")[0]
        known = self.options
        is_glued = not typed.startswith("--") and typed[:2] in known and f"-{name}" not in known  # -t5
        if name in known or is_glued or name[1:2].isdigit():
            return
        hint = ", ".join(self._meant(f"--{name.lstrip('-')}"))
        self.error(f"there is no option {name}{f'. Did you mean {hint}?' if hint else ''}")

    def _meant(self, typed: str) -> list[str]:
        """The options that may be meant by what is none: first by what else they are called, then by the letters."""
        long = {name: action for name, action in self.options.items() if name.startswith("--")}
        also = {word: name for name, action in long.items() for word in getattr(action, "also", ())}
        if typed in also:
            return [also[typed]]
        return nearest(typed, long) or list(dict.fromkeys(also[word] for word in nearest(typed, also)))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            hint = did_you_mean(str(value), choices) or f"; it is one of {', '.join(choices)}"
            raise argparse.ArgumentError(action, f"there is no {value!r}{hint}")


@dataclass(frozen=True)
class Command:
    """A sub-command.

    Attributes:
        name: What is typed after ``%hermes``.
        summary: What it does, in one line.
        run: Does it; returns what the cell shows.
        configure: Adds its options to a parser.
        order: Where help lists it: by this number.
        example: A line that somebody might type, or a whole cell.
        more: Further examples.
        rest: What follows the options is taken as it was typed, and named so in the usage; empty: words for argparse.
        raw_words: Words that are no options are left as they were typed, for the command to read.
        takes_cell: Whether it can head a cell.
    """

    name: str
    summary: str
    run: Callable[[Invocation], Any]
    configure: Callable[[Parser], None] = lambda _: None
    order: int = 100
    example: str = ""
    more: tuple[str, ...] = ()
    rest: str = ""
    raw_words: bool = False
    takes_cell: bool = False

    @property
    def examples(self) -> tuple[str, ...]:
        """All of them."""
        return (self.example, *self.more) if self.example else self.more

    @functools.cached_property
    def parser(self) -> Parser:
        """Its options."""
        parser = Parser(self.name, self.summary, self.examples)
        self.configure(parser)
        usage = f"{parser.format_usage().strip().removeprefix('usage: ')} {self.rest}".rstrip()
        parser.usage = usage.replace("%", "%%")  # argparse formats it once more
        return parser


@dataclass(frozen=True)
class Invocation:
    """One use of a sub-command.

    Attributes:
        session: The session it speaks to.
        options: What argparse read.
        rest: What was typed after the options, for commands that take it as it is.
        cell: The cell below, or None.
        namespace: The notebook's variables.
        execution: The number of the cell that runs, so that what it showed once is not shown twice.
    """

    session: Session
    options: argparse.Namespace
    rest: str = ""
    cell: str | None = None
    namespace: Mapping[str, Any] = field(default_factory=dict)
    execution: int = 0


def read_options(command: Command, line: str, namespace: Mapping[str, Any]) -> tuple[argparse.Namespace, str]:
    """A command's options, and what was typed after them if it takes that as it is.

    Raises:
        MagicError: The options can't be understood.
        HelpWanted: ``--help`` is among them.
    """
    words = split(line)
    takes_value = _takes_value(command.parser)
    given: list[str] = []
    position = 0
    while position < len(words):
        raw = words[position].raw
        is_option = raw.startswith("-") and raw != "-"
        if command.rest and (not is_option or raw == "--"):
            position += raw == "--"
            break
        if raw in ("-h", "--help"):
            raise HelpWanted
        if is_option and raw != "--":
            command.parser.check(raw)
        count = 2 if takes_value.get(raw) else 1
        keep = command.raw_words and not is_option
        taken = words[position : position + count]
        given += [word.raw if keep else meaning(word.raw, namespace).text for word in taken]
        position += count
    rest = line[words[position].start :].rstrip() if position < len(words) else ""
    return command.parser.parse_intermixed_args(given), rest


def _takes_value(parser: Parser) -> dict[str, bool]:
    return {name: action.nargs is None for name, action in parser.options.items()}
