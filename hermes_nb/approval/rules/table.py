"""What a rule is, and the table that all of them are in."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hermes_nb.approval.assessment import Verdict
    from hermes_nb.approval.shell.commands import Command


@dataclass(frozen=True, slots=True, eq=False)
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
_EVERYWHERE: list[Rule] = []


def rule(
    key: str,
    description: str,
    *,
    programs: str = "",
    everywhere: bool = False,
    verdict: Verdict = "ask",
    dangerous: tuple[str, ...],
    benign: tuple[str, ...] = (),
) -> Callable[[Callable[[Command], bool]], Callable[[Command], bool]]:
    """Put a function into the table as a rule for these programs; several rules may share one function.

    A rule that holds everywhere is also asked about any command that redirects, sets variables, executes code
    or whose program is not simply named.
    """

    def add(matches: Callable[[Command], bool]) -> Callable[[Command], bool]:
        made = Rule(key, description, verdict, matches, dangerous, benign)
        RULES[key] = made
        for program in programs.split():
            _BY_PROGRAM[program].append(made)
        if everywhere:
            _EVERYWHERE.append(made)
        return matches

    return add


def has_operands(command: Command) -> bool:
    """For programs that are dangerous as soon as they are given something to work on."""
    return bool(command.operands)


def matching(command: Command) -> Iterator[Rule]:
    """Every rule that a command falls under."""
    candidates: Iterable[Rule] = () if command.asks_for_help else _BY_PROGRAM.get(command.name, ())
    if command.redirects or command.environment or command.code or command.is_oddly_named:
        candidates = dict.fromkeys((*candidates, *_EVERYWHERE))
    for candidate in candidates:
        if candidate.matches(command):
            yield candidate
