"""An edited approval: result, journal and replay name what ran, and show what was changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import hermes_nb as hermes
from hermes_nb import ApprovalView, Decision, Registry, Session, replay
from hermes_nb.approval.approvers import ScriptedApprover
from hermes_nb.approval.edit import Edit

from .support import dangerous

Open = Callable[..., Session]
SECRET = "sk-" + "a1b2c3d4" * 5


@pytest.fixture
def run(registry: Registry) -> list[str]:
    ran: list[str] = []

    def show(args: Any) -> ApprovalView:
        return ApprovalView(text=args["command"], edits="command", language="shell")

    @hermes.tool(registry=registry, guard=dangerous(), approval_view=show)
    def run(command: str, times: int = 1) -> str:
        ran.append(command)
        return "done"

    return ran


def edited(open_session: Open, *commands: str, asked: str = "rm -rf x") -> tuple[hermes.ToolResult, Session]:
    answers = [Decision.once(args={"command": command}) for command in commands]
    session = open_session(approver=ScriptedApprover([*answers, Decision.once]))
    return session.call("run", {"command": asked}), session


def test_what_ran_and_what_was_changed_are_told(run: list[str], open_session: Open) -> None:
    result, session = edited(open_session, "git status")
    (record,) = session.journal
    assert run == ["git status"]
    assert result.args == record.args == {"command": "git status"}
    assert result.edit == record.edit == Edit("rm -rf x", "git status")
    assert "      - rm -rf x\n      + git status\n" in str(replay(session.id))


def test_of_several_edits_the_first_question_and_the_last_answer_count(run: list[str], open_session: Open) -> None:
    result, _ = edited(open_session, "rm x", "git status")
    assert result.edit == Edit("rm -rf x", "git status")


def test_an_edit_survives_that_was_asked_about_once_more(run: list[str], open_session: Open) -> None:
    result, _ = edited(open_session, "rm x")
    assert result.ok
    assert result.decision is not None
    assert result.decision.args is None
    assert result.edit == Edit("rm -rf x", "rm x")


def test_a_call_that_nobody_edited_has_no_edit(run: list[str], open_session: Open) -> None:
    result, session = edited(open_session)
    assert result.edit is None
    assert "edit" not in json.loads(session.journal.path.read_text())


def test_a_secret_in_an_edit_is_nowhere(run: list[str], open_session: Open) -> None:
    result, session = edited(open_session, f"echo {SECRET}", asked=f"rm {SECRET}")
    assert run == [f"echo {SECRET}"]
    assert result.edit == Edit("rm [redacted]", "echo [redacted]")
    assert SECRET not in session.journal.path.read_text()
    assert SECRET not in str(result.args)


def test_where_more_than_the_text_was_changed_all_arguments_are_compared() -> None:
    edit = Edit.between({"command": "rm", "times": 1}, {"command": "ls", "times": 2}, "command")
    assert edit is not None
    assert ("-", '  "times": 1') in edit.lines()
    assert ("+", '  "times": 2') in edit.lines()


def test_of_a_long_script_only_what_changed_is_shown() -> None:
    script = [f"step {number}" for number in range(100)]
    edit = Edit("\n".join(script), "\n".join(["step zero", *script[1:]]))
    assert edit.lines() == [("-", "step 0"), ("+", "step zero"), (" ", "step 1")]
    everything = Edit("\n".join(script), "\n".join(reversed(script)))
    assert everything.lines()[-1] == (" ", "…")
    assert len(everything.lines()) == 41


def test_nothing_changed_is_no_edit() -> None:
    assert Edit.between({"command": "ls"}, {"command": "ls"}, "command") is None
