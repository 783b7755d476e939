"""The bash grammar: loaded at the first use, and kept away from input that it would choke on."""

from __future__ import annotations

import re
import threading
import time
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

#: Up to this size every input is parsed at once: even the worst takes only some milliseconds.
_SMALL = 2_000
#: The grammar's cost is quadratic in these, however they are spread, and is paid after the last byte.
_COSTLY = re.compile(rb"(?<!\|)\|(?!\|)|=\(")
_MOST_COSTLY = 2_000
#: All other superlinear cost is paid while reading, so that the reading can be broken off.
_SECONDS = 0.25
_CHUNK = 256


#: One parser serves all threads, one at a time.
_PARSING = threading.Lock()


class TooIntricateError(ValueError):
    """The input has more structure than can be read in reasonable time."""


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(source: bytes) -> Node:
    """Parse a script into its syntax tree.

    Raises:
        TooIntricateError: If the script is long and made of structure rather than of words.
    """
    source = _parsable(source)
    with _PARSING:
        return _parse(source)


def _parse(source: bytes) -> Node:
    # A parse can't be interrupted, but it reads its input in chunks: once the time is up it is told that the input ends
    # here, and what comes of it is thrown away.
    if len(source) <= _SMALL:
        return _parser().parse(source).root_node
    if len(_COSTLY.findall(source)) > _MOST_COSTLY:
        raise TooIntricateError
    deadline = time.monotonic() + _SECONDS
    end, served, cut = len(source), 0, False

    def read(offset: int, _point: object) -> bytes:
        nonlocal end, served, cut
        if not cut and time.monotonic() > deadline:
            # The parser may come back to what it has read: that must stay as it was.
            end, cut = served, True
        chunk = source[offset : min(offset + _CHUNK, end)]
        served = max(served, offset + len(chunk))
        return chunk

    root = _parser().parse(read).root_node
    if cut:
        raise TooIntricateError
    return root


_CONTINUED = re.compile(r"(?<=[^\s\\])\\\n(?=\S)")


def join_lines(text: str) -> str:
    """Join lines that are continued in the middle of a word: the grammar would take them for two words."""
    return _CONTINUED.sub("", text)


#: "! { a; }", "time ( a )" and "coproc { a; }" are groups to bash and unreadable to the grammar. What is in the group
#: is run all the same, so the word in front of it goes.
_BEFORE_GROUP = re.compile(rb"(?:(?<=[\s;&|(])|\A)(?:!|time(?:\s+-p)?|coproc)\s+(?=[{(!])")


#: To a shell, bytes beyond ASCII are letters; the grammar's scanner reads beyond its tables on some of them.
_ASCII = bytes(range(128)) + b"x" * 128


def _parsable(source: bytes) -> bytes:
    """The source with what the grammar does not know replaced, byte for byte, by what comes to the same."""
    if not source.isascii():
        source = source.translate(_ASCII)
    # "<>" opens a file for both; that it is written is what counts. Byte for byte, since nodes are ranges of the
    # source.
    if b"<>" in source:
        source = source.replace(b"<>", b"> ")
    if b"{" in source or b"(" in source:
        source = _BEFORE_GROUP.sub(lambda match: b" " * len(match[0]), source)
    return source


def flat(node: Node) -> list[Node]:
    """The stages of a pipeline or the statements of a list, from left to right; both nest on their left."""
    found: list[Node] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if current.type == node.type:
            stack.extend(reversed(current.named_children))
        else:
            found.append(current)
    return found
