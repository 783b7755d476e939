"""Widgets: explore tools, watch what happens, see what it costs. ``hermes_nb.notebook`` opens them by name."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("inbox", "Inbox"):  # an error message of the first version sent people here
        from hermes_nb.notebook.asking import desk

        return getattr(desk, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
