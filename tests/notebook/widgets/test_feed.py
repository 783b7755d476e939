from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from hermes_nb import Decision, Registry, Session, tool
from hermes_nb.approval.approvers import ScriptedApprover
from hermes_nb.notebook import feed
from hermes_nb.notebook.widgets.feed import Feed

from ...parts import PATIENCE

if TYPE_CHECKING:
    import pytest

    from .conftest import Outbox

SECRET = "ghp_" + "a1B2" * 9


def test_past_calls_are_there_with_real_names(tools: Registry, outbox: Outbox) -> None:
    with Session(registry=tools, config={"tools": {"tool_search": {"enabled": "on"}}}) as session:
        session.call("tool_call", {"name": "create_issue", "arguments": {"title": "x"}})
        widget = Feed(session)
        sent = outbox(widget)
        widget.receive({"kind": "ready"})
        assert [(row["tool"], row["written"]) for row in sent[0]["rows"]] == [("create_issue", "tool_call")]


def test_a_burst_of_calls_becomes_few_messages(tools: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    with Session(registry=tools) as session:
        widget = Feed(session)
        told: list[dict[str, Any]] = []
        complete = threading.Event()

        def send(message: dict[str, Any]) -> None:
            told.append(message)
            if sum(len(each["rows"]) for each in told) == 50:
                complete.set()

        monkeypatch.setattr(widget, "send", send)
        began = time.monotonic()
        for number in range(50):
            session.call("create_issue", {"title": str(number)})
        assert complete.wait(PATIENCE)
        assert len(told) <= 2 + (time.monotonic() - began) / 0.1  # one for each tenth of a second, however slow


def test_a_call_is_shown_while_it_runs_and_then_as_it_ended(tools: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    @tool(toolset="slow", registry=tools)
    def wait(key: str) -> str:
        """Wait to be released."""
        return str(release.wait(PATIENCE))

    with Session(registry=tools) as session:
        widget = Feed(session)
        told: list[dict[str, Any]] = []
        is_ended = threading.Event()

        def send(message: dict[str, Any]) -> None:
            told.extend(message["rows"])
            release.set()  # it was seen running
            if message["rows"][-1]["outcome"] != "running":
                is_ended.set()

        monkeypatch.setattr(widget, "send", send)
        session.call("wait", {"key": SECRET})
        assert is_ended.wait(PATIENCE)
    assert [(row["tool"], row["toolset"], row["outcome"]) for row in (told[0], told[-1])] == [
        ("wait", "slow", "running"),
        ("wait", "slow", "ok"),
    ]
    assert {row["call"] for row in told} == {"c0001"}
    assert told[0].keys() == told[-1].keys()
    assert SECRET not in str(told)


def test_a_feed_that_is_opened_later_has_the_calls_that_run(tools: Registry, outbox: Outbox) -> None:
    sent: list[dict[str, Any]] = []

    with Session(registry=tools) as session:

        @tool(toolset="slow", registry=tools)
        def look() -> str:
            """Open a feed."""
            widget = Feed(session)
            messages = outbox(widget)
            widget.receive({"kind": "ready"})
            sent.extend(messages)
            widget.close()
            return "seen"

        session.call("look")
    assert [(row["tool"], row["outcome"]) for row in sent[0]["rows"]] == [("look", "running")]


def test_a_commands_own_failure_and_an_edit_are_in_the_rows(tools: Registry, outbox: Outbox) -> None:
    tools.register("shell", "own", {"type": "object"}, lambda args: {"stdout": "", "exit_code": 1}, description="Run.")
    approver = ScriptedApprover([Decision.once(args={"title": "y"}), Decision.once])
    with Session(registry=tools, approver=approver) as session:
        session.call("shell", {})
        session.call("delete_issue", {"title": "x"})
        widget = Feed(session)
        sent = outbox(widget)
        widget.receive({"kind": "ready"})
        failed, edited = sent[0]["rows"]
        assert (failed["outcome"], failed["mark"], failed["tone"]) == ("✗ exit 1", "✗ exit 1", "failed")
        assert (edited["outcome"], edited["mark"], edited["tone"]) == ("ok", "✓ ok", "good")
        assert edited["decision"] == "once by approver, edited"
        assert edited["args"] == '{"title":"y"}'
        assert ("+", '  "title": "y"') in edited["edit"]


def test_a_feed_that_fails_never_breaks_the_call(tools: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    with Session(registry=tools) as session:
        widget = Feed(session)
        monkeypatch.setattr(widget, "_rows", None)
        assert session.call("create_issue", {"title": "x"}).ok


def test_a_closed_feed_follows_no_more(tools: Registry) -> None:
    with Session(registry=tools) as session:
        widget = feed(session)
        widget.close()
        session.call("create_issue", {"title": "x"})
        assert widget.text_face() == "0 calls"


def test_the_static_face_lists_calls_and_escapes_them(tools: Registry) -> None:
    with Session(registry=tools) as session:
        session.call("create_issue", {"title": "<b>"})
        session.call("<i>nonsense</i>", {})
        widget = Feed(session)
        assert widget.text_face().splitlines()[0] == "2 calls: 1 ok, 1 unknown"
        assert "<i>" not in widget.html_face()
