"""How values are shown: trees, tables, documents, sounds, long texts; whatever a tool says, none of it acts."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_nb.calls.results import ToolResult, to_text
from hermes_nb.notebook.faces import documents, records, values
from hermes_nb.notebook.faces import results as display
from hermes_nb.notebook.faces.shown import KINDS, Shown
from hermes_nb.notebook.faces.tree import tree

from .test_faces import ALLOWED_TAGS, HOSTILE

WAV = base64.b64encode(b"RIFF\x24\x00\x00\x00WAVEfmt " + b"\x00" * 24).decode()
OF_DOCUMENTS = {"p", "ul", "ol", "li", "em", "strong", "s", "hr", "br", "blockquote"}
ALLOWED = ALLOWED_TAGS | OF_DOCUMENTS | {"iframe", "audio", "script"}
ATTRIBUTES = {"style", "title", "open", "src", "alt", "class", "start"}
OF_A_FRAME = {"style", "sandbox", "srcdoc", "referrerpolicy", "loading", "title"}
SECRET = "ghp_" + "a1B2" * 9


class Seen(HTMLParser):
    """What a browser makes of a page; every element has to end."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("img", "br", "hr"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("br", "hr"):
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["script"]:
            self.scripts.append(data)
        else:
            self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def inert(page: str) -> Seen:
    """A page of which nothing acts but our own script, and frames that are locked."""
    seen = Seen(page)
    assert {tag for tag, _ in seen.elements} <= ALLOWED
    for tag, attributes in seen.elements:
        if tag == "iframe":
            assert set(attributes) <= OF_A_FRAME
            assert attributes["sandbox"] is None  # nothing is allowed
            assert "default-src 'none'" in (attributes["srcdoc"] or "")[:200]
        elif tag == "audio":
            assert set(attributes) == {"src", "controls", "style"}
            assert (attributes["src"] or "").startswith("data:audio/")
        else:
            assert set(attributes) <= ATTRIBUTES
        if "src" in attributes:
            assert (attributes["src"] or "").startswith("data:")
        assert attributes.get("class") in (None, "hermes-sortable", "hermes-more")
        assert "url(" not in (attributes.get("style") or "")
    assert set(seen.scripts) <= {Seen(str(records.sorting(values.markup.Html('class="hermes-sortable"')))).scripts[0]}
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", page)
    return seen


def result(value: Any, **changes: Any) -> ToolResult:
    text = changes.pop("text", None) or to_text(value)
    return ToolResult(**{"tool": "say", "text": text, "value": value, "duration": 0.012, **changes})


def page_of(value: Any, kind: str | None = None, limit: int | None = None) -> Seen:
    bundle = Shown.of(result(value), kind, limit)._repr_mimebundle_()
    return inert(bundle["text/html"])


def said_in_every_way(text: str) -> list[str]:
    many = [{text: text, "n": number, "deep": {text: [text]}, "none": None} for number in range(30)]
    return [
        display.result_html(result(many)),
        display.result_html(result({text: {text: {text: [[text], text * 400]}}})),
        display.result_html(
            result([{"type": "text", "text": text}, {"type": "audio", "data": text, "mimeType": text}])
        ),
        display.result_html(result({"content": [{"type": "text", "text": f"# {text}\n\n- {text}\n\n**{text}**"}]})),
        display.result_html(result({"mimeType": "text/html", "text": text})),
        display.result_html(result({"mimeType": f"text/markdown{text}", "text": text})),
        display.result_html(result("\n".join([text] * 100))),
        Shown.of(result(pd.DataFrame({"a": [text, text]})))._repr_mimebundle_()["text/html"],
        documents.markdown(
            f"# {text}\n\n- {text}\n\n```{text}\n{text}\n```\n[{text}]({text}) | {text}\n\n![{text}]({text})"
        ),
        documents.markdown(text),
        documents.sandboxed(text),
    ]


@pytest.mark.parametrize("text", [*HOSTILE, "</script><script>alert(1)", "</iframe><b>", '" onload="alert(1)', "'>"])
def test_nothing_a_tool_says_acts_however_it_is_shown(text: str) -> None:
    for page in said_in_every_way(text):
        inert(page)
    for kind in KINDS:
        for value in (text, [{text: text}, {text: text}], {"mimeType": "text/html", "text": text}):
            try:
                page_of(value, kind)
            except ValueError as error:
                assert "can't be shown as" in str(error)  # noqa: PT017


