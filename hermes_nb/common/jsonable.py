"""The JSON form of any value: a strict one, and one that never fails."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Any

import msgspec

_SCALARS = frozenset({str, int, float, bool, type(None)})
_are_scalars = _SCALARS.issuperset
_DEEPEST = 20


def to_builtins(value: Any) -> Any:
    """The JSON form of a value: dataclasses, enums, sets, dates, pydantic models, numpy and pandas values, paths.

    Raises:
        TypeError: The value has no JSON form.
    """
    return msgspec.to_builtins(value, enc_hook=json_form, str_keys=True)


def json_form(value: Any) -> Any:
    """Turn a value that msgspec doesn't know into one that it does.

    Raises:
        TypeError: The value has no JSON form.
    """
    if isinstance(value, str):  # a kind of its own, such as numpy's
        return str.__str__(value)
    if is_missing(value):
        return None
    if isinstance(value, date | time | timedelta) and hasattr(value, "isoformat"):  # pandas' own kinds of them
        return value.isoformat()
    if isinstance(value, type):
        raise TypeError(f"the class {value.__name__} has no JSON form")
    if hasattr(value, "model_dump"):  # pydantic
        return value.model_dump(mode="json")
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    if hasattr(value, "to_dicts"):  # a data frame of polars: one object a row
        return value.to_dicts()
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # a data frame of pandas
        return value.to_dict(orient="records")
    if hasattr(value, "to_pylist"):  # tables and columns of Arrow
        return value.to_pylist()
    if hasattr(value, "tolist"):  # numpy arrays and scalars, pandas series
        return _listed(value)
    if hasattr(value, "to_list"):  # polars series
        return value.to_list()
    if hasattr(value, "as_py"):  # a scalar of Arrow
        return value.as_py()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


def is_missing(value: Any) -> bool:
    """Whether a value says that there is none: pandas' NaT and NA, which no comparison finds."""
    return type(value).__name__ in ("NaTType", "NAType")


def _listed(value: Any) -> Any:
    """The items of an array, or a scalar of numpy, as Python knows them."""
    is_numpy = hasattr(value, "itemsize")
    if is_numpy and value.dtype.kind in "mM":  # times to the nanosecond would become numbers
        texts = value.astype(str).tolist()
        return None if texts == "NaT" else texts
    items = value.tolist()
    return float(items) if type(items) is type(value) else items  # a float that is longer than Python's


def copy_json(value: Any) -> Any:
    """A copy of a JSON value; other values become JSON on the way.

    Raises:
        TypeError: There is a value in it that has no JSON form.
    """
    kind = type(value)
    if kind is dict:
        if _are_scalars(map(type, value.values())):
            copied = value.copy()
        else:
            copied = {key: item if type(item) in _SCALARS else copy_json(item) for key, item in value.items()}
        try:
            "".join(copied)  # the quickest way to see that every key is a text
        except TypeError:
            return to_builtins(copied)
        return copied
    if kind in _SCALARS:
        return value
    if kind is list or kind is tuple:
        if _are_scalars(map(type, value)):
            return list(value)
        return [item if type(item) in _SCALARS else copy_json(item) for item in value]
    return to_builtins(value)


_encode = msgspec.json.Encoder(enc_hook=repr).encode


def encode_anything(value: Any) -> bytes:
    """The JSON of any value: a record of a call must not fail because of what the call was given."""
    try:
        return _encode(value)
    except Exception:  # half a surrogate pair, keys that are no texts, a value that holds itself, a repr that raises
        return _encode(_storable(value))


def is_json(value: Any) -> bool:
    """Whether a value is JSON as it is, all the way down."""
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def written(value: Any, indent: int | None = None) -> str:
    """Any value as JSON for people to read: with spaces, and all letters as they are."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    except Exception:
        return json.dumps(_storable(value), ensure_ascii=False, indent=indent)


def _storable(value: Any, depth: int = 0) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return encodable(value)
    if depth == _DEEPEST:
        return "…"
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if isinstance(value, Mapping):
        return {encodable(str(key)): _storable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_storable(item, depth + 1) for item in value]
    return f"<{type(value).__name__}>"


def encodable(text: str) -> str:
    """The text as it can be written: half a surrogate pair, as in a file name that is no UTF-8, becomes its code."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
