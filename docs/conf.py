"""How the site is made: `make docs` builds it into docs/_build, with warnings as errors."""

from __future__ import annotations

import argparse
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import hermes_nb

project = "hermes-nb"
author = "The hermes-nb maintainers"
project_copyright = author
version = release = hermes_nb.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build", "**.ipynb_checkpoints", "notebooks/*.py"]
html_theme = "furo"
html_title = f"hermes-nb {version}"
html_copy_source = False
default_role = "code"  # docstrings write code in single or double backticks

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebooks are committed with their outputs, and run by the tests

# A struct's hints are looked up at run time, where these names are imported for type checkers only.
vars(hermes_nb.context)["Session"] = hermes_nb.Session
vars(hermes_nb.results)["Decision"] = hermes_nb.Decision

HERE = Path(__file__).parent
GENERATED = HERE / "reference"


def command_line_page() -> str:
    """Every command of ``hermes-nb`` with its ``--help``."""
    from hermes_nb.cli import build_parser

    parser = build_parser()
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    parts = [("hermes-nb", parser.format_help())]
    parts += [(f"hermes-nb {name}", command.format_help()) for name, command in commands.choices.items()]
    return _page("The command line", parts)


def magics_page() -> str:
    """``%hermes`` and every sub-command with its ``--help``, as a notebook shows them."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "hermes_nb")
    overview = repr(shell.run_line_magic("hermes", ""))
    names = dict.fromkeys(re.findall(r"^%hermes (\w+)", overview, re.MULTILINE))
    parts = [("%hermes", overview)]
    parts += [(f"%hermes {name}", repr(shell.run_line_magic("hermes", f"{name} --help"))) for name in names]
    return _page("The magics", parts)


def _page(title: str, parts: list[tuple[str, str]]) -> str:
    sections = [f"## `{name}`\n\n```text\n{text.strip()}\n```\n" for name, text in parts]
    return "\n".join([f"# {title}\n", *sections])


def _write(name: str, text: str) -> None:
    path = GENERATED / name
    if not path.exists() or path.read_text(encoding="utf-8") != text:  # an unchanged page is not built again
        path.write_text(text, encoding="utf-8")


sys.argv[0] = "hermes-nb"
_write("cli.md", command_line_page())
if find_spec("hermes_nb.notebook.magics") is not None:
    _write("magics.md", magics_page())
