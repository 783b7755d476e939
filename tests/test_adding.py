"""What CONTRIBUTING.md says of adding things, done: its examples, put into a copy of the tree, are there and work."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .parts import run

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Adding things")[2].partition("\n## ")[0]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
[BACKEND] = [
    text for _, text in BLOCK.findall((ROOT / "backends/README.md").read_text("utf-8")) if "class NiceBackend" in text
]
#: The table that a line is added to -> what stands before its first line.
TABLES = {"OPTIONS": "Option] = {\n", "PANELS": "    for panel in (\n", "OURS": "Ours] = {\n"}


class Tree:
    """A copy of the two packages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("hermes_nb", "backends/hermes_backends"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        self.variables = {**os.environ, "HERMES_NB_HOME": str(folder / "home")}
        self.variables["PYTHONPATH"] = os.pathsep.join([str(folder), str(folder / "backends")])

    def put(self, path: str, text: str) -> None:
        new = self.folder / path
        assert not new.exists()
        new.parent.mkdir(exist_ok=True)
        new.write_text(text, "utf-8")

    def add_line(self, table: str, path: str, line: str) -> None:
        text = (self.folder / path).read_text("utf-8")
        before = TABLES[table]
        assert text.count(before) == 1
        (self.folder / path).write_text(text.replace(before, f"{before}{line}\n"), "utf-8")

    def python(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run(sys.executable, *words, cwd=self.folder, env=self.variables)

    def tell(self, code: str) -> Any:
        """What a program says with ``tell(…)``."""
        prelude = "import json\nimport hermes_nb as hermes\ndef tell(value): print(json.dumps(value, default=str))\n"
        return json.loads(self.python("-c", prelude + code).stdout.splitlines()[-1])

    def in_notebook(self, line: str) -> Any:
        """The text of what a line of a notebook gives."""
        shell = "from IPython.core.interactiveshell import InteractiveShell as Shell\nshell = Shell.instance()\n"
        return self.tell(f"{shell}shell.run_line_magic('load_ext', 'hermes_nb')\n{line}")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A copy of the tree with all that the guide adds."""
    grown = Tree(tmp_path_factory.mktemp("tree"))
    for language, text in BLOCK.findall(GUIDE):
        path = re.search(r"(?:#|//) (\S+/\S+)$", text.partition("\n")[0])
        assert path, f"which file is this?\n{text}"
        assert path[1].endswith({"python": ".py", "js": ".js"}[language])
        grown.put(path[1], text)
    added = re.findall(r"line of `(\w+)`\s+in\s+`([\w/.]+)`: `([^`]+)`", GUIDE)
    assert {table for table, _, _ in added} == TABLES.keys()
    for table, path, line in added:
        grown.add_line(table, path, line)
    grown.put("backends/hermes_backends/nice/__init__.py", '"""Commands at low priority."""\n')
    grown.put("backends/hermes_backends/nice/backend.py", BACKEND)
    assert grown.tell("tell(hermes.__file__)") == str(grown.folder / "hermes_nb" / "__init__.py")
    return grown


def test_a_rule_judges_its_own_examples(tree: Tree) -> None:
    found = tree.tell("""
from hermes_nb.approval import assess
from hermes_nb.approval.rules import RULES
rule = RULES["deorbit"]
verdicts = [{assess(line).verdict for line in lines} for lines in (rule.dangerous, rule.benign)]
tell([list(each) for each in verdicts])
""")
    assert found == [["ask"], ["allow"]]


def test_a_sub_command_runs_and_is_in_the_help(tree: Tree) -> None:
    assert "\n%hermes where " in tree.in_notebook("tell(repr(shell.run_line_magic('hermes', '')))")
    assert tree.in_notebook("tell(shell.run_line_magic('hermes', 'where'))") == str(tree.folder)


def test_a_command_of_the_command_line_runs_and_is_in_the_help(tree: Tree) -> None:
    assert re.search(
        r"^ +home +where hermes-nb keeps", tree.python("-m", "hermes_nb.cli", "--help").stdout, re.MULTILINE
    )
    assert tree.python("-m", "hermes_nb.cli", "home").stdout.strip() == tree.variables["HERMES_NB_HOME"]


def test_a_built_in_tool_is_shown_and_can_be_called(tree: Tree) -> None:
    found = tree.tell("""
session = hermes.Session(enabled_toolsets=["text"])
tell([session.definitions(), session.call("count_words", {"text": "one two"}).text])
""")
    assert [definition["function"]["name"] for definition in found[0]] == ["count_words"]
    assert found[1] == "2"


def test_a_setting_has_its_default_and_is_checked(tree: Tree) -> None:
    key = "text.longest"
    assert tree.tell(f"tell(hermes.Config().get({key!r}))") == 1000
    [problem] = tree.tell("tell(hermes.Config({'text': {'longest': 'very'}}).problems)")
    assert problem.startswith(f"{key}: 'very' is not accepted")
    assert key in tree.in_notebook("tell(repr(shell.run_line_magic('hermes', 'config')))")


def test_a_widget_is_shown_by_its_name_and_brings_its_script(tree: Tree) -> None:
    assert tree.in_notebook("tell(repr(shell.run_line_magic('hermes', 'counter')))") == "0 calls"
    found = tree.tell("""
session = hermes.Session()
widget, said = hermes.notebook.counter(session), []
widget.send = said.append
session.call("count_words", {"text": ""})
widget.receive({"kind": "count"})
tell([said, widget._esm, widget.html_face()])
""")
    assert found[0] == [{"kind": "counted", "text": "1 calls"}]
    assert 'h("button"' in found[1]
    assert "function h(" in found[1]
    assert found[2] == "<pre>1 calls</pre>"


def test_a_backend_runs_commands_and_the_doctor_knows_it(tree: Tree) -> None:
    found = tree.tell("""
with hermes.Session(backend="nice") as session:
    tell([session.call("terminal", {"command": "nice"}).value.result.stdout, session.backend_name])
""")
    assert found == [f"{min(os.nice(0) + 10, 19)}\n", "nice"]
    assert "commands run as you, at low priority" in tree.tell(
        "from hermes_nb.doctor import examine\ntell(str(examine()))"
    )


def test_what_was_added_keeps_to_the_style_of_the_rest(tree: Tree) -> None:
    added = [tree.folder / path for path in re.findall(r"# (\S+/\S+\.py)$", GUIDE, re.MULTILINE)]
    settings = f"--config={ROOT / 'pyproject.toml'}"
    run(Path(sys.executable).with_name("ruff"), "check", settings, *added, cwd=ROOT)
    run(Path(sys.executable).with_name("ruff"), "format", "--check", settings, *added, cwd=ROOT)
