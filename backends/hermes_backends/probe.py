"""Which backends are usable here, and what would make the others so. Fast, and never an exception."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from .registry import OURS, PLANNED


@dataclass(frozen=True, slots=True)
class Probe:
    """What is known about one backend.

    Attributes:
        name: The backend.
        usable: Whether it can be opened here.
        detail: What was found.
        fix: One line that makes it usable; empty if it is, or if nothing would.
    """

    name: str
    usable: bool
    detail: str
    fix: str = ""


def probe_all() -> list[Probe]:
    """All of ours, and those that are only planned."""
    return [*map(_probe, OURS), *map(_planned, PLANNED)]


def _probe(name: str) -> Probe:
    missing = OURS[name].missing()
    if missing:
        return Probe(name, usable=False, detail=f"the package {missing} is missing", fix=OURS[name].fix)
    try:
        found: Probe = importlib.import_module(f"hermes_backends.{name}.probe").look()
    except Exception as error:  # a probe that fails says so, and the others are still asked
        return Probe(name, usable=False, detail=f"{type(error).__name__}: {error}")
    return found


def _planned(name: str) -> Probe:
    return Probe(name, usable=False, detail="not part of this version", fix="use docker, podman or ssh instead")
