"""BM25 over weighted fields, on posting lists that grow with the catalog."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Plus

_FIELD_BITS = 3


@dataclass(frozen=True, slots=True)
class Field:
    """How one field of a document counts.

    Attributes:
        weight: What one occurrence is worth.
        b: How much a long field dilutes its words, from 0 (not at all) to 1.
    """

    weight: float = 1.0
    b: float = 0.75


@dataclass(frozen=True, slots=True)
class Postings:
    """The documents that hold a term: their slots, ascending, the score it gives to each, and its idf."""

    slots: NDArray[np.int64]
    scores: NDArray[np.float64]
    idf: float

    def scores_at(self, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Give the scores of some slots, 0 where the document does not hold the term."""
        if not len(self.slots):
            return np.zeros(len(slots))
        at = np.minimum(np.searchsorted(self.slots, slots), len(self.slots) - 1)
        return np.where(self.slots[at] == slots, self.scores[at], 0.0)


class FieldedBM25(BM25Plus):  # type: ignore[misc]
    """rank-bm25's BM25+ with a bonus (delta) of 0, over several fields, changed in place.

    Each occurrence of a term counts with its field's weight, diluted by that field's length (BM25F); with one
    field of weight 1 the scores are those of rank-bm25. BM25+ is the variant whose idf is never negative and
    depends on nothing but the term's own frequency, so a change costs what it adds: a document appends to the
    posting lists of its words, a removal marks a slot, and the rest is derived when a query asks for a term.

    Not safe for threads: the caller locks.
    """

    def __init__(self, fields: Sequence[Field], *, k1: float = 1.2) -> None:
        if len(fields) > 1 << _FIELD_BITS:
            raise ValueError(f"at most {1 << _FIELD_BITS} fields, not {len(fields)}")
        self.fields = tuple(fields)
        self._codes: dict[str, array[int]] = {}  # term → slot and field of each occurrence, in one number
        self._lengths = array("Q")  # of each slot's fields, slot after slot
        self._alive = bytearray()  # 1 for each slot in use
        self._totals = np.zeros(len(fields), dtype=np.int64)
        self._fresh: dict[tuple[str, ...], Postings] = {}
        self._worth: NDArray[np.float64] | None = None
        super().__init__((), k1=k1, delta=0)

    def _initialize(self, corpus: Any) -> dict[str, int]:  # noqa: ARG002
        return {}  # documents come through append(), and an idf is made when it is asked for

    @property
    def slots(self) -> int:
        """How many slots there are, live or dead."""
        return len(self._alive)

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which slots hold a document."""
        return np.frombuffer(bytes(self._alive), dtype=np.bool_)

    def append(self, document: Sequence[Sequence[str]]) -> list[str]:
        """Add a document, given as the terms of each field, in a slot at the end; give its new terms."""
        new = []
        for number, terms in enumerate(document):
            code = self.slots << _FIELD_BITS | number
            for term in terms:
                try:
                    self._codes[term].append(code)
                except KeyError:
                    self._codes[term] = array("Q", (code,))
                    new.append(term)
        lengths = [len(terms) for terms in document]
        self._lengths.extend(lengths)
        self._totals += lengths
        self._alive.append(1)
        self.corpus_size += 1
        self._changed()
        return new

    def drop(self, slot: int, document: Sequence[Sequence[str]]) -> list[str]:
        """Take a document out of its slot, which stays empty; give the terms that no other document holds."""
        self._totals -= [len(terms) for terms in document]
        self._alive[slot] = 0
        self.corpus_size -= 1
        self._changed()
        gone = [
            term
            for term in {term for terms in document for term in terms}
            if not any(self._alive[code >> _FIELD_BITS] for code in self._codes[term])
        ]
        for term in gone:
            del self._codes[term]
        return gone

    def postings(self, terms: tuple[str, ...]) -> Postings:
        """Give the postings of some terms taken as one, such as the forms of a word."""
        found = self._fresh.get(terms)
        if found is None:
            found = self._fresh[terms] = self._score(terms)
        return found

    def get_scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Score every slot for a query, as rank-bm25 does."""
        scores = np.zeros(self.slots)
        for term in query:
            found = self.postings((term,))
            scores[found.slots] += found.scores
        return scores

    def idf_of(self, frequency: int) -> float:
        """Give the idf of a term that so many documents hold; a term that none holds counts as the rarest."""
        self._calc_idf({"": max(frequency, 1)})
        return float(self.idf[""])

    def _changed(self) -> None:
        self._fresh.clear()
        self._worth = None

    def _score(self, terms: tuple[str, ...]) -> Postings:
        lists = [np.array(self._codes[term], dtype=np.int64) for term in terms if term in self._codes]
        codes = np.sort(np.concatenate(lists)) if lists else np.empty(0, dtype=np.int64)
        worth = self._occurrence_worth()[codes]
        slots, worth = codes[worth > 0] >> _FIELD_BITS, worth[worth > 0]
        if not len(slots):
            return Postings(slots, worth, self.idf_of(0))
        starts = np.flatnonzero(np.diff(slots, prepend=-1))
        frequency = np.add.reduceat(worth, starts)
        idf = self.idf_of(len(starts))
        return Postings(slots[starts], idf * frequency * (self.k1 + 1) / (frequency + self.k1), idf)

    def _occurrence_worth(self) -> NDArray[np.float64]:
        """Give what one occurrence is worth in each field of each slot, by code; 0 in dead slots."""
        if self._worth is None:
            count = len(self.fields)
            lengths = np.array(self._lengths, dtype=np.float64).reshape(-1, count)
            averages = np.maximum(self._totals / max(self.corpus_size, 1), 1e-9)
            weights = np.array([field.weight for field in self.fields])
            b = np.array([field.b for field in self.fields])
            worth = np.zeros((self.slots, 1 << _FIELD_BITS))
            worth[:, :count] = weights / (1 - b + b * lengths / averages)
            worth[~self.alive] = 0
            self._worth = worth.ravel()
        return self._worth
