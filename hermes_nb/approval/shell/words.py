"""Words rebuilt from quotes, escapes, variables, braces and substitutions, as the shell would build them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from hermes_nb.approval.shell.commands import UNKNOWN, Stream, Word
from hermes_nb.approval.shell.pieces import WILDCARD, Piece, assemble, keep_character

if TYPE_CHECKING:
    from tree_sitter import Node

    from hermes_nb.approval.shell.commands import Command

_PLAIN = re.compile(r"[\w./:=@%+,^-]+\Z")
_BACKSLASH = re.compile(r"\\(.)", re.DOTALL)
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
    r"""Resolve ``\x72``, ``\162``, ``\u0072``, ``\n`` and the like."""

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
        return [Word(scope.source(node)[1:-1], quoted=True)]
    pieces: list[Piece] = []
    _collect(node, scope, pieces)
    return assemble(pieces)


def _collect(node: Node, scope: Scope, pieces: list[Piece], *, quoted: bool = False) -> None:
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
            if kind == "array" and child.is_named:
                pieces.append(Piece([" "], splits=True))
    elif kind == "simple_expansion":
        pieces.append(_variable(scope.source(node)[1:], scope, quoted=quoted))
    elif kind == "expansion":
        pieces.append(_expansion(node, scope, quoted=quoted))
    elif kind in ("command_substitution", "process_substitution"):
        pieces.append(_substitution(node, scope, quoted=quoted))
    elif kind == "arithmetic_expansion":
        run_substitutions(node, scope)
        number = scope.source(node).strip("$()[] ")
        pieces.append(Piece([number if number.isdigit() else "0"], quoted=True))
    elif kind == "brace_expression":
        pieces.append(Piece([scope.source(node)], literal=True))
    elif kind in ("$", '"', "'"):
        if kind == "$" and quoted:
            pieces.append(Piece(["$"], quoted=True))
    elif node.child_count:
        for child in node.children:
            _collect(child, scope, pieces, quoted=quoted)
    else:
        pieces.append(Piece([scope.source(node)], literal=not quoted, quoted=quoted))


def _collect_string(node: Node, scope: Scope, pieces: list[Piece]) -> None:
    # The grammar drops white space between the parts of a string: it is taken from the gaps.
    base = node.start_byte
    whole = scope.source(node).encode("utf-8", "surrogateescape")
    end = node.children[0].end_byte if node.children else base
    pieces.append(Piece([""], quoted=True))
    for child in node.children[1:]:
        gap = whole[end - base : child.start_byte - base]
        if gap:
            pieces.append(Piece([gap.decode("utf-8", "replace")], quoted=True))
        _collect(child, scope, pieces, quoted=True)
        end = child.end_byte


def _variable(name: str, scope: Scope, *, quoted: bool) -> Piece:
    values = scope.lookup(name)
    known = [UNKNOWN] if values is None else values
    return Piece(
        known or [""],
        splits=not quoted or name == "@",
        quoted=quoted,
        sources=scope.origins(name),
        variable=name,
        many=scope.is_many(name),
    )


def _substitution(node: Node, scope: Scope, *, quoted: bool) -> Piece:
    stream = scope.run(node)
    text = UNKNOWN if stream.text is None else stream.text.rstrip("\n")
    if node.type == "process_substitution":
        # The word is the name of a pipe; what flows through it is in the sources.
        text = UNKNOWN
    return Piece([text], splits=not quoted, quoted=quoted, sources=stream.sources)


def run_substitutions(node: Node, scope: Scope) -> None:
    """Read every command substitution below a node whose own value does not matter."""
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type in ("command_substitution", "process_substitution"):
            scope.run(current)
        else:
            stack.extend(current.children)


_SUBSTRING = re.compile(r":\s*(-?\d+)\s*(?::\s*(-?\d+)\s*)?\Z")
_REPLACE = re.compile(r"(//?)((?:[^/\\]|\\.)+)(?:/(.*))?\Z", re.DOTALL)
_PARAMETER = re.compile(r"\$\{([!#]?)([A-Za-z_]\w*|\d+|[@*#?$!-])(\[[^]]*\])?(.*)\}\Z", re.DOTALL)


def _expansion(node: Node, scope: Scope, *, quoted: bool) -> Piece:
    match = _PARAMETER.match(scope.source(node))
    if not match:
        run_substitutions(node, scope)
        return Piece([UNKNOWN], splits=not quoted, quoted=quoted)
    sigil, name, index, operation = match.groups()
    piece = _variable(name, scope, quoted=quoted)
    if index:
        _pick(piece, index[1:-1], quoted=quoted)
    if sigil == "#":
        piece.values = ["1"]
    elif sigil == "!":
        targets = scope.lookup(piece.values[0])
        piece.values = targets or [UNKNOWN]
    if operation:
        _operate(piece, operation, node, scope)
    return piece


def _pick(piece: Piece, index: str, *, quoted: bool) -> None:
    elements = piece.values[0].split(" ")
    if index in ("@", "*"):
        piece.splits = True
    elif index.isdigit() and int(index) < len(elements):
        piece.values = [elements[int(index)]]
    piece.quoted = quoted


def _operate(piece: Piece, operation: str, node: Node, scope: Scope) -> None:
    known = piece.values != [UNKNOWN]
    if operation[:2] in (":-", ":=", ":+") or operation[0] in "-=+":
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
        end = None if length is None else (start + length if length >= 0 else length)
        piece.values = [value[start:end] for value in piece.values]
    elif replace and not WILDCARD.search(replace[2]):
        old, new = _BACKSLASH.sub(r"\1", replace[2]), _unquoted(replace[3] or "")
        piece.values = [value.replace(old, new, -1 if replace[1] == "//" else 1) for value in piece.values]
    elif operation in ("^^", ",,"):
        piece.values = [value.upper() if operation == "^^" else value.lower() for value in piece.values]
    elif not operation.startswith(":?"):
        piece.values = [UNKNOWN]


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else _BACKSLASH.sub(r"\1", text)
