"""What the packages import is what the distribution declares: nothing works only because somebody else installs it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions

from packaging.utils import canonicalize_name

from .conftest import ROOT

OWN = {"hermes_nb", "hermes_backends"}
#: pytest is imported by `hermes_backends.contract` alone, which is itself a test suite; pandas when somebody asks for a
#: data frame of a result, and the error that they get without it says what to install.
BROUGHT = {"pytest", "pandas"}


def imported() -> Iterator[str]:
    for package in (ROOT / "hermes_nb", ROOT / "backends" / "hermes_backends"):
        for path in package.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    yield from (alias.name.partition(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    yield node.module.partition(".")[0]


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in extras if name != "dev" for line in extras[name])]
    return {canonicalize_name(re.split(r"[\[<>=!~; ]", line)[0]) for line in lines}


def test_every_library_that_is_imported_is_declared() -> None:
    installed = packages_distributions()
    foreign = set(imported()) - sys.stdlib_module_names - OWN - BROUGHT
    undeclared = {
        module
        for module in foreign
        if not {canonicalize_name(name) for name in installed.get(module, [module])} & declared()
    }
    assert undeclared == set()
