"""The pages that come from elsewhere: the command line, settings, magics, the map of the modules, notebooks."""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import re
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
GENERATED = HERE / "generated"
NOTEBOOKS = HERE.parent / "notebooks"
PACKAGES = (HERE.parent / "hermes_nb", HERE.parent / "backends" / "hermes_backends")


def write_all() -> None:
    """Write every page; one that has not changed is left alone, so that it is not built again."""
    pages = {"cli.md": command_line(), "config.md": settings(), "modules.md": module_map()}
    if find_spec("hermes_nb.notebook.magics") is not None:
        pages["magics.md"] = magics()
    GENERATED.mkdir(exist_ok=True)
    for name, text in pages.items():
        path = GENERATED / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    copy_notebooks()


def copy_notebooks() -> None:
    """Put the notebooks below the site's sources, where Sphinx looks for pages."""
    there = HERE / NOTEBOOKS.name
    shutil.rmtree(there, ignore_errors=True)
    shutil.copytree(NOTEBOOKS, there, ignore=shutil.ignore_patterns("*.py", "__pycache__", ".ipynb_checkpoints"))


def command_line() -> str:
    """Every command of ``hermes-nb`` with its ``--help``."""
    from hermes_nb.cli import build_parser

    os.environ["COLUMNS"] = "100"  # argparse wraps by it
    parser = build_parser()
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    parts = [("hermes-nb", parser.format_help())]
    parts += [(f"hermes-nb {name}", command.format_help()) for name, command in commands.choices.items()]
    return _help_page("The command line", parts)


def settings() -> str:
    """Every setting of config.yaml with its default and what it takes."""
    from hermes_nb.config import OPTIONS

    lines = [
        "# Settings\n",
        "In `config.yaml` below `~/.hermes-nb`, or below `HERMES_NB_HOME`; for one session as `Session(config={…})`. A",
        "dot stands for a level of nesting. A value that can't be used is reported, and the default stays in force.\n",
        "| setting | default | takes |",
        "|---|---|---|",
        *(f"| `{key}` | `{_as_yaml(option.default)}` | {option.accepted} |" for key, option in OPTIONS.items()),
    ]
    return "\n".join(lines)


def magics() -> str:
    """``%hermes`` and every sub-command with its ``--help``, as a notebook shows them."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    with tempfile.TemporaryDirectory() as home, contextlib.redirect_stdout(io.StringIO()):
        os.environ["HERMES_NB_HOME"] = home
        shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
        shell.run_line_magic("load_ext", "hermes_nb")
        overview = repr(shell.run_line_magic("hermes", ""))
        names = dict.fromkeys(re.findall(r"^%hermes (\w+)", overview, re.MULTILINE))
        parts = [(f"%hermes {name}", repr(shell.run_line_magic("hermes", f"{name} --help"))) for name in names]
        shell.run_line_magic("unload_ext", "hermes_nb")
    return _help_page("The magics", [("%hermes", overview), *parts])


def module_map() -> str:
    """Every module with the first sentence of its docstring, a table a folder."""
    lines: list[str] = []
    for package in PACKAGES:
        for folder in sorted({path.parent for path in package.rglob("*.py")}):
            name = ".".join(folder.relative_to(package.parent).parts)
            lines += [f"### `{name}`", "", "| module | what it is |", "|---|---|"]
            lines += [f"| `{_module(path, name)}` | {_first_sentence(path)} |" for path in sorted(folder.glob("*.py"))]
            lines += [""]
    return "\n".join(lines)


def _as_yaml(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def _module(path: Path, package: str) -> str:
    return package if path.stem == "__init__" else f"{package}.{path.stem}"


def _first_sentence(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")


def _help_page(title: str, parts: list[tuple[str, str]]) -> str:
    sections = [f"## `{name}`\n\n```text\n{text.strip()}\n```\n" for name, text in parts]
    return "\n".join([f"# {title}\n", *sections])
