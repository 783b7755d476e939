"""What a session's schemas cost, by toolset, with and without tool search, and without some of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hermes_nb.search.budget import estimated_tokens

if TYPE_CHECKING:
    from collections.abc import Collection

    from hermes_nb.search.budget import Budget
    from hermes_nb.search.settings import ToolSearchConfig
    from hermes_nb.session import Session


@dataclass(frozen=True)
class Slice:
    """One toolset: its tools, what those cost that are always shown, and those that can be deferred.

    ``estimate`` is what the threshold goes by: the same whatever tokenizer is installed.
    """

    toolset: str
    tools: int
    direct: int
    deferrable: int
    estimate: int

    @property
    def tokens(self) -> int:
        """What it costs without tool search."""
        return self.direct + self.deferrable


@dataclass(frozen=True)
class Costs:
    """The token cost of a session's tools, the largest toolset first; ``about`` stands before every figure of it."""

    slices: tuple[Slice, ...]
    bridge: int
    context: int | None
    settings: ToolSearchConfig
    tokenizer: str
    about: str = ""

    @classmethod
    def of(cls, session: Session, budget: Budget | None = None) -> Costs:
        """The costs of a session now, whose budget need not be made again where it is at hand."""
        budget = budget or session.budget()
        rows: dict[str, list[int]] = {}
        for tool in session.view.visible().tools:
            row = rows.setdefault(tool.toolset, [0, 0, 0, 0])
            row[0] += 1
            row[2 if tool.deferrable else 1] += budget.per_tool[tool.name]
            row[3] += estimated_tokens(tool) if tool.deferrable else 0
        slices = [Slice(name, *row) for name, row in rows.items()]
        ordered = tuple(sorted(slices, key=lambda part: (-part.tokens, part.toolset)))
        return cls(
            ordered, budget.bridge_tokens, session.context_length, session.search_config, budget.tokenizer, budget.about
        )

    def without(self, toolsets: Collection[str]) -> Costs:
        """The costs if these were not there."""
        return replace(self, slices=tuple(part for part in self.slices if part.toolset not in toolsets))

    @property
    def total(self) -> int:
        """What the model would see without tool search."""
        return sum(part.tokens for part in self.slices)

    @property
    def searched(self) -> int:
        """What it would see with everything deferred that can be."""
        deferrable = any(part.deferrable for part in self.slices)
        return sum(part.direct for part in self.slices) + (self.bridge if deferrable else 0)

    @property
    def threshold(self) -> int:
        """From how many tokens on ``auto`` defers."""
        return self.settings.threshold_tokens(self.context)

    @property
    def active(self) -> bool:
        """Whether tools are deferred now."""
        deferrable = sum(1 for part in self.slices if part.deferrable)
        return self.settings.is_active(sum(part.estimate for part in self.slices), deferrable, self.context)

    @property
    def now(self) -> int:
        """What the model sees now."""
        return self.searched if self.active else self.total

    def share(self, tokens: int) -> str:
        """Tokens as a share of the context, where that is known."""
        return f"{tokens / self.context:.1%}" if self.context else ""


def compared(before: Costs, after: Costs, removed: Collection[str]) -> str:
    """What changes, in a sentence."""
    if not removed:
        state = "tool search is active" if before.active else "tool search is not active"
        return f"The model sees {before.about}{before.now:,} tokens of schemas now: {state}."
    names = ", ".join(sorted(removed))
    sentence = f"Without {names}: {after.about}{after.total:,} tokens in all, {before.total - after.total:,} less"
    if before.active and not after.active:
        sentence += "; tool search would switch off"
    change = after.now - before.now
    seen = "as much as now" if not change else f"{abs(change):,} {'more' if change > 0 else 'less'} than now"
    return f"{sentence}; the model would see {after.about}{after.now:,} tokens, {seen}."
