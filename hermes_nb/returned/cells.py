"""A value among many, kept short: a cell of a table, an item of an array."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import islice
from typing import Any
from uuid import UUID

from hermes_nb.common.jsonable import encodable, encode_anything, is_missing, json_form, to_builtins
from hermes_nb.common.redact import holds_secret, redact

TEXT_SHOWN = 200
_ITEMS_SHOWN = 30
_DEPTH_SHOWN = 4
_LONGEST_SECRET = 8_000  # a private key
#: A double has 17 digits, of which calculations spoil the last ones: a model pays for them, and learns nothing.
DIGITS = 12
_SINGLE = {"float32": 7, "float": 7, "f32": 7, "float16": 4, "halffloat": 4, "bfloat16": 3}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def cell(value: Any, digits: int = DIGITS, depth: int = 0) -> Any:
    """What is shown of one value: JSON, whatever the value is, and not much of it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**64 else clipped(str(int(value)))
    if isinstance(value, float):
        return number(value, digits)
    if isinstance(value, str):
        return clipped(str.__str__(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(bytes(value))
    try:
        return _bounded(_other(value, digits, depth))
    except Exception:  # a cell can hold anything, and must not cost the rest of the table
        return as_text(value)


def digits_of(dtype: str) -> int:
    """How many digits of a column's numbers say something, by the name of their type."""
    return _SINGLE.get(dtype.lower().removeprefix("torch."), DIGITS)


def number(value: float, digits: int = DIGITS) -> float | str | None:
    """A number as JSON has it, without digits that say nothing."""
    if math.isnan(value):
        return None
    return float(f"{value:.{digits}g}") if math.isfinite(value) else str(float(value))


def clipped(text: str, limit: int = TEXT_SHOWN) -> str:
    """The beginning of a text; a secret is taken out before it could be cut into what nobody recognises."""
    if len(text) <= limit:
        return encodable(text)
    near = encodable(text[: limit + _LONGEST_SECRET])
    return f"{(redact(near) if holds_secret(near) else near)[:limit]}…"


def as_text(value: Any, limit: int = TEXT_SHOWN) -> str:
    """What a value says of itself, the same in every run."""
    try:
        return clipped(_ADDRESS.sub("", str(value)), limit)
    except Exception:
        return f"<{type(value).__name__}>"


def _bytes(value: bytes) -> str:
    text = text_in(value[: TEXT_SHOWN * 4])
    return clipped(text) if text is not None and len(value) <= TEXT_SHOWN * 4 else f"<{len(value):,} bytes>"


def text_in(value: bytes) -> str | None:
    """The text that bytes are in UTF-8; None if they are something else."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return None
    return None if _CONTROL.search(text) else text


def _other(value: Any, digits: int, depth: int) -> Any:
    if is_missing(value):
        return None
    if isinstance(value, Enum):
        return cell(value.value, digits, depth)
    if isinstance(value, date | time | timedelta | Decimal | UUID):
        return to_builtins(value)
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 0:
        return cell(json_form(value), digits, depth)
    if depth == _DEPTH_SHOWN:
        return "…"
    if isinstance(value, Mapping):
        return _pairs(value, digits, depth)
    if isinstance(shape, tuple) and len(shape) == 1:  # an array in a cell
        return _items(json_form(value[: _ITEMS_SHOWN + 1]), shape[0], digits, depth)
    if isinstance(value, list | tuple | set | frozenset):
        return _items(value, len(value), digits, depth)
    return as_text(value)


def _pairs(value: Mapping[Any, Any], digits: int, depth: int) -> dict[str, Any]:
    shown = {as_text(key): cell(item, digits, depth + 1) for key, item in islice(value.items(), _ITEMS_SHOWN)}
    return shown if len(value) <= _ITEMS_SHOWN else {**shown, "…": f"{len(value) - _ITEMS_SHOWN:,} more"}


def _items(value: Any, size: int, digits: int, depth: int) -> list[Any]:
    shown = [cell(item, digits, depth + 1) for item in islice(value, _ITEMS_SHOWN)]
    return shown if size <= _ITEMS_SHOWN else [*shown, f"… {size - _ITEMS_SHOWN:,} more"]


def _bounded(form: Any) -> Any:
    if not isinstance(form, dict | list):
        return form
    written = encode_anything(form).decode()
    return form if len(written) <= 2 * TEXT_SHOWN else clipped(written, 2 * TEXT_SHOWN)
