"""A tool's arguments as people type them: ``key=value`` pairs, a JSON object, or a JSON or YAML cell."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_nb.errors import MagicError, did_you_mean
from hermes_nb.notebook.line.expansion import expand
from hermes_nb.notebook.line.words import Value, for_document, meaning

_PAIR = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)=(?P<value>.*)", re.DOTALL)


def from_words(
    words: Sequence[str], namespace: Mapping[str, Any], parameters: Mapping[str, Any], tool: str
) -> dict[str, Any]:
    """The arguments in the words of a line; a JSON object and pairs may be mixed, the later wins.

    Args:
        words: As typed.
        namespace: Where ``{expr}`` is evaluated.
        parameters: The tool's JSON schema: what may be a string is left one.
        tool: The tool's name, for messages.

    Raises:
        MagicError: A word is neither.
    """
    found: dict[str, Any] = {}
    repeated: set[str] = set()
    for word in words:
        pair = _PAIR.fullmatch(word)
        if pair is None:
            found |= _object(meaning(word, namespace), parameters, tool)
            continue
        key = pair["key"]
        schema = _schema(parameters, key)
        value = read(meaning(pair["value"], namespace), schema)
        if key in repeated and "array" in _kinds(schema):
            earlier = found[key] if isinstance(found[key], list) else [found[key]]
            value = [*earlier, *(value if isinstance(value, list) else [value])]
        elif key in repeated:
            raise MagicError(f"{key} is given twice")
        repeated.add(key)
        found[key] = value
    return found


def from_cell(cell: str, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in a cell: a JSON object, or YAML; ``{expr}`` works in both, and JSON's own braces stay.

    Raises:
        MagicError: It is neither, or not an object.
    """
    text = expand(cell, namespace, for_document)
    try:
        document = json.loads(text)
    except ValueError as problem:
        document = _yaml(text, problem)
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise MagicError(f"the cell must hold an object with the tool's arguments, not a {type(document).__name__}")
    return document


def read(value: Value, schema: Mapping[str, Any]) -> Any:
    """What a typed value stands for: text where the schema takes text, else JSON if it is some."""
    if value.literal or _takes_text(schema):
        return value.text
    try:
        return json.loads(value.text)
    except ValueError:
        return value.text


def _object(value: Value, parameters: Mapping[str, Any], tool: str) -> dict[str, Any]:
    text = value.text
    if text.startswith("{") and not value.literal:
        try:
            parsed = json.loads(text)
        except ValueError as problem:
            raise MagicError(
                f"{text} is not JSON ({problem}). Write key=value pairs, JSON, or {{python_expression}}"
            ) from problem
        if isinstance(parsed, dict):
            return parsed
    names = list(parameters.get("properties") or {})
    example = f", such as {names[0]}={text}" if names else ""
    hint = f"; it takes {', '.join(names)}" if len(names) > 1 else ""
    raise MagicError(f"{tool}: {text!r} is neither key=value nor JSON; name the argument{example}{hint}")


def _yaml(text: str, problem: ValueError) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        if text.lstrip().startswith("{"):
            raise MagicError(f"the cell is not JSON: {problem}") from problem
        where = getattr(error, "problem_mark", None)
        line = f" (line {where.line + 1})" if where is not None else ""
        raise MagicError(f"the cell is neither JSON nor YAML: {getattr(error, 'problem', error)}{line}") from error


def _schema(parameters: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    properties = parameters.get("properties")
    schema = properties.get(key) if isinstance(properties, Mapping) else None
    return schema if isinstance(schema, Mapping) else {}


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    kind = schema.get("type")
    kinds = {kind} if isinstance(kind, str) else set(kind or ())
    for branch in (*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())):
        if isinstance(branch, Mapping):
            kinds |= _kinds(branch)
    return kinds


def _takes_text(schema: Mapping[str, Any]) -> bool:
    return "string" in _kinds(schema) and schema.get("enum") is None


def unknown_names(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    """A sentence on arguments that the tool doesn't have, with the nearest that it has; empty if all are known."""
    names = parameters.get("properties") or {}
    unknown = [key for key in arguments if key not in names]
    if not unknown or parameters.get("additionalProperties") not in (False, None):
        return ""
    return "; ".join(f"{key} is not an argument{did_you_mean(key, names)}" for key in unknown)
