"""The function names that hermes-agent's users know, as a thin façade over sessions."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from hermes_nb.session import Session
from hermes_nb.toolsets import as_names

#: Sessions of so many scopes and tasks are kept; each may hold a file open.
KEPT = 200

_lock = threading.RLock()  # a plugin that loads with the first session may use these functions
_sessions: dict[tuple[Any, ...], Session] = {}


def get_tool_definitions(
    enabled_toolsets: Iterable[str] | None = None,
    disabled_toolsets: Iterable[str] | None = None,
    quiet_mode: bool = True,
    *,
    skip_tool_search_assembly: bool = False,
) -> list[dict[str, Any]]:
    """What a model sees with these toolsets, in OpenAI's format.

    Args:
        enabled_toolsets: Only these; None means all.
        disabled_toolsets: Never these.
        quiet_mode: Whether to print nothing; otherwise the names of the tools are printed.
        skip_tool_search_assembly: Show every tool as it is, before tool search.

    Raises:
        UnknownToolsetError: A toolset doesn't exist.
    """
    session = _session(enabled_toolsets, disabled_toolsets, None)
    definitions = session.definitions(assembled=not skip_tool_search_assembly)
    if not quiet_mode:
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

    Raises:
        UnknownToolsetError: A toolset doesn't exist.
    """
    session = _session(enabled_toolsets, disabled_toolsets, task_id)
    return session.call(function_name, function_args, user_task=user_task, tool_call_id=tool_call_id).text


def _session(enabled: Iterable[str] | None, disabled: Iterable[str] | None, task_id: str | None) -> Session:
    """The session of a scope and a task, kept: approvals and working state belong to it."""
    key = (*(None if names is None else as_names(names) for names in (enabled, disabled)), task_id)
    with _lock:
        session = _sessions.pop(key, None)
        if session is None:
            session = Session(enabled_toolsets=key[0], disabled_toolsets=key[1], task_id=task_id)
        _sessions[key] = session  # the one used last stands last
        if len(_sessions) > KEPT:
            _sessions.pop(next(iter(_sessions))).close()
        return session
