"""config.yaml: read safely, checked key by key, and saved without losing a comment."""

from __future__ import annotations

import io
import logging
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_nb.errors import ConfigError, did_you_mean
from hermes_nb.home import home

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Option:
    """One setting.

    Attributes:
        default: What is in force without a config.
        accepts: Whether a value can be used.
        accepted: What it takes, in words.
        choices: The values to choose from, as a person types them; empty where there are too many to list.
    """

    default: Any
    accepts: Callable[[Any], bool]
    accepted: str
    choices: tuple[str, ...] = ()


_SWITCH = ("true", "false")


def _choice(default: str, *others: str) -> Option:
    words = (default, *others)
    return Option(default, lambda value: value in words, f"one of {', '.join(words)}", words)


def _number(default: float | None, low: float, high: float, *, optional: bool = False) -> Option:
    def accepts(value: Any) -> bool:
        if value is None:
            return optional
        return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high

    return Option(default, accepts, f"a number from {low:g} to {high:g}{', or null' if optional else ''}")


def _switch(*, default: bool) -> Option:
    return Option(default, lambda value: isinstance(value, bool), " or ".join(_SWITCH), _SWITCH)


def _texts() -> Option:
    def accepts(value: Any) -> bool:
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)

    return Option((), accepts, "a list of texts")


_MISSING = object()

#: Every setting there is.
OPTIONS: Mapping[str, Option] = {
    "tools.tool_search": Option(
        None,
        lambda value: value is None or isinstance(value, bool | Mapping),
        f"{', '.join(_SWITCH)}, or a mapping",
        _SWITCH,
    ),
    # What becomes of a tool whose environment variables are missing: it can't be used, or that is only shown.
    "tools.requires_env": _choice("gate", "show"),
    "approval.mode": _choice("manual", "smart", "off", "policy"),
    "approval.timeout": _number(300, 1, 86_400),
    "approval.skip_when_isolated": _switch(default=False),
    "approval.allow": _texts(),
    "approval.ask": _texts(),
    "approval.deny": _texts(),
    "command_allowlist": _texts(),
    "calls.timeout": _number(300, 0.1, 86_400, optional=True),
    "calls.parallel": _number(8, 1, 64),
    "results.max_chars": _number(100_000, 100, 100_000_000),
    "results.keep_days": _number(30, 0, 36_500, optional=True),
    "journal.keep_days": _number(365, 0, 36_500, optional=True),
    "plugins.trusted_projects": _texts(),
}


