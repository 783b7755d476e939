"""What the words of a query may mean in the words of a catalog."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from hermes_nb.search.engine.spelling import Spelling
from hermes_nb.search.engine.synonyms import synonyms
from hermes_nb.search.engine.words import stem, words

RELATED = 0.25  # what a synonym, or a word written together or apart, is worth beside the word itself
MISSPELLED = 0.8
_LONGEST_PHRASE = 3
_LIKENESS = 0.8  # of a word to the one it may be misspelled for
_SHORTEST_TYPO = 4
_LONGEST_TYPO = 20
_SHORTEST_PART = 3
_MAX_WORDS = 200  # of a query: a need is said in fewer

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
        said = list(reversed(first.values()))
        stems = list(reversed(first))
        return [Concept(tuple(self._meanings(said, stems, i)), (word,)) for i, word in enumerate(said)]

    def _meanings(self, said: list[str], stems: list[str], i: int) -> Iterator[Meaning]:
        if stems[i] in self._families:
            yield Meaning(self._families[stems[i]], 1.0)
            related = self._stand_ins(stems, i)
        else:
            yield from self._corrections(said[i])
            related = chain(self._stand_ins(stems, i), self._parts(said[i]))
        for other in dict.fromkeys(chain(related, self._joined(said, i))):
            if other not in stems and other in self._families:
                yield Meaning(self._families[other], RELATED)

    def _stand_ins(self, stems: list[str], i: int) -> Iterator[str]:
        """Give what may stand for the word at i, or for the phrase that begins there."""
        for length in range(1, min(_LONGEST_PHRASE, len(stems) - i) + 1):
            for other in self._synonyms.get(tuple(stems[i : i + length]), ()):
                yield from other

    def _joined(self, said: list[str], i: int) -> Iterator[str]:
        """Give the word at i written together with the next: file system, filesystem."""
        if i + 1 < len(said):
            yield stem(said[i] + said[i + 1])

    def _parts(self, word: str) -> Iterator[str]:
        """Give the two words of the catalog that a word is made of, if it is: nodepool, node pool."""
        for cut in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
            parts = stem(word[:cut]), stem(word[cut:])
            if all(part in self._families for part in parts):
                yield from parts
                return

    def _corrections(self, word: str) -> Iterator[Meaning]:
        if not _spelled_by_hand(word):
            return
        self._spelling.add(filter(_spelled_by_hand, self._unspelled))
        self._unspelled.clear()
        for near, likeness in self._spelling.near(word, 1, likeness=_LIKENESS):
            yield Meaning(self._families[stem(near)], MISSPELLED * likeness)


def _spelled_by_hand(word: str) -> bool:
    return _SHORTEST_TYPO <= len(word) <= _LONGEST_TYPO and word.isalpha()
