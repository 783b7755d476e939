from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from .jupyter import OUTPUT, Notebook, Server, chromium, jupyter_server


def _need_browser() -> None:
    missing = "Chromium" if shutil.which("chromium") is None else None
    if missing is None:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"{missing} is missing; tests/prepare.py installs it")
    pytest.skip(f"{missing} is missing")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    _need_browser()
    with jupyter_server(tmp_path_factory.mktemp("jupyter")) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    _need_browser()
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
