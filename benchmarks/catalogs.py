"""Catalogs of made-up tools, of any size and always the same, for both sides of a comparison."""

from typing import Any

_VERBS = ("create", "list", "get", "update", "delete", "search", "export", "sync", "archive", "share", "approve")
_NOUNS = ("issue", "file", "message", "invoice", "event", "user", "report", "channel", "project", "ticket", "order")
_SERVERS = ("github", "slack", "jira", "drive", "mail", "calendar", "billing", "weather", "crm", "wiki", "shop")


def made_up_tools(count: int) -> list[dict[str, Any]]:
    """Tools of a dozen servers, with descriptions and parameters of ordinary length."""
    return [_tool(number) for number in range(count)]


def _tool(number: int) -> dict[str, Any]:
    verb = _VERBS[number % len(_VERBS)]
    noun = _NOUNS[number // len(_VERBS) % len(_NOUNS)]
    server = _SERVERS[number // (len(_VERBS) * len(_NOUNS)) % len(_SERVERS)]
    properties = {
        "id": {"type": "string", "description": f"Which {noun} to {verb}."},
        "title": {"type": "string", "description": f"The title that the {noun} gets."},
        "limit": {"type": "integer", "description": "How many at most.", "minimum": 1, "maximum": 100},
        "format": {"type": "string", "enum": ["json", "text", "table"]},
    }
    description = f"{verb.title()} the {noun} number {number} in {server}. Needs access to the workspace."
    parameters = {"type": "object", "properties": properties, "required": ["id"]}
    return {
        "name": f"mcp_{server}_{verb}_{noun}_{number}",
        "toolset": f"mcp-{server}",
        "description": description,
        "parameters": parameters,
    }
