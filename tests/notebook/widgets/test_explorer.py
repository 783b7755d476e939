from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from hermes_nb import Registry, Session
from hermes_nb.notebook import explore
from hermes_nb.notebook.asking.approver import NotebookApprover
from hermes_nb.notebook.widgets.explorer import Explorer
from hermes_nb.notebook.widgets.tool_table import Table

from ...parts import PATIENCE

if TYPE_CHECKING:
    from .conftest import Outbox


@pytest.fixture
def session(tools: Registry) -> Iterator[Session]:
    with Session(registry=tools, context_length=1_000, approver=NotebookApprover()) as opened:
        yield opened


def names(session: Session, query: str) -> list[str]:
    table = Table.of(session)
    return [table.tools[row].name for row in table.order(session, query)[0]]


@pytest.mark.parametrize("query", ["open an issue", "search the web", "weather of tomorrow", "sen", "xyzzy"])
def test_rows_are_in_the_order_of_a_search_of_all_tools(session: Session, query: str) -> None:
    assert names(session, query) == [hit.name for hit in session.search(query, 50, all=True).matches]


def test_core_tools_and_unavailable_ones_are_found_too(session: Session) -> None:
    assert names(session, "open an issue")[0] == "create_issue"
    assert names(session, "search the web")[0] == "web_search"
    assert names(session, "weather")[0] == "forecast"


def test_the_table_says_which_tools_are_always_shown(session: Session) -> None:
    columns = Table.of(session).columns()
    always = [name for name, is_always in zip(columns["name"], columns["always"], strict=True) if is_always]
    assert always == ["web_search"]


def test_half_a_word_finds_by_plain_words(session: Session) -> None:
    table = Table.of(session)
    rows, ranked = table.order(session, "sen")
    assert "send_mail" in [table.tools[row].name for row in rows]
    assert isinstance(ranked, bool)


def test_the_table_says_what_is_shown_deferred_and_unavailable(session: Session) -> None:
    session.config.set("tools.tool_search", {"enabled": "on"})
    table = Table.of(session)
    states = {tool.name: state for tool, state in zip(table.tools, table.states, strict=True)}
    assert states == {"create_issue": 1, "delete_issue": 1, "send_mail": 1, "forecast": 2, "web_search": 0}
    assert table.gauge["deferred"] == 3


def test_a_new_tool_makes_a_new_table_with_the_next_key(session: Session, tools: Registry, outbox: Outbox) -> None:
    explorer = Explorer(session)
    sent = outbox(explorer)
    explorer.receive({"kind": "search", "query": "issue"})
    tools.register("play_chess", "games", {"type": "object"}, lambda args: "e4", description="Play chess.")
    explorer.receive({"kind": "search", "query": "chess"})
    assert [message["kind"] for message in sent] == ["found", "table", "found"]
    assert sent[1]["name"][sent[2]["order"][0]] == "play_chess"


def test_a_description_arrives_with_its_schema_and_why_it_can_not_be_used(session: Session, outbox: Outbox) -> None:
    explorer = Explorer(session)
    sent = outbox(explorer)
    explorer.receive({"kind": "describe", "name": "forecast"})
    assert sent[0]["parameters"]["required"] == ["city"]
    assert "NOT_SET_ANYWHERE" in sent[0]["reason"]
    explorer.receive({"kind": "describe", "name": "nonsense"})
    assert sent[1]["kind"] == "gone"


def test_missing_variables_that_are_only_shown_are_named_beside_a_tool_that_can_run(
    session: Session, outbox: Outbox
) -> None:
    session.config.set("tools.requires_env", "show")
    explorer = Explorer(session)
    sent = outbox(explorer)
    explorer.receive({"kind": "describe", "name": "forecast"})
    assert sent[0]["reason"] is None
    assert "NOT_SET_ANYWHERE" in sent[0]["lacks"]


def run(explorer: Explorer, monkeypatch: pytest.MonkeyPatch, **message: Any) -> dict[str, Any]:
    done = threading.Event()
    results: list[dict[str, Any]] = []

    def send(content: dict[str, Any]) -> None:
        if content["kind"] == "result":
            results.append(content)
            done.set()

    monkeypatch.setattr(explorer, "send", send)
    explorer.receive({"kind": "run", "number": 1, **message})
    assert done.wait(PATIENCE)
    return results[0]


def test_a_run_goes_through_the_session(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(Explorer(session), monkeypatch, name="create_issue", args={"title": "x"})
    assert (result["outcome"], result["mark"], result["text"]) == ("ok", "✓ ok", "created x")
    assert [record.tool for record in session.journal] == ["create_issue"]


def test_a_run_with_wrong_arguments_is_refused_like_any_call(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(Explorer(session), monkeypatch, name="create_issue", args={"title": 1, "x": 2})["outcome"] == "invalid"


def test_a_guarded_run_without_a_kernel_is_denied(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(Explorer(session), monkeypatch, name="delete_issue", args={"title": "x"})["outcome"] == "denied"


def test_a_run_that_fails_tells_its_author_where(
    session: Session, tools: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(args: Any) -> None:
        raise KeyError("missing")

    tools.register("fragile", "own", {"type": "object"}, break_down, description="Break.")
    result = run(Explorer(session), monkeypatch, name="fragile", args={})
    assert (result["mark"], result["tone"]) == ("✗ error", "bad")
    assert "in break_down" in result["traceback"]


def test_a_session_has_one_explorer_for_all_cells(session: Session) -> None:
    first = explore(session)
    assert explore(session) is first
    first.close()
    assert explore(session) is not first


def test_the_saved_state_holds_no_tool(session: Session) -> None:
    state = Explorer(session).get_state()
    assert "create_issue" not in json.dumps({name: str(value) for name, value in state.items()})


def test_the_static_face_counts_the_toolsets(session: Session) -> None:
    explorer = Explorer(session)
    assert explorer.text_face().splitlines()[1] == "  mcp-github: 2"
    assert "<td>mcp-github</td>" in explorer.html_face()
