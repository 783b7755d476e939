"""The bash grammar: loaded at the first use, and kept away from input that it would choke on."""

from __future__ import annotations

import re
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
