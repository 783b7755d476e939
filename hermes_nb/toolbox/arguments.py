"""Arguments as models send them: copied, coerced to what the schema wants, and checked against all of it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from hermes_nb.common.jsonable import copy_json
from hermes_nb.common.text import cut
from hermes_nb.errors import CallRefused, RegistrationError

_KINDS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_ERRORS_SHOWN = 5


def _refuse_to_fetch(uri: str) -> Any:
    # A server's schema is data: it must not make this process fetch an address of the server's choosing.
    raise ValueError(f"references to other documents are not followed: {uri}")


def compile_validator(parameters: Mapping[str, Any], name: str) -> jsonschema_rs.Validator:
    """A validator for a tool's parameters, by the full JSON Schema its ``$schema`` names (2020-12 if none).

    Raises:
        RegistrationError: The schema itself is wrong.
    """
    try:
        return jsonschema_rs.validator_for(dict(parameters), retriever=_refuse_to_fetch)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise RegistrationError(f"{name}: its parameters are not a valid JSON schema: {error_text(error)}") from error


def error_text(error: Exception) -> str:
    """The first line of an error's text; the rest of it repeats the whole schema."""
    return str(error).partition("\n")[0]


def prepare(args: Any, parameters: Mapping[str, Any], validator: jsonschema_rs.Validator, name: str) -> dict[str, Any]:
    """A copy of the arguments that is valid for the schema; what the caller passed is never touched.

    Arguments that are valid as they are stay as they are. Otherwise what a schema makes unambiguous is put right:
    ``"7"`` for an integer, ``"true"`` for a boolean, JSON in a string for an object or array, a scalar for a list. A
    null for an optional argument that can't be null means that the argument was left out.

    Raises:
        CallRefused: The arguments don't fit; the message names each argument and what was expected.
    """
    copied = _copy_arguments(args, name)
    try:
        if validator.is_valid(copied):
            return copied
        root = dict(parameters)
        coerced = _coerce(copied, root, root)
        if isinstance(coerced, dict) and validator.is_valid(coerced):
            return coerced
        problems = [_describe(error) for error in validator.iter_errors(coerced)]
    except (ValueError, RecursionError) as error:  # half a surrogate pair, a circular schema
        raise CallRefused("invalid", f"Invalid arguments for {name}: {error}") from error
    more = f"; and {len(problems) - _ERRORS_SHOWN} more" if len(problems) > _ERRORS_SHOWN else ""
    raise CallRefused("invalid", f"Invalid arguments for {name}: {'; '.join(problems[:_ERRORS_SHOWN])}{more}")


def _copy_arguments(args: Any, name: str) -> dict[str, Any]:
    if args is None:
        return {}
    if isinstance(args, str):  # models send their arguments as a JSON document, and some double-encode it
        try:
            args = json.loads(args) if args.strip() else {}
            args = json.loads(args) if isinstance(args, str) else args
        except (ValueError, RecursionError) as error:
            raise CallRefused("invalid", f"Invalid arguments for {name}: not valid JSON: {error}") from error
    if not isinstance(args, Mapping):
        kind = type(args).__name__
        raise CallRefused("invalid", f"Invalid arguments for {name}: expected an object, got {kind}")
    try:
        copied: dict[str, Any] = copy_json(args if type(args) is dict else dict(args))
    except (TypeError, RecursionError) as error:
        raise CallRefused("invalid", f"Invalid arguments for {name}: {error}") from error
    return copied


def _describe(error: jsonschema_rs.ValidationError) -> str:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
    branches = getattr(error.kind, "context", None) or []  # of anyOf and oneOf: each with its own complaints
    message = " and ".join(branch[0].message for branch in branches if branch) or error.message
    message = cut(message, 300)
    return f"{where.lstrip('.')}: {message}" if where else message


def _coerce(value: Any, schema: Any, root: dict[str, Any]) -> Any:
    schema = _follow(schema, root)
    if not isinstance(schema, dict):
        return value
    value = _coerce_to_type(value, schema, root)
    for part in schema.get("allOf") or ():
        value = _coerce(value, part, root)
    branches = schema.get("anyOf") or schema.get("oneOf")
    return _coerce_to_any(value, branches, root) if isinstance(branches, list) else value


