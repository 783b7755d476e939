"""Pieces of a word put together: braces, alternatives and blanks make several words of them, as in the shell.

The order is bash's, and matters. Braces come first, and only those that are written: with ``x='{a,b}'`` an ``echo $x``
prints ``{a,b}``. Then variables get their values, and then blanks part words, but only those that came out of a
variable or a substitution without quotes: ``x='rm -r'; $x`` runs rm, ``"$x"`` a program with a blank in its name.
Wildcards would come last; they need the disk, so a word with one in it is only marked.

One thing no shell does: a variable may have several values at once, since a loop is read in one turn. For each a word
of its own is made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from hermes_nb.approval.shell.braces import expand_braces, tokenise
from hermes_nb.approval.shell.commands import Word

if TYPE_CHECKING:
    from hermes_nb.approval.shell.commands import Command

#: The most words one word may become through braces and variables with several possible values.
_MOST_ALTERNATIVES = 16

#: Braces longer than this are not expanded but only taken apart.
_LONGEST_BRACES = 500

#: What makes of a word that is not quoted a pattern for file names.
WILDCARD = re.compile(r"[*?]|\[[^]]*\]")
_BACKSLASH = re.compile(r"\\(\n|.)", re.DOTALL)


@dataclass(slots=True)
class Piece:
    """A stretch of a word: its possible values, and what the shell may still do to it.

    Attributes:
        values: What it may be; several where a variable has several.
        literal: Whether it is written without quotes, so that braces, wildcards and backslashes in it count.
        splits: Whether blanks in it part words.
        quoted: Whether it was in quotes: a word with such a piece is there even if it is empty.
        sources: The commands whose output it is.
        variable: The name of the variable that it came from.
        many: Whether it stands for more values than are spelt out.
    """

    values: list[str]
    literal: bool = False
    splits: bool = False
    quoted: bool = False
    sources: tuple[Command, ...] = ()
    variable: str = ""
    many: bool = False


def keep_character(match: re.Match[str]) -> str:
    """What is left of an escaped character: itself, and of an escaped end of line nothing."""
    return "" if match[1] == "\n" else match[1]


def assemble(pieces: list[Piece]) -> list[Word]:
    """The words the shell makes of a word's pieces: none, one or many."""
    has_braces = any(piece.literal and "{" in value for piece in pieces for value in piece.values)
    variants = _expand_braces(pieces) if has_braces else [pieces]
    words: list[Word] = []
    for variant in variants:
        for alternative in _alternatives(variant):
            words.extend(_split(alternative))
    # Without a piece in quotes, what is empty is no word: $x rm runs rm where x is empty, "$x" rm a program without a
    # name.
    return words[: _MOST_ALTERNATIVES * 64] or ([Word("")] if any(p.quoted for p in pieces) else [])


def _alternatives(pieces: list[Piece]) -> list[list[tuple[str, Piece]]]:
    """Every choice of one value for each piece, up to a bound: ``$x-$y`` with two values each makes four."""
    if all(len(piece.values) == 1 for piece in pieces):
        return [[(piece.values[0], piece) for piece in pieces]]
    widest = min(max(len(piece.values) for piece in pieces), _MOST_ALTERNATIVES)
    several = [piece for piece in pieces if len(piece.values) > 1]
    if len(several) == 1:
        return [[(p.values[min(i, len(p.values) - 1)], p) for p in pieces] for i in range(widest)]
    combinations: list[list[tuple[str, Piece]]] = [[]]
    for piece in pieces:
        combinations = list(
            islice(
                ([*head, (value, piece)] for value in piece.values for head in combinations),
                _MOST_ALTERNATIVES,
            )
        )
    return combinations


def _split(parts: list[tuple[str, Piece]]) -> list[Word]:
    """Part at the blanks of pieces that split; all else joins what is before it.

    With ``x='a b'``, ``p$x"q"`` is ``pa`` and ``bq``; with ``x=' a'`` it is ``p`` and ``aq``: a blank at the edge of
    a value ends the word that is being made, or begins the next.
    """
    # Blanks do for any IFS: Variables puts blanks for the separators that the script has chosen.
    words: list[Word] = []
    current: Word | None = None
    for value, piece in parts:
        if piece.splits:
            fields = value.split()
            if value[:1].isspace() and current is not None:
                words.append(current)
                current = None
            for number, field in enumerate(fields):
                if number and current is not None:
                    words.append(current)
                    current = None
                current = _append(current, field, piece)
            if value[-1:].isspace() and current is not None:
                words.append(current)
                current = None
        else:
            text = _BACKSLASH.sub(keep_character, value) if piece.literal and "\\" in value else value
            current = _append(current, text, piece)
    if current is not None:
        words.append(current)
    return words


def _append(word: Word | None, text: str, piece: Piece) -> Word:
    word = word or Word("")
    word.text += text
    word.quoted = word.quoted or piece.quoted
    word.sources += piece.sources
    if piece.variable:
        word.variables += (piece.variable,)
    # Marked, not expanded: the folder will look otherwise when the command runs. A wildcard in quotes is a character.
    if piece.many or ((piece.literal or piece.splits) and WILDCARD.search(text)):
        word.glob = True
    return word


def _expand_braces(pieces: list[Piece]) -> list[list[Piece]]:
    """The pieces once for each word that braces make: ``a{b,$c}d`` becomes ``abd`` and ``a$cd``."""
    # Beyond any honest length, what stands between braces and commas counts as a word by itself, and for many: it
    # would take too long to say exactly which words there are, and a rule need only see what they are made of.
    if sum(len(piece.values[0]) for piece in pieces if piece.literal) > _LONGEST_BRACES:
        parts = [part for piece in pieces if piece.literal for part in re.split(r"[{},]+", piece.values[0]) if part]
        return [[Piece([part], literal=True, many=True)] for part in parts[: 4 * _MOST_ALTERNATIVES]]
    # A quoted piece or a variable goes through whole: in {a,"b,c"} only the first comma parts.
    tokens: list[str | Piece] = []
    for piece in pieces:
        if piece.literal:
            tokens.extend(tokenise(piece.values[0]))
        else:
            tokens.append(piece)
    return [
        [Piece([token], literal=True) if isinstance(token, str) else token for token in variant]
        for variant in expand_braces(tokens, _MOST_ALTERNATIVES)
    ]
