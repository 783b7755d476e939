"""Finding tools: the built-in ones, installed plugins, the user's folder, and a trusted project's folder.

A folder's files are read before they are run: only a module that registers a tool at its top level, with
``registry.register(…)`` or a ``@tool`` function, is imported. A plugin that fails is logged by name, leaves none of
its tools behind, and stops no other. A plugin's tool that would shadow another is logged and left out; the plugin's
other tools are there.
"""

from __future__ import annotations

import ast
import importlib
import logging
import os
import threading
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_nb.home import home
from hermes_nb.toolbox import plugin_files
from hermes_nb.toolbox.registry import registry
from hermes_nb.toolbox.shadowing import reporting_shadows

if TYPE_CHECKING:
    from hermes_nb.config import Config
    from hermes_nb.toolbox.declaration import Tool

logger = logging.getLogger(__name__)

BUILT_IN = "hermes_nb.tools"
ENTRY_POINTS = "hermes_nb.tools"
PROJECT_FOLDER = Path(".hermes-nb") / "tools"

_lock = threading.RLock()
_attempted: set[str] = set()
#: What could not be loaded, and why: shown by ``hermes-nb doctor``.
failures: dict[str, str] = {}


def registers_tools(path: Path) -> bool:
    """Whether a module registers a tool at its top level; the file is read, not run."""
    return _read(path) is not None


def _read(path: Path) -> ast.Module | None:
    """The syntax tree of a module that registers tools; None for any other."""
    try:
        tree = plugin_files.parse(path)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        _report(str(path), error)
        return None
    return tree if plugin_files.registers_tools(tree) else None


def discover_builtin_tools() -> list[str]:
    """Import the modules of ``hermes_nb.tools`` that register tools; returns their names."""
    [folder] = importlib.import_module(BUILT_IN).__path__
    found = [f"{BUILT_IN}.{path.stem}" for path in sorted(Path(folder).glob("*.py")) if registers_tools(path)]
    return [name for name in found if _load(name, partial(importlib.import_module, name))]


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
        tree = _read(path) if str(path) not in _attempted else None
        if tree is not None:
            _once(str(path), partial(plugin_files.run_file, path, tree))


def _is_trusted(project: Path, config: Config) -> bool:
    if os.environ.get("HERMES_NB_TRUST_PROJECT") == "1":
        return True
    trusted = {Path(path).expanduser().resolve() for path in config.get("plugins.trusted_projects")}
    return project.resolve() in trusted


def _once(name: str, load: Callable[[], object]) -> None:
    """Load a plugin, unless that was tried before."""
    with _lock:
        if name not in _attempted:
            _attempted.add(name)
            with reporting_shadows(lambda tool, error: _report(f"{tool.name} of {name}", error)):
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