@given(st.text(), st.text(alphabet="#-*_`[]()!<>&;|~ \n\tabx1.:/\"'\\"))
def test_no_text_at_all_acts(text: str, marks: str) -> None:
    inert(documents.markdown(marks + text))
    inert(documents.sandboxed(text + marks))
    inert(tree({text: [marks, {marks: text}]}))
    inert(values.render([{marks: text, "n": 1}, {marks: marks, "n": 2}]))


@pytest.mark.parametrize(
    "written",
    [
        "# Hi\n\n[click](javascript:alert(1))",
        "# Hi\n\n[click](https://example.org)",
        "# Hi\n\n![seen](https://example.org/seen.png)",
        "# Hi\n\n<https://example.org>",
        "# Hi\n\n[a]\n\n[a]: https://example.org",
        "# Hi\n\n<img src=https://example.org/seen.png>",
    ],
)
def test_nothing_in_markdown_links_or_loads(written: str) -> None:
    seen = inert(documents.markdown(written))
    assert not seen.of("a")
    assert not seen.of("img")
    assert written.partition("\n\n")[2].splitlines()[0] in seen.text


def test_markdown_makes_no_headings_of_the_notebook() -> None:
    seen = inert(documents.markdown("# One\n\nTwo\n---\n\n- **three**\n\n| a | b |\n|---|--:|\n| 1 | 2 |"))
    assert not [tag for tag, _ in seen.elements if re.fullmatch("h[1-6]", tag)]
    assert {"strong", "li", "td"} <= {tag for tag, _ in seen.elements}


def test_a_code_that_stands_for_a_character_does_not_become_it() -> None:
    assert "&#x202e;" in inert(documents.markdown("# a\n\n&#x202e;evil")).text


def test_a_secret_that_is_taken_apart_by_marks_stays_out() -> None:
    assert SECRET not in inert(documents.markdown(f"# a\n\n{SECRET[:8]}****{SECRET[8:]}")).text
    assert SECRET not in inert(documents.markdown(f"# a\n\n{SECRET[:8]}\\{SECRET[8:]}")).text
    assert SECRET not in documents.sandboxed(SECRET.replace("p", "&#112;"))


def test_plain_text_and_scripts_are_not_taken_for_markdown() -> None:
    for text in ("# a comment\nprint(1)", "#!/bin/sh\n# a\n- b", "- a\n- b", "1. a\n2. b", "<b>bold</b>", ""):
        assert not documents.is_markdown(text)
    assert documents.is_markdown("# Report\n\n- one\n- two")
    assert page_of("# Report\n\n- one\n- two").of("li")


# Trees ------------------------------------------------------------------------------------------------------------


def test_every_brace_that_opens_is_closed_behind_its_fold() -> None:
    page = tree({"a": {"b": [1, {"c": 2}]}, "empty": {}, "none": []})
    seen = inert(page)
    assert seen.text.count("{") == seen.text.count("}")
    assert seen.text.count("[") == seen.text.count("]")
    assert page.count("</details><div>}</div>") == 3
    assert page.count("</details><div>]</div>") == 1


def test_a_folded_part_says_how_much_is_in_it_and_what() -> None:
    text = inert(tree({"user": {"name": "a", "mail": "b"}, "list": [1, [2], {}]})).text
    assert "2 keys: user, list" in text
    assert '"user": { 2 keys: name, mail' in text
    assert '"list": [ 3 items: 1, […], {}' in text


def test_small_json_is_open_and_large_json_is_not() -> None:
    small = inert(tree({"a": {"b": {"c": 1}}})).of("details")
    assert all("open" in attributes for attributes in small)
    large = inert(tree({str(n): {str(m): {"c": 1} for m in range(30)} for n in range(30)})).of("details")
    assert ["open" in attributes for attributes in large].count(True) == 1


def test_a_vast_value_is_bounded() -> None:
    vast: Any = 1
    for _ in range(6):
        vast = {str(n): vast for n in range(20)}
    assert len(tree(vast)) < 3_000_000


def test_values_have_colours_that_follow_the_theme() -> None:
    page = tree({"s": "x", "n": 1, "b": True, "z": None})
    assert page.count("color-mix(in srgb") == 4


# Tables -----------------------------------------------------------------------------------------------------------

PEOPLE = [{"name": f"p{n}", "age": n, "tags": ["a", "b"]} for n in range(300)]


def test_records_are_a_table_that_is_whole_without_a_script() -> None:
    seen = inert(display.result_html(result(PEOPLE)))
    assert len(seen.scripts) == 1
    assert "show 180 more rows" in seen.text
    assert "p199" in seen.text
    assert "p200" not in seen.text
    assert "… and 100 more rows: result.df() has all of them" in seen.text


