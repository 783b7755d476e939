"""Widgets: approve calls, explore tools, watch what happens, see what it costs."""

from hermes_nb.notebook.widgets.approval import inbox

__all__ = ["inbox"]
