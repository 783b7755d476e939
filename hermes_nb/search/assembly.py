"""Assembly: what a model sees once tool search has decided, anew every time, what to defer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_nb.definitions import Format, decoded, formatted
from hermes_nb.search.bridge import bridge_tools
from hermes_nb.search.budget import Budget, measure
from hermes_nb.search.catalog import catalog

if TYPE_CHECKING:
    from hermes_nb.session import Session

#: Anthropic's own search over tools that are marked with ``defer_loading``.
_ANTHROPIC_SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}


def is_active(session: Session) -> bool:
    """Whether a session's tools are deferred now."""
    deferrable = catalog(session)
    return session.search_config.is_active(deferrable.tokens, len(deferrable.tools), session.context_length)


def assemble(session: Session, format: Format) -> list[dict[str, Any]]:  # noqa: A002
    """The definitions that a model sees now."""
    current = catalog(session)
    if not is_active(session):
        return formatted(current.visible.tools, format)
    if format == "openai":
        return decoded([*current.direct, *bridge_tools(session)])
    deferred = [{**entry, "defer_loading": True} for entry in formatted(current.tools.values(), format)]
    return [dict(_ANTHROPIC_SEARCH), *formatted(current.direct, format), *deferred]


def budget(session: Session) -> Budget:
    """What a session's tools cost now."""
    return measure(
        catalog(session).visible.tools,
        bridge_tools(session),
        threshold=session.search_config.threshold_tokens(session.context_length),
        active=is_active(session),
        context_length=session.context_length,
    )
