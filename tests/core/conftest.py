"""What several of the core's tests need to be set up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import hermes_nb


@pytest.fixture
def clean_registry() -> Iterator[None]:
    """What a test loads into the process's registry is taken out again."""
    before = dict(hermes_nb.registry.snapshot.tools)
    yield
    for name, tool in dict(hermes_nb.registry.snapshot.tools).items():
        if name not in before:
            hermes_nb.registry.deregister(name)
        elif before[name] is not tool:
            hermes_nb.registry.add(before[name], override=True)
