"""What a model reads of what a tool returned: JSON of everything that data is made of, and never too much of it.

Frames, series, arrays, figures and pictures are told by what their types can do and where these come from. None of
their libraries is imported here: who has such an object has loaded its library already.
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Callable, ItemsView, KeysView, Mapping, ValuesView
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import islice
from numbers import Number
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from hermes_nb.common.jsonable import encodable, encode_anything, json_form
from hermes_nb.returned import arrays, drawings, tables
from hermes_nb.returned.cells import as_text, text_in
from hermes_nb.returned.iterated import First, is_iterator, listed

BASE64_SHOWN = 1_000
OUTLINE_SHOWN = 2_000
_LOOKED_AT = 16
_SCALARS = frozenset({str, int, float, bool, type(None)})
_BYTES = frozenset({bytes, bytearray, memoryview})
_FACES = ("_repr_html_", "_repr_mimebundle_", "_repr_png_", "_repr_svg_", "_repr_jpeg_")
_ADVICE = "return text, numbers, a dict or list of them, a dataclass, or data such as a frame, an array or a figure"


def text_of(value: Any) -> str:
    """What the model reads of a value: JSON, or the text itself where that would be nothing but a text.

    Raises:
        TypeError: The value has no form that a model could read; the message says what to return instead.
    """
    kind = type(value)
    if kind is dict or kind is list or kind is tuple:
        # Writing it is quicker than looking through it, and finds all but bytes: where none are among the first items,
        # those deeper inside are left in base64.
        first = value[:_LOOKED_AT] if kind is not dict else value.values()
        for item in first if len(first) <= _LOOKED_AT else islice(first, _LOOKED_AT):
            if type(item) in _BYTES:
                break
        else:
            try:
                return _encode(value).decode()
            except (TypeError, UnicodeEncodeError):  # keys that are no texts, half a surrogate pair
                pass
    form = described(listed(value) if is_iterator(value) else value)
    return encodable(form) if isinstance(form, str) else encode_anything(form).decode()


def described(value: Any) -> Any:
    """The value as JSON that says what a model has to know.

    Raises:
        TypeError: The value, or something in it, has no form that a model could read.
    """
    if type(value) in _SCALARS:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(bytes(value))
    if isinstance(value, Mapping):
        return {_key(key): described(item) for key, item in value.items()}
    if isinstance(value, First):
        return {"items": [described(item) for item in value], "more": f"only the first {len(value):,} were taken"}
    if isinstance(value, list | tuple | set | frozenset | deque | range | KeysView | ValuesView | ItemsView):
        return [described(item) for item in value]
    if isinstance(value, Enum):
        return described(value.value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: described(getattr(value, field.name)) for field in fields(value)}
    return msgspec.to_builtins(value, enc_hook=_form, str_keys=True)


def _key(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, tuple):  # of a grouping by several columns: as Python spells it
        return as_text(key)
    try:
        form = described(key)
    except TypeError:
        return as_text(key)
    return form if isinstance(form, str) else encode_anything(form).decode()


def _form(value: Any) -> Any:
    """The form of a value that msgspec doesn't know."""
    describe = _describer(type(value))
    if describe is not None:
        try:
            return describe(value)
        except Exception:  # whatever is odd about it: what it says of itself is better than nothing
            return _outline(value)
    if is_iterator(value):  # who gets the value would find it used up
        raise TypeError(f"a {type(value).__name__} inside of another value can be read only once; make a list of it")
    try:
        form = json_form(value)
    except TypeError as error:
        remedy = "call its collect() first" if hasattr(value, "collect") else _ADVICE
        raise TypeError(f"{error}; {remedy}") from None
    except ValueError:
        if not hasattr(value, "model_dump"):
            raise
        form = value.model_dump()  # a model of pydantic with fields that it can't write itself
    return described(form)


def _describer(kind: type) -> Callable[[Any], Any] | None:
    """Who knows such objects, by what they can do."""
    if kind not in _describers:
        _describers[kind] = _find_describer(kind)
    return _describers[kind]


def _find_describer(kind: type) -> Callable[[Any], Any] | None:
    def can(*names: str) -> bool:
        return all(hasattr(kind, name) for name in names)

    read = _table_reader(kind)
    if read is not None:
        return lambda value: tables.described(read(value))
    if can("tolist", "shape", "dtype"):
        return arrays.of_array
    if drawings.is_from(kind, "PIL") and can("mode", "size"):
        return drawings.of_image
    if drawings.is_from(kind, "matplotlib") and can("savefig"):
        return drawings.of_figure
    if drawings.is_from(kind, "matplotlib", "seaborn"):
        return drawings.of_artist
    if issubclass(kind, Number) or (kind.__name__ in ("Period", "Interval") and drawings.is_from(kind, "pandas")):
        return as_text
    if can("model_dump") or can("__fspath__") or can("collect"):
        return None
    if can("shape", "dtype") or any(map(can, _FACES)):
        return _outline
    return None


def table_in(value: Any) -> tables.Table | None:
    """The table that an object of pandas, polars or Arrow is; None if it is none."""
    read = _table_reader(type(value))
    return None if read is None else read(value)


def _table_reader(kind: type) -> Callable[[Any], tables.Table] | None:
    if kind.__name__ == "Styler":
        return lambda styler: tables.pandas_frame(styler.data)
    return next((read for names, read in _TABLES.items() if all(hasattr(kind, name) for name in names)), None)


def _outline(value: Any) -> str:
    """What an object says of itself, where a person is shown more than can be told in words."""
    try:
        shape = as_text(value.shape)
    except Exception:
        return as_text(value, OUTLINE_SHOWN)
    return f"{type(value).__name__} {shape}: {as_text(value)}"


def _bytes(value: bytes) -> Any:
    text = text_in(value)
    if text is not None:
        return text
    kind = next((name for start, name in _SIGNATURES.items() if value.startswith(start)), None)
    form: dict[str, Any] = {"bytes": len(value), **({"type": kind} if kind else {})}
    return {**form, "base64": base64.b64encode(value).decode()} if len(value) <= BASE64_SHOWN else form


#: What only such objects can do, all of it: the first that fits.
_TABLES: dict[tuple[str, ...], Callable[[Any], tables.Table]] = {
    ("itertuples", "dtypes", "iloc"): tables.pandas_frame,
    ("index", "dtype", "iloc"): tables.pandas_series,
    ("to_dicts", "dtypes", "get_columns"): tables.polars_frame,
    ("to_list", "dtype", "slice"): tables.polars_series,
    ("to_pylist", "schema", "columns"): tables.arrow_table,
    ("to_pylist", "type", "slice"): tables.arrow_column,
}
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"%PDF-": "application/pdf",
    b"PK\x03\x04": "application/zip",
    b"\x1f\x8b": "application/gzip",
    b"PAR1": "application/vnd.apache.parquet",
    b"SQLite format 3\x00": "application/vnd.sqlite3",
}
_describers: WeakKeyDictionary[type, Callable[[Any], Any] | None] = WeakKeyDictionary()
_encode = msgspec.json.Encoder(enc_hook=_form).encode
