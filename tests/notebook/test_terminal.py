"""``%hermes`` in IPython in a terminal, as a person types it there: faces, Tab, help, questions and Ctrl-C."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from ..parts import PATIENCE

CONTROL = r"\x1b\[[0-9;?]*[A-Za-z]|\r"
PROMPT = r"In \[\d+\]:"


class Terminal:
    """IPython in a pseudo-terminal."""

    def __init__(self, folder: Path) -> None:
        own = {"HOME": folder, "HERMES_NB_HOME": folder / "home", "IPYTHONDIR": folder / "ipython"}
        self.process = pexpect.spawn(
            sys.executable,
            ["-m", "IPython", "--no-banner", "--no-confirm-exit", "--colors=NoColor"],
            env={
                **os.environ,
                **{name: str(path) for name, path in own.items()},
                "TERM": "xterm",
                "PAGER": "cat",
                "PROMPT_TOOLKIT_NO_CPR": "1",
            },
            cwd=str(folder),
            encoding="utf-8",
            dimensions=(60, 150),
            timeout=PATIENCE,
        )
        self.until(PROMPT)

    def type(self, line: str) -> None:
        """Type a line and press Enter."""
        self.process.send(f"{line}\r")

    def tab(self, text: str, added: str) -> None:
        """Type a text and press Tab, and wait for what that adds."""
        between = rf"(?:{CONTROL})*"  # the editor draws what changed, in as many pieces as it likes
        self.process.send(f"{text}\t")
        self.process.expect(between.join(map(re.escape, added)))

    def until(self, pattern: str) -> str:
        """Wait until something is shown; all that was shown until then, without control sequences."""
        self.process.expect(pattern)
        return re.sub(CONTROL, "", f"{self.process.before}{self.process.after}")

    def run(self, line: str) -> str:
        """Type a line; what is shown until the next prompt after its output."""
        self.type(f"{line}\r" if line.startswith("%%") else line)
        self.type("print('done', 6 * 7)")
        shown = self.until(r"done 42")
        self.until(PROMPT)
        return shown


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    folder = tmp_path_factory.mktemp("terminal")
    (folder / "build").mkdir()
    (folder / "notes.txt").write_text("one\ntwo\n")
    opened = Terminal(folder)
    assert "approval: manual" in opened.run("%load_ext hermes_nb")
    yield opened
    opened.process.close(force=True)


def test_results_are_shown_as_text(terminal: Terminal) -> None:
    assert "\nhello\n" in terminal.run("%hermes run echo hel''lo")
    shown = terminal.run("%hermes tools *_file")
    assert "read_file" in shown
    assert "write_file" in shown
    assert "<" not in shown.partition("Out[")[2]
    assert "nothing deferred" in terminal.run("%hermes explore")


def test_tab_completes_sub_commands_tools_and_files(terminal: Terminal) -> None:
    terminal.tab("%hermes desc", "ribe")
    terminal.tab(" read_fi", "le")
    assert "Read a text file" in terminal.run("")
    terminal.tab("%hermes run wc -l no", "tes.txt")
    assert "2 notes.txt" in terminal.run("")


def test_a_question_mark_shows_help(terminal: Terminal) -> None:
    assert "for example:" in terminal.run("%hermes call?")
    assert "%hermes search" in terminal.run("%hermes?")


def test_a_question_is_asked_and_answered_in_the_terminal(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    terminal.type(f"%hermes run --cwd {tmp_path} rm -rf build")
    question = terminal.until(r"\] deny: ")
    assert f"wants to run on local in {tmp_path}" in question
    assert (tmp_path / "build").exists()
    terminal.type("n not today")
    assert "denied: not today" in terminal.until(PROMPT)
    assert (tmp_path / "build").exists()
    terminal.type(f"%hermes run --cwd {tmp_path} rm -rf build")
    terminal.until(r"\] deny: ")
    terminal.type("y")
    terminal.until("exit code 0")
    assert not (tmp_path / "build").exists()


def test_ctrl_c_ends_the_command_and_nothing_else(terminal: Terminal) -> None:
    terminal.type("%hermes run kept=42; echo be''gun; sleep 600")
    terminal.until("begun")
    terminal.process.sendintr()
    assert "KeyboardInterrupt: stopped" in terminal.until(rf"sleep 600\s+(?:{CONTROL}|\s)*{PROMPT}")
    assert "\nstill here\n" in terminal.run("%hermes run echo still he''re")


def test_a_wrong_option_says_which_is_meant(terminal: Terminal) -> None:
    assert "Did you mean --bg?" in terminal.run("%hermes run --background sleep 1")
