"""Every command and every piece of code on the pages that people read does what it says.

Python blocks run in order in one namespace, as cells of a notebook would, so that magics work too. Commands run in an
empty folder with the tools of this environment in reach; those that install, clone or start a server are checked
instead: that the target, the extra or the program exists.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt

from hermes_nb.cli import build_parser

from .parts import run

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "backends").glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
]
PYTHON = {"python", "py", "ipython"}
SHELL = {"console", "bash", "sh", "shell"}
SHOWN = {"", "text", "json", "yaml", "toml", "js"}
#: Ends the first line of a block that is a file of the tree; test_adding.py puts it there.
FILE = re.compile(r"#\s+\S+/\S+\.py$")

RUNNER = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
settings = {"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}}
shell = InteractiveShell.instance(config=Config(settings))
for number, block in enumerate(json.load(sys.stdin), 1):
    if not shell.run_cell(block).success:
        sys.exit(f"Python block {number} failed:\\n{block}")
"""


class Block(NamedTuple):
    page: Path
    language: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        is_file = FILE.search(token.content.partition("\n")[0])
        if token.type == "fence" and not token.info.startswith("{") and not is_file:
            yield Block(page, token.info.strip().partition(" ")[0], token.content)


def commands(block: Block) -> list[str]:
    lines = block.text.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [line for line in lines if shlex.split(line, comments=True)]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


ALL = [block for page in PAGES for block in blocks(page)]
COMMANDS = [(block.page, line) for block in ALL if block.language in SHELL for line in commands(block)]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """As for a reader who has hermes-nb installed, and used hermes-agent before."""
    agent = tmp_path / "hermes"
    agent.mkdir()
    (agent / "config.yaml").write_text("command_allowlist: [recursive delete]\n", encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HERMES_HOME": str(agent)}


def test_every_code_block_is_in_a_language_that_is_checked_or_only_shown() -> None:
    unknown = [f"{name(block.page)}: {block.language}" for block in ALL if block.language not in PYTHON | SHELL | SHOWN]
    assert unknown == []


@pytest.mark.parametrize("page", [page for page in PAGES if any(b.language in PYTHON for b in blocks(page))], ids=name)
def test_the_python_of_a_page_runs_in_order(page: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    code = [block.text for block in blocks(page) if block.language in PYTHON]
    run(sys.executable, "-c", RUNNER, input=json.dumps(code), cwd=tmp_path, env=environment)


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=[f"{name(page)}: {line}" for page, line in COMMANDS])
def test_a_command_works(page: Path, command: str, tmp_path: Path, environment: dict[str, str]) -> None:
    words = [word for word in shlex.split(command, comments=True) if not re.fullmatch(r"[A-Z_]+=.*", word)]
    program = Path(words[0]).name
    check = CHECKED.get(" ".join([program, *words[1:2]])) or CHECKED.get(program)
    if check is not None:
        check(words[1:])
        return
    run("bash", "-c", command, cwd=tmp_path, env=environment)


def is_target(words: list[str]) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert words
    assert set(words) <= set(targets)


def is_installable(words: list[str]) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert words[0] == "install"
    for requirement in (word for word in words[1:] if not word.startswith("-")):
        package, _, rest = requirement.partition("[")
        assert package in ("hermes-nb", ".")
        assert {extra for extra in rest.rstrip("]").split(",") if extra} <= extras.keys()


def is_here(words: list[str]) -> None:
    missing = [word for word in words if "/" in word and not (ROOT / word.partition("::")[0]).exists()]
    assert missing == []


def is_installed(words: list[str]) -> None:
    assert find_spec({"lab": "jupyterlab", "notebook": "notebook"}[words[0]]) is not None


def is_a_command(words: list[str]) -> None:
    build_parser().parse_args(words)


def is_fetched(words: list[str]) -> None:
    assert words[0] == "clone"


#: program, with its command or without -> what is checked instead of running it
CHECKED = {
    "make": is_target,
    "pip": is_installable,
    "pytest": is_here,
    "jupyter": is_installed,
    "git": is_fetched,
    "hermes-nb demo": is_a_command,
    "cd": lambda words: None,
}
