"""Values of tools in a browser: tables that sort, JSON that folds and closes, pages in locked frames; nothing acts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .jupyter import Notebook

SETUP = """
import base64, io, wave
import pandas as pd
import hermes_nb as hermes

tools = hermes.Registry()
ATTACK = "<script>document.title = 'owned'</script><img src=x onerror=\\"document.title = 'owned'\\">"

def returns(name, value):
    tools.register(name, "demo", {"type": "object"}, lambda args: value, description="Gives a value.")

sound = io.BytesIO()
with wave.open(sound, "wb") as file:
    file.setnchannels(1), file.setsampwidth(1), file.setframerate(8000), file.writeframes(bytes(range(256)) * 20)
def person(n):
    return {"name": f"person {n}", "size": (n * 37) % 101, "note": ATTACK if n == 3 else None, "tags": ["a", n]}

people = [person(n) for n in range(60)]
returns("people", people)
returns("words", ["pear", "apple", "fig"])
returns("long_frame", pd.DataFrame({"n": range(99, -1, -1), "m": range(100)}))
returns("frame", pd.DataFrame({"city": ["Rome", "Oslo", "Bonn"], "degrees": [21.5, 9.0, 14.25]}))
returns("config", {"server": {"host": "example.org", "ports": [80, 443], "tls": True},
    "users": [{"name": ATTACK, "mail": None}],
    "limits": {"rate": 1.5, "burst": {"size": 10, "window": 60}}, "empty": {}, "about": "long " * 200,
    "events": [{"id": n} for n in range(80)]})
returns("report", "# Report\\n\\nAll **fine**, see [here](javascript:alert(1)).\\n\\n- one\\n- two"
    "\\n\\n| part | ok |\\n|---|---|\\n| a | yes |\\n\\n" + ATTACK)
returns("page", {"mimeType": "text/html", "text": "<h1 style='color:teal'>A page</h1><p>of a tool's own.</p>"
    "<script>parent.document.title = 'owned'</script>" + ATTACK})
returns("log", "\\n".join(f"{n:03} worked on part {n}" for n in range(120)))
returns("sound", {"type": "audio", "data": base64.b64encode(sound.getvalue()).decode(), "mimeType": "audio/wav"})
session = hermes.Session(registry=tools)
"""


@pytest.fixture(scope="module", autouse=True)
def _setup(notebook: Notebook) -> None:
    notebook.run(SETUP)


def shown(notebook: Notebook, code: str) -> Any:
    """The HTML that a cell shows."""
    output = notebook.run(code).locator(".jp-RenderedHTMLCommon").last
    output.wait_for()
    output.scroll_into_view_if_needed()
    return output


def column(table: Any, number: int) -> list[str]:
    texts: list[str] = table.locator(f"tbody tr > :nth-child({number})").all_inner_texts()
    return texts


def test_a_table_sorts_by_a_click_on_a_header(notebook: Notebook) -> None:
    output = shown(notebook, 'session.call("people")')
    table = output.locator("table").first
    assert len(column(table, 1)) == 20
    notebook.screenshots(output, "value_table")
    table.locator("thead th", has_text="size").click()
    sizes = [int(text) for text in column(table, 2)]
    assert len(sizes) == 60  # those that were folded are sorted with the others
    assert sizes == sorted(sizes)
    table.locator("thead th", has_text="size").press("Enter")
    assert [int(text) for text in column(table, 2)] == sorted(sizes, reverse=True)
    assert "<script>document.title" in output.inner_text()
    notebook.screenshots(output, "value_table_sorted")


def test_more_rows_come_into_the_same_table(notebook: Notebook) -> None:
    output = shown(notebook, 'session.call("people").show(limit=50)')
    assert len(column(output.locator("table").first, 1)) == 50
    output = shown(notebook, 'session.call("people")')
    output.get_by_text("show 40 more rows").click()
    output.get_by_text("show 40 more rows").wait_for(state="detached")
    assert len(column(output.locator("table").first, 1)) == 60


def test_the_own_table_of_a_frame_sorts_too(notebook: Notebook) -> None:
    output = shown(notebook, 'session.call("frame")')
    output.locator("thead th", has_text="degrees").click()
    assert column(output.locator("table.dataframe"), 3) == ["9.00", "14.25", "21.50"]
    notebook.screenshots(output, "value_frame")


def test_a_single_column_sorts_and_a_cut_frame_does_not(notebook: Notebook) -> None:
    table = shown(notebook, "session.call('words').show('table')").locator("table").first
    table.locator("thead th").click()
    assert column(table, 1) == ["apple", "fig", "pear"]
    table = shown(notebook, "session.call('long_frame')").locator("table.dataframe")
    before = column(table, 2)
    table.locator("thead th", has_text="n").click()
    assert column(table, 2) == before


def test_json_folds_and_closes_its_braces(notebook: Notebook) -> None:
    output = shown(notebook, 'session.call("config")')
    notebook.screenshots(output, "value_tree")
    server = output.locator("summary", has_text='"server"')
    closing = server.locator("xpath=../following-sibling::div[1]")
    folded = server.locator("xpath=..").get_attribute("open") is None
    if folded:
        server.click()
    assert closing.inner_text() == "}"
    assert closing.bounding_box()["y"] > server.bounding_box()["y"] + 10  # on a line of its own
    server.click()
    assert abs(closing.bounding_box()["y"] - server.bounding_box()["y"]) < 5  # behind what is folded
    assert "2 keys" not in closing.inner_text()
    notebook.screenshots(output, "value_tree_folded")


@pytest.mark.parametrize("name", ["report", "page", "log", "sound"])
def test_documents_long_texts_and_sounds(notebook: Notebook, name: str) -> None:
    output = shown(notebook, f'session.call("{name}")')
    if name == "page":
        frame = output.frame_locator("iframe")
        assert frame.locator("h1").inner_text() == "A page"
    if name == "sound":
        assert output.locator("audio").evaluate("player => player.readyState >= 0 && player.error === null")
    notebook.screenshots(output, f"value_{name}")


def test_nothing_that_was_shown_acted(notebook: Notebook) -> None:
    assert notebook.page.title() != "owned"


def test_a_saved_table_is_whole_where_scripts_are_stripped(notebook: Notebook) -> None:
    cells = json.loads(notebook.save())["cells"]
    pages = [
        "".join(output["data"]["text/html"])
        for cell in cells
        for output in cell.get("outputs", ())
        if "text/html" in output.get("data", {}) and "person 59" in "".join(output["data"]["text/html"])
    ]
    assert pages
    host = notebook.page.evaluate_handle(
        "page => { const host = document.createElement('div'); host.innerHTML = page;"
        " host.querySelectorAll('script').forEach((script) => script.remove()); return host; }",
        pages[0],
    )
    assert notebook.page.evaluate("host => host.querySelectorAll('tbody tr').length", host) == 60


def test_a_script_keeps_its_lines_in_its_heading(notebook: Notebook) -> None:
    notebook.run("%load_ext hermes_nb")
    output = shown(notebook, "%%hermes run\nset -e\ncd /\necho one && echo two\n")
    assert "set -e … +2 lines" in output.inner_text()
    output.locator("summary").click()
    assert "cd /\necho one && echo two" in output.inner_text()
    notebook.screenshots(output, "value_script")
