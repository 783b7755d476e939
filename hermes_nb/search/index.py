"""The search index of a catalog of tools: what is asked for in words goes in, the tools that fit come out."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hermes_nb.search.bm25f import Field, FieldedBM25
from hermes_nb.search.document import FIELDS, Document, bare_name, document_words
from hermes_nb.search.query import Concept, Vocabulary
from hermes_nb.search.spelling import Spelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hermes_nb.search.semantic import SemanticModel

__all__ = ["DEFAULT_FLOOR", "Document", "Scored", "ToolIndex"]

DEFAULT_FLOOR = 0.0
"""The share of what a query says that its best hits must cover; with less, nothing fits."""

_FIELDS = {
    "name": Field(4.0, b=0.5),
    "source": Field(1.0, b=0.5),
    "description": Field(1.0, b=0.5),
    "parameter_names": Field(0.5, b=0.75),
    "parameter_texts": Field(0.5, b=0.75),
}
_EXACT = 0.15  # for the exact form of a word, on top of its stem: `lists` means the verb less often than `list`
_NAME_LIKENESS = 0.6
_SHORTEST_SUBSTRING = 2
_WASTE = 64  # empty slots that are never worth a compaction


@dataclass(frozen=True, slots=True)
class Scored:
    """A tool that fits a query, and how well: higher is better, comparable within one answer only."""

    name: str
    score: float


class ToolIndex:
    """A catalog of tools that can be searched in words.

    A change costs what it changes: the text of a document is split once, its words are appended to posting
    lists, and what depends on the whole catalog is derived for the words of a query when they are asked for.

    Safe for threads: one lock makes every method atomic, so a search sees a change whole or not at all. A
    search holds it for about a millisecond.
    """

    def __init__(self, documents: Iterable[Document] = (), *, semantic: "SemanticModel | None" = None) -> None:
        self._lock = threading.Lock()
        self._semantic = semantic
        self._clear()
        self.add(documents)

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents; one of the same name is replaced, and one with the same text costs nothing."""
        with self._lock:
            for document in documents:
                slot = self._slots.get(document.name)
                if slot is not None:
                    if self._documents[slot].same_text(document):
                        continue
                    self._drop(slot)
                self._append(document)
            self._compact()

    def remove(self, names: Iterable[str]) -> None:
        """Remove the documents of these names, if they are there."""
        with self._lock:
            for name in names:
                slot = self._slots.get(name)
                if slot is not None:
                    self._drop(slot)
            self._compact()

    def search(self, query: str, limit: int, *, floor: float = DEFAULT_FLOOR) -> list[Scored]:
        """Find the tools that fit a query, best first, equally good ones by name.

        Args:
            query: What is needed, in words; a tool's name does too.
            limit: How many tools to give at most.
            floor: The share of the query, by the weight of its words, that one of the hits must cover; when
                none does, the answer is empty. 0 takes whatever matches at all.
        """
        if limit < 1:
            return []
        with self._lock:
            concepts = self._vocabulary.concepts(query)
            found = self._best(self._lexical(concepts), limit)
            if found and self._coverage(concepts, [self._slots[hit.name] for hit in found]) >= floor:
                return found
            return list(self._by_substring(query))[:limit]

    def nearest(self, name: str, limit: int = 3) -> list[str]:
        """Give names of tools that someone who wrote this name may have meant, the likest first.

        Case and separators do not count, and the server's part of a name may be missing.
        """
        with self._lock:
            self._spelling.add(self._unspelled)
            self._unspelled.clear()
            near = self._spelling.near(_letters(name), len(self._slots), likeness=_NAME_LIKENESS)
            names = (known for letters, _ in near for known in sorted(self._by_letters[letters]))
            return list(dict.fromkeys(names))[:limit]

    def _clear(self) -> None:
        self._slots: dict[str, int] = {}
        self._documents: list[Document] = []  # by slot; stale where the slot is empty
        self._bm25 = FieldedBM25([_FIELDS[field] for field in FIELDS])
        self._vocabulary = Vocabulary()
        self._spelling = Spelling()
        self._by_letters: dict[str, set[str]] = {}
        self._unspelled: dict[str, None] = {}  # what the spelling has still to learn

    def _append(self, document: Document) -> None:
        self._slots[document.name] = len(self._documents)
        self._documents.append(document)
        self._vocabulary.learn(self._bm25.append(document_words(document)))
        for letters in _spellings(document):
            self._by_letters.setdefault(letters, set()).add(document.name)
            self._unspelled[letters] = None

    def _drop(self, slot: int) -> None:
        document = self._documents[slot]
        del self._slots[document.name]
        self._vocabulary.forget(self._bm25.drop(slot, document_words(document)))
        for letters in _spellings(document):
            names = self._by_letters[letters]
            names.discard(document.name)
            if not names:
                del self._by_letters[letters]
                self._unspelled.pop(letters, None)
                self._spelling.forget((letters,))

    def _compact(self) -> None:
        """Start anew once most slots are empty, so that what is gone costs no more than what is there."""
        if len(self._documents) > 2 * len(self._slots) + _WASTE:
            documents = [self._documents[slot] for slot in self._slots.values()]
            self._clear()
            for document in documents:
                self._append(document)

    def _lexical(self, concepts: Sequence[Concept]) -> "NDArray[np.float64]":
        scores = np.zeros(len(self._documents))
        for concept in concepts:
            for terms, weight in (*concept.meanings, (concept.exact, _EXACT)):
                found = self._bm25.postings(terms)
                scores[found.slots] += weight * found.scores
        return scores

    def _best(self, scores: "NDArray[np.float64]", limit: int) -> list[Scored]:
        found = np.flatnonzero(scores)
        if len(found) > limit:
            least = np.partition(scores[found], -limit)[-limit]
            found = found[scores[found] >= least]  # every tie of the last place, for the names to decide
        hits = [Scored(self._documents[slot].name, float(scores[slot])) for slot in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.name))[:limit]

    def _coverage(self, concepts: Sequence[Concept], slots: Sequence[int]) -> float:
        """Give the share of a query, by the idf of its words, that the best of some documents covers."""
        at = np.array(slots)
        covered = np.zeros(len(at))
        total = 0.0
        for concept in concepts:
            share = np.zeros(len(at))
            idf = None
            for terms, weight in concept.meanings:
                found = self._bm25.postings(terms)
                idf = found.idf if idf is None else idf
                share = np.maximum(share, weight * np.isin(at, found.slots))
            idf = self._bm25.idf_of(0) if idf is None else idf
            covered += idf * share
            total += idf
        return float(covered.max()) / total if total else 0.0

    def _by_substring(self, query: str) -> Iterator[Scored]:
        """Find names that hold the query literally: the last resort for a part of a word."""
        letters = _letters(query)
        if len(letters) >= _SHORTEST_SUBSTRING:
            for name in sorted(self._slots):
                if letters in _letters(name):
                    yield Scored(name, 0.0)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _spellings(document: Document) -> set[str]:
    return {_letters(document.name), _letters(bare_name(document.name, document.source))}
