"""What a model reads of an array: its shape, its type, and its values; of many some, and the range of all."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, prod
from typing import Any

from hermes_nb.common.jsonable import json_form
from hermes_nb.returned.cells import DIGITS, as_text, cell, digits_of, number

VALUES_WHOLE = 100
_ENDS_SHOWN = 10
_CORNER_SHOWN = 60
_EXACT = 17
#: Looking at every value of a larger array would take longer than a call should.
_VALUES_MEASURED = 10_000_000


def of_array(array: Any) -> Any:
    """An array of numpy, or of a library whose arrays have a shape, a dtype and a ``tolist``."""
    shape = tuple(int(size) for size in array.shape)
    digits = digits_of(str(array.dtype))
    if not shape:
        value = json_form(array)
        return number(value, _EXACT if digits == DIGITS else digits) if isinstance(value, float) else cell(value)
    form: dict[str, Any] = {"shape": list(shape), "dtype": as_text(array.dtype)}
    if prod(shape) <= VALUES_WHOLE:
        return {**form, "values": _nested(json_form(array), digits)}
    form |= _range(array, shape, digits)
    if len(shape) == 1:
        head, tail = (_nested(json_form(part), digits) for part in (array[:_ENDS_SHOWN], array[-_ENDS_SHOWN:]))
        return {**form, "head": head, "values_between": shape[0] - 2 * _ENDS_SHOWN, "tail": tail}
    return {**form, "corner": _nested(json_form(array[_corner(shape)]), digits)}


def _nested(values: Any, digits: int) -> Any:
    if isinstance(values, list):
        return [_nested(item, digits) for item in values]
    return cell(values, digits)


def _corner(shape: tuple[int, ...]) -> tuple[slice, ...]:
    """The first few of each dimension, so that they are not many together."""
    taken: list[int] = []
    room = _CORNER_SHOWN
    for at, size in enumerate(shape):
        share = max(1, int(room ** (1 / (len(shape) - at))))
        taken.append(min(size, share))
        room //= max(1, taken[-1])
    return tuple(slice(0, size) for size in taken)


def _range(array: Any, shape: tuple[int, ...], digits: int) -> Mapping[str, Any]:
    """The smallest, the largest and the mean value of numbers, without those that are none."""
    if getattr(array.dtype, "kind", "f") not in "iuf" or prod(shape) > _VALUES_MEASURED or hasattr(array, "flush"):
        return {}  # one that can be flushed is a file, which would be read from the first to the last byte
    try:
        there = array == array  # what does not equal itself is NaN
        missing = prod(shape) - int(there.sum())
        if missing:
            lowest, highest = array.min(where=there, initial=inf), array.max(where=there, initial=-inf)
            found = (lowest, highest, array.mean(where=there)) if missing < prod(shape) else ()
        else:
            found = (array.min(), array.max(), array.mean())
        form = {name: cell(value, digits) for name, value in zip(("min", "max", "mean"), found, strict=False)}
    except Exception:  # no numbers after all, or a library with a will of its own
        return {}
    return {**form, "missing": missing} if missing else form
