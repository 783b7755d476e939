"""What a model reads of data: valid, bounded, and enough to go on with, whatever a library puts into its objects."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import itertools
import json
import tracemalloc
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from PIL import Image

from hermes_nb.calls.results import to_text
from hermes_nb.returned import tables
from hermes_nb.returned.iterated import ITEMS_TAKEN

UTC = datetime.UTC
DAY = datetime.date(2024, 5, 1)


def read(value: Any) -> Any:
    """What a model reads, as JSON; NaN and its kind are no JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(to_text(value), parse_constant=refuse)


# Tables -----------------------------------------------------------------------------------------------------------


def frames(columns: dict[str, list[Any]]) -> list[Any]:
    """The same small table in each library."""
    return [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), pa.RecordBatch.from_pydict(columns)]


@pytest.mark.parametrize("frame", frames({"city": ["Rome", "Oslo"], "temp": [21.5, 0.1 + 0.2], "n": [1, 2]}))
def test_a_small_frame_is_read_whole_with_its_shape_and_types(frame: Any) -> None:
    form = read(frame)
    assert form["shape"] == [2, 3]
    assert list(form["columns"]) == ["city", "temp", "n"]
    assert form["columns"]["n"].lower() == "int64"
    assert form["rows"] == [["Rome", 21.5, 1], ["Oslo", 0.3, 2]]


@pytest.mark.parametrize("rows", [51, 1_000])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_of_a_long_frame_head_and_tail_are_read(make: Any, rows: int) -> None:
    form = read(make({"n": list(range(rows))}))
    assert form["shape"] == [rows, 1]
    assert form["head"] == [[n] for n in range(10)]
    assert form["tail"] == [[n] for n in range(rows - 10, rows)]
    assert form["rows_between"] == rows - 20


@pytest.mark.parametrize("rows", [0, 1, 50])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_of_a_short_frame_every_row_is_read(make: Any, rows: int) -> None:
    assert read(make({"n": list(range(rows))}))["rows"] == [[n] for n in range(rows)]


@pytest.mark.parametrize(
    "make",
    [
        lambda values: pd.DataFrame({"n": values}),
        lambda values: pd.DataFrame({"n": values}, index=values[::-1]),
        lambda values: pd.Series(values),
        lambda values: pl.DataFrame({"n": values}),
        lambda values: pl.Series(values),
        lambda values: pa.table({"n": values}),
    ],
)
def test_ten_million_rows_are_neither_copied_nor_walked(make: Any) -> None:
    data = make(np.arange(10_000_000))
    tracemalloc.start()
    try:
        form = read(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert form["rows_between"] == 10_000_000 - 20
    assert peak < 2_000_000


def test_an_index_that_says_something_is_read_with_the_rows() -> None:
    frame = pd.DataFrame({"temp": [1.0, 2.0]}, index=pd.Index(["Rome", "Oslo"], name="city"))
    form = read(frame)
    assert (form["shape"], form["index"]) == ([2, 1], ["city"])
    assert list(form["columns"]) == ["city", "temp"]
    assert form["rows"] == [["Rome", 1.0], ["Oslo", 2.0]]


def test_a_plain_range_is_no_index_worth_reading() -> None:
    assert "index" not in read(pd.DataFrame({"a": [1, 2]}))
    assert read(pd.DataFrame({"a": [1, 2]}, index=[5, 6]))["rows"] == [[5, 1], [6, 2]]
    assert read(pd.DataFrame({"a": range(100)}).iloc[40:42])["rows"] == [[40, 40], [41, 41]]


def test_a_series_keeps_its_index() -> None:
    form = read(pd.Series(["a", "b", "a"], name="letter").value_counts())
    assert form["shape"] == [2]
    assert form["index"] == ["letter"]
    assert form["rows"] == [["a", 2], ["b", 1]]


@pytest.mark.parametrize("series", [pd.Series([1, 2], name="n"), pl.Series("n", [1, 2])])
def test_a_series_without_index_is_its_values(series: Any) -> None:
    form = read(series)
    assert (form["shape"], list(form["columns"]), form["values"]) == ([2], ["n"], [1, 2])


def test_an_arrow_column_is_its_values() -> None:
    assert read(pa.array([1, None]))["values"] == [1, None]
    assert read(pa.chunked_array([[1], [2]]))["values"] == [1, 2]


def test_several_levels_are_several_columns() -> None:
    index = pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["letter", None])
    columns = pd.MultiIndex.from_tuples([("a", "mean"), ("a", "max")])
    form = read(pd.DataFrame([[1, 2], [3, 4]], index=index, columns=columns))
    assert form["index"] == ["letter", "level_1"]
    assert list(form["columns"])[2:] == ["('a', 'mean')", "('a', 'max')"]
    assert form["rows"] == [["x", 1, 1, 2], ["y", 2, 3, 4]]


