"""Finding tools: the built-in ones, installed plugins, the user's folder, and a trusted project's folder.

A folder's files are read before they are run: only a module that registers a tool at its top level, with
``registry.register(…)`` or a ``@tool`` function, is imported. A plugin that fails is logged by name, leaves none of
its tools behind, and stops no other.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import logging
import os
import sys
import threading
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_nb.home import home
from hermes_nb.registry import registry

if TYPE_CHECKING:
    from hermes_nb.config import Config
    from hermes_nb.declaration import Tool

logger = logging.getLogger(__name__)

ENTRY_POINTS = "hermes_nb.tools"
PROJECT_FOLDER = Path(".hermes-nb") / "tools"

_lock = threading.RLock()
_attempted: set[str] = set()
#: What could not be loaded, and why: shown by ``hermes-nb doctor``.
failures: dict[str, str] = {}


def registers_tools(path: Path) -> bool:
    """Whether a module registers a tool at its top level; the file is read, not run."""
    try:
        body = ast.parse(path.read_bytes(), str(path)).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        _report(str(path), error)
        return False
    return any(_is_registration(statement) for statement in body)


def _is_registration(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return any(_called_name(decorator) == "tool" for decorator in statement.decorator_list)
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
        and statement.value.func.attr == "register"
        and _called_name(statement.value.func.value) == "registry"
    )


def _called_name(node: ast.expr) -> str:
    """The last name of ``tool``, ``hermes.tool`` or ``hermes.tool(…)``."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def discover_builtin_tools() -> list[str]:
    """Import the modules of ``hermes_nb.tools`` that register tools; returns their names."""
    folder = Path(__file__).parent / "tools"
    found = [f"hermes_nb.tools.{path.stem}" for path in sorted(folder.glob("*.py")) if registers_tools(path)]
    return [name for name in found if _load(name, lambda name=name: importlib.import_module(name))]  # type: ignore[misc]


def discover_plugins(config: Config) -> None:
    """Load what is installed and what lies in the user's folder, and in the project's if the user trusts it."""
    for entry in entry_points(group=ENTRY_POINTS):
        _once(f"plugin {entry.name} ({entry.value})", entry.load)
    load_folder(home() / "tools")
    project = Path.cwd()
    if (project / PROJECT_FOLDER).is_dir():
        if _is_trusted(project, config):
            load_folder(project / PROJECT_FOLDER)
        else:
            logger.info("%s has tools of its own; add it to plugins.trusted_projects to load them", project)


def load_folder(folder: Path) -> None:
    """Load every module of a folder that registers tools."""
    for path in sorted(folder.glob("*.py")):
        if registers_tools(path):
            _once(str(path), lambda path=path: _import_file(path))  # type: ignore[misc]


def _is_trusted(project: Path, config: Config) -> bool:
    if os.environ.get("HERMES_NB_TRUST_PROJECT") == "1":
        return True
    trusted = {Path(path).expanduser().resolve() for path in config.get("plugins.trusted_projects")}
    return project.resolve() in trusted


def _import_file(path: Path) -> None:
    name = f"hermes_nb_plugin_{path.stem}_{abs(hash(path)):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise


def _once(name: str, load: Callable[[], object]) -> None:
    with _lock:
        if name not in _attempted:
            _attempted.add(name)
            _load(name, load)


def _load(name: str, load: Callable[[], object]) -> bool:
    with _lock:
        before = registry.snapshot.tools
        try:
            load()
        except (Exception, SystemExit) as error:
            _restore(before)
            _report(name, error)
            return False
    return True


def _restore(before: Mapping[str, Tool]) -> None:
    for name, tool in registry.snapshot.tools.items():
        if name not in before:
            registry.deregister(name)
        elif tool is not before[name]:
            registry.add(before[name], override=True)


def _report(name: str, error: BaseException) -> None:
    reason = f"{type(error).__name__}: {error}"
    if failures.get(name) != reason:
        failures[name] = reason
        logger.warning("%s could not be loaded: %s", name, reason)
