"""The direction of imports, as ``[tool.importlinter]`` in pyproject.toml draws it."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

from hermes_backends.registry import OURS

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
EXCEPTIONS = [line for contract in SETTINGS["contracts"] for line in contract.get("ignore_imports", ())]


def test_imports_point_one_way() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("exception", EXCEPTIONS)
def test_what_is_excepted_stands_where_a_face_is_made(exception: str) -> None:
    """The linter knows modules only: it would let any other import of that module through, too."""
    importer, _, imported = exception.partition(" -> ")
    tree = ast.parse(ROOT.joinpath(*importer.split(".")).with_suffix(".py").read_text("utf-8"))
    faces = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and (function.name.startswith("_repr_") or function.name == "show")
        for node in ast.walk(function)
    }
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == imported]
    assert imports
    assert [node.lineno for node in imports if node not in faces] == []


def test_a_backend_does_not_know_the_others() -> None:
    graph = grimp.build_graph("hermes_backends", exclude_type_checking_imports=True, cache_dir=None)
    found = {
        (importer, imported)
        for name in OURS
        for importer in graph.find_descendants(f"hermes_backends.{name}")
        for imported in graph.find_modules_directly_imported_by(importer)
        if imported.split(".")[1] in OURS.keys() - {name}
    }
    assert found == set()