class Config:
    """The settings in force. A value that can't be used is reported in ``problems``, and its default stays in force."""

    def __init__(self, values: Mapping[str, Any] | None = None, path: Path | None = None) -> None:
        self.path = path
        self.problems: list[str] = []
        self._values: dict[str, Any] = {}
        self._broken = False
        self.generation = 0
        self._check(values or {})

    @classmethod
    def load(cls, path: Path | None = None) -> Config:
        """The config of a file, ``config.yaml`` below HERMES_NB_HOME by default; a missing file means defaults."""
        path = path or home() / "config.yaml"
        try:
            text = path.read_text(encoding="utf-8")
            values = _yaml().load(text)
        except FileNotFoundError:
            return cls(path=path)
        except Exception as error:  # whatever is wrong with the file, a session must start, with the safe defaults
            config = cls(path=path)
            config._broken = True
            config._report(f"{path} can't be read ({error}); the defaults are in force")
            return config
        if values is not None and not isinstance(values, Mapping):
            config = cls(path=path)
            config._broken = True
            config._report(f"{path} must hold a mapping of settings; the defaults are in force")
            return config
        return cls(values or {}, path)

    @classmethod
    def of(cls, given: Config | Mapping[str, Any] | str | Path | None) -> Config:
        """A config from whatever a session was given: a config, a mapping, a file, or nothing."""
        if isinstance(given, Config):
            return given
        if isinstance(given, Mapping):
            return cls(given)
        return cls.load(Path(given) if given is not None else None)

    def get(self, key: str) -> Any:
        """The value in force.

        Raises:
            ConfigError: There is no such setting.
        """
        found = self._values.get(key, _MISSING)
        return self._option(key).default if found is _MISSING else found

    def set(self, key: str, value: Any) -> None:
        """Change a setting, and the file if this config came from one.

        Raises:
            ConfigError: There is no such setting, it doesn't accept the value, or the file can't be changed safely.
        """
        option = self._option(key)
        if not option.accepts(value):
            raise ConfigError(f"{key}: {value!r} is not accepted; it takes {option.accepted}")
        if self.path is not None:
            self._save(key, value)
        self._values[key] = value
        self.generation += 1

    def _option(self, key: str) -> Option:
        if key not in OPTIONS:
            raise ConfigError(f"there is no setting {key!r}{did_you_mean(key, OPTIONS)}")
        return OPTIONS[key]

    def _check(self, values: Mapping[str, Any]) -> None:
        for key, value in _flattened(values):
            option = OPTIONS.get(key)
            if option is None:
                self._report(f"{key}: not a setting, left alone{did_you_mean(key, OPTIONS)}")
            elif option.accepts(value):
                self._values[key] = _plain(value)
            else:
                self._report(
                    f"{key}: {value!r} is not accepted, {option.default!r} stays in force; it takes {option.accepted}"
                )

    def _report(self, problem: str) -> None:
        self.problems.append(problem)
        logger.warning("config: %s", problem)

    def _save(self, key: str, value: Any) -> None:
        assert self.path is not None
        if self._broken:
            raise ConfigError(f"{self.path} can't be read as it is, so it was not changed; correct it first")
        yaml = _yaml()
        try:
            document = yaml.load(self.path.read_text(encoding="utf-8")) if self.path.exists() else None
        except Exception as error:  # it was edited meanwhile
            raise ConfigError(f"{self.path} can't be read, so it was not changed; correct it first: {error}") from error
        if document is None:
            document = yaml.map()
        if not isinstance(document, Mapping):
            raise ConfigError(f"{self.path} holds no mapping of settings, so it was not changed; correct it first")
        *parents, last = key.split(".")
        section: Any = document
        for parent in parents:
            if not isinstance(section.get(parent), Mapping):
                section[parent] = yaml.map()
            section = section[parent]
        _put(section, last, value)
        rendered = io.StringIO()
        yaml.dump(document, rendered)
        _write_whole(self.path, rendered.getvalue())


def _put(section: Any, key: str, value: Any) -> None:
    """Set a value; a mapping or list that is there is changed in place, because comments hang on its entries."""
    old = section.get(key)
    if isinstance(old, dict) and isinstance(value, Mapping):
        for name in [name for name in old if name not in value]:
            del old[name]
        for name, item in value.items():
            if name not in old or old[name] != item:
                _put(old, name, item)
    elif isinstance(old, list) and isinstance(value, list | tuple):
        for gone in [index for index, item in enumerate(old) if item not in value][::-1]:
            del old[gone]
        old.extend(item for item in value if item not in old)
        if old != list(value):
            section[key] = list(value)
    else:
        section[key] = list(value) if isinstance(value, tuple) else value


def _yaml() -> Any:
    from ruamel.yaml import YAML  # 20 ms that a process without a config file need not spend

    yaml = YAML(typ="rt")  # keeps comments; constructs plain data only
    yaml.preserve_quotes = True
    return yaml


def _flattened(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in values.items():
        key = f"{prefix}{name}"
        is_section = isinstance(value, Mapping) and any(option.startswith(f"{key}.") for option in OPTIONS)
        found += _flattened(value, f"{key}.") if is_section else [(key, value)]
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _write_whole(path: Path, text: str) -> None:
    """Replace a file's content in one step, so that a crash leaves the old file or the new one, never half of it."""
    path = path.resolve()  # a link to a file kept elsewhere stays a link
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            Path(temporary).chmod(path.stat().st_mode & 0o777)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
