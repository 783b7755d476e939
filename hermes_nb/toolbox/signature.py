"""From a function's signature to the JSON schema of its arguments, and from arguments back to the function."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from hermes_nb.common.jsonable import to_builtins
from hermes_nb.context import Context
from hermes_nb.errors import RegistrationError

_PLAIN: dict[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True)
class Signature:
    """What a model is told of a function, and how its arguments reach the function."""

    name: str
    description: str
    parameters: dict[str, Any]
    bind: Callable[[Mapping[str, Any], Context], dict[str, Any]]


def read_signature(function: Callable[..., Any]) -> Signature:
    """Derive name, description and argument schema from type hints, defaults and the docstring.

    Raises:
        RegistrationError: A parameter can't be described to a model; the message names it.
    """
    name = getattr(function, "__name__", type(function).__name__)
    summary, texts = _read_docstring(function)
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    required: list[str] = []
    converters: dict[str, Any] = {}
    whole: list[str] = []
    injected: list[str] = []
    open_ended = False

    hints = _type_hints(function, name)
    for parameter in inspect.signature(function).parameters.values():
        hint = hints.get(parameter.name, parameter.empty)
        if hint is Context:
            injected.append(parameter.name)
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            open_ended = True
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            raise RegistrationError(
                f"{name}: parameter {parameter.name!r} can only be given by position, and models call tools by "
                "keyword; make it an ordinary parameter, or a list"
            )
        hint = _guess_from_default(parameter) if hint is parameter.empty else hint
        text = texts.get(parameter.name) or _annotated_text(hint)
        hint = hint | None if parameter.default is None else hint  # `text: str = None` means that None will do
        schema = _schema_of(hint, f"{name}: parameter {parameter.name!r}", definitions)
        if text:
            schema["description"] = text
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        else:
            _add_default(schema, parameter.default)
        properties[parameter.name] = schema
        if hint is int:
            whole.append(parameter.name)
        elif hint is not Any and not (isinstance(hint, type) and hint in _PLAIN):
            converters[parameter.name] = hint

    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    if definitions:
        parameters["$defs"] = definitions
    parameters["additionalProperties"] = open_ended

    def bind(args: Mapping[str, Any], context: Context) -> dict[str, Any]:
        bound = dict(args)
        for key, hint in converters.items():
            if key in bound:
                bound[key] = _convert(bound[key], hint)
        for key in whole:
            if type(bound.get(key)) is float:
                bound[key] = int(bound[key])
        for key in injected:
            bound[key] = context
        return bound

    return Signature(name, summary, parameters, bind)


def _convert(value: Any, hint: Any) -> Any:
    try:
        return msgspec.convert(value, hint, dec_hook=_from_builtins)
    except msgspec.ValidationError:  # 7.0 is an integer to JSON schema, and a float to Python
        return msgspec.convert(_with_whole_numbers(value), hint, dec_hook=_from_builtins)


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _type_hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise RegistrationError(
            f"{name}: the type hint {error.name!r} can't be resolved; define or import it before the tool is declared"
        ) from error


def _read_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    docstring = inspect.getdoc(function)
    if not docstring:
        return "", {}
    import docstring_parser  # only needed while tools are declared

    parsed = docstring_parser.parse(docstring)
    body = [part for part in (parsed.short_description, parsed.long_description) if part]
    texts = {entry.arg_name: " ".join((entry.description or "").split()) for entry in parsed.params}
    return "\n\n".join(body), texts


def _guess_from_default(parameter: inspect.Parameter) -> Any:
    return type(parameter.default) if type(parameter.default) in _PLAIN else Any


def _annotated_text(hint: Any) -> str:
    """The text in ``Annotated[int, "text"]``, or in metadata with a ``description``."""
    for extra in getattr(hint, "__metadata__", ()):
        text = extra if isinstance(extra, str) else getattr(extra, "description", None)
        if isinstance(text, str):
            return text
    return ""


def _schema_of(hint: Any, where: str, definitions: dict[str, Any]) -> dict[str, Any]:
    plain = _PLAIN.get(hint) if isinstance(hint, type) else None
    if plain:
        return {"type": plain}

    def hook(custom: type) -> dict[str, Any]:
        if not hasattr(custom, "model_json_schema"):
            raise NotImplementedError
        schema: dict[str, Any] = custom.model_json_schema()
        _add_definitions(definitions, schema.pop("$defs", {}), where)
        return schema

    try:
        (schema,), components = msgspec.json.schema_components([hint], schema_hook=hook, ref_template="#/$defs/{name}")
    except (TypeError, NotImplementedError) as error:
        raise RegistrationError(
            f"{where} has the type {hint!r}, which has no JSON form; use str, int, float, bool, None, Literal, "
            "an Enum, list, dict, a dataclass, a TypedDict or a pydantic model"
        ) from error
    _add_definitions(definitions, components, where)
    return {**schema, "enum": list(choices)} if (choices := _choices(hint)) else schema


def _choices(hint: Any) -> tuple[Any, ...]:
    """The values of a Literal as they were written; msgspec would sort them."""
    bare = typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint
    return typing.get_args(bare) if typing.get_origin(bare) is typing.Literal else ()


def _add_definitions(definitions: dict[str, Any], new: Mapping[str, Any], where: str) -> None:
    for name, schema in new.items():
        if definitions.setdefault(name, schema) != schema:
            raise RegistrationError(f"{where} uses a type {name!r}, and so does another part; rename one of the two")


def _add_default(schema: dict[str, Any], default: Any) -> None:
    try:
        schema["default"] = to_builtins(default)
    except TypeError:
        schema.pop("default", None)  # a sentinel: the function knows what it means, a model can't


def _from_builtins(hint: type, value: Any) -> Any:
    if hasattr(hint, "model_validate"):
        return hint.model_validate(value)
    raise TypeError(f"don't know how to make a {hint.__name__}")
