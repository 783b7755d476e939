"""Help where people ask for it: with a question mark, and by Shift+Tab."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from IPython.core.interactiveshell import InteractiveShell

import hermes_nb as hermes
from hermes_nb.notebook.commands import COMMANDS
from hermes_nb.notebook.commands.base import read_options
from hermes_nb.notebook.inspection import help_at

if TYPE_CHECKING:
    from .conftest import Run

EXAMPLES = [(command, example) for command in COMMANDS.values() for example in command.examples]
#: What it takes to run the examples that need nothing but what is there.
HARMLESS = (
    "tools",
    "toolsets",
    "search",
    "describe",
    "explore",
    "feed",
    "budget",
    "ps",
    "approvals",
    "config",
    "replay",
)
VALUES = {"path": "notes.txt", "folder": "/", "token": "x", "question": "read a file", "value": "more"}


@pytest.fixture
def everything(shell: InteractiveShell, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Cells in a shell whose session has all built-in tools, and a folder of its own."""
    monkeypatch.chdir(tmp_path)
    shell.user_ns.update(VALUES)
    with hermes.Session(config={"approval": {"mode": "off"}}) as session:
        hermes.notebook.use(session)
        yield run


@pytest.mark.parametrize("line", ["%hermes?", "?%hermes", "%hermes??", "??%hermes", "%%hermes?", "%hermes ?"])
def test_a_question_mark_shows_what_there_is(run: Run, line: str) -> None:
    shown = run(line)
    assert shown.error is None
    assert all(
        f"%hermes {name} " in shown.stdout and command.example in shown.stdout for name, command in COMMANDS.items()
    )


@pytest.mark.parametrize(
    "line",
    ["%hermes call?", "?%hermes call", "%hermes call??", "%%hermes call?", "  %hermes call ?", "x = %hermes call?"],
)
def test_a_question_mark_shows_how_a_sub_command_is_used(run: Run, line: str) -> None:
    shown = run(f"before = 1\n{line}" if line.startswith("%h") else line)
    assert shown.error is None
    assert shown.stdout.strip() == repr(run("%hermes help call").value)
    assert COMMANDS["call"].example in shown.stdout


@pytest.mark.parametrize("line", ["%hermes call add?", "%hermes describe add?", "?%hermes call add"])
def test_a_question_mark_after_a_tool_shows_the_tool(run: Run, line: str) -> None:
    assert run(line).stdout.strip() == repr(run("%hermes describe add").value)


def test_a_question_is_no_call_for_help(run: Run) -> None:
    assert run("%hermes search how do I open an issue?").value.query == "how do I open an issue?"
    assert run("hits = %hermes search an issue?\nhits.query").value == "an issue?"
    assert run("%hermes run echo what?").value.lines == ["what?"]
    assert run("%%hermes run\necho what?").value.lines == ["what?"]
    assert run('text = """\n%hermes call?\n"""\ntext').value == "\n%hermes call?\n"


def test_help_on_nothing_suggests_the_nearest(run: Run) -> None:
    assert "Did you mean call?" in str(run("%hermes cal?").error)


def test_other_objects_are_explained_as_before(run: Run) -> None:
    assert "Return the length of" in run("len?").stdout.replace("the number of items in", "the length of")


def test_the_magic_s_own_docstring_is_help(run: Run) -> None:
    shown = run("%pinfo %hermes").stdout
    assert "%hermes search" in shown


def test_after_unloading_a_question_is_ipython_s_again(run: Run, shell: InteractiveShell) -> None:
    before = len(InteractiveShell().input_transformers_cleanup)
    hermes.unload_ipython_extension(shell)
    assert len(shell.input_transformers_cleanup) == before
    assert "not found" in run("%hermes call?").stdout


@pytest.mark.parametrize(
    ("code", "starts"),
    [
        ("%herm|es call add", "%hermes tools "),
        ("%hermes |", "%hermes tools "),
        ("%hermes serch|", "%hermes tools "),
        ("%hermes ca|ll add a=1", "usage: %hermes call"),
        ("x = 1\ny = %hermes run ls| -l\nz", "usage: %hermes run"),
        ("%hermes help ru|n", "usage: %hermes run"),
        ("%hermes call a|dd a=1", "add (math"),
        ("%hermes call add a=|", "add (math"),
        ("%hermes call nothing|", "usage: %hermes call"),
        ("%%hermes call add\na: |1", "add (math"),
        ("%%hermes run -q\nls |", "usage: %hermes run"),
    ],
)
def test_shift_tab_shows_help_on_what_is_at_the_cursor(run: Run, code: str, starts: str) -> None:
    found = help_at(code.replace("|", ""), code.index("|"))
    assert repr(found).startswith(starts)


@pytest.mark.parametrize(
    "code", ["le|n([1])", "x| = %hermes tools", "%hermes call add a={le|n([1])}", "%hermesx ca|", "|"]
)
def test_shift_tab_anywhere_else_is_left_to_the_kernel(run: Run, code: str) -> None:
    assert help_at(code.replace("|", ""), code.index("|")) is None


@pytest.mark.parametrize("name", COMMANDS)
def test_every_sub_command_has_an_example(name: str) -> None:
    command = COMMANDS[name]
    assert command.example
    assert all(f"%hermes {name}" in example for example in command.examples)
    assert command.takes_cell == any(example.startswith("%%") for example in command.examples)


@pytest.mark.parametrize("example", [example for _, example in EXAMPLES])
def test_an_example_is_understood(everything: Run, example: str, shell: InteractiveShell) -> None:
    head, _, cell = example.partition("\n")
    _, _, typed = head.partition("%hermes ")
    name, _, line = typed.partition(" ")
    options, rest = read_options(COMMANDS[name], line, shell.user_ns)
    assert isinstance(options, argparse.Namespace)
    assert bool(cell) == head.startswith("%%")
    assert not COMMANDS[name].rest or rest or cell


@pytest.mark.parametrize(
    "example", [example for command, example in EXAMPLES if command.name in HARMLESS and "job-1" not in example]
)
def test_a_harmless_example_works(everything: Run, example: str) -> None:
    if "revoke" in example:
        hermes.notebook.current().config.set("command_allowlist", ["delete-recursive"])
    assert everything(example).error is None


def test_the_examples_with_files_jobs_and_scripts_work(everything: Run) -> None:
    read, read_variable, write = COMMANDS["call"].examples
    for example in (write, read, read_variable):
        assert everything(example).error is None
    assert "|Two lines, with 'quotes' as they are," in everything("_hermes").value.text
    assert "|and more." in everything("_hermes").value.text
    script = next(example for example in COMMANDS["run"].examples if example.startswith("%%"))
    assert everything(script).error is None
    assert everything("_hermes").value.lines == ["2 notes.txt"]
    assert everything("%hermes run --bg sleep 60").error is None
    for example in COMMANDS["ps"].examples:
        assert everything(example).error is None
    assert everything("_hermes").value.status == "killed"
