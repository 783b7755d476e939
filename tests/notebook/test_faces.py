from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hermes_nb as hermes
from hermes_nb.calls.results import ToolResult, to_text
from hermes_nb.common.text import readable
from hermes_nb.doctor import Check, Report
from hermes_nb.notebook.faces import ansi, markup, values
from hermes_nb.notebook.faces import results as display
from hermes_nb.notebook.faces.schema import Description
from hermes_nb.search import Hit, SearchResult

ALLOWED_TAGS = {
    *("div", "span", "b", "small", "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"),
    *("img",),
}
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07",
    "\x1b[31m<b>red</b>\x1b[0m",
    "\x1b[31;\x1b[0<script>m",
    "invoice\u202egnp.exe",
    "&lt;script&gt;",
    "a\x00b\x07c\x1b",
]
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 20).decode()


class Inspector(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.sources: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def inspect(page: str) -> Inspector:
    seen = Inspector(page)
    assert not seen.open
    assert seen.tags <= ALLOWED_TAGS
    assert seen.attributes <= {"style", "title", "open", "src", "alt"}
    assert all(source.startswith("data:image/") for source in seen.sources)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", page)
    return seen


def result(value: Any, **changes: Any) -> ToolResult:
    text = value if isinstance(value, str) else to_text(value)
    return ToolResult(**{"tool": "say", "text": text, "value": value, "duration": 0.012, **changes})


def faces_of(text: str) -> list[str]:
    hit = Hit(text, text, text, 1.0, text, "mcp")
    schema = {"type": "object", "properties": {text: {"type": "string", "description": text, "enum": [text]}}}
    definition = {"type": "function", "function": {"name": "t", "description": text, "parameters": schema}}
    streams = {"stdout": text, "stderr": text, "exit_code": 1, "where": text, "cwd": text}
    return [
        display.result_html(result(text)),
        display.result_html(result({text: [text, {text: text}]})),
        display.result_html(result(streams)),
        display.result_html(result({"diff": f"--- a\n+++ b\n@@ -1 +1 @@\n-{text}\n+{text}"})),
        display.result_html(result(None, outcome="error", error=text, text=text, notes=(text,))),
        display.search_html(SearchResult(text, (hit,), 1)),
        display.search_html(SearchResult(text, (), 1, text)),
        display.report_html(Report([Check("area", text, "broken", text, text)])),
        Description(definition, toolset=text, emoji=text, state=text, tokens=1)._repr_html_(),
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_a_tool_says_becomes_markup(text: str) -> None:
    for page in faces_of(text):
        inspect(page)


@given(st.text())
def test_no_text_at_all_becomes_markup(text: str) -> None:
    inspect(markup.printed(text))
    inspect(markup.tag("div", text, title=text))
    inspect(values.render({"k": text}))


@given(st.text(alphabet="\x1b[]0123456789;:m\\PX^_ABab \n\r<>\x9b\x07"))
def test_no_escape_sequence_gets_through(text: str) -> None:
    inspect(markup.printed(text))
    assert "\x1b" not in readable(text)
    assert not re.sub(r"\x1b\[[0-9;:]*m", "", ansi.coloured(text)).count("\x1b")


def test_a_trick_with_reading_direction_is_shown_by_its_code() -> None:
    assert "invoice\\u202egnp.exe" in inspect(display.result_html(result("invoice\u202egnp.exe"))).text


def test_scripts_that_are_written_from_right_to_left_are_left_alone() -> None:
    assert "مرحبا שלום" in inspect(display.result_html(result("مرحبا שלום"))).text


def test_colours_become_spans() -> None:
    html = ansi.to_html("\x1b[1;31mred\x1b[0m \x1b[38;5;196mdeep\x1b[39m \x1b[48;2;1;2;3mback\x1b[m plain")
    assert "font-weight:600" in html
    assert "color:#ff0000" in html
    assert "background:#010203" in html
    assert html.endswith(" plain")


def test_a_progress_bar_is_shown_at_its_end() -> None:
    assert readable("10%\r50%\r100%\r\ndone") == "100%\ndone"


def test_stderr_stands_apart_from_stdout() -> None:
    page = display.result_html(result({"stdout": "fine", "stderr": "oops", "exit_code": 3}))
    seen = inspect(page)
    assert "✗ exit 3" in seen.text
    assert page.index("fine") < page.index("stderr") < page.index("oops")


def test_a_difference_is_coloured_line_by_line() -> None:
    page = display.result_html(result("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"))
    assert re.search(rf"color:{markup.RED}[^>]*>-old", page)
    assert re.search(rf"color:{markup.GREEN}[^>]*>\+new", page)


def test_a_long_difference_is_not_cut_inside_a_secret() -> None:
    keys = " ".join(["sk-" + "a1b2c3d4" * 5] * 1000)
    assert "a1b2c3d4" not in values.render({"diff": f"--- a\n+++ b\n@@ -1 +1 @@\n+{keys}"})


def test_json_folds_below_its_first_level() -> None:
    seen = inspect(display.result_html(result({"a": {"b": {"c": list(range(20))}}})))
    assert "details" in seen.tags


def test_a_long_list_says_how_much_is_not_shown() -> None:
    assert "950 more" in inspect(values.render(list(range(1000)))).text


def test_a_picture_is_shown_as_one() -> None:
    parts = [{"type": "text", "text": "a field"}, {"type": "image", "data": PIXEL, "mimeType": "image/svg+xml"}]
    seen = inspect(display.result_html(result(parts)))
    assert seen.sources == [f"data:image/png;base64,{PIXEL}"]
    assert "a field" in seen.text


def test_a_lone_picture_is_given_to_the_page_as_a_picture() -> None:
    bundle = display.result_bundle(result(f"data:image/png;base64,{PIXEL}"))
    assert bundle["image/png"] == PIXEL
    assert "text/html" not in bundle


@pytest.mark.parametrize("data", [base64.b64encode(b"<svg onload=alert(1)>").decode(), "not base64!", ""])
def test_what_only_claims_to_be_a_picture_is_not_shown_as_one(data: str) -> None:
    seen = inspect(display.result_html(result({"type": "image", "data": data, "mimeType": "image/png"})))
    assert "img" not in seen.tags


def test_a_secret_in_what_is_shown_is_masked() -> None:
    secret = "ghp_" + "a" * 36
    page = display.result_html(result({"stdout": f"token {secret}", "stderr": "", "exit_code": 0}))
    assert secret not in page
    assert secret not in display.result_text(result([secret]))


def test_the_text_of_a_result_is_the_same_however_long_it_took() -> None:
    fast, slow = result({"x": 1}, duration=0.1), result({"x": 1}, duration=9, call_id="c0099")
    assert display.result_text(fast) == display.result_text(slow) == 'say: ok\n{\n  "x": 1\n}'


def test_the_text_of_a_command_has_no_escape_sequences() -> None:
    shown = display.result_text(result({"stdout": "\x1b[31mred\x1b[0m\n", "stderr": "e\n", "exit_code": 0}))
    assert shown == "say: ok\nexit code 0\nred\nstderr:\ne"


def test_a_description_names_what_is_required_and_what_is_allowed() -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 1, "default": 5},
            "mode": {"enum": ["a", "b"]},
            "who": {"$ref": "#/$defs/Who"},
        },
        "required": ["mode"],
        "$defs": {"Who": {"type": "object", "properties": {"name": {"type": "string"}}}},
    }
    definition = {"type": "function", "function": {"name": "t", "description": "Does.", "parameters": schema}}
    shown = repr(Description(definition, toolset="x", emoji="", state="shown", tokens=10))
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert lines[:2] == ["t (x, shown, 10 tokens)", "Does."]
    assert 'mode "a" | "b" required' in lines
    assert "n integer ≥ 1 = 5" in lines
    assert "name string" in lines
    assert lines[-1] == "%hermes call t mode=…"


def test_a_schema_that_refers_to_itself_can_be_shown() -> None:
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}, "loop": {"$ref": "#/$defs/a"}}}
    schema["$defs"] = {"a": {"$ref": "#/$defs/a"}}
    definition = {"type": "function", "function": {"name": "t", "description": "", "parameters": schema}}
    inspect(Description(definition, toolset="x", emoji="", state="shown", tokens=1)._repr_html_())


def test_results_show_their_faces_by_themselves(session: hermes.Session) -> None:
    done = session.call("add", {"a": 1, "b": 2})
    assert done._repr_mimebundle_()["text/plain"] == "add: ok\n3"
    assert "add" in inspect(session.journal._repr_mimebundle_()["text/html"]).text
    inspect(session.budget()._repr_html_())
    inspect(session.search("issue")._repr_html_())
