"""A Jupyter-first toolkit for LLM tool use: tools, tool search, guarded calls and terminal backends."""

from typing import TYPE_CHECKING

from hermes_nb import notebook as notebook
from hermes_nb.approval.decision import Approver, Decision
from hermes_nb.approval.view import ApprovalView
from hermes_nb.calls.journal import Journal, replay
from hermes_nb.calls.results import ToolResult
from hermes_nb.common.redact import register_secret
from hermes_nb.config import Config
from hermes_nb.context import Context
from hermes_nb.errors import (
    ConfigError,
    HermesError,
    RegistrationError,
    ToolCallError,
    ToolError,
    UnknownToolError,
    UnknownToolsetError,
)
from hermes_nb.registry import Registry, registry  # as a module first: else its import would replace the object
from hermes_nb.session import Session
from hermes_nb.toolbox.declaration import Tool
from hermes_nb.toolbox.decorator import tool

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__version__ = "0.1.0"

__all__ = [
    "ApprovalView",
    "Approver",
    "Config",
    "ConfigError",
    "Context",
    "Decision",
    "HermesError",
    "Journal",
    "RegistrationError",
    "Registry",
    "Session",
    "Tool",
    "ToolCallError",
    "ToolError",
    "ToolResult",
    "UnknownToolError",
    "UnknownToolsetError",
    "register_secret",
    "registry",
    "replay",
    "tool",
]


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """``%load_ext hermes_nb``: bring the magic ``%hermes``."""
    from hermes_nb.notebook.magics import load

    load(shell)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """``%unload_ext hermes_nb``: take it back."""
    from hermes_nb.notebook.magics import unload

    unload(shell)
