"""Data libraries are known by their objects: none of them is ever imported, and none has to be there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import hermes_nb

from ..core.support import run_python

LIBRARIES = ("numpy", "pandas", "polars", "pyarrow", "PIL", "matplotlib", "pydantic", "seaborn")
#: Search computes with numpy; nothing else does.
SEARCH = Path(hermes_nb.__file__).parent / "search"

CALL = """
import sys
absent = {absent!r}
for name in absent:
    sys.modules[name] = None  # importing it fails from here on
import hermes_nb
{setup}
registry = hermes_nb.Registry()
registry.register("t", "x", {{}}, lambda args: value)
with hermes_nb.Session(registry=registry) as session:
    result = session.call("t")
    assert result.ok, result.text
    assert result.value is value
    assert result._repr_mimebundle_()["text/plain"]
print(result.text)
"""


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_only_search_and_who_is_asked_for_a_frame_import_one_of_them() -> None:
    modules = [path for path in Path(hermes_nb.__file__).parent.rglob("*.py") if SEARCH not in path.parents]
    found = [(path.name, name) for path in modules for name in imports(path) if name in LIBRARIES]
    assert found == [("frames.py", "pandas")]  # for whoever asks for a data frame


def test_showing_and_importing_load_no_library(home: Path) -> None:
    code = "import sys, hermes_nb, hermes_nb.notebook.faces.shown\n"
    code += f"print([name for name in {LIBRARIES!r} + ('markdown_it',) if name in sys.modules and name != 'numpy'])"
    assert run_python(code, home).stdout.strip() == "[]"


def test_a_frame_without_pandas_is_an_error_that_says_what_to_do(home: Path) -> None:
    code = "import sys; sys.modules['pandas'] = None\nfrom hermes_nb.calls.results import ToolResult\n"
    code += "try: ToolResult('t', '', [{'a': 1}]).df()\nexcept ModuleNotFoundError as error: print(error)"
    assert "pip install pandas" in run_python(code, home).stdout


@pytest.mark.parametrize(
    ("library", "setup", "text"),
    [
        ("", "value = {'a': [1, {2}, b'x']}", '{"a":[1,[2],"eA=="]}'),
        ("polars", "import polars; value = polars.DataFrame({'a': [1]})", '"rows":[[1]]'),
        ("numpy", "import numpy; value = numpy.arange(3)", '"values":[0,1,2]'),
        ("PIL", "from PIL import Image; value = Image.new('L', (2, 3))", "image, 2x3, L"),
        ("pydantic", "import pydantic; value = pydantic.create_model('M', a=(int, 1))()", '{"a":1}'),
        ("pyarrow", "import pyarrow; value = pyarrow.table({'a': [1]})", '"rows":[[1]]'),
        (
            "pyarrow",
            "import pyarrow; value = pyarrow.table({'t': pyarrow.array([1], pyarrow.timestamp('ns'))})",
            "1970-01-01 00:00:00.000000001",
        ),
        ("pandas numpy", "import pandas; value = pandas.DataFrame({'a': [1]})", '"rows":[[1]]'),
        ("matplotlib numpy PIL", "from matplotlib.figure import Figure; value = Figure()", "figure, 640x480"),
    ],
)
def test_a_value_of_one_library_needs_no_other(library: str, setup: str, text: str, home: Path) -> None:
    absent = [name for name in LIBRARIES if name not in library.split()]
    done = run_python(CALL.format(absent=absent, setup=setup), home)
    assert text in done.stdout, done.stderr