def test_columns_of_the_same_name_are_all_read() -> None:
    form = read(pd.DataFrame([[1, 2.5]], columns=["a", "a"]))
    assert form["columns"] == [["a", "int64"], ["a", "float64"]]
    assert form["rows"] == [[1, 2.5]]
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert read(twice)["rows"] == [[1, 2]]
    assert read(pd.DataFrame({"a": [1]}, index=pd.Index([7], name="a")))["rows"] == [[7, 1]]


def test_columns_need_not_be_named_by_texts() -> None:
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=[0, ("a", 1), None, pd.Timestamp("2024-05-01")])
    assert len(read(frame)["columns"]) == 4


def test_what_is_missing_is_null_and_what_is_endless_a_text() -> None:
    nothing = [None, np.nan, pd.NaT, pd.NA]
    assert read(pd.DataFrame({"x": pd.Series(nothing, dtype=object)}))["rows"] == [[None]] * 4
    assert read(pd.DataFrame({"x": [np.inf, -np.inf, np.nan]}))["rows"] == [["inf"], ["-inf"], [None]]
    assert read(pl.DataFrame({"x": [float("inf"), float("nan"), None]}))["rows"] == [["inf"], [None], [None]]
    assert read(pd.DataFrame({"x": pd.array([1, None], dtype="Int64")}))["rows"] == [[1], [None]]


def test_times_are_read_as_times() -> None:
    when = pd.DataFrame({"t": pd.to_datetime(["2024-05-01 12:00", None]).tz_localize("Europe/Paris")})
    assert read(when)["rows"] == [["2024-05-01T12:00:00+02:00"], [None]]
    assert read(pd.DataFrame({"t": pd.date_range("2024-05-01", periods=2)}))["rows"] == [["2024-05-01"], ["2024-05-02"]]
    assert read(pd.DataFrame({"t": pd.to_timedelta([90], unit="s")}))["rows"] == [["P0DT0H1M30S"]]
    assert read(pa.table({"t": pa.array([1], pa.timestamp("ns"))}))["rows"] == [["1970-01-01T00:00:00.000000001"]]


def test_a_text_that_looks_like_a_time_stays_as_it_is() -> None:
    assert read(pd.DataFrame({"t": ["2024-05-01T00:00:00"]}))["rows"] == [["2024-05-01T00:00:00"]]


def test_categories_periods_and_intervals_are_read() -> None:
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["a", None]),
            "p": pd.period_range("2024", periods=2, freq="Y"),
            "i": pd.interval_range(0, 2),
        }
    )
    assert read(frame)["rows"] == [["a", "2024", "(0, 1]"], [None, "2025", "(1, 2]"]]


class Unwritable:
    def __repr__(self) -> str:
        raise ValueError("no")


def test_a_column_may_hold_anything() -> None:
    circle: list[Any] = []
    circle.append(circle)
    odd = [
        object(),
        {"x": object()},
        [1, {2}],
        lambda: 1,
        b"\x00\xff",
        1j,
        Unwritable(),
        circle,
        pd.DataFrame({"a": [1]}),
    ]
    form = read(pd.DataFrame({"x": pd.Series(odd, dtype=object)}))
    assert form["rows"][:3] == [["<object object>"], [{"x": "<object object>"}], [[1, [2]]]]
    assert len(form["rows"]) == len(odd)


def test_nested_columns_are_read() -> None:
    held = {"deep": [{"a": 1, "b": [1, 2]}], "when": [DAY], "sum": [decimal.Decimal("1.10")], "raw": [b"text"]}
    expected = [[{"a": 1, "b": [1, 2]}, "2024-05-01", "1.10", "text"]]
    assert read(pl.DataFrame(held))["rows"] == expected
    assert read(pa.table(held))["rows"] == expected


