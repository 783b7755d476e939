"""The live views: ``explore``, ``feed``, ``budget``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hermes_nb import notebook
from hermes_nb.notebook.commands.base import Command, Invocation


def _view(name: str) -> Callable[[Invocation], Any]:
    return lambda invocation: getattr(notebook, name)(invocation.session)


EXPLORE = Command("explore", "Browse, search and try the tools in a widget.", _view("explore"))
FEED = Command("feed", "Watch the calls of this session as they happen.", _view("feed"))
BUDGET = Command("budget", "What the tools' schemas cost in tokens, and what search saves.", _view("budget"))
