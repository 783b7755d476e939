"""What a person is shown of a call: the tool says it, and no mistake in that lets a call through."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import hermes_nb as hermes
from hermes_nb import ApprovalView, Decision, Registry
from hermes_nb.approval import Assessment, Finding
from hermes_nb.approval.approvers import ScriptedApprover, answered, question
from hermes_nb.approval.decision import Request
from hermes_nb.approval.view import view_of

Open = Callable[..., hermes.Session]


def risky(args: Mapping[str, Any], context: hermes.Context) -> Assessment:
    return Assessment((Finding("risk", "is risky", str(next(iter(args.values()), ""))),))


def asked_about(session: hermes.Session) -> Request:
    approver = session.policy.approver
    assert isinstance(approver, ScriptedApprover)
    return approver.asked[-1]


def built_in(name: str, **args: Any) -> ApprovalView:
    tool = hermes.registry.get(name)
    assert tool is not None
    assert tool.approval_view is not None
    view = view_of(tool, args)
    assert view == tool.approval_view(args)  # it did not fail
    return view


class TestTheBuiltInTools:
    def test_a_command_with_what_is_unusual_about_it(self) -> None:
        view = built_in("terminal", command="rm -rf x", timeout=180, background=False, workdir="/srv", pty=True)
        assert (view.text, view.edits, view.language) == ("rm -rf x", "command", "shell")
        assert view.rows == (("workdir", "/srv"), ("pty", "true"))

    def test_what_is_written_to_a_job(self) -> None:
        view = built_in("process", action="submit", job="job-1", data="rm -rf x")
        assert (view.text, view.edits, view.language) == ("rm -rf x", "data", "shell")
        assert view.rows == (("action", "submit"), ("job", "job-1"))

    def test_what_is_done_to_a_job_without_writing(self) -> None:
        view = built_in("process", action="kill", job="job-1")
        assert (view.text, view.edits, view.rows) == ("", None, (("action", "kill"), ("job", "job-1")))

    def test_a_file_that_is_written(self) -> None:
        view = built_in("write_file", path="/etc/hosts", content="127.0.0.1 straße\n")
        assert (view.title, view.text, view.edits) == ("write /etc/hosts", "127.0.0.1 straße\n", "content")
        assert view.rows == (("path", "/etc/hosts"), ("size", "18 bytes"))

    def test_a_long_file_by_its_head_and_tail(self) -> None:
        view = built_in("write_file", path="a", content=f"first{'.' * 100_000}last")
        assert view.text.startswith("first")
        assert view.text.endswith("last")
        assert "characters not shown" in view.text
        assert len(view.text) < 5000

    def test_a_preview_never_ends_in_half_a_secret(self) -> None:
        key = "sk-" + "a1b2c3d4" * 5
        for before in range(1560, 1640, 4):  # the cut is at 1,600
            view = built_in("write_file", path="a", content=f"{' ' * before}{key}{' ' * 9000}")
            assert "a1b2c3d4" not in view.text

    def test_a_change_as_a_difference(self) -> None:
        view = built_in("patch", path="a.py", old_string="x = 1\ny = 2", new_string="x = 3", replace_all=True)
        assert (view.title, view.text) == ("change a.py", "- x = 1\n- y = 2\n+ x = 3")
        assert view.rows == (("path", "a.py"), ("replace_all", "true"))

    def test_a_file_that_is_read(self) -> None:
        view = built_in("read_file", path="~/.ssh/id_rsa", limit=5)
        assert (view.title, view.text) == ("read ~/.ssh/id_rsa", "")
        assert view.rows == (("path", "~/.ssh/id_rsa"), ("limit", "5"))

    def test_they_are_what_a_person_is_asked_by(self, tmp_path: Path) -> None:
        approver = ScriptedApprover([])
        with hermes.Session(enabled_toolsets=["file"], approver=approver, config={}) as session:
            assert session.call("write_file", {"path": "/etc/hosts", "content": "x"}).outcome == "denied"
        assert asked_about(session).view.title == "write /etc/hosts"


def test_without_a_view_all_arguments_are_shown(registry: Registry, open_session: Open) -> None:
    @hermes.tool(registry=registry, guard=risky)
    def send(to: str, copies: int, attachments: list[str]) -> str:
        return "sent"

    session = open_session(approver=ScriptedApprover([]))
    session.call("send", {"to": "ann", "copies": "2", "attachments": ["a", "ü"]})
    view = asked_about(session).view
    assert (view.title, view.text, view.edits) == ("send", "", None)
    assert view.rows == (("to", "ann"), ("copies", "2"), ("attachments", '["a", "ü"]'))


def test_after_an_edit_the_edited_arguments_are_shown(registry: Registry, open_session: Open) -> None:
    @hermes.tool(registry=registry, guard=risky, approval_view=lambda args: ApprovalView(text=args["query"]))
    def ask(query: str) -> str:
        return query

    session = open_session(approver=ScriptedApprover([Decision.once(args={"query": "two"})]))
    session.call("ask", {"query": "one"})
    assert isinstance(session.policy.approver, ScriptedApprover)
    assert [request.view.text for request in session.policy.approver.asked] == ["one", "two"]


BROKEN: dict[str, Callable[[Any], Any]] = {
    "raises": lambda args: args["no such argument"],
    "exits": lambda args: exit(1),
    "returns nothing": lambda args: None,
    "returns no view": lambda args: "ls",
    "shows no string": lambda args: ApprovalView(text=["ls"]),  # type: ignore[arg-type]
    "has no pairs": lambda args: ApprovalView(rows=[1]),  # type: ignore[list-item]
    "edits what is not there": lambda args: ApprovalView(text="ls", edits="script", language="text"),
    "edits no text": lambda args: ApprovalView(text="ls", edits="seconds", language="text"),
}


@pytest.mark.parametrize("view", BROKEN.values(), ids=BROKEN)
def test_a_view_that_fails_shows_everything_and_lets_nothing_through(
    registry: Registry, open_session: Open, view: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ran: list[str] = []

    @hermes.tool(registry=registry, guard=risky, approval_view=view)
    def run(command: str, seconds: int) -> None:
        ran.append(command)

    config = {"approval": {"deny": ["run(git push*)"], "allow": ["run(git*)", "run(command=git status*)"]}}
    session = open_session(approver=ScriptedApprover([]), config=config)
    with caplog.at_level(logging.ERROR):
        denied = session.call("run", {"command": "git status; rm -rf data", "seconds": 5})
        forbidden = session.call("run", {"command": "cd x && git push", "seconds": 5})
    assert (denied.outcome, forbidden.outcome, ran) == ("denied", "denied", [])
    assert "approval.deny" in forbidden.text
    assert asked_about(session).view.rows == (("command", "git status; rm -rf data"), ("seconds", "5"))
    assert "the approval view of run failed" in caplog.text


def test_a_view_can_not_change_what_is_asked_about(registry: Registry, open_session: Open) -> None:
    def forgetful(args: Any) -> ApprovalView:
        args.pop("command")
        raise ValueError

    ran: list[str] = []
    hermes.tool(registry=registry, name="run", guard=risky, approval_view=forgetful)(
        lambda command: ran.append(command)
    )
    session = open_session(approver=ScriptedApprover([Decision.once]))
    assert session.call("run", {"command": "ls"}).ok
    request = asked_about(session)
    assert (request.args, request.view.rows, ran) == ({"command": "ls"}, (("command", "ls"),), ["ls"])


class TestRulesReadATextByItsLanguage:
    @pytest.fixture
    def call(self, registry: Registry) -> Callable[..., str]:
        """Makes a call of a tool whose text is in a language; its outcome under a rule."""

        def make(query: str, language: Any, edits: str | None = "query", **approval: list[str]) -> str:
            def view(args: Mapping[str, Any]) -> ApprovalView:
                return ApprovalView(text=args["query"], edits=edits, language=language)

            @hermes.tool(registry=registry, guard=risky, approval_view=view)
            def find(query: str) -> str:
                return "found"

            session = hermes.Session(registry=registry, approver=ScriptedApprover([]), config={"approval": approval})
            with session:
                result = session.call("find", {"query": query})
                return "forbidden" if "approval.deny" in result.text else result.outcome

        return make

    @pytest.mark.parametrize("rule", ["find(git push*)", "find(query=git push*)"])
    def test_what_forbids_looks_into_shell_and_into_what_may_be_shell(self, call: Any, rule: str) -> None:
        hidden = "cd x && git pu''sh"
        assert call(hidden, "shell", deny=[rule]) == "forbidden"
        assert call(hidden, "unknown", deny=[rule]) == "forbidden"
        assert call(hidden, "text", deny=[rule]) == "denied"

    @pytest.mark.parametrize("rule", ["find(git push*)"])
    def test_also_where_the_command_is_no_argument(self, call: Any, rule: str) -> None:
        assert call("cd x && git push", "shell", edits=None, deny=[rule]) == "forbidden"

    def test_what_allows_reaches_to_the_end_of_a_command_but_through_a_text(self, call: Any) -> None:
        rule = "find(query=git log*)"
        assert call("git log this", "unknown", allow=[rule]) == "ok"
        assert call("git log this & that", "text", allow=[rule]) == "ok"
        assert call("git log this & that", "shell", allow=[rule]) == "denied"
        assert call("git log this & that", "unknown", allow=[rule]) == "denied"

    def test_what_a_tool_does_not_say_is_no_shorthand_for_an_argument(self, call: Any) -> None:
        assert call("git status", "unknown", allow=["find(git status*)"]) == "denied"


def test_the_rules_read_what_would_run_and_not_what_is_shown(registry: Registry, open_session: Open) -> None:
    def view(args: Mapping[str, Any]) -> ApprovalView:
        return ApprovalView(text=f"{args['command'][:8]}…", edits="command", language="shell")

    @hermes.tool(registry=registry, guard=risky, approval_view=view)
    def run(command: str) -> str:
        return "ran"

    session = open_session(approver=ScriptedApprover([]), config={"approval": {"deny": ["run(git push*)"]}})
    assert "approval.deny" in session.call("run", {"command": "sleep 100; git push"}).text


def asking(**view: Any) -> Request:
    args = {"sql": "drop table t", "limit": 5}
    return Request("query", args, (), "local", "/", 5, "s", "c", ApprovalView(**view))


def test_at_the_terminal_the_argument_that_is_shown_can_be_edited() -> None:
    request = asking(title="drop a table\n[y] no", text="drop table t", rows=[("limit", 5)], edits="sql")
    lines = question(request).splitlines()
    assert lines[0] == "query (drop a table [y] no) wants to run on local in /:"
    assert lines[1:3] == ["    drop table t", "    limit: 5"]
    assert "[e NEW SQL] edit" in lines[-1]
    assert answered(request, "e select 1").args == {"sql": "select 1", "limit": 5}


def test_at_the_terminal_nothing_is_edited_where_no_argument_is_shown() -> None:
    request = asking(text="drop table t")
    assert "edit" not in question(request)
    assert not answered(request, "e select 1").allowed
