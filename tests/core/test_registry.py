"""Declaring tools: names, shadowing, snapshots, generation."""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable

import pytest

import hermes_nb as hermes
from hermes_nb import RegistrationError, Registry, Session, UnknownToolsetError

from .support import NOTHING, add, shown


def test_register_takes_exactly_the_documented_arguments() -> None:
    parameters = list(inspect.signature(Registry.register).parameters.values())[1:]
    assert [parameter.name for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY] == [
        *("name", "toolset", "schema", "handler", "check_fn", "requires_env", "is_async", "description", "emoji"),
        *("max_result_size_chars", "dynamic_schema_overrides", "override"),
    ]


def test_a_registered_tool_can_be_had_by_name(registry: Registry) -> None:
    tool = add(registry, "greet", emoji="👋", schema={"description": "Say hello", "parameters": NOTHING})
    assert registry.get("greet") is tool
    assert (tool.name, tool.toolset, tool.description, tool.emoji) == ("greet", "test", "Say hello", "👋")


def test_an_unknown_name_gets_none(registry: Registry) -> None:
    assert registry.get("nothing") is None


def test_the_description_argument_serves_where_the_schema_has_none(registry: Registry) -> None:
    assert add(registry, "greet", description="Say hello").description == "Say hello"


@pytest.mark.parametrize(
    "schema",
    [
        {"description": "d", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}},
        {"type": "function", "function": {"name": "n", "description": "d", "parameters": {"properties": {"x": {}}}}},
        {"type": "object", "description": "d", "properties": {"x": {"type": "integer"}}},
    ],
    ids=["function schema", "OpenAI wrapper", "bare JSON schema"],
)
def test_a_schema_may_come_in_each_usual_form(registry: Registry, schema: dict[str, object]) -> None:
    tool = add(registry, "greet", schema=schema)
    assert tool.description == "d"
    assert list(tool.parameters["properties"]) == ["x"]


def test_a_schema_changed_after_registration_changes_nothing(registry: Registry) -> None:
    properties: dict[str, object] = {"x": {"type": "integer"}}
    tool = add(registry, "greet", schema={"parameters": {"type": "object", "properties": properties}})
    properties.clear()
    assert "x" in tool.parameters["properties"]


@pytest.mark.parametrize("name", ["", "with space", "dots.are.out", "ünï", "x" * 65, "a/b", "new\nline", "good\n"])
def test_a_name_that_model_apis_refuse_is_rejected_with_the_rule(registry: Registry, name: str) -> None:
    with pytest.raises(RegistrationError, match="1 to 64 letters, digits, '_' and '-'"):
        add(registry, name)


def test_the_longest_name_is_accepted(registry: Registry) -> None:
    assert add(registry, "x" * 64).name == "x" * 64


@pytest.mark.parametrize("name", ["tool_search", "tool_describe", "tool_call"])
def test_a_bridge_name_is_reserved(registry: Registry, name: str) -> None:
    with pytest.raises(RegistrationError, match="reserved"):
        add(registry, name, override=True)


def test_a_bridge_name_is_reserved_for_the_decorator_too(registry: Registry) -> None:
    with pytest.raises(RegistrationError, match="reserved"):
        hermes.tool(registry=registry, name="tool_call")(lambda: None)


@pytest.mark.parametrize("toolset", ["", "all", "*"])
def test_a_toolset_name_that_means_everything_or_nothing_is_rejected(registry: Registry, toolset: str) -> None:
    with pytest.raises(RegistrationError, match="toolset"):
        add(registry, "greet", toolset=toolset)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"parameters": {"type": "object", "properties": {"x": {"type": "nonsense"}}}}, "not a valid JSON schema"),
        ({"parameters": {"type": "string"}}, "type 'object'"),
        ({"parameters": {"type": "object", "properties": {"x": {"default": object()}}}}, "not JSON"),
        ("text", "must be a mapping"),
        ({"type": "function"}, "lacks its 'function'"),
    ],
)
def test_a_schema_that_can_not_work_is_rejected_where_it_is_written(
    registry: Registry, schema: object, words: str
) -> None:
    with pytest.raises(RegistrationError, match=words):
        add(registry, "greet", schema=schema)


def test_a_handler_that_is_not_callable_is_rejected(registry: Registry) -> None:
    with pytest.raises(RegistrationError, match="must be callable"):
        registry.register("greet", "test", NOTHING, "no function")  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [0, -1, math.nan, True])
def test_a_result_limit_that_can_not_work_is_rejected(registry: Registry, limit: float) -> None:
    with pytest.raises(RegistrationError, match="max_result_size_chars"):
        add(registry, "greet", max_result_size_chars=limit)


def test_shadowing_a_tool_of_another_toolset_is_rejected_and_says_how_to_mean_it(registry: Registry) -> None:
    first = add(registry, "greet", toolset="one")
    with pytest.raises(RegistrationError, match=r"'two'.*'one'.*override=True"):
        add(registry, "greet", toolset="two")
    assert registry.get("greet") is first


