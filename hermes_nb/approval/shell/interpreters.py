"""Programs that execute text: which text, in which language, and where it comes from.

It may stand on the command line (``perl -e …``), in a file that the script has written (``… > s; python s``), or come
in through a pipe. Text in the language of the shell is read like any other by the reader; for the others there are
rules.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval.shell.commands import SHELLS, Code, Command, Stream, Word

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Interpreter -> (language, options that hold program text)
_LANGUAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("python", "pypy", "ipython", "python2", "python3", "micropython"), ("python", ("-c",))),
    "perl": ("perl", ("-e", "-E")),
    "ruby": ("ruby", ("-e",)),
    **dict.fromkeys(("node", "nodejs"), ("javascript", ("-e", "--eval", "-p", "--print", "-pe"))),
    **dict.fromkeys(("bun", "deno", "tsx", "ts-node"), ("javascript", ("-e", "--eval", "-p", "--print"))),
    "php": ("php", ("-r",)),
    **dict.fromkeys(("lua", "luajit", "texlua"), ("lua", ("-e",))),
    **dict.fromkeys(("Rscript", "R", "r"), ("r", ("-e",))),
    "julia": ("julia", ("-e", "-E", "--eval")),
    "groovy": ("groovy", ("-e",)),
    "elixir": ("elixir", ("-e", "--eval")),
    "tclsh": ("tcl", ()),
    "expect": ("tcl", ("-c",)),
    "guile": ("scheme", ("-c",)),
    "emacs": ("lisp", ("--eval",)),
    "scala": ("scala", ("-e",)),
    "irb": ("ruby", ()),
    "pwsh": ("powershell", ("-c", "-Command")),
}  # fmt: skip
_AWKS = frozenset(("awk", "gawk", "mawk", "nawk"))
_CLUSTERED = re.compile(r"-[a-zA-Z0-9]*[eEr]\Z")


def code_of(command: Command, files: Mapping[str, Stream]) -> Code | None:
    """The program text that a command would execute, where it is on the command line or flows into it.

    Args:
        command: The command.
        files: What is known of files that were written earlier in the same script.
    """
    name = command.name
    if name in SHELLS or name in ("source", "."):
        stream = _shell_input(command, files)
        return Code("shell", stream) if stream else None
    if name in _LANGUAGES:
        language, options = _LANGUAGES[name]
        stream = _interpreter_input(command, files, options)
        return Code(language, stream) if stream else None
    if name in _AWKS:
        program = _awk_program(command)
        return Code("awk", Stream(program.text, program.sources)) if program else None
    # ./s, which the script has written: to run it takes no interpreter in front, but one in its first line.
    if "/" in (command.words[0].text if command.words else ""):
        written = files.get(command.path(command.words[0]))
        return Code(_language_by_shebang(written), written) if written else None
    return None


def _language_by_shebang(stream: Stream) -> str:
    first = (stream.text or "").split("\n", 1)[0]
    for marker, language in (
        ("python", "python"),
        ("perl", "perl"),
        ("node", "javascript"),
        ("ruby", "ruby"),
    ):
        if first.startswith("#!") and marker in first:
            return language
    return "shell"


def _shell_input(command: Command, files: Mapping[str, Stream]) -> Stream | None:
    # What follows -c is found by "launchers"; with it, standard input is only what that text reads.
    if command.name in SHELLS and command.has("-c") and command.options.isdisjoint(("--rcfile", "--norc")):
        return None
    script = _first_operand(command, ("-o", "-O", "+o", "+O", "--rcfile", "--init-file"))
    for value in command.values("--rcfile", "--init-file"):
        if value.sources:
            return Stream(None, value.sources)
    if script is not None and script.text not in ("-", "/dev/stdin") and not command.has("-s"):
        return _script(command, script, files)
    return _from_stdin(command, files)


def _interpreter_input(command: Command, files: Mapping[str, Stream], options: tuple[str, ...]) -> Stream | None:
    words = command.words
    for position, word in enumerate(words[1:], 1):
        text = word.text
        # python -m pytest < data: the input is data.
        if text == "-m" and command.name in ("python", "pypy"):
            return None
        matched = text in options or (
            bool(options) and command.name in ("perl", "ruby") and bool(_CLUSTERED.match(text)) and text != "-r"
        )
        if command.name in ("python", "pypy") and re.fullmatch(r"-[a-zA-Z]*c", text):
            matched = True
        if matched and position + 1 < len(words):
            return Stream(words[position + 1].text, words[position + 1].sources)
        for option in options:
            long = option.startswith("--") and text.startswith(option + "=")
            if long or (
                len(option) == 2 and text.startswith(option) and len(text) > 2 and command.name not in ("node",)
            ):
                value = text[len(option) + 1 :] if long else text[2:]
                return Stream(value, word.sources)
        if not text.startswith("-"):
            break
    if command.name in ("deno", "bun") and command.verbs[:1] in (["eval"], ["run"]):
        operand = command.operands[1] if len(command.operands) > 1 else None
        if operand is not None and command.verbs[0] == "eval":
            return Stream(operand.text, operand.sources)
        return None
    script = _first_operand(command, ("-W", "-X", "-I", "-M", "-r", "--require", "--import"))
    if script is not None and script.text not in ("-", "/dev/stdin"):
        return _script(command, script, files)
    return _from_stdin(command, files)


def _first_operand(command: Command, valued: tuple[str, ...]) -> Word | None:
    """The first word that is neither an option nor the value of one of those in ``valued``: the script's name."""
    words = iter(command.words[1:])
    for word in words:
        if word.text in valued:
            next(words, None)
        elif word.text == "--":
            return next(words, None)
        elif word.text == "-" or not word.text.startswith(("-", "+")):
            return word
    return None


def _script(command: Command, script: Word, files: Mapping[str, Stream]) -> Stream | None:
    # sh <(curl …): the name is not known, but whose output is behind it.
    if script.unknown and script.sources:
        return Stream(None, script.sources)
    return files.get(command.path(script))


def _from_stdin(command: Command, files: Mapping[str, Stream]) -> Stream | None:
    # "sh < s" reads s, also behind a pipe.
    for redirect in command.redirects:
        if redirect.operator == "<":
            if redirect.target.sources:
                return Stream(None, redirect.target.sources)
            return files.get(command.path(redirect.target))
    return command.stdin


def _awk_program(command: Command) -> Word | None:
    words = iter(command.words[1:])
    for word in words:
        if word.text in ("-f", "--file"):
            return None
        if word.text in ("-F", "-v", "--assign"):
            next(words, None)
        elif word.text in ("-e", "--source"):
            return next(words, None)
        elif not word.text.startswith("-"):
            return word
    return None