def test_a_long_cell_is_cut_and_a_secret_in_it_is_taken_out_before(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "hunter2-correct-horse"
    monkeypatch.setenv("SOME_API_KEY", secret)
    long = "x" * 190 + secret + "y" * 1_000
    for cell in (long, [long], {"k": long}):
        text = to_text(pd.DataFrame({"t": pd.Series([cell], dtype=object)}))
        assert len(text) < 500
        assert secret[:8] not in text


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_text_is_bounded_however_large_the_frame_is(make: Any) -> None:
    wide = make({f"a column with quite a long name {n}": ["x" * 5_000] * 60 for n in range(300)})
    form = read(wide)
    assert len(to_text(wide)) <= tables.CHARS_SHOWN
    assert form["shape"] == [60, 300]
    assert form["columns_not_shown"] + len(form["columns"]) == 300


def test_a_frame_of_numbers_reads_at_a_fraction_of_what_records_would_cost() -> None:
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 6)), columns=list("abcdef"))
    assert len(to_text(numbers)) < 0.75 * len(numbers.to_json(orient="records", double_precision=15))


def test_a_number_keeps_the_digits_that_say_something() -> None:
    assert read(pd.DataFrame({"x": np.array([0.1], dtype="float32")}))["rows"] == [[0.1]]
    assert read(pd.DataFrame({"x": [1234567.89, 1 / 3]}))["rows"] == [[1234567.89], [0.333333333333]]
    assert read(pd.DataFrame({"n": [2**62 + 1]}))["rows"] == [[2**62 + 1]]


def test_frames_without_rows_or_columns_are_read() -> None:
    assert read(pd.DataFrame()) == {"shape": [0, 0], "columns": {}, "rows": []}
    assert read(pl.DataFrame())["shape"] == [0, 0]
    assert read(pd.DataFrame(index=["a", "b"]))["rows"] == [["a"], ["b"]]
    assert read(pd.DataFrame(index=range(3)))["shape"] == [3, 0]
    assert read(pd.DataFrame(columns=["a"], index=pd.MultiIndex.from_arrays([[], []])))["rows"] == []


def test_what_is_derived_from_a_frame_is_one() -> None:
    class Own(pd.DataFrame):
        pass

    assert read(Own({"a": [1]}))["rows"] == [[1]]
    assert read(pd.DataFrame({"a": [1]}).style)["rows"] == [[1]]


class Broken(pd.DataFrame):
    @property
    def iloc(self) -> Any:
        raise RuntimeError("not today")


def test_a_frame_that_fails_still_says_what_it_is() -> None:
    assert "Broken" in to_text(Broken({"a": [1]}))


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.datetimes(), st.timedeltas(),
    st.decimals(), st.uuids(), st.complex_numbers(), st.lists(st.integers()), st.dictionaries(st.text(), st.floats()),
)  # fmt: skip
NAMES = st.one_of(st.text(), st.integers(), st.none(), st.floats(), st.tuples(st.text(), st.integers()), st.datetimes())


@given(
    st.lists(st.tuples(NAMES, st.lists(CELLS, min_size=3, max_size=3)), max_size=4),
    st.lists(NAMES, min_size=3, max_size=3),
)
def test_no_frame_at_all_breaks_the_text(columns: list[tuple[Any, list[Any]]], labels: list[Any]) -> None:
    frame = pd.DataFrame({at: pd.Series(cells, dtype=object) for at, (_, cells) in enumerate(columns)})
    frame.columns = pd.Index([name for name, _ in columns], dtype=object, tupleize_cols=False)
    if columns:
        frame.index = pd.Index(labels, dtype=object, tupleize_cols=False)
    assert read(frame)["shape"] == [3 if columns else 0, len(columns)]


# Arrays and scalars -----------------------------------------------------------------------------------------------


def test_a_small_array_is_read_whole() -> None:
    assert read(np.arange(6).reshape(2, 3)) == {"shape": [2, 3], "dtype": "int64", "values": [[0, 1, 2], [3, 4, 5]]}


def test_of_a_long_array_the_ends_and_the_range_are_read() -> None:
    form = read(np.arange(1_000.0))
    assert (form["min"], form["max"], form["mean"]) == (0, 999, 499.5)
    assert (form["head"][0], form["tail"][-1], form["values_between"]) == (0, 999, 980)


def test_of_a_large_array_a_corner_is_read() -> None:
    form = read(np.zeros((300, 200, 3), dtype="uint8"))
    assert (form["shape"], form["dtype"]) == ([300, 200, 3], "uint8")
    assert np.array(form["corner"]).ndim == 3
    assert np.array(form["corner"]).size <= 60