@pytest.mark.parametrize(("old", "new"), [("mcp-a", "plugin"), ("plugin", "mcp-a")])
def test_mcp_and_plugin_tools_do_not_shadow_each_other(registry: Registry, old: str, new: str) -> None:
    add(registry, "greet", toolset=old)
    with pytest.raises(RegistrationError, match="shadow"):
        add(registry, "greet", toolset=new)


def test_one_mcp_server_may_overwrite_a_tool_of_another(registry: Registry) -> None:
    add(registry, "greet", toolset="mcp-a")
    add(registry, "greet", toolset="mcp-b")
    tool = registry.get("greet")
    assert tool is not None
    assert tool.toolset == "mcp-b"


def test_a_toolset_may_replace_its_own_tool(registry: Registry) -> None:
    add(registry, "greet")
    again = add(registry, "greet")
    assert registry.get("greet") is again


def test_override_replaces_and_is_logged(registry: Registry, caplog: pytest.LogCaptureFixture) -> None:
    add(registry, "greet", toolset="one")
    with caplog.at_level(logging.INFO, "hermes_nb"):
        again = add(registry, "greet", toolset="two", override=True)
    assert registry.get("greet") is again
    assert any("greet" in message and "one" in message and "two" in message for message in caplog.messages)


def test_deregister_removes_a_tool_and_says_whether_there_was_one(registry: Registry) -> None:
    add(registry, "greet")
    assert registry.deregister("greet")
    assert registry.get("greet") is None
    assert not registry.deregister("greet")


def test_every_change_raises_the_generation(registry: Registry) -> None:
    seen = [registry.generation]
    changes: list[Callable[[], object]] = [
        lambda: add(registry, "greet"),
        lambda: add(registry, "greet"),
        lambda: registry.define_toolset("mine", tools=["greet"]),
        lambda: registry.alias_toolset("ours", "mine"),
        lambda: registry.deregister("greet"),
    ]
    for change in changes:
        change()
        seen.append(registry.generation)
    assert seen == sorted(set(seen))


def test_what_changes_nothing_leaves_the_generation(registry: Registry) -> None:
    before = registry.generation
    registry.deregister("nothing")
    with pytest.raises(RegistrationError):
        add(registry, "tool_call")
    assert registry.generation == before


def test_a_snapshot_never_changes(registry: Registry) -> None:
    add(registry, "one")
    snapshot = registry.snapshot
    add(registry, "two")
    registry.deregister("one")
    registry.define_toolset("mine")
    assert set(snapshot.tools) == {"one"}
    assert "mine" not in snapshot.toolsets
    with pytest.raises(TypeError):
        snapshot.tools["x"] = None  # type: ignore[index]


def test_registries_are_independent(registry: Registry) -> None:
    add(registry, "greet")
    assert Registry().get("greet") is None
    assert hermes.registry.get("greet") is None


def test_a_dynamic_schema_is_what_the_model_sees_now(registry: Registry, session: Session) -> None:
    words = ["first"]
    add(registry, "greet", dynamic_schema_overrides=lambda: {"description": words[0]})
    assert session.describe("greet")["function"]["description"] == "first"
    words[0] = "second"
    assert session.definitions(assembled=False)[0]["function"]["description"] == "second"


def test_a_dynamic_schema_is_what_arguments_are_checked_against(registry: Registry, session: Session) -> None:
    wanted = {"type": "object", "properties": {"x": {"enum": ["a"]}}}
    add(registry, "greet", dynamic_schema_overrides=lambda: {"parameters": wanted})
    assert session.call("greet", {"x": "a"}).ok
    assert session.call("greet", {"x": "b"}).outcome == "invalid"


@pytest.mark.parametrize("overrides", [lambda: 1 / 0, lambda: {"parameters": {"x": object()}}, lambda: None])
def test_a_broken_dynamic_schema_shows_the_registered_one_and_hides_no_other_tool(
    registry: Registry, session: Session, overrides: Callable[[], dict[str, object]]
) -> None:
    add(registry, "broken", dynamic_schema_overrides=overrides)
    add(registry, "fine")
    assert shown(session) == {"broken", "fine"}


def test_tools_are_shown_in_the_same_order_however_they_were_registered(registry: Registry, session: Session) -> None:
    for name in ("b", "c", "a"):
        add(registry, name)
    assert [entry["function"]["name"] for entry in session.definitions(assembled=False)] == ["a", "b", "c"]


def test_an_alias_must_mean_a_toolset_that_exists(registry: Registry) -> None:
    with pytest.raises(UnknownToolsetError, match="terminal"):
        registry.alias_toolset("t", "termina")


def test_an_alias_can_not_hide_a_toolset(registry: Registry) -> None:
    with pytest.raises(RegistrationError, match="toolset of its own"):
        registry.alias_toolset("web", "terminal")


@pytest.mark.parametrize("name", ["all", "*"])
def test_the_names_for_everything_can_not_be_defined_anew(registry: Registry, name: str) -> None:
    with pytest.raises(RegistrationError, match="every toolset"):
        registry.define_toolset(name)
