"""Assembly: what a model sees once tool search has decided, anew every time, what to defer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_nb.search.bridge import bridge_tools
from hermes_nb.search.budget import Budget, measure
from hermes_nb.toolbox.definitions import Format, decoded, formatted

if TYPE_CHECKING:
    from hermes_nb.view import View

#: Anthropic's own search over tools that are marked with ``defer_loading``.
_ANTHROPIC_SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}


def assemble(view: View, format: Format) -> list[dict[str, Any]]:  # noqa: A002
    """The definitions that a model sees now."""
    current = view.catalog
    if not view.is_searched:
        return formatted(current.visible.tools, format)
    if format == "openai":
        return decoded([*current.direct, *bridge_tools(view)])
    deferred = [{**entry, "defer_loading": True} for entry in formatted(current.tools.values(), format)]
    return [dict(_ANTHROPIC_SEARCH), *formatted(current.direct, format), *deferred]


def budget(view: View) -> Budget:
    """What a session's tools cost now."""
    return measure(
        view.catalog.visible.tools,
        bridge_tools(view),
        threshold=view.search_config.threshold_tokens(view.context_length),
        active=view.is_searched,
        context_length=view.context_length,
    )
