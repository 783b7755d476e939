"""What tool schemas cost: tokens per tool and toolset, and what deferring them saves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from hermes_nb.toolbox.declaration import Tool

Tokenizer = Callable[[str], int]
ESTIMATE = "chars/4"


def estimate(text: str | bytes) -> int:
    """About how many tokens a text has: a quarter of its length, which is all that the threshold needs."""
    return (len(text) + 3) // 4


def estimated_tokens(tool: Tool) -> int:
    """About how many tokens a tool's definition costs: what the threshold goes by, whatever counts here.

    What a model sees must not depend on what is installed. People are shown `tool_tokens`.
    """
    return estimate(tool.definition_json)


#: What was counted once; a tool never changes.
_counted: WeakKeyDictionary[Tool, int] = WeakKeyDictionary()


def tool_tokens(tool: Tool) -> int:
    """What a tool's definition costs: the one figure for people, exact where a tokenizer is installed."""
    tokens = _counted.get(tool)
    if tokens is None:
        count, _ = installed_tokenizer()
        tokens = _counted[tool] = count(tool.definition_json.decode())
    return tokens


def about() -> str:
    """What stands before every figure of `tool_tokens`: the sign of an estimate where that is what it is."""
    _, name = installed_tokenizer()
    return _about(name)


def _about(tokenizer: str) -> str:
    return "≈ " if tokenizer == ESTIMATE else ""


@dataclass(frozen=True)
class Budget:
    """The token cost of a session's tools.

    Attributes:
        per_tool: Tokens of each tool's definition.
        per_toolset: The same, added up.
        deferrable_tokens: About how many tokens the tools have that can be deferred: the estimate that decides.
        threshold_tokens: From how many on ``auto`` defers them.
        active: Whether they are deferred now.
        bridge_tokens: What the three bridge tools cost instead.
        context_length: The model's context, None if unknown.
        deferred: The names of the tools that are deferred now.
        tokenizer: What counted: ``chars/4``, or the tokenizer's name.
    """

    per_tool: Mapping[str, int]
    per_toolset: Mapping[str, int]
    deferrable_tokens: int
    threshold_tokens: int
    active: bool
    bridge_tokens: int
    context_length: int | None
    deferred: tuple[str, ...]
    tokenizer: str = ESTIMATE

    @property
    def about(self) -> str:
        """What stands before its figures: the sign of an estimate where that is what they are."""
        return _about(self.tokenizer)

    @property
    def total_tokens(self) -> int:
        """What all tools cost as they are."""
        return sum(self.per_tool.values())

    @property
    def visible_tokens(self) -> int:
        """What the model is shown now costs."""
        if not self.active:
            return self.total_tokens
        return self.total_tokens - sum(self.per_tool[name] for name in self.deferred) + self.bridge_tokens

    @property
    def saving(self) -> int:
        """What deferring saves on every turn."""
        return self.total_tokens - self.visible_tokens

    def __str__(self) -> str:
        state = f"{len(self.deferred)} tools deferred" if self.active else "nothing deferred"
        about = self.about
        lines = [
            f"{len(self.per_tool)} tools, {about}{self.total_tokens:,} tokens ({self.tokenizer}); {state}",
            f"the model sees {about}{self.visible_tokens:,} tokens; saved on every turn: {about}{self.saving:,}",
            f"deferrable ≈ {self.deferrable_tokens:,} of {self.threshold_tokens:,} tokens (threshold, by {ESTIMATE})",
        ]
        width = max((len(name) for name in self.per_toolset), default=0)
        ordered = sorted(self.per_toolset.items(), key=lambda entry: (-entry[1], entry[0]))
        return "\n".join([*lines, *(f"  {name:{width}} {f'{about}{tokens:,}':>9}" for name, tokens in ordered)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from hermes_nb.notebook.faces.results import budget_html

        return str(budget_html(self))


def measure(
    tools: Iterable[Tool], bridge: Iterable[Tool], *, threshold: int, active: bool, context_length: int | None
) -> Budget:
    """The budget of tools; counted by a real tokenizer if one is installed, else estimated."""
    tools = list(tools)
    per_tool = {tool.name: tool_tokens(tool) for tool in tools}
    per_toolset: Counter[str] = Counter()
    for tool in tools:
        per_toolset[tool.toolset] += per_tool[tool.name]
    deferrable = [tool.name for tool in tools if tool.deferrable]
    return Budget(
        per_tool=per_tool,
        per_toolset=dict(per_toolset),
        deferrable_tokens=sum(estimated_tokens(tool) for tool in tools if tool.deferrable),
        threshold_tokens=threshold,
        active=active,
        bridge_tokens=sum(map(tool_tokens, bridge)),
        context_length=context_length,
        deferred=tuple(deferrable) if active else (),
        tokenizer=installed_tokenizer()[1],
    )


@cache
def installed_tokenizer() -> tuple[Tokenizer, str]:
    """The tokenizer of bpe-openai, whose vocabulary is in its wheel, if it is installed; else the estimate."""
    try:
        import bpe_openai
    except ImportError:
        return estimate, ESTIMATE
    encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text)), "o200k_base"
