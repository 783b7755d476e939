"""What the doctor says of the tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import hermes_nb
from hermes_nb.doctor import Check, examine

from .support import add


@pytest.fixture
def needing() -> Iterator[None]:
    """A tool whose variable is missing, in the process's registry."""
    add(hermes_nb.registry, "doctor_needing", toolset="doctored", requires_env=["NOT_SET"])
    yield
    hermes_nb.registry.deregister("doctor_needing")


def doctored() -> Check:
    return next(check for check in examine() if check.area == "toolset" and check.name == "doctored")


@pytest.mark.parametrize(("setting", "state"), [("gate", "off"), ("show", "ok")])
def test_missing_variables_are_named_whatever_becomes_of_the_tool(
    needing: None, home: Path, setting: str, state: str
) -> None:
    home.mkdir()
    (home / "config.yaml").write_text(f"tools:\n  requires_env: {setting}\n")
    assert doctored().state == state
    assert doctored().detail == "doctor_needing: the environment variable NOT_SET is not set"


def test_an_extra_that_nothing_uses_yet_is_not_ticked_and_is_spoken_of_once() -> None:
    report = examine()
    for name in ("modal", "daytona"):
        assert [(check.area, check.state) for check in report if check.name == name] == [("backend", "off")]
    for name in ("mcp", "agent"):
        (check,) = [check for check in report if check.name == name]
        assert (check.state, check.detail, check.fix) == ("off", "nothing in this version uses it", "")
