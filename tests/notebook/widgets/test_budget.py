from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from hermes_nb import Registry, Session
from hermes_nb.notebook import budget
from hermes_nb.notebook.widgets.costs import Costs, compared
from hermes_nb.notebook.widgets.figure import PALETTE, svg
from hermes_nb.search import budget as budgets

if TYPE_CHECKING:
    from .conftest import Outbox


SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def session(tools: Registry) -> Iterator[Session]:
    with Session(registry=tools, context_length=1_500) as opened:
        yield opened


def test_the_costs_agree_with_the_budget(session: Session) -> None:
    costs, spent = Costs.of(session), session.budget()
    assert costs.total == spent.total_tokens
    assert costs.now == spent.visible_tokens
    assert costs.active == spent.active
    assert {part.toolset: part.tokens for part in costs.slices} == spent.per_toolset


def test_removing_a_server_may_switch_search_off(session: Session) -> None:
    costs = Costs.of(session)
    assert costs.active
    less = costs.without({"mcp-github"})
    assert not less.active
    assert "tool search would switch off" in compared(costs, less, {"mcp-github"})


def test_removing_everything_leaves_nothing(session: Session) -> None:
    costs = Costs.of(session)
    assert costs.without({part.toolset for part in costs.slices}).now == 0


def test_the_picture_is_well_formed_and_escapes_names(session: Session, tools: Registry) -> None:
    tools.register("odd", "a<b>&\"c'", {"type": "object"}, lambda args: "", description="x")
    drawn = ElementTree.fromstring(svg(Costs.of(session)))
    assert drawn.tag.endswith("svg")
    assert any("a<b>&" in (title.text or "") for title in drawn.iter("{http://www.w3.org/2000/svg}title"))


def test_toolsets_beyond_the_palette_share_a_colour_and_an_entry(session: Session, tools: Registry) -> None:
    for number in range(20):
        tools.register(f"t{number}", f"set-{number}", {"type": "object"}, lambda args: "", description="x")
    picture = svg(Costs.of(session))
    assert f"{23 - len(PALETTE)} more toolsets" in picture


@pytest.mark.parametrize("context", [100, 1_500, 60_000, None])
def test_no_line_crosses_a_word(tools: Registry, context: int | None) -> None:
    with Session(registry=tools, context_length=context) as opened:
        drawn = ElementTree.fromstring(svg(Costs.of(opened)))
    lines = [(float(line.get("y1", 0)), float(line.get("y2", 0))) for line in drawn.iter(f"{SVG}line")]
    baselines = [float(words.get("y", 0)) for words in drawn.iter(f"{SVG}text") if float(words.get("x", 0)) >= 100]
    assert len(lines) == 2
    assert not [y for y in baselines for top, bottom in lines if top < y and bottom > y - 10]


def test_words_that_a_newcomer_may_not_know_are_explained(session: Session) -> None:
    said = " ".join("".join(words.itertext()) for words in ElementTree.fromstring(svg(Costs.of(session))).iter())
    assert "deferred tools not sent with a request" in said
    assert "bridge tools tool_search, tool_describe and tool_call" in said
    assert "A tool's schema is what a model reads of it" in said


def test_a_definition_is_counted_once_however_often_the_budget_is_shown(
    tools: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    monkeypatch.setattr(budgets, "installed_tokenizer", lambda: (lambda text: counted.append(text) or 1, "each is one"))
    with Session(registry=tools, context_length=1_500) as opened:
        shown = budget(opened)
        shown.receive({"kind": "ready"})
        first = len(counted)
        tools.register("late", "mcp-late", {"type": "object"}, lambda args: "", description="x")
        shown.receive({"kind": "ready"})
        registered = [text for text in counted if '"name":"tool_' not in text]  # the bridge says how many there are
        assert len(set(registered)) == len(registered)
        assert first > 1
        assert [text for text in counted[first:] if '"late"' in text]


def test_the_static_face_is_a_picture_and_words(session: Session) -> None:
    data, _ = budget(session)._repr_mimebundle_()
    assert data["image/svg+xml"].startswith("<svg")
    assert data["text/plain"] == str(session.budget())
    assert "text/html" not in data


def test_switching_a_toolset_off_is_answered_with_a_new_picture(session: Session, outbox: Outbox) -> None:
    widget = budget(session)
    sent = outbox(widget)
    widget.receive({"kind": "ready"})
    widget.receive({"kind": "without", "toolsets": ["mcp-mail"]})
    assert sent[0]["sentence"].startswith("The model sees")
    assert sent[1]["sentence"].startswith("Without mcp-mail")
    assert [row["name"] for row in sent[1]["toolsets"] if not row["present"]] == ["mcp-mail"]
    assert session.budget().per_toolset["mcp-mail"] > 0  # nothing was changed
