"""The ways in which a tool's name gets written: another case, other separators, without the server's prefix."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_nb.toolbox.declaration import Tool

_SEPARATORS = re.compile(r"[^a-z0-9]+")


def normal(name: str) -> str:
    """A name without regard to case and separators."""
    return _SEPARATORS.sub("_", name.lower()).strip("_")


def spellings(tools: Iterable[Tool]) -> dict[str, frozenset[str]]:
    """For each normal way to write a name, the tools that may be meant."""
    found: dict[str, set[str]] = {}
    for tool in tools:
        whole = normal(tool.name)
        bare = whole.removeprefix("mcp_")
        for spelling in {whole, bare, bare.removeprefix(f"{normal(tool.origin)}_")}:
            found.setdefault(spelling, set()).add(tool.name)
    return {spelling: frozenset(names) for spelling, names in found.items()}
