"""What is known of a script's variables: their possible values, and where these come from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval.shell.commands import MOST_SOURCES, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hermes_nb.approval.shell.commands import Command, Word

#: A value that is longer than this is not followed.
LONGEST_VALUE = 4_000
#: The most values of one variable that are kept.
MOST_VALUES = 16

#: What every shell knows. A number such as $$ may be any; a path or a program should be the likely one.
_SPECIAL = {
    "HOME": ["~"], "IFS": [" "], "SHELL": ["/bin/bash"], "BASH": ["/bin/bash"], "0": ["bash"],
    "TMPDIR": ["/tmp"],  # noqa: S108
    "$": ["4242"], "!": ["4242"], "?": ["0"], "#": ["1"], "RANDOM": ["7"], "PYTHON": ["python"],
    "EDITOR": ["vi"],
    "CC": ["cc"], "CXX": ["c++"], "MAKE": ["make"], "PAGER": ["less"], "PIP": ["pip"],
}  # fmt: skip
_POSITIONAL = ("1", "2", "3", "4", "@", "*")
_UNKNOWNS = re.compile(f"{UNKNOWN}+")


class Variables:
    """The variables of a script while it is read from top to bottom."""

    def __init__(self) -> None:
        self._values: dict[str, list[str]] = {}
        self._origins: dict[str, tuple[Command, ...]] = {}
        self._many: set[str] = set()
        self._separators = ""

    def get(self, name: str) -> list[str] | None:
        """The possible values of a variable, or None if nothing is known of it."""
        values = self._values.get(name)
        if values is None:
            return _SPECIAL.get(name)
        # IFS=,; c=rm,-rf,x; $c runs rm. Words are parted at blanks, so separators become blanks here, where values
        # come out.
        if self._separators:
            table = str.maketrans(dict.fromkeys(self._separators, " "))
            return [value.translate(table) for value in values]
        return values

    def origins(self, name: str) -> tuple[Command, ...]:
        """The commands whose output the variable holds."""
        return self._origins.get(name, ())

    def is_many(self, name: str) -> bool:
        """Whether the variable takes values that are not spelt out, one after the other."""
        return name in self._many

    def assign(self, name: str, value: Word, *, appended: str | None = None) -> None:
        """Set a variable, or append to it after ``appended``."""
        text = value.text
        if name == "IFS":
            self._separators = "" if text.strip() == UNKNOWN else text.strip()
            return
        if appended is not None:
            text = (self._values.get(name) or [""])[0] + appended + text
        self._values[name] = [bounded(text)]
        self._origins[name] = value.sources
        self._many.discard(name)

    def assign_unknown(self, name: str) -> None:
        """Note that a variable is read from somewhere, one value after the other."""
        self._values[name] = [UNKNOWN]
        self._many.add(name)

    def assign_each(self, name: str, words: list[Word]) -> None:
        """Note that a variable takes each of these words in turn."""
        self._values[name] = _worst_first(word.text for word in words) or [UNKNOWN]
        self._origins[name] = tuple(source for word in words for source in word.sources)[:MOST_SOURCES]
        # for f in a b; do rm $f; done deletes two files that a person can see. More than three, *.txt or $list is
        # "many", which is what a wildcard is; "for x" without words goes through "$@".
        if not words or len(words) > 3 or any(word.glob or word.unknown for word in words):
            self._many.add(name)

    def bind(self, calls: list[list[str]]) -> dict[str, list[str] | None]:
        """Set ``$1``, ``$@`` and the like to the arguments of all these calls; return what they were.

        A parameter gets one value for each call, since a body is read once for all of them.
        """
        before = {name: self._values.get(name) for name in _POSITIONAL}
        for position in range(4):
            values = _worst_first(call[position] for call in calls if len(call) > position)
            if values:
                self._values[str(position + 1)] = values
        everything = _worst_first(text for call in calls for text in call)
        if everything:
            self._values["@"] = self._values["*"] = everything
        return before

    def restore(self, before: dict[str, list[str] | None]) -> None:
        """Undo a binding."""
        for name, values in before.items():
            if values is None:
                self._values.pop(name, None)
            else:
                self._values[name] = values


def bounded(text: str) -> str:
    """A value that cannot grow without bound, however often it is doubled: ``a=$a$a`` thirty times is a gigabyte."""
    if UNKNOWN * 2 in text:
        text = _UNKNOWNS.sub(UNKNOWN, text)
    return text if len(text) <= LONGEST_VALUE else UNKNOWN


def _worst_first(values: Iterable[str]) -> list[str]:
    """Distinct values, those that reach furthest first: a bound on their number drops the harmless."""
    distinct = list(dict.fromkeys(values))
    distinct.sort(key=lambda value: not value.startswith(("/", "~", "-", ".", "*", UNKNOWN)))
    return distinct[:MOST_VALUES]
