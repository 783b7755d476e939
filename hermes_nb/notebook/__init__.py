"""What a notebook sees: the ``%hermes`` magics, the widgets, and the faces of results.

The widgets compose: ``explore``, ``feed``, ``budget`` and ``jobs`` return ordinary ipywidgets.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hermes_nb.notebook.state import current, use

if TYPE_CHECKING:
    from hermes_nb.session import Session

__all__ = ["budget", "current", "explore", "feed", "jobs", "use"]


def explore(session: Session | None = None, **options: Any) -> Any:
    """A widget to browse, search and try a session's tools; the current session's by default."""
    return _widgets().explore(session or current(), **options)


def feed(session: Session | None = None, **options: Any) -> Any:
    """A widget that lists a session's calls as they happen."""
    return _widgets().feed(session or current(), **options)


def budget(session: Session | None = None, **options: Any) -> Any:
    """A widget with the token cost of a session's tools."""
    return _widgets().budget(session or current(), **options)


def jobs(session: Session | None = None, **options: Any) -> Any:
    """A widget with a session's background jobs."""
    return _widgets().jobs(session or current(), **options)


def _widgets() -> Any:
    # ipywidgets takes longer to load than all the rest: only who shows a widget pays for it.
    return importlib.import_module("hermes_nb.notebook.widgets")
