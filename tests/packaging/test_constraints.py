"""The pins: they must install on every Python that the project promises, not only on the one they were made with."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

PINS = (Path(__file__).parents[2] / "constraints.txt").read_text().splitlines()


def test_a_pin_is_a_name_and_a_version() -> None:
    assert [line for line in PINS if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0"])
def test_every_pin_installs_on_the_first_release_of(python: str) -> None:
    pinned = {canonicalize_name(line.partition("==")[0]) for line in PINS}
    refused = [
        f"{found.name} {found.version} needs Python {needed}"
        for found in distributions()
        if canonicalize_name(found.name) in pinned
        and (needed := found.metadata.get("Requires-Python"))
        and python not in SpecifierSet(needed)
    ]
    assert refused == []
