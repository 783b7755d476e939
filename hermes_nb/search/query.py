"""What the words of a query may mean in the words of a catalog."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hermes_nb.search.spelling import Spelling
from hermes_nb.search.synonyms import synonyms
from hermes_nb.search.text import stem, words

SYNONYM = 0.25
MISSPELLED = 0.8
_LONGEST_PHRASE = 3
_MIN_LIKENESS = 0.75
_SHORTEST_TYPO = 4
_MAX_WORDS = 200  # of a query: a person's need is said in fewer

Terms = tuple[str, ...]


class Meaning(NamedTuple):
    """Words of the catalog, taken as one, that a word of a query may stand for, and how sure that is."""

    terms: Terms
    weight: float


@dataclass(frozen=True, slots=True)
class Concept:
    """One word of a query: what it may mean, and its exact form, which is preferred where it stands."""

    meanings: tuple[Meaning, ...]
    exact: Terms


class Vocabulary:
    """The words of a catalog, found by their stem and by what is spelled like them.

    Not safe for threads: the caller locks.
    """

    def __init__(self) -> None:
        self._families: dict[str, Terms] = {}
        self._synonyms = synonyms()
        self._spelling = Spelling()
        self._unspelled: dict[str, None] = {}  # words that the spelling has still to learn

    def learn(self, new: Iterable[str]) -> None:
        """Take in words that the catalog has not held until now."""
        for word in new:
            root = stem(word)
            self._families[root] = (*self._families.get(root, ()), word)
            self._unspelled[word] = None

    def forget(self, gone: Iterable[str]) -> None:
        """Drop words that the catalog no longer holds."""
        for word in gone:
            root = stem(word)
            left = tuple(other for other in self._families[root] if other != word)
            if left:
                self._families[root] = left
            else:
                del self._families[root]
            if word in self._unspelled:
                del self._unspelled[word]
            else:
                self._spelling.forget((word,))

    def concepts(self, query: str) -> list[Concept]:
        """Read a query: one concept for each of its words, the forms of one word taken once."""
        first = {stem(word): word for word in reversed(words(query)[:_MAX_WORDS])}
        stems = list(reversed(first))
        return [Concept(tuple(self._meanings(stems, i, first[root])), (first[root],)) for i, root in enumerate(stems)]

    def _meanings(self, stems: list[str], i: int, word: str) -> Iterator[Meaning]:
        family = self._families.get(stems[i])
        if family:
            yield Meaning(family, 1.0)
        else:
            yield from self._corrections(word)
        for other in dict.fromkeys(self._stand_ins(stems, i)):
            if other not in stems and other in self._families:
                yield Meaning(self._families[other], SYNONYM)

    def _stand_ins(self, stems: list[str], i: int) -> Iterator[str]:
        """Give what may stand for the word at i, or for the phrase that begins there."""
        for length in range(1, min(_LONGEST_PHRASE, len(stems) - i) + 1):
            for other in self._synonyms.get(tuple(stems[i : i + length]), ()):
                yield from other

    def _corrections(self, word: str) -> Iterator[Meaning]:
        if len(word) < _SHORTEST_TYPO:
            return
        self._spelling.add(self._unspelled)
        self._unspelled.clear()
        for near, likeness in self._spelling.near(word, 1, likeness=_MIN_LIKENESS):
            yield Meaning(self._families[stem(near)], MISSPELLED * likeness)