def test_what_is_not_records_is_no_table() -> None:
    for value in ([1, 2], [{"a": 1}], [{"a": 1}, 2], [{str(n): 1} for n in range(9)], {"a": [1]}, [{}, {}]):
        assert not inert(values.render(value)).of("table")


def test_one_script_serves_all_tables_of_a_cell() -> None:
    assert display.calls_html([], "journal").count("<script") == 0
    page = display.result_html(result({"one": pd.DataFrame({"a": [1]}), "two": pd.DataFrame({"a": [1]})}))
    assert page.count("<script") == 1


def test_a_limit_says_how_many_rows_are_shown() -> None:
    assert "… and 297 more rows" in page_of(PEOPLE, "table", 3).text
    assert "p299" in page_of(PEOPLE, "table", 1_000).text


@pytest.mark.parametrize(
    "value",
    [
        [{"n": 1, "s": "x"}, {"n": 2, "s": "y"}],
        {"n": [1, 2], "s": ["x", "y"]},
        {"page": 1, "items": [{"n": 1, "s": "x"}, {"n": 2, "s": "y"}]},
        '[{"n": 1, "s": "x"}, {"n": 2, "s": "y"}]',
        pd.DataFrame({"n": [1, 2], "s": ["x", "y"]}),
        pl.DataFrame({"n": [1, 2], "s": ["x", "y"]}),
        pl.DataFrame({"n": [1, 2], "s": ["x", "y"]}).to_arrow(),
    ],
    ids=["records", "columns", "page", "json", "pandas", "polars", "arrow"],
)
def test_whatever_has_rows_can_be_a_table_and_a_frame(value: Any) -> None:
    shown = Shown.of(result(value), "table")
    assert repr(shown).splitlines() == ["n  s", "1  x", "2  y"]
    frame = result(value).df()
    assert frame.to_dict("list") == {"n": [1, 2], "s": ["x", "y"]}


# The rest ---------------------------------------------------------------------------------------------------------


def test_a_long_text_folds_and_keeps_its_colours() -> None:
    page = display.result_html(result("\n".join([f"\x1b[31mline {n}" for n in range(100)])))
    assert "show all 100 lines" in inert(page).text
    assert "color:#d0434f" in page.partition("show all 100 lines")[2]


@pytest.mark.parametrize(
    "value",
    [
        {"type": "audio", "data": WAV, "mimeType": "text/html"},
        [{"type": "text", "text": "listen"}, {"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
        {"content": [{"type": "audio", "data": WAV}]},
        f"data:audio/x-wav;base64,{WAV}",
        base64.b64decode(WAV),
    ],
)
def test_a_sound_can_be_played(value: Any) -> None:
    assert inert(display.result_html(result(value))).of("audio")[0]["src"] == f"data:audio/wav;base64,{WAV}"
    assert page_of(value, "audio").of("audio")


def test_what_only_claims_to_be_a_sound_is_no_player() -> None:
    data = base64.b64encode(b"<script>alert(1)</script>").decode()
    assert not inert(display.result_html(result({"type": "audio", "data": data, "mimeType": "audio/wav"}))).of("audio")


def test_a_kind_that_does_not_fit_is_an_error_that_says_why() -> None:
    for value, kind in (("words", "json"), ("words", "table"), (3, "markdown"), ("words", "image"), ([], "audio")):
        with pytest.raises(ValueError, match="can't be shown as"):
            Shown.of(result(value), kind)
    with pytest.raises(ValueError, match="there is no kind 'pie'; there are json, table"):
        Shown.of(result(1), "pie")
    with pytest.raises(ValueError, match="has to be positive"):
        Shown.of(result(1), limit=0)


def test_by_default_it_picks_what_suits() -> None:
    assert page_of(PEOPLE).of("table")
    assert page_of(pd.DataFrame({"a": [1]})).scripts
    assert "… 90 more lines" in page_of("\n".join(map(str, range(100))), limit=10).text
    assert Shown.of(result("x")).__repr__() == "say: ok\nx"


def test_a_result_from_which_a_secret_was_taken_shows_what_the_model_reads() -> None:
    value = pd.DataFrame({"a": [SECRET]})
    taken = result(value, text='{"rows":[["[redacted]"]]}')
    assert SECRET not in str(Shown.of(taken, "json")._repr_mimebundle_())
