"""Commands as they would run: recorded one by one, with everything that they have run by others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_nb.approval import paths
from hermes_nb.approval.shell.commands import UNKNOWN, Code, Command, Inner, Stream, Word
from hermes_nb.approval.shell.flow import output
from hermes_nb.approval.shell.interpreters import code_of
from hermes_nb.approval.shell.variables import Variables
from hermes_nb.approval.shell.wrappers import inner_commands
from hermes_nb.approval.shell.written import WrittenFiles
from hermes_nb.common.text import cut

if TYPE_CHECKING:
    from tree_sitter import Node

#: The most that a finding quotes of a command.
LONGEST_TEXT = 300
#: How deep statements, substitutions and ``bash -c`` may nest before the reading gives up.
MOST_DEPTH = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that kept the reading from being complete, or that lies in the script's structure."""

    kind: str
    text: str


@dataclass(slots=True)
class Script:
    """What was read: every simple command in order, and what stood in the way."""

    commands: list[Command] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Function:
    """A function's body, and the arguments of all calls of it."""

    body: Node
    source: bytes
    arguments: list[list[str]] = field(default_factory=list)


class Runner:
    """What is known while a script is read from top to bottom; records each command that would run.

    The other half, how text becomes commands, is in the reader, which derives from this: a command that runs shell
    text, such as ``sh -c``, leads back to ``read``.
    """

    def __init__(self, text: str, cwd: str | None) -> None:
        self.script = Script()
        self.cwd = paths.normalise(cwd) if cwd else None
        self._whole = text
        self._shown = ""  # while text is read that stands nowhere in the script: the command that runs it
        self._depth = 0
        #: How much text may still be read, in all; each eval and here-document reads some of the script again.
        self._left = 8 * len(text) + 50_000
        self._variables = Variables()
        self._functions: dict[str, Function] = {}
        self._files = WrittenFiles()

    def read(self, text: str, stdin: Stream | None = None) -> None:
        """Read shell text that is part of the script."""
        raise NotImplementedError

    def _problem(self, kind: str, text: str) -> None:
        shown = text if text in self._whole else self._shown or self._whole
        self.script.problems.append(Problem(kind, cut(shown, LONGEST_TEXT)))

    def _emit(self, command: Command) -> None:
        """Record a command, and everything that it would have run by others."""
        start = len(self.script.commands)
        self.script.commands.append(command)
        self._depth += 1
        if self._depth > MOST_DEPTH:
            self._problem("too-deep", command.text)
        elif command.words:
            self._understand(command)
        self._depth -= 1
        # Last, since what sudo sh -c '…' > file writes is what the commands inside of it print.
        if command.redirects or command.words:
            self._files.note(command, self.script.commands[start:])

    def _understand(self, command: Command) -> None:
        """Do to what is known what the command does to its shell; record whom it runs and what text it executes."""
        name = command.name
        # Builtins, and so the only programs that change the shell they run in.
        if name in ("cd", "pushd", "chdir"):
            # "cd" alone goes home; where "cd -" goes isn't followed.
            target = command.operands[0] if command.operands else Word("~")
            self.cwd = None if target.unknown or target.text == "-" else command.path(target)
        elif name == "read" or name in ("mapfile", "readarray"):
            # Also where the input is known: "while read x" gives it one line after another.
            for word in command.operands:
                self._variables.assign_unknown(word.text)
        elif name == "printf" and command.texts[:1] == ["-v"] and len(command.texts) > 2:
            printed = output([Command([command.words[0], *command.words[3:]], command.text)])
            self._variables.assign(command.texts[1], Word(UNKNOWN if printed.text is None else printed.text))
        elif name == "set" and "--" in command.texts:
            self._variables.bind([command.texts[command.texts.index("--") + 1 :]])
        # Its body is read at the end, with these arguments; a function named sudo wraps nothing.
        if name in self._functions:
            self._functions[name].arguments.append(command.texts)
            return
        command.code = code = code_of(command, self._files)
        for inner in inner_commands(command):
            command.wraps = True
            if inner.is_text:
                self._read_inner_text(command, inner)
            elif inner.words:
                # What it runs gets what it was given: in "A=1 sudo tee x < y" all of that is tee's.
                self._emit(
                    Command(
                        inner.words,
                        command.text,
                        command.environment,
                        command.redirects,
                        command.stdin,
                        (*command.via, name),
                        None if inner.elsewhere else command.cwd,
                        background=command.background,
                    )
                )
        if code and code.language == "shell" and code.stream.text is not None:
            command.wraps = True
            self._read_shown(command, code.stream.text, None)
        # ssh host, with no command: the shell at the other end reads what comes in.
        elif name == "ssh" and not command.wraps and command.stdin and command.stdin.text is not None:
            self._read_shown(command, command.stdin.text, None)

    def _read_inner_text(self, command: Command, inner: Inner) -> None:
        # eval "$(curl …)": nothing to read, but a rule can say whence it comes.
        text = " ".join(word.text for word in inner.words)
        sources = tuple(source for word in inner.words for source in word.sources)
        if text.strip() == UNKNOWN:
            command.code = Code("shell", Stream(None, sources))
            return
        if sources:
            command.code = Code("shell", Stream(text, sources))
        if inner.positional:
            # sh -c 'rm "$1"' zero one: the word after the text is $0.
            self._variables.bind([[word.text for word in inner.positional[1:]]])
        # A shell of its own leaves this one where it is; on another machine the folder means nothing.
        cwd = self.cwd
        self.cwd = None if inner.elsewhere else cwd
        self._read_shown(command, text, command.stdin)
        self.cwd = cwd

    def _read_shown(self, command: Command, text: str, stdin: Stream | None) -> None:
        start, outer = len(self.script.commands), self._shown
        self._shown = outer or command.text
        self.read(text, stdin)
        self._shown = outer
        for inner in self.script.commands[start:]:
            inner.via = (*command.via, command.name, *inner.via)
