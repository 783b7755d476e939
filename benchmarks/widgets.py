"""Widgets in a real JupyterLab: what the explorer costs over an empty widget, how fast keys and approvals come back.

Run it with ``python -m benchmarks.widgets``; it needs Chromium.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.e2e.jupyter import Notebook, chromium, jupyter_server
from tests.e2e.test_approval import SETUP as APPROVAL

SIZES = (10, 1_000, 10_000)
SETUP = """
import os, random, time
import anywidget, psutil
import hermes_nb as hermes
from hermes_nb.notebook import explore

class Empty(anywidget.AnyWidget):
    _esm = "export default {render({el}) { el.innerHTML = '<div class=hermes-ready>empty</div>'; }}"

def session_of(size):
    rng, registry = random.Random(size), hermes.Registry()
    verbs = "read write list create delete update send find".split()
    nouns = "issue file page row user mail team job".split()
    for n in range(size):
        verb, noun = rng.choice(verbs), rng.choice(nouns)
        schema = {"type": "object", "properties": {"path": {"type": "string", "description": f"Which {noun} is meant."},
            "limit": {"type": "integer", "minimum": 1}}, "required": ["path"]}
        registry.register(f"{verb}_{noun}_{n}", f"mcp-server{n % 40}", schema, lambda args, **context: "done",
            description=f"{verb.title()} a {noun} on server {n % 40}, with the options that people ask for most often.")
    session = hermes.Session(registry=registry)
    session.search("warm", 1)
    return session

rss = lambda: psutil.Process().memory_info().rss / 1e6
"""
PAINTED = """cell => new Promise(resolve => {
    const look = () => document.querySelectorAll('.hermes-ready').length > window.shownBefore
        ? requestAnimationFrame(() => resolve(performance.now() - window.startedAt)) : setTimeout(look, 2);
    look(); })"""
QUERY = "create issue on server"


def first_paint(notebook: Notebook, code: str) -> float:
    """Milliseconds from running a cell to its widget on the screen."""
    notebook.page.evaluate(
        "() => { window.shownBefore = document.querySelectorAll('.hermes-ready').length;"
        " window.startedAt = performance.now(); }"
    )
    notebook.start(code)
    taken: float = notebook.page.evaluate(PAINTED)
    notebook.wait_until_idle()
    return taken


def key_to_result(notebook: Notebook) -> list[float]:
    """Milliseconds from each key of a query to its ranked rows on the screen."""
    explorer = notebook.page.locator(".hermes-explorer").last
    field = explorer.locator(".hermes-search")
    field.fill("")
    taken = []
    for end in range(1, len(QUERY) + 1):
        field.press(QUERY[end - 1] if QUERY[end - 1] != " " else "Space")
        notebook.page.wait_for_function(
            "([root, query]) => root.dataset.query === query", arg=[explorer.element_handle(), QUERY[:end]]
        )
        taken.append(float(explorer.get_attribute("data-search-ms") or "nan"))
    return taken


def click_to_continuation(notebook: Notebook, rounds: int = 8) -> list[float]:
    """Milliseconds from the click on Approve to the next statement of the cell."""
    notebook.run(APPROVAL)
    taken = []
    for _ in range(rounds):
        cell = notebook.start(
            "import time; session().call('shell', {'command': 'rm -rf x'}); print(f'at {time.time()}')"
        )
        button = cell.locator('.hermes-card [data-choice="once"]')
        button.evaluate("b => b.addEventListener('click', () => { window.clickedAt = Date.now() / 1000; })")
        button.click()
        printed = cell.locator(".jp-OutputArea-output", has_text="at ").first.inner_text()
        taken.append((float(printed.split()[-1]) - notebook.page.evaluate("window.clickedAt")) * 1000)
        notebook.wait_until_idle()
    return taken


def number(notebook: Notebook, expression: str) -> float:
    """What an expression is in the kernel."""
    cell = notebook.run(f"print({expression})")
    return float(cell.locator(".jp-OutputArea-output").first.inner_text())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder, jupyter_server(Path(folder)) as server, chromium() as browser:
        notebook = Notebook(server, browser)
        notebook.run(SETUP)
        first_paint(notebook, "Empty()")  # the first widget of a page also loads anywidget
        empty = statistics.median(first_paint(notebook, "Empty()") for _ in range(5))
        print(f"an empty widget: {empty:.0f} ms from running its cell to its first paint")
        for size in SIZES:
            report(notebook, size, empty)
        clicks = click_to_continuation(notebook)
        print(f"approval: {statistics.median(clicks):.0f} ms from click to continuation, {max(clicks):.0f} at most")


def report(notebook: Any, size: int, empty: float) -> None:
    """The explorer's figures for one size of catalog."""
    notebook.run(f"sessions = [session_of({size}) for _ in range(3)]")
    before = number(notebook, "rss()")
    paints = [first_paint(notebook, f"explore(sessions[{place}])") for place in range(3)]
    memory = (number(notebook, "rss()") - before) / 3
    keys = key_to_result(notebook)
    paint = statistics.median(paints)
    print(
        f"{size:>6} tools: first paint {paint:.0f} ms ({paint / empty:.1f} times the empty widget's), "
        f"key to rows {statistics.median(keys):.0f} ms (at most {max(keys):.0f}), "
        f"kernel memory {memory:.1f} MB an explorer"
    )


if __name__ == "__main__":
    main()
