"""The same in Notebook 7: approval in the running cell, and the explorer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .jupyter import Notebook, Server
from .test_approval import ASK, SETUP, button, expect_text


@pytest.fixture(scope="module")
def classic(server: Server, browser: Any) -> Iterator[Notebook]:
    opened = Notebook(server, browser, app="notebook", name="notebook7.ipynb")
    opened.run(SETUP)
    yield opened
    opened.page.close()


def test_a_call_is_approved_in_the_running_cell(classic: Notebook) -> None:
    cell = classic.start(ASK)
    button(cell, "once").click()
    expect_text(cell, "outcome: ok")
    assert "Approved once" in cell.locator(".hermes-decided").inner_text()


def test_an_awaited_call_asks_in_an_inbox_that_appears_in_its_cell(classic: Notebook) -> None:
    cell = classic.start(ASK.replace("session().call", "await session().acall"))
    cell.locator('.hermes-inbox [data-choice="once"]').click()
    expect_text(cell, "outcome: ok")


def test_the_explorer_runs_a_tool(classic: Notebook) -> None:
    cell = classic.run("from hermes_nb.notebook import explore\nexplore(session())")
    explorer = cell.locator(".hermes-explorer.hermes-ready")
    explorer.locator(".hermes-row", has_text="shell").click()
    explorer.locator('[data-field="command"] textarea').fill("ls")
    explorer.get_by_role("button", name="Run").click()
    explorer.locator(".hermes-result-text", has_text="ran ls").wait_for()
    classic.screenshots(explorer, "notebook7_explorer")
