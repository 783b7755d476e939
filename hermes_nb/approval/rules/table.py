"""What a rule is, and the table that all of them are in."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..assessment import Verdict
    from ..commands import Command


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of danger, over one simple command.

    Attributes:
        key: Its name; approvals are remembered under it.
        description: What would happen, in plain words.
        verdict: What a match calls for.
        matches: Whether a command is of this kind.
        dangerous: Commands that it must find. They are its tests.
        benign: Commands that no rule may find. They are its tests too.
    """

    key: str
    description: str
    verdict: Verdict
    matches: Callable[[Command], bool]
    dangerous: tuple[str, ...]
    benign: tuple[str, ...]


RULES: dict[str, Rule] = {}
_BY_PROGRAM: dict[str, list[Rule]] = defaultdict(list)
_FOR_ALL: list[Rule] = []


def rule(
    key: str,
    description: str,
    *,
    programs: str = "",
    verdict: Verdict = "ask",
    dangerous: tuple[str, ...],
    benign: tuple[str, ...] = (),
) -> Callable[[Callable[[Command], bool]], Callable[[Command], bool]]:
    """Put a function into the table as a rule for these programs (for every command, if none are named)."""

    def add(matches: Callable[[Command], bool]) -> Callable[[Command], bool]:
        made = Rule(key, description, verdict, matches, dangerous, benign)
        RULES[key] = made
        for program in programs.split():
            _BY_PROGRAM[program].append(made)
        if not programs:
            _FOR_ALL.append(made)
        return matches

    return add


def matching(command: Command) -> Iterator[Rule]:
    """Every rule that a command falls under."""
    specific = () if command.asks_for_help else _BY_PROGRAM.get(command.name, ())
    for candidate in (*specific, *_FOR_ALL):
        if candidate.matches(command):
            yield candidate
