"""What every test gets: a home of its own, and a registry of its own if it wants one."""

from __future__ import annotations

import faulthandler
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from hermes_nb import Registry, Session

# `make test` tries the same examples each time, so that it fails only for what has changed; `make test-long` looks for
# new ones. Machines are noisy: an example that takes long says nothing.
_calm: dict[str, Any] = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("same", derandomize=True, database=None, **_calm)
hypothesis.settings.register_profile("explore", max_examples=2_000, print_blob=True, **_calm)
hypothesis.settings.load_profile("same")


def pytest_configure() -> None:
    """Hear of interrupts: what a shell starts in the background ignores them, and hands that on to its children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_unconfigure() -> None:
    """Leave in time: a thread that a failed test left behind must not hold up the end of the run."""
    faulthandler.dump_traceback_later(600, exit=True)


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
