r"""Words rebuilt from quotes, escapes, variables, braces and substitutions, as the shell would build them.

Take ``rm -rf "$X"*`` out of ``timeout 5 sudo sh -c 'cd /; rm -rf "$X"*' | tee log``. The grammar gives three nodes, and
``expand`` is asked about each:

- ``rm`` and ``-rf`` are plain: what is written is the word.
- ``"$X"*`` is a ``concatenation`` of a ``string`` and a ``word``. ``_collect`` goes down to its parts and takes note of
  three pieces: an empty quoted one, which says that there is a word even should nothing else come of it; what ``$X``
  holds, quoted, so that blanks in it part nothing; and ``*``, literal, so that it is a wildcard. The script has set no
  ``X``, so its value is ``UNKNOWN``.

``pieces`` takes over and makes one ``Word`` of the three: the text ``UNKNOWN`` + ``*``, a ``glob``, ``quoted`` in part,
with ``X`` among its ``variables``. The reader puts the words into a ``Command``; what a rule makes of a word that may
be any path and ends in a wildcard is the rule's affair.

Values come from a ``Scope``, which is the reader: it knows the variables, and reads what is inside ``$(…)``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from hermes_nb.approval.shell.commands import UNKNOWN, Stream, Word
from hermes_nb.approval.shell.pieces import WILDCARD, Piece, assemble, keep_character

if TYPE_CHECKING:
    from tree_sitter import Node

    from hermes_nb.approval.shell.commands import Command

#: Nothing in it for a shell to do: no quote, escape, brace, wildcard or ``$``. Most words are of this kind.
_PLAIN = re.compile(r"[\w./:=@%+,^-]+\Z")
_BACKSLASH = re.compile(r"\\(.)", re.DOTALL)
#: All that a backslash escapes in double quotes; before anything else it is itself: "a\n" is a, \ and n.
_DOUBLE_QUOTED_BACKSLASH = re.compile(r'\\([$`"\\]|\n)')
_ANSI_C = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|0?([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_ANSI_C_LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "E": "\x1b",
}


class Scope(Protocol):
    """What a word needs to know of the script around it."""

    def lookup(self, name: str) -> list[str] | None:
        """The possible values of a variable, or None if nothing is known of it."""

    def origins(self, name: str) -> tuple[Command, ...]:
        """The commands whose output the variable holds."""

    def is_many(self, name: str) -> bool:
        """Whether the variable takes values that are not spelt out, one after the other."""

    def run(self, node: Node) -> Stream:
        """Read the commands of a substitution; return what it would print."""

    def source(self, node: Node) -> str:
        """The text of a node."""


def unescape_ansi_c(text: str) -> str:
    r"""Resolve ``\x72``, ``\162``, ``\u0072``, ``\n`` and the like.

    ``$'…'``, ``echo -e``, ``printf`` and its ``%b`` come here although they differ in ``\0162``: an ``r`` to ``echo
    -e`` and ``%b``, to the others ``\016`` and a 2. Taking it for the letter finds the command in either.
    """

    def one(match: re.Match[str]) -> str:
        hexadecimal = match[1] or match[2] or match[3]
        if hexadecimal:
            code = int(hexadecimal, 16)
            return chr(code) if code < 0x110000 else UNKNOWN
        if match[4]:
            return chr(int(match[4], 8) & 0xFF)
        if match[5]:
            return chr(ord(match[5]) & 0x1F)
        return _ANSI_C_LETTERS.get(match[6], match[6] if match[6] in "\\'\"?" else "\\" + match[6])

    return _ANSI_C.sub(one, text) if "\\" in text else text


def expand(node: Node, scope: Scope) -> list[Word]:
    """Turn one word of the syntax tree into the words the shell would make of it."""
    kind = node.type
    if kind in ("word", "number"):
        text = scope.source(node)
        if _PLAIN.match(text):
            return [Word(text)]
    if kind == "raw_string":
        # In single quotes nothing means anything, a backslash neither: what is between them is the word.
        return [Word(scope.source(node)[1:-1], quoted=True)]
    pieces: list[Piece] = []
    _collect(node, scope, pieces)
    return assemble(pieces)


def _collect(node: Node, scope: Scope, pieces: list[Piece], *, quoted: bool = False) -> None:
    """Take a word apart, from left to right, into pieces of one kind each: literal, quoted, or put in by the shell."""
    kind = node.type
    if kind in (
        "word",
        "number",
        "extglob_pattern",
        "regex",
        "variable_name",
        "special_variable_name",
        "test_operator",
    ):
        pieces.append(Piece([scope.source(node)], literal=not quoted, quoted=quoted))
    elif kind == "raw_string":
        pieces.append(Piece([scope.source(node)[1:-1]], quoted=True))
    elif kind == "ansi_c_string":
        pieces.append(Piece([unescape_ansi_c(scope.source(node)[2:-1])], quoted=True))
    elif kind == "string_content":
        pieces.append(Piece([_DOUBLE_QUOTED_BACKSLASH.sub(keep_character, scope.source(node))], quoted=True))
    elif kind in ("string", "translated_string"):
        _collect_string(node, scope, pieces)
    elif kind in ("concatenation", "command_name", "array"):
        for child in node.children:
            if kind != "array" or child.is_named:
                _collect(child, scope, pieces)
            # An array is kept as one text with blanks between its elements: "${a[@]}" finds a=(rm -rf x) again, at the
            # price that an element with a blank, which is one word to bash, becomes two.
            if kind == "array" and child.is_named:
                pieces.append(Piece([" "], splits=True))
    elif kind == "simple_expansion":
        pieces.append(_variable(scope.source(node)[1:], scope, quoted=quoted))
    elif kind == "expansion":
        pieces.append(_expansion(node, scope, quoted=quoted))
    elif kind in ("command_substitution", "process_substitution"):
        pieces.append(_substitution(node, scope, quoted=quoted))
    elif kind == "arithmetic_expansion":
        # Nothing is computed, but $(( $(rm x) )) runs rm. Any number does for the result: it can't name a program,
        # nor a folder above this one.
        run_substitutions(node, scope)
        number = scope.source(node).strip("$()[] ")
        pieces.append(Piece([number if number.isdigit() else "0"], quoted=True))
    elif kind == "brace_expression":
        pieces.append(Piece([scope.source(node)], literal=True))
    elif kind in ("$", '"', "'"):
        # A dollar with no name after it is itself in "5 $"; outside of quotes it is what is left of $"…", which bash
        # would translate, and reads like "…" where it can't.
        if kind == "$" and quoted:
            pieces.append(Piece(["$"], quoted=True))
    elif node.child_count:
        for child in node.children:
            _collect(child, scope, pieces, quoted=quoted)
    else:
        pieces.append(Piece([scope.source(node)], literal=not quoted, quoted=quoted))


def _collect_string(node: Node, scope: Scope, pieces: list[Piece]) -> None:
    # The grammar has no node for the line end in "$a⏎$b": what lies between the nodes is put back.
    base = node.start_byte
    whole = scope.source(node).encode("utf-8", "surrogateescape")
    end = node.children[0].end_byte if node.children else base
    # "" is a word, if an empty one; and so is "$a" where a is empty.
    pieces.append(Piece([""], quoted=True))
    for child in node.children[1:]:
        gap = whole[end - base : child.start_byte - base]
        if gap:
            pieces.append(Piece([gap.decode("utf-8", "replace")], quoted=True))
        _collect(child, scope, pieces, quoted=True)
        end = child.end_byte


def _variable(name: str, scope: Scope, *, quoted: bool) -> Piece:
    # A variable that the script hasn't set is empty to bash, or comes from the environment or an earlier command of
    # the same session: so it is unknown here. One that is known to be empty is just that, and vanishes.
    values = scope.lookup(name)
    known = [UNKNOWN] if values is None else values
    return Piece(
        known or [""],
        splits=not quoted or name == "@",  # "$@" is the one that makes several words also in quotes
        quoted=quoted,
        sources=scope.origins(name),
        variable=name,
        many=scope.is_many(name),
    )


def _substitution(node: Node, scope: Scope, *, quoted: bool) -> Piece:
    stream = scope.run(node)
    # Bash drops the line ends after the last word, and these alone: $(printf 'rm\n\n') is rm.
    text = UNKNOWN if stream.text is None else stream.text.rstrip("\n")
    if node.type == "process_substitution":
        # To the program, <(curl …) is the name of a pipe such as /dev/fd/63; what flows through it is in the sources.
        text = UNKNOWN
    return Piece([text], splits=not quoted, quoted=quoted, sources=stream.sources)


def run_substitutions(node: Node, scope: Scope) -> None:
    """Read every command substitution below a node whose own value does not matter."""
    # scope.run reads those inside of one by itself: what has been found isn't searched once more.
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type in ("command_substitution", "process_substitution"):
            scope.run(current)
        else:
            stack.extend(current.children)


#: What stands after the name in ``${x:1:2}``, ``${x: -2}``; in ``${x/a/b}``, ``${x//a/b}``, ``${x/a}``.
_SUBSTRING = re.compile(r":\s*(-?\d+)\s*(?::\s*(-?\d+)\s*)?\Z")
_REPLACE = re.compile(r"(//?)((?:[^/\\]|\\.)+)(?:/(.*))?\Z", re.DOTALL)
#: ``${``, then ``!`` or ``#``, a name, an index, and whatever is to be done with the value.
_PARAMETER = re.compile(r"\$\{([!#]?)([A-Za-z_]\w*|\d+|[@*#?$!-])(\[[^]]*\])?(.*)\}\Z", re.DOTALL)


def _expansion(node: Node, scope: Scope, *, quoted: bool) -> Piece:
    """What ``${…}`` is worth: what can be hidden by these is worked out, the rest is unknown."""
    match = _PARAMETER.match(scope.source(node))
    if not match:
        run_substitutions(node, scope)
        return Piece([UNKNOWN], splits=not quoted, quoted=quoted)
    sigil, name, index, operation = match.groups()
    piece = _variable(name, scope, quoted=quoted)
    if index:
        _pick(piece, index[1:-1], quoted=quoted)
    if sigil == "#":
        piece.values = ["1"]  # ${#x}, a length: any number will do
    elif sigil == "!":
        # x=y; y=rm; ${!x} -rf … runs rm: the value is the name of another variable.
        targets = scope.lookup(piece.values[0])
        piece.values = targets or [UNKNOWN]
    if operation:
        _operate(piece, operation, node, scope)
    return piece


def _pick(piece: Piece, index: str, *, quoted: bool) -> None:
    """Choose of an array what ``[1]`` says; all of it where that isn't a number that fits."""
    elements = piece.values[0].split(" ")
    if index in ("@", "*"):
        piece.splits = True
    elif index.isdigit() and int(index) < len(elements):
        piece.values = [elements[int(index)]]
    piece.quoted = quoted


