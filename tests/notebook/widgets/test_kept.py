"""What a notebook keeps of a widget: current, bounded, without secrets, and readable where little is left of HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import bleach
import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from hermes_nb import Registry, Session, register_secret, tool
from hermes_nb.approval.decision import Request
from hermes_nb.notebook.asking.decided import decided_html, decided_text
from hermes_nb.notebook.asking.desk import ApprovalCard
from hermes_nb.notebook.asking.question import PERSON, Question
from hermes_nb.notebook.frontend.kept import HTML_KEPT, TEXT_KEPT
from hermes_nb.notebook.widgets.budget import BudgetView
from hermes_nb.notebook.widgets.explorer import Explorer
from hermes_nb.notebook.widgets.feed import Feed
from hermes_nb.notebook.widgets.jobs import JobsView

from ...parts import eventually

if TYPE_CHECKING:
    from .conftest import Outbox

WIDGET = "application/vnd.jupyter.widget-view+json"
SECRET = "correct&horse<battery>"
#: About what a repository's preview leaves of an output.
ALLOWED = {
    *("a", "b", "code", "details", "div", "em", "h1", "h2", "h3", "hr", "i", "img", "li", "mark", "ol", "p", "pre"),
    *("small", "span", "strong", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}

Asked = Callable[..., Request]


@pytest.fixture
def published() -> Iterator[list[dict[str, Any]]]:
    """What is displayed, as a front end would get it."""
    shell = InteractiveShell.instance()
    before, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
    yield shell.display_pub.outputs
    shell.display_pub = before
    InteractiveShell.clear_instance()


def sanitised(html: str) -> str:
    return str(bleach.clean(html, tags=ALLOWED, attributes={"details": ["open"]}, strip=True))


def test_the_output_is_the_widget_until_a_page_takes_its_snapshot(
    tools: Registry, outbox: Outbox, published: list[dict[str, Any]]
) -> None:
    with Session(registry=tools) as session:
        widget = Feed(session)
        told = outbox(widget)
        widget.kept.show()
        assert WIDGET in published[-1]["data"]
        widget.receive({"kind": "here"})
        assert told == [{"kind": "place", "key": widget.kept.key, "kept": True}]
        assert set(published[-1]["data"]) == {"text/plain", "text/html"}
        assert published[-1]["update"]
        assert published[-1]["transient"] == published[0]["transient"]
        assert f'data-key="{widget.kept.key}"' in published[-1]["data"]["text/html"]
        widget.kept.show()  # in another cell
        assert WIDGET not in published[-1]["data"]


def test_the_snapshot_follows_the_session(tools: Registry, outbox: Outbox, published: list[dict[str, Any]]) -> None:
    with Session(registry=tools) as session:
        widget = Feed(session)
        outbox(widget)
        widget.kept.show()
        widget.receive({"kind": "here"})
        session.call("web_search", {"query": "the newest of all"})
        assert eventually(lambda: "the newest of all" in published[-1]["data"]["text/html"])
        assert "web_search: ok" in published[-1]["data"]["text/plain"]
        said = len(published)
        widget.kept.renew()
        assert len(published) == said  # nothing is new


def test_a_widget_inside_another_keeps_nothing(
    tools: Registry, outbox: Outbox, published: list[dict[str, Any]]
) -> None:
    with Session(registry=tools) as session:
        widget = Explorer(session)
        told = outbox(widget)
        widget.receive({"kind": "here"})
        assert told[0]["kept"] is False
        assert published == []


def test_what_a_closed_widget_last_showed_stays(
    tools: Registry, outbox: Outbox, published: list[dict[str, Any]]
) -> None:
    with Session(registry=tools) as session:
        widget = Feed(session)
        outbox(widget)
        widget.kept.show()
        widget.receive({"kind": "here"})
        session.call("web_search", {"query": "the very last"})
        widget.close()
        assert "the very last" in published[-1]["data"]["text/html"]


def test_a_decided_card_is_no_widget(asked: Asked, outbox: Outbox, published: list[dict[str, Any]]) -> None:
    question = Question(asked())
    card = ApprovalCard(question)
    outbox(card)
    card.kept.show()
    question.answer("deny", "not today")
    card.note(question)
    card.kept.settle()
    data = published[-1]["data"]
    assert set(data) == {"text/plain", "text/html"}
    assert "hermes-live" not in data["text/html"]
    assert data["text/plain"].splitlines() == [
        "✘ Denied: shell: cd build && rm -rf ./cache (not today)",
        "  found: deletes a folder: rm -rf ./cache",
        "  to run on local in /home/me; decided by the person at the notebook",
        "  Nothing ran.",
    ]


def test_an_edited_card_says_what_it_was_changed_to(asked: Asked) -> None:
    question = Question(asked())
    assert question.answer("once", edited="cd build && ls <b>") is None
    first, *_, last = decided_text(question).splitlines()
    assert first.endswith(" → cd build && ls <b>")
    assert last.endswith("checked again before it may run")
    assert "cd build &amp;&amp; ls &lt;b&gt;" in decided_html(question)
    assert PERSON in decided_html(question)


def test_a_question_that_nobody_answered_says_so(asked: Asked) -> None:
    question = Question(asked())
    question.deny("no answer within 60 s")
    assert "decided by nobody" in decided_text(question)
    assert "no answer within 60 s" in decided_html(question)


def test_a_long_question_is_kept_in_part(asked: Asked) -> None:
    question = Question(asked("echo " + "x" * 500_000))
    question.answer("once")
    assert len(decided_html(question)) < 10_000
    assert len(decided_text(question)) < 2_000


def test_snapshots_are_bounded(tools: Registry, outbox: Outbox, published: list[dict[str, Any]]) -> None:
    @tool(toolset="large", registry=tools)
    def shout(words: str) -> str:
        """Say it loud."""
        return "<&>" * 100_000

    for number in range(3_000):
        schema = {"type": "object", "properties": {}}
        tools.register(f"tool_{number}", "many", schema, lambda args, **_: "", description="It does things. " * 40)
    with Session(registry=tools, config={"results": {"max_chars": 90_000}}) as session:
        for number in range(120):
            session.call("shout", {"words": "long " * 2_000 + str(number)})
        for kind in (Feed, Explorer, BudgetView, JobsView):
            widget = kind(session)
            outbox(widget)
            widget.kept.show()
            widget.receive({"kind": "here"})
            data = published[-1]["data"]
            assert len(data["text/html"]) <= HTML_KEPT + 100, kind
            assert len(data["text/plain"]) <= TEXT_KEPT + 100, kind


def test_no_secret_is_kept(tools: Registry, outbox: Outbox, published: list[dict[str, Any]], asked: Asked) -> None:
    register_secret(SECRET)

    @tool(toolset="mail", registry=tools)
    def sign_in(word: str) -> str:
        """Placeholder."""
        return f"signed in with {word}"

    schema = {"type": "object", "properties": {}}
    tools.register("leaky", SECRET, schema, lambda args, **_: "", description=f"Uses {SECRET}.")
    question = Question(asked(f"rm -rf ./cache --token {SECRET}"))
    question.answer("deny", f"because of {SECRET}")
    with Session(registry=tools) as session:
        session.call("sign_in", {"word": SECRET})
        card = ApprovalCard(question)
        card.note(question)
        for widget in (Feed(session), Explorer(session), BudgetView(session), card):
            outbox(widget)
            widget.kept.show()
            widget.receive({"kind": "here"})
            widget.kept.settle()
    shown = str([output["data"] for output in published])
    assert "battery" not in shown
    assert "correct&amp;horse" not in shown


def test_a_snapshot_is_readable_without_styles_and_scripts(tools: Registry, asked: Asked) -> None:
    question = Question(asked())
    question.answer("deny", "not today")
    with Session(registry=tools) as session:
        session.call("create_issue", {"title": "broken"})
        faces = {
            "feed": (Feed(session).snapshot_face(), ["create_issue", "broken", "created broken"]),
            "explorer": (Explorer(session).snapshot_face(), ["send_mail", "Send an electronic message."]),
            "budget": (BudgetView(session).snapshot_face(), ["without search", "mcp-github"]),
            "card": (decided_html(question), ["Denied", "rm -rf ./cache", "deletes a folder", "not today"]),
        }
    for name, (face, words) in faces.items():
        left = sanitised(face)
        assert not re.search(r"<(?:script|style|svg)|style=|class=", left)
        assert [word for word in words if word not in left] == [], name