def _coerce_to_type(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> Any:
    kinds = schema.get("type") or _implied_kinds(value, schema)
    candidates = [_to_kind(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    fitting = [meaning for fits, meaning in candidates if fits]
    if not fitting:
        return value
    # What already is of one of the types keeps it: "7" stays a string where a string or a number will do.
    return _coerce_inside(value if any(meaning is value for meaning in fitting) else fitting[0], schema, root)


def _follow(schema: Any, root: dict[str, Any]) -> Any:
    for _ in range(8):  # a chain of references may be a circle
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            return schema
        target: Any = root
        for step in reference[1:].split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, dict) else None
        schema = target
    return schema


def _implied_kinds(value: Any, schema: dict[str, Any]) -> list[str]:
    if isinstance(value, dict | list):  # where no type is named, "items" and "properties" speak of nothing else
        return ["object" if isinstance(value, dict) else "array"]
    choices = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return list(dict.fromkeys(_KINDS[type(choice)] for choice in choices if type(choice) in _KINDS))


def _coerce_to_any(value: Any, branches: list[Any], root: dict[str, Any]) -> Any:
    shared: dict[str, Any] = {key: root[key] for key in ("$schema", "$defs", "definitions") if key in root}
    for candidate in itertools.chain([value], (_coerce(value, branch, root) for branch in branches)):
        for branch in branches:
            try:
                if jsonschema_rs.is_valid({**shared, **branch}, candidate, retriever=_refuse_to_fetch):
                    return candidate
            except (ValueError, TypeError, jsonschema_rs.ReferencingError):
                continue
    return value


def _coerce_inside(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        properties, required = schema.get("properties") or {}, schema.get("required") or ()
        rest = schema.get("additionalProperties")
        return {
            key: _coerce(item, properties.get(key, rest), root)
            for key, item in value.items()
            if item is not None or key not in properties or key in required or _takes_null(properties[key], root)
        }
    if isinstance(value, list):
        first, rest = schema.get("prefixItems") or [], schema.get("items")
        return [_coerce(item, first[at] if at < len(first) else rest, root) for at, item in enumerate(value)]
    return value


def _takes_null(schema: Any, root: dict[str, Any]) -> bool:
    schema = _follow(schema, root)
    if not isinstance(schema, dict):
        return schema is not False
    kinds = schema.get("type", "null")
    choices = schema.get("enum", [schema.get("const")])
    return (
        "null" in ([kinds] if isinstance(kinds, str) else kinds)
        and None in choices
        and any(_takes_null(part, root) for part in schema.get("anyOf", [True]))
        and sum(_takes_null(part, root) for part in schema.get("oneOf", [True])) == 1
        and all(_takes_null(part, root) for part in schema.get("allOf", ()))
    )


def _to_kind(value: Any, kind: str) -> tuple[bool, Any]:
    """Whether a value is of a JSON type, or means one unmistakably, and that meaning."""
    match kind:
        case "string":
            return isinstance(value, str), value
        case "integer" | "number":
            return _to_number(value, whole=kind == "integer")
        case "boolean":
            word = value.strip().lower() if isinstance(value, str) else None
            return (True, word == "true") if word in ("true", "false") else (isinstance(value, bool), value)
        case "null":
            empty = isinstance(value, str) and value.strip().lower() in ("null", "none")
            return (True, None) if empty else (value is None, value)
        case "object":
            parsed = _parsed(value, "{")
            return isinstance(parsed, dict), parsed
        case "array":
            parsed = _parsed(value, "[")
            if isinstance(parsed, list):
                return True, parsed
            return (True, [parsed]) if parsed is not None and not isinstance(parsed, dict) else (False, value)
    return False, value


def _to_number(value: Any, *, whole: bool) -> tuple[bool, Any]:
    if isinstance(value, bool):
        return False, value
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return False, value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False, value
    if whole and isinstance(value, float) and value.is_integer():
        value = int(value)
    return isinstance(value, int) or (not whole and isinstance(value, float)), value


def _parsed(value: Any, opening: str) -> Any:
    if isinstance(value, str) and value.lstrip().startswith(opening):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
