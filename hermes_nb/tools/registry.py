"""What tool modules of hermes-agent import as ``tools.registry``; in a plugin's file that import means this module."""

from __future__ import annotations

from typing import Any

import msgspec

from hermes_nb.common.jsonable import to_builtins
from hermes_nb.toolbox.registry import registry

__all__ = ["registry", "tool_error", "tool_result"]


def tool_error(message: object, **details: Any) -> str:
    """The result of a handler that failed: a JSON object with an ``error``, and whatever else the model should read."""
    return tool_result({"error": str(message), **details})


def tool_result(data: Any = None, **fields: Any) -> str:
    """The result of a handler as JSON: a value, or an object of these fields.

    Raises:
        TypeError: The value has no JSON form.
    """
    return msgspec.json.encode(to_builtins(fields if data is None else data)).decode()