def test_what_is_missing_in_an_array_does_not_spoil_its_range() -> None:
    values = np.arange(1_000.0)
    values[::2] = np.nan
    form = read(values)
    assert (form["min"], form["max"], form["missing"]) == (1, 999, 500)
    assert read(np.full(1_000, np.nan))["missing"] == 1_000
    assert read(np.array([np.nan, np.inf]))["values"] == [None, "inf"]


def test_an_array_in_a_file_is_not_read_through(tmp_path: Path) -> None:
    stored = np.memmap(tmp_path / "data", dtype="float64", mode="w+", shape=(1_000,))
    assert "mean" not in read(stored)
    assert len(read(stored)["head"]) == 10


@pytest.mark.parametrize(
    "array",
    [
        np.array(["2024-05-01", "NaT"], dtype="datetime64[ns]"),
        np.array([1j, 2]),
        np.array([object(), None], dtype=object),
        np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]),
        np.ma.array([1, 2], mask=[True, False]),
        np.array([b"\xff", b"a"]),
        np.zeros((0, 3)),
        np.zeros((2,) * 12),
        np.array(["a", "b"] * 100),
        np.arange(300).astype("timedelta64[s]"),
        pd.array([1, None] * 100, dtype="Int64"),
        pd.Categorical(["a", "b"] * 100),
        pd.date_range("2024", periods=300, tz="UTC"),
        pd.MultiIndex.from_product([range(20), list("ab")]),
    ],
    ids=lambda array: f"{type(array).__name__} {array.dtype}",
)
def test_every_kind_of_array_is_read(array: Any) -> None:
    form = read(array)
    assert form["shape"] == list(array.shape)
    assert len(to_text(array)) < 5_000


@pytest.mark.parametrize(
    ("scalar", "text"),
    [
        (np.int64(3), "3"),
        (np.float64(0.1) + np.float64(0.2), "0.30000000000000004"),
        (np.float32(0.1), "0.1"),
        (np.float64("nan"), "null"),
        (np.bool_(True), "true"),
        (np.str_("word"), "word"),
        (np.bytes_(b"word"), "word"),
        (np.datetime64("2024-05-01"), "2024-05-01"),
        (np.longdouble(2), "2.0"),
        (np.array(5), "5"),
        (pd.Timestamp("2024-05-01 12:00"), "2024-05-01T12:00:00"),
        (pd.NaT, "null"),
        (pd.NA, "null"),
        (pd.Timedelta("90s"), "P0DT0H1M30S"),
        (pd.Period("2024-05"), "2024-05"),
        (pd.Interval(0, 1), "(0, 1]"),
        (pa.scalar(3), "3"),
    ],
    ids=lambda value: f"{type(value).__name__}",
)
def test_a_scalar_of_a_library_is_read_as_a_plain_one(scalar: Any, text: str) -> None:
    assert to_text(scalar) == text


# Drawings ---------------------------------------------------------------------------------------------------------


def test_a_figure_says_what_is_written_on_it() -> None:
    figure = Figure(figsize=(6.4, 4.8), dpi=100)
    left, right = figure.subplots(1, 2)
    left.plot([1, 2], label="north")
    left.set(title="Sales", xlabel="month", ylabel="k€")
    left.legend()
    right.bar(["a", "b"], [1, 2])
    figure.suptitle("A year")
    text = to_text(figure)
    assert text.startswith('figure, 640x480; "A year"; axes "Sales"')
    for part in ('x: "month"', 'y: "k€"', "1 line", 'legend: "north"', "2 patches"):
        assert part in text


def test_axes_are_read_as_their_figure() -> None:
    figure = Figure()
    axes = figure.subfigures(1, 2)[0].subplots()
    assert to_text(axes) == to_text(figure)
    assert to_text(axes.plot([1])[0]) == to_text(figure)


def test_a_figure_with_many_axes_is_bounded() -> None:
    figure = Figure()
    for axes in figure.subplots(10, 10).flat:
        axes.set_title("t" * 500)
    assert len(to_text(figure)) < 2_500
    assert "88 more axes" in to_text(figure)


def test_an_image_says_its_size_and_mode() -> None:
    assert to_text(Image.new("RGBA", (64, 48))) == "image, 64x48, RGBA"


# What Python has itself -------------------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"


class Word(str, enum.Enum):  # noqa: UP042 (so it was written before there was StrEnum)
    YES = "yes"


@dataclasses.dataclass
class Row:
    name: str
    data: Any = None


