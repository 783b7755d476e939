"""The settings of tool search: what they accept, and what happens with what they don't."""

from __future__ import annotations

from typing import Any

import pytest

import hermes_nb as hermes
from hermes_nb.search import ToolSearchConfig


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, ToolSearchConfig()),
        (True, ToolSearchConfig(enabled="auto")),
        (False, ToolSearchConfig(enabled="off")),
        ({}, ToolSearchConfig()),
        ({"enabled": "on"}, ToolSearchConfig(enabled="on")),
        ({"enabled": True}, ToolSearchConfig(enabled="on")),
        ({"enabled": "OFF"}, ToolSearchConfig(enabled="off")),
        ({"threshold_pct": 0}, ToolSearchConfig(threshold_pct=0)),
        ({"max_search_limit": 3}, ToolSearchConfig(search_default_limit=3, max_search_limit=3)),
    ],
)
def test_good_values_are_taken_without_a_word(raw: Any, expected: ToolSearchConfig) -> None:
    assert ToolSearchConfig.from_raw(raw) == expected


@pytest.mark.parametrize(
    ("raw", "field", "value"),
    [
        ({"enabled": "sometimes"}, "enabled", "auto"),
        ({"threshold_pct": 150}, "threshold_pct", 100),
        ({"threshold_pct": -1}, "threshold_pct", 0),
        ({"threshold_pct": "lots"}, "threshold_pct", 10),
        ({"threshold_pct": float("nan")}, "threshold_pct", 10),
        ({"search_default_limit": 0}, "search_default_limit", 1),
        ({"search_default_limit": 99}, "search_default_limit", 20),
        ({"max_search_limit": 500}, "max_search_limit", 50),
        ({"max_search_limit": True}, "max_search_limit", 20),
        ("on", "enabled", "auto"),
        (5, "enabled", "auto"),
    ],
)
def test_bad_values_are_clamped_or_defaulted_with_a_warning(raw: Any, field: str, value: Any) -> None:
    config = ToolSearchConfig.from_raw(raw)
    assert getattr(config, field) == value
    assert len(config.warnings) == 1


def test_a_setting_that_does_not_exist_is_named() -> None:
    assert "treshold_pct" in ToolSearchConfig.from_raw({"treshold_pct": 5}).warnings[0]


def test_a_change_of_the_config_counts_at_once(registry: hermes.Registry) -> None:
    registry.register("mcp_a_b", "mcp-a", {"description": "b"}, handler=lambda args: "")
    session = hermes.Session(registry=registry, config={})
    assert len(session.definitions()) == 1
    session.config.set("tools.tool_search", {"enabled": "on"})
    assert len(session.definitions()) == 3
