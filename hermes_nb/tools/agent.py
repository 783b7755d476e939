"""Tools that need an agent's own state.

Their schemas are registered so that a model sees them; what they do belongs to the agent, which takes them over with
``Session.intercept``. The handlers here only say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes_nb.toolbox.registry import registry


def _needs_agent(name: str) -> Any:
    def handler(_args: Mapping[str, Any]) -> dict[str, str]:
        return {"error": f"{name} must be handled by the agent loop"}

    return handler


registry.register(
    name="todo",
    toolset="todo",
    emoji="📋",
    handler=_needs_agent("todo"),
    schema={
        "description": "Plan a task and keep track of its steps. Call without arguments to read the list.",
        "parameters": {
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "description": "The steps to write. Leave out to read the current list.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string", "description": "A short id, unique in the list."},
                            "content": {"type": "string", "description": "What is to be done."},
                            "status": {
                                "type": "string",
                                "enum": ["pending", "in_progress", "completed", "cancelled"],
                            },
                        },
                        "required": ["id", "content", "status"],
                    },
                },
                "merge": {
                    "type": "boolean",
                    "default": False,
                    "description": "Update steps by id and add new ones, instead of replacing the list.",
                },
            },
        },
    },
)

registry.register(
    name="memory",
    toolset="memory",
    emoji="🧠",
    handler=_needs_agent("memory"),
    schema={
        "description": "Remember facts across sessions: what the user prefers, what was learned about the environment.",
        "parameters": {
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": ["add", "replace", "remove"]},
                "target": {
                    "type": "string",
                    "enum": ["memory", "user"],
                    "description": "'memory' for notes of your own, 'user' for what is known of the user.",
                },
                "content": {"type": "string", "description": "The entry, for 'add' and 'replace'."},
                "old_text": {
                    "type": "string",
                    "description": "A unique part of the entry to replace or remove.",
                },
            },
            "required": ["action", "target"],
        },
    },
)

registry.register(
    name="session_search",
    toolset="session_search",
    emoji="🔍",
    handler=_needs_agent("session_search"),
    schema={
        "description": "Find what was said and done in past sessions. Without a query, list the recent ones.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "Keywords; OR between alternatives, quotes round phrases.",
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 3},
            },
        },
    },
)

registry.register(
    name="delegate_task",
    toolset="delegation",
    emoji="🤝",
    handler=_needs_agent("delegate_task"),
    schema={
        "description": "Hand a part of the task to a sub-agent with a context of its own, and get its summary back.",
        "parameters": {
            "type": "object",
            "properties": {
                "goal": {
                    "type": "string",
                    "description": "What the sub-agent shall achieve; it knows nothing else.",
                },
                "context": {"type": "string", "description": "Facts it needs: paths, errors, constraints."},
                "toolsets": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "The toolsets it may use; at most those of this session.",
                },
            },
            "required": ["goal"],
        },
    },
)
