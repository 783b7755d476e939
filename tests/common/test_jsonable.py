"""The JSON forms of values: the strict one says no, the other never does."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pydantic
import pytest

from hermes_nb.common.jsonable import copy_json, encode_anything, is_json, to_builtins, written


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: int = 0


class Model(pydantic.BaseModel):
    n: int


RECORDS = [{"a": 1, "b": "x"}]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (Point(1), {"x": 1, "y": 0}),
        (Model(n=1), {"n": 1}),
        (Colour.RED, "red"),
        (Path("a/b"), "a/b"),
        (datetime.date(2024, 5, 1), "2024-05-01"),
        (uuid.UUID(int=0), "00000000-0000-0000-0000-000000000000"),
        (decimal.Decimal("1.10"), "1.10"),
        (pd.DataFrame(RECORDS), RECORDS),
        (pl.DataFrame(RECORDS), RECORDS),
        (pa.Table.from_pylist(RECORDS), RECORDS),
        (pd.Series([1, 2]), [1, 2]),
        (pl.Series([1, 2]), [1, 2]),
        (pa.array([1, 2]), [1, 2]),
        (pa.scalar(3), 3),
        (np.arange(3), [0, 1, 2]),
        (np.int64(3), 3),
        (np.longdouble(1.5), 1.5),
        (np.str_("x"), "x"),
        (np.datetime64("2024-05-01T01:02:03.000000004"), "2024-05-01T01:02:03.000000004"),
        (np.datetime64("NaT"), None),
        (np.array(["2024-05-01"], dtype="datetime64[ns]"), ["2024-05-01T00:00:00.000000000"]),
        (pd.Timestamp("2024-05-01", tz="UTC"), "2024-05-01T00:00:00+00:00"),
        (pd.Timedelta("90s"), "P0DT0H1M30S"),
        (pd.NaT, None),
        (pd.NA, None),
        ({1: {np.int64(2): 3}}, {"1": {"2": 3}}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_a_json_form_gets_it(value: Any, form: Any) -> None:
    assert to_builtins(value) == form
    assert copy_json({"value": value}) == {"value": form}
    json.dumps(to_builtins(value), allow_nan=False)


@pytest.mark.parametrize("value", [object(), len, pd.DataFrame, {"deep": [object()]}, {(1, 2): 3}, 1j])
def test_what_has_none_is_refused_by_the_strict_form(value: Any) -> None:
    with pytest.raises(TypeError):
        to_builtins(value)
    with pytest.raises(TypeError):
        copy_json(value)


def test_a_copy_shares_nothing_that_could_be_changed() -> None:
    original = {"flat": {"a": 1}, "list": [1, 2], "nested": [{"b": [3]}], "tuple": (1, [2])}
    copied = copy_json(original)
    assert copied == {**original, "tuple": [1, [2]]}
    copied["flat"]["a"] = copied["list"][0] = copied["nested"][0]["b"][0] = copied["tuple"][1][0] = 9
    assert original == {"flat": {"a": 1}, "list": [1, 2], "nested": [{"b": [3]}], "tuple": (1, [2])}


class Hostile:
    def __repr__(self) -> str:
        raise ValueError("no")

    __str__ = __repr__


def circular() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    "value", [Hostile(), {"x": Hostile()}, circular(), {(1, 2): object()}, "caf\udce9", float("nan")]
)
def test_the_other_form_never_fails(value: Any) -> None:
    json.loads(encode_anything(value))
    json.loads(written(value))


def test_what_is_json_is_known_to_be_json() -> None:
    assert is_json({"a": [1, None, "x", {"b": 1.5}]})
    assert not is_json({"a": [pd.DataFrame()]})
    assert not is_json(circular())
