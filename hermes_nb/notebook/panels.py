"""The live widgets by name: what ``hermes.notebook.explore(session)`` and ``%hermes explore`` show."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_nb.notebook.frontend.widget import HermesWidget
    from hermes_nb.session import Session

_shown: dict[tuple[str, str], Any] = {}


@dataclass(frozen=True, slots=True)
class Panel:
    """A widget that shows a session.

    Attributes:
        name: What it is called.
        loads: Its class in ``hermes_nb.notebook.widgets``, as ``module:Class``.
        summary: What it is, in one line.
        order: Where help lists ``%hermes NAME``; None if another sub-command shows it.
        kept: Whether one serves for all cells that show it, so that running a cell again costs nothing.
    """

    name: str
    loads: str
    summary: str
    order: int | None
    kept: bool = True

    @property
    def widget(self) -> type[HermesWidget]:
        """Its class. ipywidgets takes longer to load than all the rest: only who shows a widget pays for it."""
        module, _, name = self.loads.partition(":")
        found: type[HermesWidget] = getattr(importlib.import_module(f"hermes_nb.notebook.widgets.{module}"), name)
        return found

    def __call__(self, session: Session | None = None) -> Any:
        """The widget of a session, of the notebook's current one by default: display it, or put it into a layout."""
        if session is None:
            from hermes_nb.notebook.state import current

            session = current()
        key = (self.name, session.id)
        widget = _shown.get(key) if self.kept else None
        if widget is None or widget.comm is None:
            widget = _shown[key] = self.widget(session=session)
        return widget


PANELS = {
    panel.name: panel
    for panel in (
        Panel("explore", "explorer:Explorer", "Browse, search and try the tools in a widget.", 30),
        Panel("feed", "feed:Feed", "Watch the calls of this session as they happen.", 31),
        Panel(
            "budget",
            "budget:BudgetView",
            "What the tools' schemas cost in tokens, and what search saves.",
            32,
            kept=False,
        ),
        Panel("jobs", "jobs:JobsView", "The background jobs, live.", None),
    )
}
