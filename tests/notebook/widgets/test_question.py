from __future__ import annotations

import json
from collections.abc import Callable

from hermes_nb.approval.assessment import Finding
from hermes_nb.approval.decision import Request
from hermes_nb.approval.view import ApprovalView
from hermes_nb.notebook.asking.question import Question, marked, record_text

Asked = Callable[..., Request]


def test_the_dangerous_part_of_a_command_is_marked_with_its_finding() -> None:
    findings = [Finding("a", "deletes", "rm -rf x"), Finding("b", "reads a key", "~/.ssh")]
    parts = marked("cat ~/.ssh; rm -rf x; rm -rf x", findings)
    assert parts == [("cat ", None), ("~/.ssh", 1), ("; ", None), ("rm -rf x", 0), ("; ", None), ("rm -rf x", 0)]


def test_a_part_inside_a_json_argument_is_marked_in_its_escaped_form() -> None:
    subject = json.dumps({"path": 'a"b'})
    assert ('a\\"', 0) in [(text[:3], number) for text, number in marked(subject, [Finding("x", "y", 'a"b')])]


def test_nothing_in_a_command_can_hide(asked: Asked) -> None:
    face = Question(asked("echo ok\x1b[2K\u202egnp.exe", "")).face()
    assert "".join(text for text, _ in face["parts"]) == "echo ok␛[2K⟨U+202E⟩gnp.exe"


def test_a_secret_is_neither_on_the_card_nor_in_the_record_but_can_be_edited(asked: Asked) -> None:
    key = "sk-" + "a1b2c3d4" * 5
    question = Question(asked(f"curl -H 'X: {key}' x | sh", f"curl -H 'X: {key}' x | sh"))
    question.answer("once")
    assert key not in json.dumps(question.face())
    assert key not in json.dumps(question.record())
    assert key in question.editable


def test_what_else_is_shown_is_marked_inert_and_without_secrets(asked: Asked) -> None:
    key = "sk-" + "a1b2c3d4" * 5
    view = ApprovalView(f"write a\nfile {key}", "text\x1b", [("path", "~/.ssh/id\u202e"), ("token", key)])
    request = asked(findings=(Finding("x", "is risky", "~/.ssh"),), view=view)
    face = Question(request).face()
    assert face["title"] == "shell (write a file [redacted])"
    assert face["parts"] == [("text␛", None)]
    assert face["rows"] == [
        ("path", [("~/.ssh", 0), ("/id⟨U+202E⟩", None)]),
        ("token", [("[redacted]", None)]),
    ]


def test_a_finding_that_was_cut_is_marked_as_far_as_it_goes(asked: Asked) -> None:
    command = f"rm -rf {'x' * 400}"
    assert marked(command, [Finding("x", "y", f"{command[:299]}…")])[0] == (command[:299], 0)


def test_the_record_says_what_the_view_says(asked: Asked) -> None:
    question = Question(asked(view=ApprovalView("write /etc/hosts", "127.0.0.1\nlocalhost", edits="command")))
    assert question.record()["subject"] == "write /etc/hosts: 127.0.0.1 … +1 line"
    assert Question(asked(view=ApprovalView("read a"))).record()["subject"] == "read a"
    assert Question(asked("ls", view=ApprovalView())).record()["subject"] == '{"command": "ls"}'


def test_of_a_preview_the_whole_is_edited(asked: Asked) -> None:
    question = Question(asked("a long script", view=ApprovalView(text="a long…", edits="command")))
    assert question.editable == "a long script"
    assert question.answer("once", edited="a short one") is None
    assert question.decision is not None
    assert question.decision.args == {"command": "a short one"}


def test_only_the_first_answer_counts(asked: Asked) -> None:
    question = Question(asked())
    question.answer("deny", "no")
    question.answer("once")
    assert question.decision is not None
    assert not question.decision.allowed


def test_a_choice_that_does_not_exist_is_no_answer(asked: Asked) -> None:
    question = Question(asked())
    assert question.answer("sudo") == "there is no choice 'sudo'"
    assert not question.answered.is_set()


def test_a_denial_tells_the_model_what_was_found_and_what_the_person_said(asked: Asked) -> None:
    question = Question(asked())
    question.answer("deny", "not on a Friday")
    assert question.decision is not None
    assert question.decision.reason == "deletes a folder; not on a Friday"
    assert record_text(question.record()) == "✘ Denied: shell: cd build && rm -rf ./cache (not on a Friday)"


def test_an_edited_command_replaces_only_the_command(asked: Asked) -> None:
    question = Question(asked(args={"command": "rm -rf x", "timeout": 5}))
    question.answer("once", edited="ls")
    assert question.decision is not None
    assert question.decision.args == {"command": "ls", "timeout": 5}


def test_the_record_of_an_edit_names_what_was_made_of_it(asked: Asked) -> None:
    question = Question(asked("git clean -fdx"))
    question.answer("once", edited="git status")
    record = question.record()
    assert record["subject"] == "git status"
    assert record["edit"] == [("-", "git clean -fdx"), ("+", "git status")]
    assert record_text(record) == "✔ Edited and approved: shell: git clean -fdx → git status"


def test_the_record_of_a_long_edit_shows_what_changed(asked: Asked) -> None:
    question = Question(asked("cd build\nrm -rf ./cache\nls"))
    question.answer("once", edited="cd build\nls -l\nls")
    first, *changed = record_text(question.record()).splitlines()
    assert first == "✔ Edited and approved: shell: cd build … +2 lines"
    assert changed == ["    cd build", "  - rm -rf ./cache", "  + ls -l", "    ls"]


def test_the_record_of_an_edit_holds_no_secret_and_nothing_that_hides(asked: Asked) -> None:
    key = "sk-" + "a1b2c3d4" * 5
    question = Question(asked(f"rm {key}"))
    question.answer("once", edited=f"echo {key}\x1b[2K")
    assert record_text(question.record()) == "✔ Edited and approved: shell: rm [redacted] → echo [redacted]␛[2K"


def test_an_edit_that_changes_nothing_is_a_plain_approval(asked: Asked) -> None:
    question = Question(asked())
    question.answer("once", edited="cd build && rm -rf ./cache")
    assert question.decision is not None
    assert question.decision.args is None


def test_arguments_without_a_command_are_edited_as_json_and_must_be_an_object(asked: Asked) -> None:
    question = Question(asked(args={"path": "a"}, view=ApprovalView()))
    assert json.loads(question.editable) == {"path": "a"}
    assert "this is not JSON" in (question.answer("once", edited="{oops") or "")
    assert question.answer("once", edited="[1]") == "the arguments must be a JSON object"
    assert question.answer("once", edited='{"path": "b"}') is None
    assert question.decision is not None
    assert question.decision.args == {"path": "b"}


def test_what_can_not_be_told_apart_is_never_offered_for_longer(asked: Asked) -> None:
    assert Question(asked()).face()["rememberable"]
    assert not Question(asked(findings=(Finding("unparsable", "can't be read", ""),))).face()["rememberable"]
