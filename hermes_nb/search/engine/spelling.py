"""Near misses of words and names: candidates by shared trigrams, then the standard library's likeness."""

from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nsmallest
from itertools import chain

_CANDIDATES = 40


class Spelling:
    """Words that can be found by something spelled nearly like them. The caller locks."""

    def __init__(self) -> None:
        self._words: list[str] = []  # by number; empty when forgotten
        self._numbers: dict[str, int] = {}
        self._by_trigram: dict[str, list[int]] = {}

    def add(self, words: Iterable[str]) -> None:
        """Learn words; those that are known already cost nothing."""
        for word in words:
            if word in self._numbers:
                continue
            number = self._numbers[word] = len(self._words)
            self._words.append(word)
            for trigram in _trigrams(word):
                self._by_trigram.setdefault(trigram, []).append(number)

    def forget(self, words: Iterable[str]) -> None:
        """Forget words, known or not."""
        for word in words:
            number = self._numbers.pop(word, None)
            if number is not None:
                self._words[number] = ""

    def near(self, word: str, limit: int, *, likeness: float) -> list[tuple[str, float]]:
        """Give known words at least so like the given one (0 to 1), the likest first, ties by name."""
        shared = Counter(chain.from_iterable(self._by_trigram.get(gram, ()) for gram in _trigrams(word)))
        enough = max(shared.values(), default=0) / 3  # what shares much less is never the likest
        candidates = [(-count, known) for n, count in shared.items() if count >= enough and (known := self._words[n])]
        matcher = SequenceMatcher(b=word, autojunk=False)
        found: list[tuple[float, str]] = []
        for _, candidate in nsmallest(_CANDIDATES, candidates):
            matcher.set_seq1(candidate)
            # Half of it does not see the order of letters: swapping two is one slip, not two.
            same_letters = matcher.quick_ratio()
            if same_letters >= likeness and (ratio := matcher.ratio()) >= likeness:
                found.append((-(same_letters + ratio) / 2, candidate))
        return [(candidate, -ratio) for ratio, candidate in nsmallest(limit, found)]


def _trigrams(word: str) -> set[str]:
    # The ends are marked twice, because people seldom mistype how a word begins.
    marked = f"^^{word}$"
    return {marked[i : i + 3] for i in range(len(marked) - 2)}