class Model(pydantic.BaseModel, arbitrary_types_allowed=True):
    when: datetime.datetime
    data: Any = None
    frame: pd.DataFrame | None = None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (DAY, "2024-05-01"),
        (datetime.datetime(2024, 5, 1, 12, tzinfo=UTC), "2024-05-01T12:00:00Z"),
        (datetime.time(12, 30), "12:30:00"),
        (datetime.timedelta(days=1, seconds=2), "P1DT2S"),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=0), "00000000-0000-0000-0000-000000000000"),
        (Path("a/b"), "a/b"),
        (Colour.RED, "red"),
        (Word.YES, "yes"),
        ({3}, "[3]"),
        (frozenset({3}), "[3]"),
        (Row("x", DAY), '{"name":"x","data":"2024-05-01"}'),
        (Model(when=DAY), '{"when":"2024-05-01T00:00:00","data":null,"frame":null}'),
        (collections.deque([1, 2]), "[1,2]"),
        (range(3), "[0,1,2]"),
        ({"a": 1}.keys(), '["a"]'),
        (collections.Counter("aab"), '{"a":2,"b":1}'),
        (1j, "1j"),
        (fractions.Fraction(1, 3), "1/3"),
        (b"plain \xc3\xa9\n", "plain é\n"),
        (bytearray(b"plain"), "plain"),
        (memoryview(b"plain"), "plain"),
        (b"\x00\x01", '{"bytes":2,"base64":"AAE="}'),
        (b"\x1b[31mred", '{"bytes":8,"base64":"G1szMW1yZWQ="}'),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 2_000, '{"bytes":2008,"type":"image/png"}'),
        (float("inf"), "null"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_python_has_itself_is_read(value: Any, text: str) -> None:
    assert to_text(value) == text


def test_data_inside_of_other_values_is_read_too() -> None:
    frame, figure = pd.DataFrame({"a": [1]}), Figure()
    rows = {"shape": [1, 1], "columns": {"a": "int64"}, "rows": [[1]]}
    held = {"n": 1, "frame": frame, "figure": figure, "bytes": b"text", "list": [np.int64(1), {"deep": frame}]}
    assert read(held) == {
        "n": 1,
        "frame": rows,
        "figure": "figure, 640x480",
        "bytes": "text",
        "list": [1, {"deep": rows}],
    }
    assert read(Row("x", frame)) == {"name": "x", "data": rows}
    assert read(Model(when=DAY, frame=frame))["frame"] == rows
    assert read([frame] * 100) == [rows] * 100
    assert read(dict.fromkeys("abc", frame) | {"x": (frame,)})["x"] == [rows]


def test_keys_that_are_no_texts_become_some() -> None:
    keys = {("a", 1): 1, None: 2, True: 3, DAY: 4, np.int64(5): 5, pd.Timestamp("2024-05-01"): 6, b"k": 7, 1.5: 8}
    assert list(read(keys)) == ["('a', 1)", "null", "true", "2024-05-01", "5", "2024-05-01T00:00:00", "k", "1.5"]


def test_half_a_surrogate_pair_beside_data_is_no_obstacle() -> None:
    assert read({"name": "caf\udce9", "data": np.arange(2)})["data"]["values"] == [0, 1]


def test_an_iterator_is_read_up_to_a_bound() -> None:
    assert to_text(n * 2 for n in range(3)) == "[0,2,4]"
    form = read(itertools.count())
    assert len(form["items"]) == ITEMS_TAKEN
    assert "first 10,000" in form["more"]
    assert isinstance(read(iter(range(ITEMS_TAKEN))), list)


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (object(), "return text"),
        ({"deep": [object()]}, "return text"),
        (len, "return text"),
        (pd.DataFrame, "the class DataFrame has no JSON form"),
        (pd.DataFrame({"a": [1]}).groupby("a"), "return text"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        ({"rows": (n for n in range(3))}, "make a list of it"),
    ],
)
def test_what_can_not_be_read_says_what_to_do(value: Any, remedy: str) -> None:
    with pytest.raises(TypeError, match=remedy):
        to_text(value)


def test_an_object_with_a_face_of_its_own_says_what_it_is() -> None:
    class Map:
        def _repr_html_(self) -> str:
            return "<b>map</b>"

        def __repr__(self) -> str:
            return "<Map of Oslo at 0x7f0011223344>"

    assert to_text(Map()) == "<Map of Oslo>"
    assert read({"map": Map()}) == {"map": "<Map of Oslo>"}
