from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from hermes_nb import Registry, Session
from hermes_nb.notebook.widgets import feed
from hermes_nb.notebook.widgets.feed_view import Feed

if TYPE_CHECKING:
    import pytest

    from .conftest import Outbox


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
        for number in range(50):
            session.call("create_issue", {"title": str(number)})
        assert complete.wait(10)
        assert len(told) < 25


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
