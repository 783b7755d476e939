"""Completing a tool's arguments: their names, and the values that its schema lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hermes_nb.notebook import state
from hermes_nb.notebook.faces.schema import followed

Schema = Mapping[str, Any]


def parameters_of(tool: str) -> Schema | None:
    """The schema of a tool's arguments; None if the session has no such tool."""
    view = state.current().view
    return view.seen(tool).tool.parameters if view.resolve(tool) is not None else None


def names(schema: Schema, root: Schema, given: set[str]) -> list[str]:
    """The names that are still to be given in an object, or in the items of an array; those first that are needed."""
    properties: dict[str, Any] = {}
    required: set[str] = set()
    for branch in (*branches(schema, root), *branches(items(schema, root), root)):
        properties |= branch.get("properties") or {}
        required |= set(branch.get("required") or ())
    return sorted((name for name in properties if name not in given), key=lambda name: name not in required)


def inside(schema: Schema, root: Schema, path: Sequence[str]) -> Schema:
    """The schema of a value inside another, by the names that lead to it; the items of an array are taken as one."""
    for name in path:
        objects = (*branches(schema, root), *branches(items(schema, root), root))
        found = [(part.get("properties") or {}).get(name) for part in objects]
        schema = {"anyOf": [part for part in found if part is not None]}
    return schema


def items(schema: Schema, root: Schema) -> Schema:
    """The schema of an array's items."""
    return {"anyOf": [branch["items"] for branch in branches(schema, root) if "items" in branch]}


def values(schema: Schema, root: Schema) -> Iterator[Any]:
    """The values that a schema lists."""
    for branch in branches(schema, root):
        if isinstance(branch.get("enum"), list):
            yield from branch["enum"]
        elif "const" in branch:
            yield branch["const"]
        elif branch.get("type") == "boolean":
            yield from (True, False)


def branches(schema: Any, root: Schema, depth: int = 0) -> Iterator[Schema]:
    """A schema with its references followed, and every alternative in it."""
    schema = followed(schema, root)
    if schema and depth < 8:  # a circle of references has no end
        yield schema
        for part in (*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ()), *(schema.get("allOf") or ())):
            yield from branches(part, root, depth + 1)
