"""The function names that hermes-agent's users know, as a thin façade over sessions.

None of them raises: what goes wrong is logged, and comes back as an error that a model can read.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from hermes_nb.toolbox.registry import registry as process_registry

logger = logging.getLogger(__name__)


def get_tool_definitions(
    enabled_toolsets: Iterable[str] | None = None,
    disabled_toolsets: Iterable[str] | None = None,
    quiet_mode: bool = True,
    *,
    skip_tool_search_assembly: bool = False,
) -> list[dict[str, Any]]:
    """What a model sees with these toolsets, in OpenAI's format; an empty list if that can't be said.

    Args:
        enabled_toolsets: Only these; None means all. One that doesn't exist is skipped: it enables nothing.
        disabled_toolsets: Never these.
        quiet_mode: Whether to print nothing; otherwise the names of the tools are printed.
        skip_tool_search_assembly: Show every tool as it is, before tool search.
    """
    try:
        session = process_registry.default_sessions.get(enabled_toolsets, disabled_toolsets)
        definitions = session.definitions(assembled=not skip_tool_search_assembly)
    except Exception:
        logger.exception("the definitions of the tools could not be made")
        return []
    if not quiet_mode:
        with contextlib.suppress(OSError, ValueError):  # nowhere to print to
            print(f"{len(definitions)} tools: {', '.join(entry['function']['name'] for entry in definitions)}")
    return definitions


def handle_function_call(
    function_name: str,
    function_args: Mapping[str, Any] | str | None = None,
    task_id: str | None = None,
    user_task: str | None = None,
    *,
    tool_call_id: str | None = None,
    enabled_toolsets: Iterable[str] | None = None,
    disabled_toolsets: Iterable[str] | None = None,
) -> str:
    """Call a tool and return what the model reads: always a string, an error as a JSON object.

    Args:
        function_name: The tool.
        function_args: Its arguments: a mapping, or the JSON document that a model wrote.
        task_id: Calls of one task share a session, with its approvals and its shell.
        user_task: Passed on to the handler.
        tool_call_id: The model's own id of this call, passed on to handler and hooks.
        enabled_toolsets: Only these; None means all. One that doesn't exist is skipped: it enables nothing.
        disabled_toolsets: Never these.
    """
    return process_registry.dispatch(
        function_name,
        function_args,
        task_id=task_id,
        user_task=user_task,
        tool_call_id=tool_call_id,
        enabled_toolsets=enabled_toolsets,
        disabled_toolsets=disabled_toolsets,
    )
