"""What a shell command is made of once it has been understood: words, redirections, simple commands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from hermes_nb.approval import paths

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Stands in a word's text for a part that only the running shell would know. No honest command has this character in
#: it, so it goes through all that is done to a text, and the known end of "$dir/build" is still there to be judged.
UNKNOWN = "\ue000"

#: How many sources of a stream are remembered, in a long pipeline.
MOST_SOURCES = 64

SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh", "mksh", "rbash", "yash"])
#: python3.11 is python to a rule; so are pip3 and psql15, but not md5sum.
_VERSIONED = re.compile(r"^(python|pypy|perl|ruby|php|node|lua|pip|bash|ipython|nodejs|g?awk|psql)w?[\d.]+$")
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9-]*\Z")


@dataclass(slots=True)
class Word:
    """One word of a command, rebuilt as the shell would hand it to the program.

    Attributes:
        text: The value; parts that cannot be known are ``UNKNOWN``.
        glob: Whether it holds an unquoted wildcard, or stands for many values.
        quoted: Whether any of it was quoted.
        sources: The commands whose output is part of the value.
        variables: The names of the variables that are part of the value.
    """

    text: str
    glob: bool = False
    quoted: bool = False
    sources: tuple[Command, ...] = ()
    variables: tuple[str, ...] = ()

    @property
    def unknown(self) -> bool:
        """Whether some part of the value is decided only when the command runs."""
        return UNKNOWN in self.text


@dataclass(slots=True)
class Stream:
    """Text that flows from one place to another: its content where it is known, and who made it."""

    text: str | None
    sources: tuple[Command, ...] = ()


@dataclass(slots=True)
class Redirect:
    """A redirection to or from a file."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether the target is opened for writing."""
        return ">" in self.operator


@dataclass(slots=True)
class Code:
    """Program text that a command would execute, in some language."""

    language: str
    stream: Stream


@dataclass(slots=True)
class Inner:
    """What a wrapper runs: the words of a command, or shell text.

    Attributes:
        words: The command's own words, or the words that together are shell text.
        is_text: Whether the words, joined by blanks, are read by a shell.
        positional: What ``$0``, ``$1``, … are in that text.
        elsewhere: Whether it runs on another machine or in a container, with folders of its own.
    """

    words: list[Word]
    is_text: bool = False
    positional: tuple[Word, ...] = ()
    elsewhere: bool = False


@dataclass(eq=False)
class Command:
    """One simple command that would run, with what is known of its surroundings.

    Attributes:
        words: The program and its arguments.
        text: The part of the source that says so, to show to a person.
        environment: Variables set for this command alone.
        redirects: Where its input and output go.
        stdin: What it reads, where that comes from the command line itself.
        via: The wrappers that it was found behind, outermost first.
        cwd: The working directory, where it is known.
        wraps: Whether it only runs another command of the same list.
        code: Program text that it would execute.
        background: Whether the shell does not wait for it.
    """

    words: list[Word]
    text: str
    environment: dict[str, Word] = field(default_factory=dict)
    redirects: list[Redirect] = field(default_factory=list)
    stdin: Stream | None = None
    via: tuple[str, ...] = ()
    cwd: str | None = None
    wraps: bool = False
    code: Code | None = None
    background: bool = False

    @cached_property
    def name(self) -> str:
        """The program's base name, without a version number; empty for bare assignments and redirections."""
        if not self.words:
            return ""
        base = self.words[0].text.rstrip("/").rsplit("/", 1)[-1]
        versioned = _VERSIONED.match(base)
        return versioned[1] if versioned else base

    @property
    def arguments(self) -> list[Word]:
        """All words after the program."""
        return self.words[1:]

    @cached_property
    def texts(self) -> list[str]:
        """The arguments as plain text."""
        return [word.text for word in self.words[1:]]

    @cached_property
    def _parsed(self) -> tuple[frozenset[str], list[Word]]:
        options: set[str] = set()
        operands: list[Word] = []
        rest = iter(self.words[1:])
        for word in rest:
            text = word.text
            if text == "--":
                operands.extend(rest)
            elif text.startswith("--"):
                options.add(text.split("=", 1)[0])
            elif len(text) > 1 and text[0] == "-":
                # -rf is -r and -f to rm, and one option to find and java: which, only the program knows, so it's both.
                options.add(text)
                options.update("-" + letter for letter in text[1:40])
            else:
                operands.append(word)
        return frozenset(options), operands

    @property
    def options(self) -> frozenset[str]:
        """Every option given: long ones by name, short ones both as written and letter by letter."""
        return self._parsed[0]

    @property
    def operands(self) -> list[Word]:
        """The arguments that are not options (an option's separate value counts as one)."""
        return self._parsed[1]

    @cached_property
    def verbs(self) -> list[str]:
        """The operands' texts: for ``git push origin`` that is ``["push", "origin"]``."""
        return [word.text for word in self.operands]

    def has(self, *options: str) -> bool:
        """Whether any of these options is given; an unambiguous-looking abbreviation of a long one counts."""
        given = self.options
        if not given.isdisjoint(options):
            return True
        return any(
            len(mine) > 3 and wanted.startswith(mine)
            for mine in given
            if mine.startswith("--")
            for wanted in options
            if wanted.startswith("--")
        )

    def values(self, *options: str) -> Iterator[Word]:
        """The values given to these options, in whichever of the usual spellings.

        ``-o file``, ``-ofile``, ``-o=file``, ``--output file`` and ``--output=file``.
        """
        words = self.words
        for index, word in enumerate(words):
            for option in options:
                if word.text == option and index + 1 < len(words):
                    yield words[index + 1]
                elif word.text.startswith(option + "="):
                    yield Word(word.text[len(option) + 1 :], word.glob, word.quoted, word.sources, word.variables)
                elif option[1] != "-" and len(option) == 2 and word.text.startswith(option) and len(word.text) > 2:
                    yield Word(word.text[2:], word.glob, word.quoted, word.sources, word.variables)

    @cached_property
    def asks_for_help(self) -> bool:
        """Whether the program would only print its help or version: ``git push --help``."""
        # Only where all before it looks like subcommands: sh -c '…' --help runs the text.
        texts = self.texts
        return (
            bool(texts) and texts[-1] in ("--help", "--version") and all(_SUBCOMMAND.match(text) for text in texts[:-1])
        )

    @property
    def is_oddly_named(self) -> bool:
        """Whether the program's name is put together while it runs, or is a place in the system."""
        if not self.words:
            return False
        program = self.words[0]
        return program.glob or bool(program.sources) or UNKNOWN in program.text or program.text.startswith("/etc/")

    def path(self, word: Word) -> str:
        """A word as a normalised path, seen from this command's working directory."""
        return paths.normalise(word.text, self.cwd)
