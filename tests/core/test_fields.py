"""What decides how a tool is treated: its fields, derived once from its name and toolset where nobody gave them."""

from __future__ import annotations

import pytest

import hermes_nb as hermes
from hermes_nb import RegistrationError, Registry, Session, Tool
from hermes_nb.toolbox.names import spellings
from hermes_nb.toolbox.toolsets import AGENT_TOOLS, CORE_TOOLS

from .support import NOTHING, add

ON = {"tools": {"tool_search": {"enabled": "on"}}}


def made(name: str = "made", toolset: str = "test", **fields: object) -> Tool:
    return Tool(name, toolset, "Does things", NOTHING, lambda args: "ran", **fields)  # type: ignore[arg-type]


def seen(session: Session) -> set[str]:
    """What a model sees, tool search included."""
    return {entry["function"]["name"] for entry in session.definitions()}


@pytest.mark.parametrize(
    ("name", "toolset", "source", "origin", "deferrable"),
    [
        ("greet", "mine", "plugin", "mine", True),
        ("create_issue", "mcp-github", "mcp", "github", True),
        ("terminal", "terminal", "core", "terminal", False),
        ("terminal", "of-a-plugin", "core", "of-a-plugin", False),
        ("terminal", "mcp-far", "mcp", "far", False),
    ],
)
def test_what_is_not_given_is_derived(name: str, toolset: str, source: str, origin: str, deferrable: bool) -> None:
    tool = made(name, toolset)
    assert (tool.source, tool.origin, tool.deferrable) == (source, origin, deferrable)


def test_the_names_that_sessions_handle_are_derived() -> None:
    assert {name for name in CORE_TOOLS if made(name).handled_by_session} == AGENT_TOOLS


def test_what_is_given_stays(registry: Registry) -> None:
    tool = made("terminal", "mcp-x", source="plugin", origin="y", deferrable=True, handled_by_session=True)
    assert registry.add(tool) is tool
    assert (tool.source, tool.origin, tool.deferrable, tool.handled_by_session) == ("plugin", "y", True, True)


def test_a_tool_in_other_words_is_the_same_otherwise() -> None:
    tool = made(deferrable=False, source="mcp", origin="y", mentions_tools=frozenset({"other"}))
    again = tool.described("Other words", NOTHING)
    assert (again.deferrable, again.source, again.origin) == (False, "mcp", "y")
    assert again.mentions_tools == {"other"}


def test_a_tool_that_is_not_deferrable_stays_in_front_of_the_model(registry: Registry) -> None:
    add(registry, "always", deferrable=False)
    add(registry, "sometimes")

    @hermes.tool(registry=registry, deferrable=False)
    def decorated() -> str:
        return "ran"

    with Session(registry=registry, config=ON) as session:
        assert seen(session) == {"always", "decorated", "tool_search", "tool_describe", "tool_call"}
        assert session.call("tool_search", {"query": "always"}).value["total_available"] == 1
        assert "not deferred" in str(session.call("tool_call", {"name": "always", "arguments": {}}).error)
        assert session.budget().deferred == ("sometimes",)


def test_a_core_name_is_deferred_where_its_declaration_says_so(registry: Registry) -> None:
    registry.register("web_search", "mcp-far", NOTHING, lambda args: "far", deferrable=True)
    with Session(registry=registry, config=ON) as session:
        assert session.view.is_searched
        assert session.call("tool_call", {"name": "web_search", "arguments": {}}).value == "far"


def test_a_session_takes_over_any_tool_that_is_declared_for_it(registry: Registry, session: Session) -> None:
    add(registry, "notes", lambda args: "nobody's", handled_by_session=True)
    session.intercept("notes", lambda args: "mine")
    assert session.call("notes").value == "mine"


def test_a_tool_that_is_no_longer_for_sessions_runs_itself(registry: Registry, session: Session) -> None:
    add(registry, "notes", lambda args: "its own", handled_by_session=True)
    session.intercept("notes", lambda args: "the session's")
    add(registry, "notes", lambda args: "its own", handled_by_session=False)
    assert session.call("notes").value == "its own"


def test_servers_overwrite_each_other_whatever_their_toolsets_are_called(registry: Registry) -> None:
    registry.add(made("sync", "one", source="mcp"))
    assert registry.add(made("sync", "two", source="mcp")).toolset == "two"
    with pytest.raises(RegistrationError, match="shadow"):
        registry.add(made("sync", "mcp-three", source="plugin"))


def test_a_name_without_its_origin_is_understood(registry: Registry) -> None:
    tool = made("github_list", "far-away", source="mcp", origin="GitHub")
    assert spellings([tool])["list"] == {"github_list"}


def test_descriptions_name_none_of_the_tools_they_may_mention_that_is_not_there(
    registry: Registry, session: Session
) -> None:
    words = "Plans a trip. Use it with find_flight and find_train. Call find_hotel first."
    registry.add(
        Tool(
            "plan",
            "travel",
            words,
            NOTHING,
            print,
            mentions_tools=frozenset({"find_flight", "find_train", "find_hotel"}),
        )
    )
    add(registry, "find_train")
    assert session.describe("plan")["function"]["description"] == "Plans a trip. Use it with find_train."
    add(registry, "find_flight")
    add(registry, "find_hotel")
    assert session.describe("plan")["function"]["description"] == words
