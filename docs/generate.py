"""The pages that come from elsewhere: the command line, settings, magics, the map of the modules, notebooks."""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_nb.notebook.commands import Command

HERE = Path(__file__).parent
GENERATED = HERE / "generated"
NOTEBOOKS = HERE.parent / "notebooks"
PACKAGES = (HERE.parent / "hermes_nb", HERE.parent / "backends" / "hermes_backends")


def write_all() -> None:
    """Write every page; one that has not changed is left alone, so that it is not built again."""
    pages = {"cli.md": command_line(), "config.md": settings(), "magics.md": magics(), "modules.md": module_map()}
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
    """Every sub-command of ``%hermes`` with what it does, how it is typed, its options and examples."""
    from hermes_nb.notebook.commands import COMMANDS

    contents = [f"| [`{name}`](#hermes-{name}) | {_cell(command.summary)} |" for name, command in COMMANDS.items()]
    sections = [_sub_command(command) for command in COMMANDS.values()]
    return "\n".join([_MAGICS.strip(), "", "| `%hermes …` | what it does |", "|---|---|", *contents, "", *sections])


_MAGICS = """
# The magics

`%load_ext hermes_nb` brings `%hermes`; `%%hermes` above a cell hands the cell to it. In a notebook `%hermes` lists what
is below, `%hermes call?` and Shift+Tab explain one sub-command, `%hermes call read_file?` explains a tool, and Tab
completes sub-commands, options, tools, arguments, their values, and files.

- `result = %hermes …` keeps a result, `-o NAME` does too, and `_hermes` is always the latest one: also that of a call
  that failed and raised.
- `{expr}` is the value of a Python expression, in a command quoted as one word. JSON braces and the shell's stay as
  they are, and so does everything in single quotes.
- An option that does not exist is refused with the one that was probably meant. Options stand before the command of
  `run` and the query of `search`; what follows is theirs.
"""


def _sub_command(command: Command) -> str:
    examples = "\n\n".join(command.examples)
    options = [(", ".join(f"`{name}`" for name in _names(action)), action.help or "") for action in _takes(command)]
    rows = "\n".join(f"| {name} | {_cell(text.replace('%%', '%'))} |" for name, text in options)
    return f"""(hermes-{command.name})=
## `%hermes {command.name}`

{command.summary}

```text
{command.parser.usage_line()}
```

| it takes | what for |
|---|---|
{rows}

```text
{examples}
```
"""


def _takes(command: Command) -> list[argparse.Action]:
    options = {id(action): action for action in command.parser.options.values()}
    return [*command.parser.positionals, *options.values()]


def _names(action: argparse.Action) -> list[str]:
    value = action.metavar if isinstance(action.metavar, str) else action.dest
    if not action.option_strings:
        return [value]
    return [name if action.nargs == 0 else f"{name} {value}" for name in sorted(action.option_strings)]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


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
