"""Tool search: a model with hundreds of tools sees three bridge tools, and finds the rest."""

from hermes_nb.search.budget import Budget
from hermes_nb.search.catalog import Hit, SearchResult
from hermes_nb.search.settings import ToolSearchConfig
from hermes_nb.toolbox.declaration import BRIDGE_NAMES as BRIDGE_TOOLS

__all__ = ["BRIDGE_TOOLS", "Budget", "Hit", "SearchResult", "ToolSearchConfig"]
