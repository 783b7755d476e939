"""Pieces of a word put together: braces, alternatives and blanks make several words of them, as in the shell."""

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
    """A stretch of a word: its possible values, and what the shell may still do to it."""

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
    # One fast way for the usual word: nothing that could become several words.
    has_braces = any(piece.literal and "{" in value for piece in pieces for value in piece.values)
    variants = _expand_braces(pieces) if has_braces else [pieces]
    words: list[Word] = []
    for variant in variants:
        for alternative in _alternatives(variant):
            words.extend(_split(alternative))
    return words[: _MOST_ALTERNATIVES * 64] or ([Word("")] if any(p.quoted for p in pieces) else [])


def _alternatives(pieces: list[Piece]) -> list[list[tuple[str, Piece]]]:
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
    if piece.many or ((piece.literal or piece.splits) and WILDCARD.search(text)):
        word.glob = True
    return word


def _expand_braces(pieces: list[Piece]) -> list[list[Piece]]:
    if sum(len(piece.values[0]) for piece in pieces if piece.literal) > _LONGEST_BRACES:
        parts = [part for piece in pieces if piece.literal for part in re.split(r"[{},]+", piece.values[0]) if part]
        return [[Piece([part], literal=True, many=True)] for part in parts[: 4 * _MOST_ALTERNATIVES]]
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
