"""What a person gets while typing ``%hermes`` in JupyterLab: Tab, Shift+Tab, and a question mark."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from playwright.sync_api import TimeoutError as LateError

from .jupyter import MILLISECONDS, OUTPUT, PANEL, Notebook

TRIES = 8

SETUP = """
%load_ext hermes_nb
from typing import Literal
import hermes_nb as hermes

@hermes.tool
def paint(subject: str, colour: Literal["red", "blue"] = "red") -> str:
    "Paint a picture."
    return subject
"""


@pytest.fixture(scope="module")
def lab(notebook: Notebook) -> Notebook:
    (notebook.path.parent / "brushes.txt").write_text("1\n")
    notebook.run(SETUP)
    return notebook


def type_in_last_cell(lab: Notebook, text: str) -> None:
    """Type into the last cell, as a person does."""
    lab.page.keyboard.press("Escape")
    lab.page.locator(".jp-Notebook .jp-Cell").last.locator(".cm-content").click()
    lab.page.keyboard.press("Control+a")
    lab.page.keyboard.press("Delete")
    lab.page.keyboard.type(text)


def ask(lab: Notebook, text: str, key: str, answer: Any) -> None:
    """Type and press a key, until what it opens is there.

    JupyterLab gives an answer up that is late: on a busy machine one presses the key again, as anybody would.
    """
    for _ in range(TRIES):
        type_in_last_cell(lab, text)
        lab.page.keyboard.press(key)
        with contextlib.suppress(LateError):
            answer.wait_for(timeout=MILLISECONDS / TRIES)
            return
    raise AssertionError(f"{key} opened nothing after {text!r}")


def offered(lab: Notebook, text: str) -> list[str]:
    """What the list shows that Tab opens; below what fits there are the words of the cell, which JupyterLab adds."""
    listed = lab.page.locator(".jp-Completer:visible .jp-Completer-item")
    ask(lab, text, "Tab", listed.first)
    found: list[str] = listed.locator(".jp-Completer-match").all_inner_texts()
    return [text.strip() for text in found]


def test_tab_lists_what_can_stand_there(lab: Notebook) -> None:
    assert offered(lab, "%hermes call paint ")[:2] == ["subject=", "colour="]
    OUTPUT.mkdir(exist_ok=True)
    lab.page.screenshot(path=OUTPUT / "typing_tab.png")
    assert offered(lab, "%%hermes call paint\nsubject: sea\ncolour: ")[:2] == ["red", "blue"]


@pytest.mark.parametrize(
    ("typed", "becomes"),
    [
        ("%hermes run cat bru", "%hermes run cat brushes.txt"),
        ("%%hermes call paint\nsub", "%%hermes call paint\nsubject: "),
    ],
)
def test_tab_offers_the_one_thing_that_fits(lab: Notebook, typed: str, becomes: str) -> None:
    assert len(offered(lab, typed)) == 1
    lab.page.keyboard.press("Enter")
    lab.page.wait_for_function(
        f"wanted => {{ {PANEL} return panel.content.activeCell.model.sharedModel.getSource() === wanted; }}",
        arg=becomes,
    )


@pytest.mark.parametrize(
    ("typed", "shows"),
    [
        ("%hermes call", "usage: %hermes call"),
        ("%hermes call paint su", "Paint a picture."),
        ("%hermes", "%hermes search"),
    ],
)
def test_shift_tab_shows_help(lab: Notebook, typed: str, shows: str) -> None:
    tooltip = lab.page.locator(".jp-Tooltip", has_text=shows)
    ask(lab, typed, "Shift+Tab", tooltip)
    lab.page.screenshot(path=OUTPUT / f"typing_shift_tab_{len(typed)}.png")
    lab.page.keyboard.press("Escape")
    tooltip.wait_for(state="detached")


def test_a_question_mark_shows_help_below_the_cell(lab: Notebook) -> None:
    type_in_last_cell(lab, "")
    cell = lab.run("%hermes run?")
    help_text = cell.locator(".jp-OutputArea-output", has_text="for example:")
    help_text.wait_for()
    assert "--bg" in help_text.inner_text()
    cell.screenshot(path=OUTPUT / "typing_help.png")
