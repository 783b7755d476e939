"""Results as data frames: whatever has rows, and a clear word where there are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pydantic
import pytest

import hermes_nb as hermes
from hermes_nb.calls.results import ToolResult
from hermes_nb.errors import NotATableError, ToolCallError
from hermes_nb.returned.frames import frame_of


@dataclass
class Point:
    x: int
    y: int


class Pair(pydantic.BaseModel):
    x: int
    y: int


@pytest.mark.parametrize(
    "value",
    [
        [{"x": 1, "y": 2}, {"x": 3, "y": 4}],
        {"x": [1, 3], "y": [2, 4]},
        {"total": 2, "found": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]},
        [Point(1, 2), Point(3, 4)],
        [Pair(x=1, y=2), Pair(x=3, y=4)],
        (row for row in [{"x": 1, "y": 2}, {"x": 3, "y": 4}]),
        '[{"x": 1, "y": 2}, {"x": 3, "y": 4}]',
        '{"x": 1, "y": 2}\n{"x": 3, "y": 4}\n',
        pa.table({"x": [1, 3], "y": [2, 4]}),
    ],
    ids=["dicts", "columns", "page", "dataclasses", "models", "generator", "json", "json lines", "arrow"],
)
def test_records_have_their_names(value: Any) -> None:
    assert frame_of(value).to_dict("records") == [{"x": 1, "y": 2}, {"x": 3, "y": 4}]


@pytest.mark.parametrize("value", [[[1, 2], [3, 4]], [(1, 2), (3, 4)], np.array([[1, 2], [3, 4]]), "[[1, 2], [3, 4]]"])
def test_rows_have_numbers_for_names(value: Any) -> None:
    assert frame_of(value).to_numpy().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("value", [[1, 2], (1, 2), pd.Series([1, 2]), np.array([1, 2]), pa.array([1, 2]), "[1, 2]"])
def test_values_are_a_column(value: Any) -> None:
    assert frame_of(value).to_dict("list") == {"value": [1, 2]}


def test_one_record_is_a_row_and_no_record_is_none() -> None:
    assert frame_of({"x": 1, "y": [1, 2]}).to_dict("records") == [{"x": 1, "y": [1, 2]}]
    assert len(frame_of([])) == 0


@pytest.mark.parametrize("value", [3, None, "words", b"bytes", object()])
def test_what_has_no_rows_is_an_error(value: Any) -> None:
    with pytest.raises(NotATableError, match="no rows"):
        frame_of(value)


def test_more_than_one_table_is_an_error_that_names_them() -> None:
    with pytest.raises(NotATableError, match="people, places"):
        frame_of({"people": [{"a": 1}], "places": [{"a": 1}, {"a": 2}]})


def test_a_failed_call_has_no_frame() -> None:
    with pytest.raises(ToolCallError, match="it broke"):
        ToolResult("t", "", [{"a": 1}], outcome="error", error="it broke").df()


def test_a_journal_is_one_row_a_call(registry: hermes.Registry) -> None:
    registry.register("t", "x", {}, lambda args: "fine")
    with hermes.Session(registry=registry) as session:
        session.call("t")
        session.call("t")
        frame = session.journal.df()
    assert frame[["tool", "outcome", "text"]].to_numpy().tolist() == [["t", "ok", "fine"]] * 2
