"""Toolsets and scope: what a session may see and run, by whichever route."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hermes_nb
from hermes_nb import Registry, Session, UnknownToolError, UnknownToolsetError, model_tools
from hermes_nb.toolbox.toolsets import BUILTIN_TOOLSETS, CORE_TOOLS, LEGACY_TOOLSETS

from .support import add, error_of, shown

Open = Callable[..., Session]


@pytest.fixture(autouse=True)
def tools(registry: Registry) -> None:
    """Three toolsets: a (a1, a2), b (b1) and mcp-c (c1)."""
    for name in ("a1", "a2", "b1"):
        add(registry, name, toolset=name[0])
    add(registry, "c1", toolset="mcp-c")


def test_without_a_choice_a_session_has_every_tool(open_session: Open) -> None:
    assert shown(open_session()) == {"a1", "a2", "b1", "c1"}


def test_enabled_means_only_these(open_session: Open) -> None:
    assert shown(open_session(enabled_toolsets=["a"])) == {"a1", "a2"}


def test_nothing_enabled_means_no_tool(open_session: Open) -> None:
    assert shown(open_session(enabled_toolsets=[])) == set()


def test_disabled_are_subtracted_from_everything(open_session: Open) -> None:
    assert shown(open_session(disabled_toolsets=["a", "mcp-c"])) == {"b1"}


@pytest.mark.parametrize("enabled", [["a", "b"], ["all"], ["*"]])
def test_disabled_always_wins(open_session: Open, enabled: list[str]) -> None:
    assert not shown(open_session(enabled_toolsets=enabled, disabled_toolsets=["a"])) & {"a1", "a2"}


@pytest.mark.parametrize("name", ["all", "*"])
def test_all_and_star_mean_everything(open_session: Open, name: str) -> None:
    assert shown(open_session(enabled_toolsets=[name])) == {"a1", "a2", "b1", "c1"}
    assert shown(open_session(disabled_toolsets=[name])) == set()


def test_a_set_may_include_sets_that_include_sets(registry: Registry, open_session: Open) -> None:
    registry.define_toolset("inner", tools=["b1"])
    registry.define_toolset("middle", includes=["inner"])
    registry.define_toolset("outer", tools=["c1"], includes=["middle"])
    assert shown(open_session(enabled_toolsets=["outer"])) == {"b1", "c1"}


def test_sets_that_include_each_other_are_followed_once(registry: Registry, open_session: Open) -> None:
    registry.define_toolset("one", tools=["a1"])
    registry.define_toolset("two", tools=["b1"], includes=["one", "two"])
    registry.define_toolset("one", tools=["a1"], includes=["two"])
    assert shown(open_session(enabled_toolsets=["one"])) == {"a1", "b1"}


def test_a_set_may_include_everything(registry: Registry, open_session: Open) -> None:
    registry.define_toolset("whole", includes=["all"])
    assert shown(open_session(enabled_toolsets=["whole"])) == {"a1", "a2", "b1", "c1"}


def test_a_set_can_not_include_one_that_does_not_exist(registry: Registry) -> None:
    with pytest.raises(UnknownToolsetError, match="terminal"):
        registry.define_toolset("mine", includes=["termnal"])


def test_a_set_may_include_an_older_name(registry: Registry, open_session: Open) -> None:
    add(registry, "web_search", toolset="web")
    registry.define_toolset("mine", includes=["web_tools"])
    assert shown(open_session(enabled_toolsets=["mine"])) == {"web_search"}


def test_a_set_may_be_changed_while_sessions_live(registry: Registry, open_session: Open) -> None:
    registry.define_toolset("mine", tools=["a1"])
    session = open_session(enabled_toolsets=["mine"])
    assert shown(session) == {"a1"}
    registry.define_toolset("mine", tools=["b1"])
    assert shown(session) == {"b1"}
    assert session.call("a1").outcome == "unknown"


def test_one_name_may_be_given_as_a_text(registry: Registry, open_session: Open) -> None:
    registry.define_toolset("mine", tools="a1", includes="b")
    assert shown(open_session(enabled_toolsets="mine")) == {"a1", "b1"}


def test_an_alias_selects_its_set(registry: Registry, open_session: Open) -> None:
    registry.alias_toolset("cc", "mcp-c")
    registry.alias_toolset("ccc", "cc")
    assert shown(open_session(enabled_toolsets=["cc"])) == {"c1"}
    assert shown(open_session(enabled_toolsets=["ccc"])) == {"c1"}
    assert "c1" not in shown(open_session(disabled_toolsets=["ccc"]))


def test_disabling_an_alias_disables_what_bears_its_name_too(registry: Registry, open_session: Open) -> None:
    registry.alias_toolset("cc", "mcp-c")
    add(registry, "hidden", toolset="cc")
    assert not shown(open_session(disabled_toolsets=["cc"])) & {"hidden", "c1"}


@pytest.mark.parametrize("option", ["enabled_toolsets", "disabled_toolsets"])
def test_an_unknown_toolset_is_an_error_that_suggests_the_nearest(open_session: Open, option: str) -> None:
    with pytest.raises(UnknownToolsetError, match=r"Unknown toolset: termnal\. Did you mean terminal"):
        open_session(**{option: ["termnal"]})


def test_an_unknown_toolset_near_nothing_says_where_to_look(open_session: Open) -> None:
    with pytest.raises(UnknownToolsetError, match="toolset_names"):
        open_session(enabled_toolsets=["qqqqqqq"])


def test_all_errors_of_lookups_are_lookup_errors(open_session: Open) -> None:
    with pytest.raises(LookupError):
        open_session(enabled_toolsets=["qqqqqqq"])
    with pytest.raises(LookupError):
        open_session().describe("nothing")


@pytest.mark.parametrize("name", sorted(LEGACY_TOOLSETS))
def test_an_older_name_still_selects_its_tools(registry: Registry, open_session: Open, name: str) -> None:
    for tool in LEGACY_TOOLSETS[name]:
        add(registry, tool)
    assert shown(open_session(enabled_toolsets=[name])) == LEGACY_TOOLSETS[name]


@pytest.mark.parametrize(
    "preset", ["hermes-notebook", "hermes-cli", "hermes-telegram", "hermes-acp", "coding", "research", "safe"]
)
def test_a_preset_is_made_of_sets_that_exist(preset: str) -> None:
    assert BUILTIN_TOOLSETS[preset].includes
    assert set(BUILTIN_TOOLSETS[preset].includes) <= BUILTIN_TOOLSETS.keys()


@pytest.mark.parametrize(
    ("preset", "absent"),
    [
        ("hermes-notebook", set()),
        ("hermes-cli", set()),
        ("hermes-telegram", {"browser_cdp", "browser_dialog"}),
        ("hermes-acp", {"clarify", "send_message"}),
    ],
)
def test_a_platforms_preset_has_every_core_tool_that_works_there(
    registry: Registry, open_session: Open, preset: str, absent: set[str]
) -> None:
    for name in CORE_TOOLS:
        add(registry, name)
    assert shown(open_session(enabled_toolsets=[preset])) == CORE_TOOLS - absent


def test_disabling_a_toolset_takes_its_tools_out_of_a_preset(registry: Registry, open_session: Open) -> None:
    for name in CORE_TOOLS:
        add(registry, name)
    without = shown(open_session(enabled_toolsets=["hermes-telegram"], disabled_toolsets=["browser"]))
    assert not any(name.startswith("browser_") for name in without)


def test_what_is_registered_under_a_toolset_is_in_the_presets_that_include_it(
    registry: Registry, open_session: Open
) -> None:
    add(registry, "send_fax", toolset="messaging")
    assert shown(open_session(enabled_toolsets=["hermes-telegram"])) == {"send_fax"}
    assert shown(open_session(enabled_toolsets=["hermes-acp"])) == set()


def test_the_safe_preset_has_nothing_that_acts(registry: Registry, open_session: Open) -> None:
    for name in CORE_TOOLS:
        add(registry, name)
    acting = {"terminal", "process", "write_file", "patch", "execute_code", "send_message", "delegate_task"}
    assert not shown(open_session(enabled_toolsets=["safe"])) & acting


@pytest.mark.parametrize(
    ("options", "visible"),
    [({"enabled_toolsets": ["a"]}, True), ({"disabled_toolsets": ["a"]}, False), ({"enabled_toolsets": ["b"]}, False)],
)
def test_a_tool_registered_later_follows_the_same_rule(
    registry: Registry, open_session: Open, options: dict[str, Any], visible: bool
) -> None:
    session = open_session(**options)
    session.definitions()
    add(registry, "a3", toolset="a")
    assert ("a3" in shown(session)) is visible
    assert session.call("a3").ok is visible


def test_a_server_that_comes_back_is_selected_again(registry: Registry, open_session: Open) -> None:
    session = open_session(enabled_toolsets=["mcp-c"])
    registry.deregister("c1")
    assert shown(session) == set()
    add(registry, "c2", toolset="mcp-c")
    assert shown(session) == {"c2"}


def test_a_tool_out_of_scope_is_as_good_as_none(open_session: Open) -> None:
    session = open_session(enabled_toolsets=["a"])
    there, nowhere = session.call("b1"), session.call("zz")
    assert error_of(there).replace("b1", "zz") == error_of(nowhere)
    with pytest.raises(UnknownToolError):
        session.describe("b1")


def test_an_unknown_tool_suggests_only_tools_in_scope(registry: Registry, open_session: Open) -> None:
    add(registry, "create_issue", toolset="a")
    add(registry, "create_issues", toolset="b")
    message = error_of(open_session(enabled_toolsets=["a"]).call("creat_issue"))
    assert message == "Unknown tool: creat_issue. Did you mean create_issue?"


def test_sessions_do_not_see_each_others_tools(open_session: Open) -> None:
    first, second = open_session(enabled_toolsets=["a"]), open_session(enabled_toolsets=["b"])
    assert (shown(first), shown(second)) == ({"a1", "a2"}, {"b1"})
    assert first.call("b1").outcome == second.call("a1").outcome == "unknown"


def test_a_tool_called_by_a_tool_is_in_the_same_scope(registry: Registry, open_session: Open) -> None:
    add(registry, "outer", lambda args, session: session.call("b1").outcome, toolset="a")
    assert open_session(enabled_toolsets=["a"]).call("outer").value == "unknown"


def test_definitions_are_copies(open_session: Open) -> None:
    session = open_session(enabled_toolsets=["b"])
    session.definitions()[0]["function"].clear()
    assert session.definitions()[0]["function"]["name"] == "b1"


def test_a_definition_is_in_openais_format(registry: Registry, open_session: Open) -> None:
    parameters = {"type": "object", "properties": {"x": {"type": "integer"}}}
    add(registry, "shown", toolset="shown", schema={"description": "Words", "parameters": parameters})
    function = {"name": "shown", "description": "Words", "parameters": parameters}
    assert open_session(enabled_toolsets=["shown"]).definitions() == [{"type": "function", "function": function}]


SPEAKING = (
    "Run Python. Inside it, call web_search, read_file and terminal.\n"
    "- `web_extract` reads pages\n- `read_file` reads files\nPrefer web_search(query) over browser_click. Use it well."
)


@pytest.mark.parametrize("name", ["execute_code", "browser_navigate"])
def test_descriptions_name_only_tools_that_passed_the_filter(registry: Registry, open_session: Open, name: str) -> None:
    parameters = {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "May call read_file or terminal. Be brief."}},
    }
    add(registry, name, toolset="mine", schema={"description": SPEAKING, "parameters": parameters})
    add(registry, "read_file", toolset="mine")
    add(registry, "terminal", toolset="other")
    add(registry, "web_search", toolset="mine", check_fn=lambda: False)
    entry = next(
        e for e in open_session(enabled_toolsets=["mine"]).definitions(assembled=False) if e["function"]["name"] == name
    )
    words = str(entry)
    assert "read_file" in words
    assert "Be brief." in words
    assert "Use it well." in words
    for absent in ("web_search", "terminal", "web_extract", "browser_click"):
        assert absent not in words


def test_descriptions_stay_whole_where_every_tool_is_there(registry: Registry, open_session: Open) -> None:
    add(registry, "execute_code", toolset="mine", schema={"description": SPEAKING})
    for name in CORE_TOOLS - {"execute_code"}:
        add(registry, name, toolset="mine")
    session = open_session(enabled_toolsets=["mine"])
    assert session.describe("execute_code")["function"]["description"] == SPEAKING


# No route ever reaches outside the scope -----------------------------------------------------------------------------

SETS = ["s0", "s1", "s2", "s3"]
TOOLS = [f"t{number}" for number in range(6)]

layouts = st.fixed_dictionaries(
    {
        "homes": st.lists(st.sampled_from([*SETS, "mcp-x"]), min_size=len(TOOLS), max_size=len(TOOLS)),
        "lists": st.lists(st.sets(st.sampled_from(TOOLS), max_size=3), min_size=len(SETS), max_size=len(SETS)),
        "includes": st.lists(
            st.lists(st.sampled_from([*SETS, "mcp-x", "all"]), max_size=2), min_size=len(SETS), max_size=len(SETS)
        ),
        "aliases": st.dictionaries(st.sampled_from(["x0", "x1"]), st.sampled_from([*SETS, "mcp-x"])),
    }
)
choices = st.none() | st.lists(st.sampled_from([*SETS, "mcp-x", "all", "*"]), max_size=3)


def expected(layout: dict[str, Any], enabled: Iterable[str] | None, disabled: Iterable[str] | None) -> set[str]:
    """The tools in scope, worked out by walking from every tool to the sets that hold it."""

    def reached(start: str) -> set[str]:
        found = {start}
        while True:
            more = {name for set_name in found & set(SETS) for name in layout["includes"][SETS.index(set_name)]}
            more |= {layout["aliases"][name] for name in found & layout["aliases"].keys()}
            if more <= found:
                return found
            found |= more

    def holds(start: str, tool: str) -> bool:
        names = reached(start)
        listed = any(tool in layout["lists"][SETS.index(name)] for name in names & set(SETS))
        return bool(names & {"all", "*"}) or layout["homes"][TOOLS.index(tool)] in names or listed

    return {
        tool
        for tool in TOOLS
        if (enabled is None or any(holds(name, tool) for name in enabled))
        and not any(holds(name, tool) for name in disabled or ())
    }


def build(registry: Registry, layout: dict[str, Any], prefix: str = "") -> list[str]:
    ran: list[str] = []
    for tool, toolset in zip(TOOLS, layout["homes"], strict=True):
        add(registry, tool, lambda args, name=tool: ran.append(name), toolset=toolset)
    add(registry, "anchor", toolset="mcp-x")  # so that the dynamic set exists
    for name in SETS:
        registry.define_toolset(name)
    for name, listed, includes in zip(SETS, layout["lists"], layout["includes"], strict=True):
        registry.define_toolset(name, listed, includes)
    for alias, name in layout["aliases"].items():
        registry.alias_toolset(alias, name)
    return ran


@settings(max_examples=150, deadline=None)
@given(layouts, choices, choices, st.booleans())
def test_no_route_ever_shows_or_runs_a_tool_out_of_scope(
    layout: dict[str, Any], enabled: list[str] | None, disabled: list[str] | None, late: bool
) -> None:
    registry = Registry()
    if late:  # the session comes first, the tools after it
        for name in SETS:
            registry.define_toolset(name)
        add(registry, "anchor", toolset="mcp-x")
        session = Session(registry=registry, enabled_toolsets=enabled, disabled_toolsets=disabled)
        session.definitions()
        ran = build(registry, layout)
    else:
        ran = build(registry, layout)
        if layout["aliases"] and enabled is not None:
            enabled = [*enabled, min(layout["aliases"])]
        session = Session(registry=registry, enabled_toolsets=enabled, disabled_toolsets=disabled)
    scope = expected(layout, enabled, disabled)
    with session:
        assert shown(session) - {"anchor"} == scope
        for tool in TOOLS:
            assert session.call(tool).ok is (tool in scope)
            assert described(session, tool) is (tool in scope)
        assert [result.ok for result in session.call_many((tool, {}) for tool in TOOLS)] == [t in scope for t in TOOLS]
    assert set(ran) == scope


def described(session: Session, tool: str) -> bool:
    try:
        return bool(session.describe(tool))
    except UnknownToolError:
        return False


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_the_facade_is_no_way_out_of_the_scope(data: st.DataObject) -> None:
    registry = hermes_nb.registry
    homes = {f"facade_{number}": f"facade-set-{number % 3}" for number in range(6)}
    for name, toolset in homes.items():
        add(registry, name, lambda args: "ran", toolset=toolset)
    sets = st.none() | st.lists(st.sampled_from(sorted(set(homes.values()))), max_size=2)
    enabled, disabled = data.draw(sets), data.draw(sets)
    try:
        names = {
            e["function"]["name"]
            for e in model_tools.get_tool_definitions(enabled, disabled, skip_tool_search_assembly=True)
        }
        for name, toolset in homes.items():
            inside = (enabled is None or toolset in enabled) and toolset not in (disabled or ())
            text = model_tools.handle_function_call(name, {}, enabled_toolsets=enabled, disabled_toolsets=disabled)
            assert (text == "ran") is inside
            assert (name in names) is inside
    finally:
        for name in homes:
            registry.deregister(name)


def test_every_combination_of_two_sets_is_as_the_rule_says(open_session: Open) -> None:
    names = ["a", "b", "mcp-c"]
    members = {"a": {"a1", "a2"}, "b": {"b1"}, "mcp-c": {"c1"}}
    subsets = [[n for n, keep in zip(names, bits, strict=True) if keep] for bits in itertools.product([0, 1], repeat=3)]
    for enabled, disabled in itertools.product([None, *subsets], [None, *subsets]):
        want = set().union(*(members[n] for n in (names if enabled is None else enabled)))
        want -= set().union(*(members[n] for n in disabled or ()))
        assert shown(open_session(enabled_toolsets=enabled, disabled_toolsets=disabled)) == want
