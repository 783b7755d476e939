"""A plugin's file: read without running it, and run as a module of its own.

Modules that were written for hermes-agent say ``from tools.registry import registry``. In a plugin's file that means
``hermes_nb.tools.registry``: the import is rewritten in the syntax tree, so that no package named ``tools`` has to be
in anybody's way, and everything keeps its file and its line.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

_THEIRS = "tools.registry"
_OURS = "hermes_nb.tools"


def parse(path: Path) -> ast.Module:
    """The syntax tree of a file, by its own encoding."""
    return ast.parse(path.read_bytes(), str(path))


def registers_tools(tree: ast.Module) -> bool:
    """Whether a module registers a tool at its top level, with ``registry.register(…)`` or a ``@tool`` function."""
    registries = {"registry", *_other_names_of_the_registry(tree)}
    return any(_is_registration(statement, registries) for statement in tree.body)


def _other_names_of_the_registry(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in (_THEIRS, "hermes_nb", "hermes_nb.registry"):
            yield from (alias.asname for alias in node.names if alias.name == "registry" and alias.asname)


def _is_registration(statement: ast.stmt, registries: set[str]) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return any(_called_name(decorator) == "tool" for decorator in statement.decorator_list)
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
        and statement.value.func.attr == "register"
        and _called_name(statement.value.func.value) in registries
    )


def _called_name(node: ast.expr) -> str:
    """The last name of ``tool``, ``hermes.tool`` or ``hermes.tool(…)``."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def run_file(path: Path, tree: ast.Module) -> ModuleType:
    """Run a file as a module that nothing else is called like; ``sys.modules`` has it as long as it didn't fail."""
    digest = hashlib.blake2b(str(path.absolute()).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    name = f"hermes_nb_plugin_{path.stem}_{digest}"  # the same in every process: a pickle names it
    spec = importlib.util.spec_from_file_location(name, path, loader=_Loader(name, str(path), tree))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


class _Loader(SourceFileLoader):
    """Runs the tree that was read, and neither reads nor writes ``.pyc`` files: others would find our imports there."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree: ast.Module | None = tree

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree, self._tree = self._tree or parse(Path(path)), None  # whoever reloads wants what the file says then
        return compile(ast.fix_missing_locations(_OurImports().visit(tree)), path, "exec", dont_inherit=True)


class _OurImports(ast.NodeTransformer):
    """Turns every import of ``tools.registry`` into one of ``hermes_nb.tools.registry``; the names stay the same."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        if node.level == 0 and node.module == _THEIRS:
            return [ast.copy_location(ast.ImportFrom(f"{_OURS}.registry", node.names, 0), node)]
        if node.level == 0 and node.module == "tools":
            modules = (_OURS if alias.name == "registry" else "tools" for alias in node.names)
            pairs = zip(modules, node.names, strict=True)
            return [ast.copy_location(ast.ImportFrom(module, [alias], 0), node) for module, alias in pairs]
        return [node]

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        if all(alias.name != _THEIRS for alias in node.names):
            return [node]
        return [ast.copy_location(statement, node) for alias in node.names for statement in _imported(alias)]


def _imported(alias: ast.alias) -> list[ast.stmt]:
    if alias.name != _THEIRS:
        return [ast.Import([alias])]
    if alias.asname is not None:
        return [ast.Import([ast.alias(f"{_OURS}.registry", alias.asname)])]
    # `import tools.registry` binds `tools`: load the module, and then give that name to the package that it is in.
    return [ast.Import([ast.alias(f"{_OURS}.registry", "tools")]), ast.ImportFrom("hermes_nb", [ast.alias("tools")], 0)]
