"""Widgets where nobody is: run by nbclient, as nbval, papermill and continuous integration do it."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from ..kernels import execute

SETUP = """
import hermes_nb as hermes
from hermes_nb.approval.assessment import Assessment, Finding
from hermes_nb.notebook import budget, explore, feed, jobs

tools = hermes.Registry()
risky = lambda args, context: Assessment((Finding("delete", "deletes a file", args["path"]),))

@hermes.tool(toolset="files", registry=tools, guard=risky)
def remove(path: str) -> str:
    "Delete a file."
    return "gone"

session = hermes.Session(registry=tools)
"""
CELLS = [
    SETUP,
    "print(session.call('remove', {'path': '/etc'}).text)",
    "explore(session)",
    "feed(session)",
    "budget(session)",
    "jobs(session)",
]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    folder = tmp_path_factory.mktemp("headless")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HERMES_NB_HOME", str(folder / "home"))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        done = execute(notebook, folder)
    cells: list[Any] = done.cells
    return cells


def test_a_dangerous_call_is_denied_at_once_and_says_why(executed: list[Any]) -> None:
    assert "nobody is at the notebook" in executed[1].outputs[0].text


@pytest.mark.parametrize(
    ("cell", "face"),
    [
        (2, "1 tool,"),
        (3, "1 call: 1 denied\n  remove: denied"),
        (4, "1 tools,"),
        (5, "no background jobs"),
    ],
)
def test_each_widget_has_a_face_in_words(executed: list[Any], cell: int, face: str) -> None:
    data = executed[cell].outputs[0].data
    assert data["text/plain"].startswith(face)
    assert "application/vnd.jupyter.widget-view+json" in data


def test_each_widget_has_a_face_without_widgets(executed: list[Any]) -> None:
    faces = [set(executed[cell].outputs[0].data) & {"text/html", "image/svg+xml"} for cell in (2, 3, 4, 5)]
    assert faces == [{"text/html"}, {"text/html"}, {"image/svg+xml"}, {"text/html"}]
