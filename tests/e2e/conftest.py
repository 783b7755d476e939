from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ..parts import find
from .jupyter import OUTPUT, Notebook, Server, chromium, jupyter_server

# For this folder, not for the session: as long as Playwright runs, no other test can run an event loop.


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    find("chromium")
    with jupyter_server(tmp_path_factory.mktemp("jupyter")) as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    find("chromium")
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def notebook(request: pytest.FixtureRequest, server: Server, browser: Any) -> Iterator[Notebook]:
    name = request.module.__name__.rpartition(".")[2]
    opened = Notebook(server, browser, name=f"{name}.ipynb")
    failed = request.session.testsfailed
    yield opened
    if request.session.testsfailed > failed:
        OUTPUT.mkdir(exist_ok=True)
        opened.page.screenshot(path=OUTPUT / f"{name}_failed.png")
    opened.page.close()
