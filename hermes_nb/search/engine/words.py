"""Words of tool names and prose: where a word ends, which words say nothing, which words are one word.

A *word* is what a person would have typed, in lower case; a *stem* is what its forms have in common. The
index keeps words, and a query looks up every word of a stem, so that the exact form can count for more.
"""

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import Stemmer

# Scripts written without spaces, and Hangul, whose particles cling to the word: two characters are a word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao; Burmese; Khmer
    "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana, Han
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
)
# Vowel signs that are part of a word, though `\w` leaves them out.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0900-\u0dff"
_LETTER = rf"(?:(?![{_UNSPACED}])[^\W_]|[{_MARKS}])"
# A compound is words held together by the punctuation of identifiers: create_issue, e-mail, files.read.
_RUN = re.compile(rf"[{_UNSPACED}]+|{_LETTER}+(?:[_.\-]+{_LETTER}+)*")
_PIECE = re.compile(rf"{_LETTER}+")
_UPPER, _LOWER = "A-ZΑ-ΩА-ЯЁ", "a-zα-ωςа-яё"
_HUMP = re.compile(
    rf"[{_UPPER}]{{2,}}s(?![{_LOWER}])"  # URLs
    rf"|[{_UPPER}]+(?=[{_UPPER}][{_LOWER}])"  # HTTP in HTTPServer
    rf"|[{_UPPER}]?[{_LOWER}]+|[{_UPPER}]+|\d+"
)
_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")

_STEMMERS = (
    ("\u0370", "\u0400", "greek"),
    ("\u0400", "\u0530", "russian"),
    ("\u0530", "\u0590", "armenian"),
    ("\u0600", "\u0700", "arabic"),
    ("\u0900", "\u0980", "hindi"),
    ("\u0b80", "\u0c00", "tamil"),
)
_local = threading.local()  # a Stemmer must not be shared between threads

_STOP_TEXT = """
a an the this that these those there here i me my mine we us our you your he him his she her it its they them
their am is are was were be been being do does did done doing have has had having will would shall should can
could may might must and or but if then else so as at by for from in into of off on onto out over to up with
without within about than too very just also only not no nor any some all each every both more most other
such own same what which who whom whose when where why how please want wants need needs like let lets using
use used uses via per etc help tool tools able
"""
STOP_WORDS = frozenset(_STOP_TEXT.split())


def words(text: str) -> list[str]:
    """Split text into words, stop words left out, with the joined form of a compound after its parts.

    >>> words("createPullRequest for the repo")
    ['create', 'pull', 'request', 'createpullrequest', 'repo']
    """
    return [word for word in _all_words(_folded(text)) if word not in STOP_WORDS]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Give what the forms of a word have in common, by the Snowball rules of its script."""
    first = word[0]
    if first < "\u0370":
        return _stemmer("english").stemWord(word) if word.isalpha() else word
    language = next((name for start, end, name in _STEMMERS if start <= first < end), None)
    return _stemmer(language).stemWord(word) if language else word


def _stemmer(language: str) -> Stemmer.Stemmer:
    stemmers = _local.__dict__
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language)
    return stemmers[language]


def _folded(text: str) -> str:
    """Fold compatibility forms and the accents of Latin letters: Ａ is A, é is e, が stays が."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def _all_words(text: str) -> Iterator[str]:
    for run in _RUN.findall(text):
        if run.isalpha() and (run.islower() or run[1:].islower()) and not _is_unspaced(run):
            yield run.lower()  # by far the most frequent case
        elif _is_unspaced(run):
            yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))
        else:
            yield from _compound(run)


def _is_unspaced(run: str) -> bool:
    return run[0] >= "\u0e00" and re.match(f"[{_UNSPACED}]", run) is not None


def _compound(run: str) -> Iterator[str]:
    pieces = _PIECE.findall(run)
    parts: list[str] = []
    for piece in pieces:
        humps = _HUMP.findall(piece)
        if len(humps) > 1 and sum(map(len, humps)) == len(piece):
            # The letters of "s3" or "iPhone" alone mean nothing; the joined form below keeps them.
            parts += [hump for hump in humps if len(hump) > 1 or hump.isdigit()]
            if len(pieces) > 1:
                parts.append(piece)
        else:
            parts.append(piece)
    joined = "".join(pieces)
    if parts != [joined]:
        yield from (part.lower() for part in parts)
    yield joined.lower()