def _operate(piece: Piece, operation: str, node: Node, scope: Scope) -> None:
    """Apply what stands after the name in ``${x…}``."""
    known = piece.values != [UNKNOWN]
    if operation[:2] in (":-", ":=", ":+") or operation[0] in "-=+":
        # ${x:-/} is / unless x is set, and whether it is may not be known: then the default counts. It is what the
        # command was written to do without x, and the one value that there is to judge: rm -rf "${x:-}"/ is rm -rf /.
        # That ${x-/} minds only an x that isn't set, not one that is empty, makes no difference here.
        alternative = operation[:2].lstrip(":")[0] == "+" or not known or piece.values == [""]
        inner: list[Piece] = []
        for child in node.named_children[1:]:
            _collect(child, scope, inner, quoted=piece.quoted)
        if alternative:
            words = assemble(inner)
            piece.values = [" ".join(word.text for word in words)]
            piece.sources += tuple(source for word in words for source in word.sources)
        return
    run_substitutions(node, scope)
    if not known:
        return
    substring = _SUBSTRING.match(operation)
    replace = _REPLACE.match(operation)
    if substring:
        start, length = int(substring[1]), int(substring[2]) if substring[2] else None
        # As in Python, if a negative length is read as an end: ${x:0:-1} is all but the last.
        end = None if length is None else (start + length if length >= 0 else length)
        piece.values = [value[start:end] for value in piece.values]
    elif replace and not WILDCARD.search(replace[2]):  # ${x/a?/b} would take bash's own matching of patterns
        old, new = _BACKSLASH.sub(r"\1", replace[2]), _unquoted(replace[3] or "")
        piece.values = [value.replace(old, new, -1 if replace[1] == "//" else 1) for value in piece.values]
    elif operation in ("^^", ",,"):
        piece.values = [value.upper() if operation == "^^" else value.lower() for value in piece.values]
    elif not operation.startswith(":?"):  # ${x:?message} is x, or the end of the script
        piece.values = [UNKNOWN]


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else _BACKSLASH.sub(r"\1", text)
