"""The search index of a catalog of tools: what is asked for in words goes in, the tools that fit come out."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hermes_nb.search.engine.bm25f import Field, FieldedBM25
from hermes_nb.search.engine.document import FIELDS, Document, bare_name, document_words
from hermes_nb.search.engine.query import Concept, Vocabulary
from hermes_nb.search.engine.semantic import Embeddings
from hermes_nb.search.engine.spelling import Spelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hermes_nb.search.engine.semantic import SemanticModel

__all__ = ["DEFAULT_FLOOR", "Document", "Scored", "ToolIndex"]

DEFAULT_FLOOR = 0.18
"""How much of a query its hits must answer, or nothing fits; `benchmarks.retrieval` prints the curve."""

_FIELDS = {
    "name": Field(4.0, b=0.5),
    "source": Field(1.0, b=0.5),
    "description": Field(1.0, b=0.5),
    "parameter_names": Field(0.5, b=0.75),
    "parameter_texts": Field(0.5, b=0.75),
}
_EXACT = 0.15  # for the very form of a word, on top of its stem: who says `list` means the verb
_MEANING = 0.5  # the share of the meaning in the score of a hybrid search, beside the words
_MEANING_OF_FIT = 0.2  # and its share in whether anything fits
_JUDGED = 5  # hits that say whether anything fits, however many are asked for
_NAME_LIKENESS = 0.6
_RARE_WORDS = 3  # as much as a query can ask for
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
    search holds it for about a millisecond, a change for about a tenth of one for each tool.
    """

    def __init__(self, documents: Iterable[Document] = (), *, semantic: "SemanticModel | None" = None) -> None:
        self._lock = threading.Lock()
        self._embeddings = Embeddings(semantic) if semantic else None
        self._clear()
        self.add(documents)

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, documents: Iterable[Document]) -> None:
        """Add documents; one of the same name is replaced, and one with the same text costs nothing."""
        documents = list(documents)  # whatever yields them may use this index
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
        names = list(names)
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
            floor: How much of the query, by the weight of its words, one of the first hits must answer; when
                none does, the answer is empty. 0 takes whatever matches at all.
        """
        if limit < 1:
            return []
        with self._lock:
            concepts = self._vocabulary.concepts(query)
            scores = self._lexical(concepts)
            similar = self._embeddings.similarities(query, self._documents) if self._embeddings else None
            found = self._best(scores if similar is None else self._blended(scores, similar), limit)
            if found and self._fit(concepts, similar, found[:_JUDGED]) >= floor:
                return found
            return self._by_substring(query)[:limit]

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
        if self._embeddings:
            self._embeddings.clear()
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

    def _blended(self, lexical: "NDArray[np.float64]", similarities: "NDArray[np.float32]") -> "NDArray[np.float64]":
        """Add what words say and what meaning says, each as a share of its best."""
        meaning = np.where(self._bm25.alive, np.maximum(similarities, 0), 0)
        return (1 - _MEANING) * _share_of_best(lexical) + _MEANING * _share_of_best(meaning)

    def _best(self, scores: "NDArray[np.float64]", limit: int) -> list[Scored]:
        found = np.flatnonzero(scores)
        if len(found) > limit:
            least = np.partition(scores[found], -limit)[-limit]
            found = found[scores[found] >= least]  # every tie of the last place, for the names to decide
        hits = [Scored(self._documents[slot].name, float(scores[slot])) for slot in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.name))[:limit]

    def _fit(self, concepts: Sequence[Concept], similar: "NDArray[np.float32] | None", hits: Sequence[Scored]) -> float:
        """Give how much of a query the best of its first hits answers, from 0 to 1.

        A word that a tool holds answers as much of its idf as its score is of the highest possible. What a
        query can ask for is bounded: whoever describes a need at length names things, such as files and
        people, that no tool knows, and a tool that answers to a few rare words does fit.
        """
        slots = np.array([self._slots[hit.name] for hit in hits])
        answered = np.zeros(len(slots))
        asked = 0.0
        for concept in concepts:
            found = [(self._bm25.postings(terms), weight) for terms, weight in concept.meanings]
            idf = found[0][0].idf if found else self._bm25.idf_of(0)
            strength = [weight * postings.scores_at(slots) / postings.idf for postings, weight in found]
            answered += idf * np.max(strength, axis=0, initial=0)
            asked += idf
        bound = min(asked, _RARE_WORDS * self._bm25.idf_of(0)) * (self._bm25.k1 + 1)
        fit = float(answered.max()) / bound if bound else 0.0
        if similar is None:
            return fit
        return (1 - _MEANING_OF_FIT) * fit + _MEANING_OF_FIT * float(similar[slots].max())

    def _by_substring(self, query: str) -> list[Scored]:
        """Find names that hold the query literally: the last resort, for a part of a word."""
        letters = _letters(query)
        if len(letters) < _SHORTEST_SUBSTRING:
            return []
        return [Scored(name, 0.0) for name in sorted(self._slots) if letters in _letters(name)]


def _share_of_best(scores: "NDArray[np.floating[Any]]") -> "NDArray[np.floating[Any]]":
    best = scores.max(initial=0)
    return scores / best if best > 0 else scores


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _spellings(document: Document) -> set[str]:
    return {_letters(document.name), _letters(bare_name(document.name, document.source))}
