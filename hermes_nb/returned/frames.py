"""What a tool returned as a data frame of pandas. This is the one place that imports pandas, when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import msgspec

from hermes_nb.common.jsonable import json_form
from hermes_nb.errors import NotATableError


def frame_of(value: Any) -> Any:
    """A value as a data frame: records, columns, rows, values, JSON of one of them, a frame, or an Arrow table.

    Raises:
        ModuleNotFoundError: pandas is not installed.
        NotATableError: The value is no table; the message says what it is.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ModuleNotFoundError("a data frame needs pandas: pip install pandas", name="pandas") from None
    if isinstance(value, str):
        value = _decoded(value)
    if isinstance(value, pd.DataFrame):
        return value
    if isinstance(value, pd.Series):
        return value.to_frame("value" if value.name is None else value.name)
    if hasattr(value, "get_columns") and hasattr(value, "to_dict"):  # polars, whose own way asks for Arrow
        return pd.DataFrame(value.to_dict(as_series=False))
    if hasattr(value, "to_pandas"):
        found = value.to_pandas()
        return found.to_frame("value" if found.name is None else found.name) if isinstance(found, pd.Series) else found
    if hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape) in (1, 2):
        return pd.DataFrame(value, columns=["value"] if len(value.shape) == 1 else None)
    rows = _rows(value)
    if isinstance(rows, Mapping):
        return pd.DataFrame(rows)
    plain_values = bool(rows) and not any(isinstance(row, Mapping | list | tuple) for row in rows)
    return pd.DataFrame(rows, columns=["value"] if plain_values else None)


def _decoded(text: str) -> Any:
    """What a text of JSON says; one of several lines may have a value on each."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        raise NotATableError("this text is no JSON, so it has no rows") from None


def _rows(value: Any) -> Mapping[str, Any] | list[Any]:
    """A value as columns by name, or as a list of rows."""
    value = _plain(value)
    if isinstance(value, Mapping):
        return _of_mapping(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray):  # a journal too
        return [_plain(item) for item in value]
    raise NotATableError(f"a value of type {type(value).__name__} has no rows")


def _of_mapping(value: Mapping[Any, Any]) -> Mapping[str, Any] | list[Any]:
    held = list(value.values())
    if held and all(isinstance(item, list | tuple) for item in held) and len({len(item) for item in held}) == 1:
        return {str(name): list(item) for name, item in value.items()}
    lists = [item for item in held if isinstance(item, list | tuple) and item and isinstance(_plain(item[0]), Mapping)]
    if len(lists) == 1:  # a page of records, with words about the page beside it
        return [_plain(item) for item in lists[0]]
    if len(lists) > 1:
        names = ", ".join(str(name) for name, item in value.items() if item in lists)
        raise NotATableError(f"there is more than one table in it ({names}): take one of result.value")
    return [dict(value)]


def _plain(item: Any) -> Any:
    """A record as a dict, whatever kind of record it is; all else as it is."""
    if isinstance(item, msgspec.Struct):
        return msgspec.structs.asdict(item)
    if is_dataclass(item) and not isinstance(item, type):
        return asdict(item)
    return json_form(item) if hasattr(item, "model_dump") else item
