"""The live widgets: ``%hermes explore`` and its siblings."""

from __future__ import annotations

from functools import partial
from typing import Any

from hermes_nb.notebook.commands.base import Command, Invocation
from hermes_nb.notebook.panels import PANELS, Panel


def _show(panel: Panel, invocation: Invocation) -> Any:
    return panel(invocation.session)


SHOWN = tuple(
    Command(panel.name, panel.summary, partial(_show, panel), order=panel.order, example=f"%hermes {panel.name}")
    for panel in PANELS.values()
    if panel.order is not None
)
