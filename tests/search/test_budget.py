"""The budget: what schemas cost, and what deferring them saves."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

import hermes_nb as hermes
from hermes_nb.notebook.commands.tools import tool_rows
from hermes_nb.notebook.faces.schema import Description
from hermes_nb.notebook.widgets.costs import Costs
from hermes_nb.notebook.widgets.figure import svg
from hermes_nb.notebook.widgets.tool_table import Table
from hermes_nb.search import budget as budgets


def session(registry: hermes.Registry, mode: str) -> hermes.Session:
    for server, count in (("a", 3), ("b", 1)):
        for number in range(count):
            parameters = {"type": "object", "properties": {"text": {"type": "string", "description": "what " * 20}}}
            schema = {"description": f"do {number}", "parameters": parameters}
            registry.register(f"mcp_{server}_{number}", f"mcp-{server}", schema, handler=lambda args: "")
    registry.register("terminal", "terminal", {"description": "run"}, handler=lambda args: "")
    return hermes.Session(registry=registry, config={"tools": {"tool_search": {"enabled": mode}}})


def test_every_tool_and_toolset_has_its_cost(registry: hermes.Registry) -> None:
    budget = session(registry, "on").budget()
    assert set(budget.per_tool) == {"mcp_a_0", "mcp_a_1", "mcp_a_2", "mcp_b_0", "terminal"}
    assert budget.per_toolset["mcp-a"] == sum(budget.per_tool[f"mcp_a_{number}"] for number in range(3))
    assert budget.total_tokens == sum(budget.per_toolset.values())


def test_the_saving_is_what_is_deferred_less_the_bridge(registry: hermes.Registry) -> None:
    budget = session(registry, "on").budget()
    assert budget.active
    assert set(budget.deferred) == {"mcp_a_0", "mcp_a_1", "mcp_a_2", "mcp_b_0"}
    assert budget.visible_tokens == budget.per_tool["terminal"] + budget.bridge_tokens
    assert budget.saving == budget.total_tokens - budget.visible_tokens


def test_nothing_is_saved_where_nothing_is_deferred(registry: hermes.Registry) -> None:
    budget = session(registry, "off").budget()
    assert (budget.active, budget.deferred, budget.saving) == (False, (), 0)


def test_the_threshold_is_decided_on_a_quarter_of_the_characters(registry: hermes.Registry) -> None:
    current = session(registry, "off")
    deferrable = [entry for entry in current.definitions() if entry["function"]["name"] != "terminal"]
    compact = sum(-(-len(json.dumps(entry, separators=(",", ":"))) // 4) for entry in deferrable)
    assert current.budget().deferrable_tokens == compact
    assert current.budget().threshold_tokens == 20_000


def test_a_real_tokenizer_counts_when_one_is_installed() -> None:
    count, name = budgets.installed_tokenizer()
    assert name == "o200k_base"
    assert count("hello world") == 2


def test_one_tool_has_one_figure_wherever_it_is_shown(registry: hermes.Registry) -> None:
    current = session(registry, "on")
    figures = current.budget().per_tool
    assert {row.name: row.tokens for row in tool_rows(current)} == figures
    columns = Table.of(current).columns()
    assert dict(zip(columns["name"], columns["tokens"], strict=True)) == figures
    assert columns["gauge"]["seen_tokens"] == current.budget().visible_tokens


@pytest.fixture
def estimating(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if no tokenizer were installed."""
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    budgets.installed_tokenizer.cache_clear()
    yield
    monkeypatch.undo()
    budgets.installed_tokenizer.cache_clear()


def test_an_exact_figure_stands_alone(registry: hermes.Registry) -> None:
    current = session(registry, "off")
    first, sees, deferrable, *rest = str(current.budget()).splitlines()
    assert "≈" not in "".join([first, sees, *rest])
    assert "deferrable ≈ " in deferrable  # the estimate decides, whatever counts
    assert {row.cost for row in tool_rows(current)} == {f"{tokens:,}" for tokens in current.budget().per_tool.values()}


def test_an_estimate_is_marked_as_one_everywhere(registry: hermes.Registry, estimating: None) -> None:
    current = session(registry, "off")
    spent = current.budget()
    assert f"≈ {spent.total_tokens:,} tokens (chars/4)" in str(spent)
    assert f"≈ {spent.visible_tokens:,} tokens" in spent._repr_html_()
    assert {row.cost for row in tool_rows(current)} == {f"≈ {tokens:,}" for tokens in spent.per_tool.values()}
    assert Table.of(current).columns()["about_tokens"] == "≈ "
    assert f"≈ {spent.total_tokens:,} tokens" in svg(Costs.of(current))
    name, tokens = next(iter(spent.per_tool.items()))
    described = Description(current.describe(name), toolset="", emoji="", state="", tokens=tokens)
    assert f"≈ {tokens:,} tokens" in repr(described)
