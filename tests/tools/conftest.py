from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import hermes_nb as hermes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def session(folder: Path) -> Iterator[hermes.Session]:
    config = {"approval": {"mode": "off"}}
    with hermes.Session(enabled_toolsets=["terminal", "file"], config=config) as opened:
        yield opened
