"""The bash grammar: loaded at the first use, and kept away from input that it would choke on."""

from __future__ import annotations

import re
import time
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser

#: Up to this size every input is parsed at once: even the worst takes only some milliseconds.
_SMALL = 2_000
#: The grammar's cost is quadratic in these, however they are spread, and is paid after the last byte.
_COSTLY = re.compile(rb"(?<!\|)\|(?!\|)|=\(")
_MOST_COSTLY = 2_000
#: All other superlinear cost is paid while reading, so that the reading can be broken off.
_SECONDS = 0.25
_CHUNK = 256


class TooIntricateError(ValueError):
    """The input has more structure than can be read in reasonable time."""


#: The grammar's scanner looks characters up in tables that end long before Unicode does, and crashes the process on
#: some. To bash all bytes above ASCII are word characters, so any that is no name's and no operator's stands for them.
_ASCII = bytes(range(128)) + b"." * 128


@cache
def _language() -> Language:
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


def _parser() -> Parser:
    """A parser for one use: they are cheap, and one that two threads share would mix their scripts up."""
    from tree_sitter import Parser

    return Parser(_language())


def parse(source: bytes) -> Node:
    """Parse a script into its syntax tree, whose positions are the script's; read texts from the script itself.

    Raises:
        TooIntricateError: If the script is long and made of structure rather than of words.
    """
    source = source.translate(_ASCII)
    if len(source) <= _SMALL:
        return _parser().parse(source).root_node
    if len(_COSTLY.findall(source)) > _MOST_COSTLY:
        raise TooIntricateError
    deadline = time.monotonic() + _SECONDS
    cut = False

    def read(offset: int, _point: object) -> bytes:
        nonlocal cut
        cut = cut or time.monotonic() > deadline
        return b"" if cut else source[offset : offset + _CHUNK]

    root = _parser().parse(read).root_node
    if cut:
        raise TooIntricateError
    return root
