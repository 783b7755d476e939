"""The three bridge tools, and the way from what a model wrote to the tool it meant.

Unwrapping comes before everything else on the path of a call: hooks, approval, limits and the journal see the real
tool and its real arguments. Everything here goes through ``View.resolve``, so a restricted session can neither
find, describe nor call what is outside its scope.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_nb.errors import CallRefused, UnknownToolError
from hermes_nb.toolbox.declaration import BRIDGE_NAMES, Tool
from hermes_nb.toolbox.names import normal

if TYPE_CHECKING:
    from hermes_nb.calls.path import Call
    from hermes_nb.search.catalog import Catalog
    from hermes_nb.view import View

_TOOLSET = "tool-search"
_NAMES_SHOWN = 10
_COMPARED_ONE_BY_ONE = 500  # names; more than that are asked of the index
_ARGUMENTS = ("arguments", "args", "parameters", "input")
_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}


def bridge_tools(view: View) -> tuple[Tool, ...]:
    """The three tools that stand for the deferred ones; their descriptions say how many those are."""
    deferred = view.catalog
    key = view.config.generation
    if deferred.bridge is None or deferred.bridge[0] != key:
        deferred.bridge = (key, (_search_tool(view, deferred), _describe_tool(view), _CALL_TOOL))
    return deferred.bridge[1]


def unwrap(view: View, call: Call) -> tuple[Tool, Any]:
    """The real tool of a call, and the arguments meant for it.

    Raises:
        CallRefused: There is no such tool in scope, or it can't be called this way.
    """
    if call.name not in BRIDGE_NAMES:
        return _find(view, call.name, call), call.written
    if view.search_config.enabled == "off":
        raise CallRefused("unknown", f"Unknown tool: {call.name}. Tool search is off; call tools by their own names")
    search, describe, _ = bridge_tools(view)
    if call.name != "tool_call":
        return search if call.name == "tool_search" else describe, call.written
    name, args = _read_tool_call(call)
    if name in BRIDGE_NAMES:
        raise CallRefused("invalid", f"tool_call cannot invoke {name!r}: it is itself a bridge tool")
    tool = _find(view, name, call)
    if not tool.deferrable:
        raise CallRefused("invalid", f"{tool.name!r} is not deferred: call it directly instead of via tool_call")
    return tool, args


def _find(view: View, name: str, call: Call | None = None) -> Tool:
    """The tool of a name in scope, also when it is written in another case or without its server's prefix."""
    tool = view.resolve(name)
    if tool is not None:
        return tool
    meant = view.lookalikes().get(normal(name), frozenset())
    if len(meant) > 1:
        raise CallRefused("unknown", f"Unknown tool: {name}. It could be {', '.join(sorted(meant)[:_NAMES_SHOWN])}")
    tool = view.resolve(next(iter(meant))) if meant else None
    if tool is None:
        raise CallRefused("unknown", _unknown(view, name))
    if call is not None:
        call.notes.append(f"{name!r} was taken for {tool.name!r}")
    return tool


def _unknown(view: View, name: str) -> str:
    current = view.catalog
    if len(current.tools) > _COMPARED_ONE_BY_ONE:
        near = current.nearest(name)
        return f"Unknown tool: {name}" + (f". Did you mean {', '.join(near)}?" if near else "")
    return str(UnknownToolError(name, (tool.name for tool in current.visible.tools)))


def _read_tool_call(call: Call) -> tuple[str, Any]:
    """Name and arguments of a ``tool_call``, also when they are a JSON string or lie beside the name."""
    written = call.written
    if isinstance(written, str):
        try:
            written = json.loads(written)
        except ValueError as error:
            raise CallRefused("invalid", f"tool_call: the arguments are not valid JSON: {error}") from error
    if not isinstance(written, Mapping) or not isinstance(written.get("name"), str) or not written["name"].strip():
        raise CallRefused("invalid", "tool_call requires a 'name': the tool to invoke, as tool_search gives it")
    beside = {key: value for key, value in written.items() if key != "name"}
    for key in _ARGUMENTS:
        if key in beside and isinstance(beside[key], Mapping | str | None):
            given = beside.pop(key)
            if isinstance(given, str) and given.strip():
                call.notes.append("arguments were given as a string")
            if not beside:
                return written["name"].strip(), given
            if isinstance(given, Mapping):
                return written["name"].strip(), {**beside, **given}
            break
    if beside:
        call.notes.append("arguments were given beside the name")
    return written["name"].strip(), beside


def _search_tool(view: View, deferred: Catalog) -> Tool:
    most = view.search_config.max_search_limit

    def handler(args: Mapping[str, Any]) -> dict[str, Any]:
        limit = view.search_config.limit(args.get("limit"))
        query = args["query"]
        if isinstance(query, str):
            return {"query": query, "total_available": len(deferred.tools), **_answer(deferred, query, limit)}
        answers = [{"query": each, **_answer(deferred, each, limit)} for each in query]
        return {"query": query, "total_available": len(deferred.tools), "results": answers}

    return Tool(
        name="tool_search",
        toolset=_TOOLSET,
        description=(
            f"Search {len(deferred.tools)} more tools that are loaded on demand. Give a few keywords for what you "
            "need, or a list for several needs. A hit's signature is often enough for tool_call."
        ),
        parameters={
            "type": "object",
            "properties": {"query": _TEXTS, "limit": {"type": "integer", "description": f"1 to {most}"}},
            "required": ["query"],
        },
        handler=handler,
        parallel=True,
    )


def _answer(deferred: Catalog, query: str, limit: int) -> dict[str, Any]:
    result = deferred.search(query, limit)
    answer: dict[str, Any] = {"matches": [hit.as_match() for hit in result.matches]}
    return answer if result.matches else {**answer, "hint": result.hint}


def _describe_tool(view: View) -> Tool:
    def describe(name: str) -> dict[str, Any]:
        if name in BRIDGE_NAMES:
            return {"error": f"{name!r} is itself a bridge tool"}
        try:
            tool = _find(view, name)
        except CallRefused as refusal:
            return {"error": str(refusal)}
        if not tool.deferrable:
            return {"error": f"{name!r} is not deferred: its schema is in the list of tools already"}
        shown = view.catalog.tools.get(tool.name)
        if shown is None:
            return {"error": f"{tool.name} is not available: {view.availability.reason(tool)}"}
        return {"name": shown.name, "description": shown.description, "parameters": shown.parameters}

    def handler(args: Mapping[str, Any]) -> dict[str, Any]:
        name = args["name"]
        return describe(name) if isinstance(name, str) else {"tools": [describe(each) for each in name]}

    return Tool(
        name="tool_describe",
        toolset=_TOOLSET,
        description="Load the full schema of a tool that tool_search found, or of several.",
        parameters={"type": "object", "properties": {"name": _TEXTS}, "required": ["name"]},
        handler=handler,
        parallel=True,
    )


def _never_run(_args: Mapping[str, Any]) -> dict[str, str]:
    return {"error": "tool_call was not unwrapped"}


_CALL_TOOL = Tool(
    name="tool_call",
    toolset=_TOOLSET,
    description="Invoke a tool that tool_search found.",
    parameters={
        "type": "object",
        "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
        "required": ["name", "arguments"],
    },
    handler=_never_run,
)
