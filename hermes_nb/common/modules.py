"""Finding things by their folder: whoever adds a module to a package adds what it declares, and no line elsewhere."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import TypeVar

Kind = TypeVar("Kind")


def modules_of(package: str) -> list[ModuleType]:
    """The modules of a package, imported, by name; without its packages and its ``__main__``."""
    found = pkgutil.iter_modules(import_module(package).__path__)
    names = sorted(module.name for module in found if not module.ispkg and module.name != "__main__")
    return [import_module(f"{package}.{name}") for name in names]


def declared_in(package: str, kind: type[Kind]) -> list[Kind]:
    """Every object of a kind that a module of the package has at its top level, alone or in a tuple, each once."""
    named = [value for module in modules_of(package) for value in vars(module).values()]
    values = [part for value in named for part in (value if isinstance(value, tuple) else (value,))]
    return list({id(value): value for value in values if isinstance(value, kind)}.values())
