"""Widgets: approve calls, explore tools, watch what happens, see what it costs.

Each function returns a widget: display it, or put it into a layout of ipywidgets, a Voilà page or a Panel app.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from hermes_nb.notebook.widgets.approval import Inbox, inbox
from hermes_nb.notebook.widgets.explorer import Explorer

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_nb.notebook.widgets.base import HermesWidget
    from hermes_nb.session import Session

__all__ = ["Explorer", "Inbox", "explore", "inbox"]

Widget = TypeVar("Widget", bound="HermesWidget")


def explore(session: Session) -> Explorer:
    """A searchable list of a session's tools, with their schemas and costs, and a form to call each."""
    return _kept(_explorers, session, Explorer)


_explorers: WeakKeyDictionary[Session, Explorer] = WeakKeyDictionary()


def _kept(kept: WeakKeyDictionary[Session, Widget], session: Session, make: Callable[[Session], Widget]) -> Widget:
    """A session's widget of a kind: one for all cells that show it, so that running a cell again costs nothing."""
    widget = kept.get(session)
    if widget is None or widget.comm is None:
        widget = kept[session] = make(session)
    return widget
