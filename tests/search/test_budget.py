"""The budget: what schemas cost, and what deferring them saves."""

from __future__ import annotations

import json

import hermes_nb as hermes
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
