"""The notebooks as they are committed: what they show is clean, so that it looks right wherever it is read.

That they run and show the same again is checked by ``notebooks/refresh.py --check``, which ``make test`` runs.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
WIDGET = "application/vnd.jupyter.widget-view+json"
#: Folders that every machine has.
EVERYWHERE = {"dev", "etc", "srv", "tmp", "usr", "var"}
FALLBACKS = {"text/html", "image/png", "image/svg+xml", "text/plain"}

pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def outputs(path: Path) -> list[nbformat.NotebookNode]:
    return [output for cell in cells(path) for output in cell.outputs]


def test_it_was_run_from_top_to_bottom(path: Path) -> None:
    assert [cell.execution_count for cell in cells(path)] == list(range(1, len(cells(path)) + 1))


def test_no_cell_shows_an_error(path: Path) -> None:
    assert [output.ename for output in outputs(path) if output.output_type == "error"] == []


def test_every_output_can_be_seen_without_a_widget(path: Path) -> None:
    shown = [set(output.data) for output in outputs(path) if "data" in output]
    assert all(WIDGET not in kinds and kinds & FALLBACKS for kinds in shown)


def test_nothing_but_the_kernel_is_in_the_metadata(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert [dict(cell.metadata) for cell in notebook.cells if set(cell.metadata) - {"tags"}] == []


def test_cells_are_named_by_their_place(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    name = path.stem.partition("-")[2]
    assert [cell.id for cell in notebook.cells] == [f"{name}-{number:02}" for number in range(len(notebook.cells))]


def test_no_path_of_a_machine_is_in_it(path: Path) -> None:
    texts = [output.get("text", "") for output in outputs(path)]
    texts += [data for output in outputs(path) for kind, data in output.get("data", {}).items() if kind != "image/png"]
    tops = {top for text in texts for top in re.findall(r"(?<![\w.:/~<-])/(\w[\w.-]*)/\w", text)}
    assert tops <= EVERYWHERE


def test_what_it_links_to_is_there(path: Path) -> None:
    written = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]
    links = [link for source in written for link in re.findall(r"\]\(([^)#]+)\)", source) if "://" not in link]
    assert [link for link in links if not (path.parent / link).exists()] == []
