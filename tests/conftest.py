from __future__ import annotations

from pathlib import Path

import pytest

import hermes_nb as hermes


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "hermes-home"
    monkeypatch.setenv("HERMES_NB_HOME", str(folder))
    return folder


@pytest.fixture
def registry() -> hermes.Registry:
    return hermes.Registry()
