"""Text made inert for showing to a person: nothing in it acts, hides or poses as something else."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from hermes_nb.approval.lookalikes import BIDIRECTIONAL, CONFUSABLE, INVISIBLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_nb.approval.assessment import Finding

#: Control pictures: ␀ for 0x00 … ␛ for 0x1b … ␡ for 0x7f.
_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "␡"}
_KEPT = frozenset("\n\t")


def inert(text: str) -> str:
    """Make every character visible that would otherwise act, hide or deceive.

    Control characters become their pictures (the escape character ␛, the carriage return ␍), line feeds and
    tabs stay; hidden, direction-changing and unassigned characters, and letters that pose as ASCII in the
    midst of it, become ``⟨U+202E⟩``. Text that is plainly in another script stays as it is.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_inert_character(character, text, index) for index, character in enumerate(text))


def _inert_character(character: str, text: str, index: int) -> str:
    if character in _KEPT or (character.isascii() and character.isprintable()):
        return character
    picture = _PICTURES.get(ord(character))
    if picture:
        return picture
    if character in INVISIBLE or character in BIDIRECTIONAL or not character.isprintable():
        return _named(character)
    if character in CONFUSABLE and _poses(character, text, index):
        return _named(character)
    # A stroke or an accent upon an ASCII letter is a character of its own to the shell: a struck-out rm isn't rm.
    if unicodedata.combining(character) and index and text[index - 1].isascii():
        return _named(character)
    return character


def _poses(character: str, text: str, index: int) -> bool:
    """Whether a look-alike stands where ASCII is meant: beside it, or as a mark that a shell would read."""
    if not character.isalpha():
        return True
    # Judged by the word around it: in "rм" a Cyrillic letter poses, in "привет" it is at home. A word of look-alikes
    # alone could be either, and counts as posing.
    start, end = index, index + 1
    while start and text[start - 1].isalpha() and index - start < 64:
        start -= 1
    while end < len(text) and text[end].isalpha() and end - start < 64:
        end += 1
    word = text[start:end]
    return any(letter.isascii() for letter in word) or all(letter in CONFUSABLE for letter in word)


def _named(character: str) -> str:
    return f"⟨U+{ord(character):04X}⟩"


def highlight(command: str, findings: Iterable[Finding]) -> list[tuple[str, bool]]:
    """Cut a command into spans of inert text, each with whether it is part of what was found.

    Joined, the spans are ``inert(command)``. Findings whose text does not occur in the command (it was
    decoded or put together from parts) mark all of it.
    """
    marked = bytearray(len(command))
    for finding in findings:
        wanted = finding.text.removesuffix("…")
        start = command.find(wanted) if wanted else -1
        if start < 0:
            marked[:] = b"\x01" * len(command)
            break
        while start >= 0:
            marked[start : start + len(wanted)] = b"\x01" * len(wanted)
            start = command.find(wanted, start + len(wanted))
    # Whether a character poses depends on its neighbours, also across the edge of a span: so the text is made inert
    # with all of the command in view, not span by span.
    spans: list[tuple[str, bool]] = []
    position = 0
    while position < len(command):
        dangerous = marked[position]
        following = marked.find(1 - dangerous, position)
        end = following if following >= 0 else len(command)
        spans.append((_inert_slice(command, position, end), bool(dangerous)))
        position = end
    return spans


def _inert_slice(text: str, start: int, end: int) -> str:
    return "".join(_inert_character(text[index], text, index) for index in range(start, end))
