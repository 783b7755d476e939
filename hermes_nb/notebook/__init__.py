"""What a notebook sees: the ``%hermes`` magics, the widgets, and the faces of results.

The widgets compose: ``explore``, ``feed``, ``budget`` and ``jobs`` take a session and return ordinary ipywidgets.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from hermes_nb.approval.approvers import PLACES
from hermes_nb.notebook.panels import PANELS, Panel
from hermes_nb.notebook.state import current, use

if TYPE_CHECKING:
    from hermes_nb.approval.decision import Approver

__all__ = ["current", "inbox", "use", *PANELS]


def inbox() -> Any:
    """The approval inbox of this kernel, a widget: display it once, and calls from worker threads ask there."""
    from hermes_nb.notebook.asking import desk

    return desk.inbox()


def __getattr__(name: str) -> Panel:
    if name in PANELS:
        return PANELS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def _whoever_is_at_the_notebook() -> Approver | None:
    if "ipykernel" not in sys.modules:
        return None
    from hermes_nb.notebook.asking.approver import notebook_approver

    return notebook_approver()


PLACES.append(_whoever_is_at_the_notebook)
