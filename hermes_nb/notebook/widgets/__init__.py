"""Widgets: approve calls, explore tools, watch what happens, see what it costs.

Each function returns a widget: display it, or put it into a layout of ipywidgets, a Voilà page or a Panel app.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from hermes_nb.notebook.widgets.approval import Inbox, inbox
from hermes_nb.notebook.widgets.budget_view import BudgetView
from hermes_nb.notebook.widgets.explorer import Explorer
from hermes_nb.notebook.widgets.feed_view import Feed
from hermes_nb.notebook.widgets.jobs_view import JobsView

if TYPE_CHECKING:
    from collections.abc import Callable

    from hermes_nb.notebook.widgets.base import HermesWidget
    from hermes_nb.session import Session

__all__ = ["BudgetView", "Explorer", "Feed", "Inbox", "JobsView", "budget", "explore", "feed", "inbox", "jobs"]

Widget = TypeVar("Widget", bound="HermesWidget")


def explore(session: Session) -> Explorer:
    """A searchable list of a session's tools, with their schemas and costs, and a form to call each."""
    return _kept(Explorer, session)


def feed(session: Session) -> Feed:
    """The calls of a session, as they happen."""
    return _kept(Feed, session)


def budget(session: Session) -> BudgetView:
    """What a session's schemas cost now, with and without tool search, and without some of its toolsets."""
    return BudgetView(session)


def jobs(session: Session) -> JobsView:
    """The background jobs of a session: their output, their input, and a way to stop them."""
    return _kept(JobsView, session)


_widgets: dict[tuple[object, str], Any] = {}


def _kept(make: Callable[[Session], Widget], session: Session) -> Widget:
    """A session's widget of a kind: one for all cells that show it, so that running a cell again costs nothing."""
    key = (make, session.id)
    if key not in _widgets or _widgets[key].comm is None:
        _widgets[key] = make(session)
    widget: Widget = _widgets[key]
    return widget
