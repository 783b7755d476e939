"""What every test gets: a home of its own, and a registry of its own if it wants one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from hermes_nb import Registry, Session

# Machines are noisy: an example that takes long says nothing.
hypothesis.settings.register_profile("calm", deadline=None)
hypothesis.settings.load_profile("calm")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """HERMES_NB_HOME of this test alone."""
    folder = tmp_path / "hermes-home"
    monkeypatch.setenv("HERMES_NB_HOME", str(folder))
    return folder


@pytest.fixture
def registry() -> Registry:
    """A registry without any tool."""
    return Registry()


@pytest.fixture
def open_session(registry: Registry) -> Iterator[Callable[..., Session]]:
    """Opens sessions on this test's registry, and closes them."""
    opened: list[Session] = []

    def open_one(**options: Any) -> Session:
        opened.append(Session(**{"registry": registry, **options}))
        return opened[-1]

    yield open_one
    for session in opened:
        session.close()


@pytest.fixture
def session(open_session: Callable[..., Session]) -> Session:
    """A session with everything that the test registers."""
    return open_session()
