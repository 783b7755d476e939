"""An exported session: what its page costs to write, in time and size over the journal, and to open and search.

Run it with ``python -m benchmarks.pages``; it needs Chromium.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hermes_nb as hermes
from hermes_nb.notebook.widgets.session_page import export
from tests.e2e.jupyter import chromium

SIZES = (100, 1_000, 10_000)
READY = "() => document.documentElement.dataset.ready === 'true'"
SEARCH = """words => {
    const field = document.querySelector('.hermes-search');
    const began = performance.now();
    field.value = words;
    field.dispatchEvent(new Event('input'));
    return performance.now() - began; }"""


def session_of(size: int) -> hermes.Session:
    """A session after so many calls, most of them with a few lines of result."""
    rng, registry = random.Random(size), hermes.Registry()

    @hermes.tool(toolset="web", registry=registry)
    def fetch(url: str, length: int) -> str:
        """Fetch a page."""
        return (f"{url} says: " + "a word and another; " * length)[:length]

    session = hermes.Session(registry=registry)
    for number in range(size):
        length = rng.choice((50, 300, 2_000))
        session.call("fetch", {"url": f"https://example.org/{number}", "length": length})
    return session


def milliseconds_to_open(page: Any, address: str) -> float:
    """From the start of the navigation until the page can be used."""
    page.goto(address)
    page.wait_for_function(READY)
    taken: float = page.evaluate("() => performance.now()")
    return taken


def report(size: int, folder: Path, page: Any, empty: float) -> None:
    """The figures for one size of session."""
    with session_of(size) as session:
        began = time.perf_counter()
        count = len(session.journal)
        reading = time.perf_counter() - began
        began = time.perf_counter()
        written = export(session.journal, folder, session.id)
        writing = time.perf_counter() - began
        journal = session.journal.path.stat().st_size
    opening = milliseconds_to_open(page, written.path.as_uri())
    searching = page.evaluate(SEARCH, "example.org/7 another")
    print(
        f"{count:>6} calls: written in {writing:.2f} s ({writing / reading:.1f} times reading the journal), "
        f"{written.size / 1e6:.2f} MB ({written.size / journal:.1f} times the journal), opened in {opening:.0f} ms "
        f"({opening / empty:.1f} times a page without calls), searched in {searching:.0f} ms"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        os.environ["HERMES_NB_HOME"] = str(folder / "home")
        page = browser.new_context(offline=True).new_page()
        blank = export([], folder, "blank").path.as_uri()
        milliseconds_to_open(page, blank)
        empty = min(milliseconds_to_open(page, blank) for _ in range(5))
        for size in SIZES:
            report(size, folder, page, empty)


if __name__ == "__main__":
    main()
