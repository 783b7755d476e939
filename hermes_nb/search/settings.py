"""The settings of tool search, as ``tools.tool_search`` in config.yaml has them."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, cast, get_args

logger = logging.getLogger(__name__)

Mode = Literal["auto", "on", "off"]
_MODES = get_args(Mode)
#: The threshold where the model's context is unknown.
UNKNOWN_CONTEXT_THRESHOLD = 20_000


@dataclass(frozen=True, slots=True)
class ToolSearchConfig:
    """When tools are deferred behind the bridge, and how many hits a search gives.

    Attributes:
        enabled: auto (above the threshold), on (whenever a tool can be deferred) or off.
        threshold_pct: The share of the context, in percent, from which ``auto`` defers.
        search_default_limit: Hits when the model names no limit.
        max_search_limit: The most hits that the model can ask for.
        warnings: What was wrong with the values given, and what is in force instead.
    """

    enabled: Mode = "auto"
    threshold_pct: float = 10.0
    search_default_limit: int = 5
    max_search_limit: int = 20
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_raw(cls, raw: object) -> ToolSearchConfig:
        """Read the settings; a bad value is clamped or left at its default, and a warning says so."""
        if raw is None or isinstance(raw, bool):
            return cls(enabled="off" if raw is False else "auto")
        if not isinstance(raw, Mapping):
            return cls(
                warnings=_warned([f"tool_search: {raw!r} is neither a boolean nor a mapping; defaults in force"])
            )
        warnings: list[str] = []
        enabled = _mode(raw.get("enabled", "auto"), warnings)
        defaults = cls()
        threshold = _number(raw, "threshold_pct", defaults.threshold_pct, 0, 100, warnings)
        most = int(_number(raw, "max_search_limit", defaults.max_search_limit, 1, 50, warnings))
        default = min(defaults.search_default_limit, most)
        limit = int(_number(raw, "search_default_limit", default, 1, most, warnings))
        unknown = sorted(str(key) for key in raw.keys() - _KEYS)
        warnings += [f"tool_search.{key}: not a setting, ignored" for key in unknown]
        return cls(enabled, threshold, limit, most, _warned(warnings))

    def threshold_tokens(self, context_length: int | None) -> int:
        """Tokens of deferrable schemas from which ``auto`` defers."""
        if not context_length or context_length < 0:
            return UNKNOWN_CONTEXT_THRESHOLD
        return int(context_length * self.threshold_pct / 100)

    def is_active(self, deferrable_tokens: int, deferrable_tools: int, context_length: int | None) -> bool:
        """Whether tools are deferred now."""
        if self.enabled == "off" or deferrable_tools == 0:
            return False
        return self.enabled == "on" or deferrable_tokens >= self.threshold_tokens(context_length)

    def limit(self, asked: int | None) -> int:
        """How many hits a model gets that asked for so many."""
        return self.search_default_limit if asked is None else max(1, min(asked, self.max_search_limit))


_KEYS = {field.name for field in fields(ToolSearchConfig)} - {"warnings"}


def _mode(value: object, warnings: list[str]) -> Mode:
    if isinstance(value, bool):  # YAML 1.1 reads the words on and off as booleans
        return "on" if value else "off"
    word = str(value).strip().lower()
    if word in _MODES:
        return cast(Mode, word)
    warnings.append(f"tool_search.enabled: {value!r} is not one of {', '.join(_MODES)}; auto is in force")
    return "auto"


def _number(raw: Mapping[str, Any], key: str, default: float, low: float, high: float, warnings: list[str]) -> float:
    value = raw.get(key, default)
    number = _float(value)
    if number is None:
        warnings.append(f"tool_search.{key}: {value!r} is not a number; {default:g} is in force")
        return default
    clamped = min(max(number, low), high)
    if clamped != number:
        warnings.append(f"tool_search.{key}: {value!r} is outside {low:g} to {high:g}; {clamped:g} is in force")
    return clamped


def _float(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if isinstance(value, bool) or math.isnan(number) else number


def _warned(warnings: list[str]) -> tuple[str, ...]:
    for warning in warnings:
        logger.warning("config: %s", warning)
    return tuple(warnings)
