"""Deciding and remembering: what is asked, of whom, how long an answer lasts, and what nothing lets through."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

import hermes_nb as hermes
from hermes_nb.approval.approvers import CallbackApprover, NobodyApprover, ScriptedApprover
from hermes_nb.approval.assessment import Assessment, Finding
from hermes_nb.approval.decision import Request
from hermes_nb.config import Config

once, for_session, always, deny = (
    hermes.Decision.once,
    hermes.Decision.session,
    hermes.Decision.always,
    hermes.Decision.deny,
)

#: word in a command -> the finding it stands for
RULES = {
    "delete": Finding("deletion", "deletes files", "delete"),
    "fetch": Finding("remote-code", "runs code from the net", "fetch"),
    "murky": Finding("undecidable", "can't be told", "murky"),
    "doom": Finding("catastrophe", "destroys the system", "doom", "block"),
}


def guard(args: Mapping[str, Any], context: hermes.Context) -> Assessment:
    return Assessment(tuple(finding for word, finding in RULES.items() if word in args["command"].split()))


def shell_view(args: Mapping[str, Any]) -> hermes.ApprovalView:
    return hermes.ApprovalView(text=args["command"], edits="command", language="shell")


@pytest.fixture
def runs() -> list[str]:
    return []


@pytest.fixture
def open_session(registry: hermes.Registry, runs: list[str]) -> Callable[..., hermes.Session]:
    @hermes.tool(toolset="shell", registry=registry, guard=guard, approval_view=shell_view)
    def run(command: str) -> str:
        runs.append(command)
        return "done"

    def make(*answers: hermes.Decision, approver: Any = None, **options: Any) -> hermes.Session:
        options.setdefault("config", {})
        return hermes.Session(registry=registry, approver=approver or ScriptedApprover(answers), **options)

    return make


Open = Callable[..., hermes.Session]


def call(session: hermes.Session, command: str) -> hermes.ToolResult:
    return session.call("run", {"command": command})


def test_what_has_no_findings_is_not_asked_about(open_session: Open, runs: list[str]) -> None:
    session = open_session()
    assert call(session, "look").ok
    assert session.policy.approver.asked == []


def test_once_lasts_for_one_call(open_session: Open, runs: list[str]) -> None:
    session = open_session(once, deny("not again"))
    assert call(session, "delete a").ok
    second = call(session, "delete a")
    assert (second.outcome, runs) == ("denied", ["delete a"])
    assert "not again" in second.text


def test_a_session_approval_covers_the_rule_and_only_in_that_session(open_session: Open, runs: list[str]) -> None:
    session, other = open_session(for_session), open_session()
    assert call(session, "delete a").ok
    assert call(session, "delete b").ok
    assert not call(other, "delete a").ok


def test_an_approved_rule_does_not_carry_another_finding_along(open_session: Open, runs: list[str]) -> None:
    session = open_session(for_session)
    assert call(session, "delete build").ok
    result = call(session, "delete home ; fetch | sh")
    assert (result.outcome, runs) == ("denied", ["delete build"])
    assert {finding.rule for finding in session.policy.approver.asked[-1].findings} == {"deletion", "remote-code"}


def test_a_session_approval_holds_on_its_backend_only(open_session: Open, runs: list[str]) -> None:
    session = open_session(for_session)
    assert call(session, "delete a").ok
    session.use_backend("docker://somewhere")
    assert not call(session, "delete a").ok


def test_always_survives_in_the_config_file(open_session: Open, home: Path, runs: list[str]) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("# mine\napproval:\n  timeout: 5  # short\n")
    assert call(open_session(always, config=None), "delete a").ok
    assert call(open_session(config=None), "delete b").ok
    text = (home / "config.yaml").read_text()
    assert "command_allowlist:\n- deletion" in text
    assert "# mine" in text
    assert "# short" in text


def test_always_in_a_file_that_cannot_be_written_lasts_for_the_session(open_session: Open, home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("approval: [broken\n")
    session = open_session(always, config=None)
    result = call(session, "delete a")
    assert result.ok
    assert result.decision is not None
    assert result.decision.choice == "session"
    assert (home / "config.yaml").read_text() == "approval: [broken\n"


def test_what_cannot_be_told_is_never_remembered(open_session: Open) -> None:
    session = open_session(always, always)
    assert call(session, "murky a").ok
    assert call(session, "murky a").ok
    assert len(session.policy.approver.asked) == 2
    assert list(session.policy) == []


def test_approvals_are_listed_and_revoked(open_session: Open) -> None:
    session = open_session(for_session, always)
    call(session, "delete a")
    call(session, "fetch b")
    assert {(entry.rule, entry.lasts) for entry in session.policy} >= {
        ("deletion", "session"),
        ("remote-code", "always"),
    }
    assert session.policy.revoke("deletion")
    assert session.policy.revoke("remote-code")
    assert not session.policy.revoke("remote-code")
    assert list(session.policy) == []
    assert not call(session, "delete a").ok


@pytest.mark.parametrize(
    "config",
    [
        {"approval": {"mode": "off"}},
        {"approval": {"allow": ["run", "*"]}},
        {"command_allowlist": ["catastrophe"]},
        {"approval": {"skip_when_isolated": True}},
    ],
)
def test_nothing_lets_the_floor_through(open_session: Open, runs: list[str], config: dict[str, Any]) -> None:
    session = open_session(always, for_session, once, config=config)
    result = call(session, "doom")
    assert (result.outcome, runs) == ("denied", [])
    assert result.decision is not None
    assert result.decision.by == "floor"
    assert session.policy.approver.asked == []


def test_mode_off_asks_nobody_and_says_so(open_session: Open, runs: list[str]) -> None:
    result = call(open_session(config={"approval": {"mode": "off"}}), "delete a")
    assert result.ok
    assert result.decision is not None
    assert (result.decision.by, result.decision.reason) == ("mode", "approval.mode is off")


def test_mode_policy_denies_whatever_would_be_asked(open_session: Open, runs: list[str]) -> None:
    session = open_session(once, config={"approval": {"mode": "policy"}})
    assert call(session, "look").ok
    assert call(session, "delete a").outcome == "denied"
    assert session.policy.approver.asked == []


@pytest.mark.parametrize(
    ("verdict", "outcome", "asked"),
    [("approve", "ok", 0), ("deny", "denied", 0), ("escalate", "denied", 1), ("", "denied", 1)],
)
def test_mode_smart_lets_a_model_judge_what_was_found(
    open_session: Open, verdict: str, outcome: str, asked: int
) -> None:
    smart = {"approval": {"mode": "smart"}}
    session = open_session(deny, config=smart, judge=lambda request: verdict)
    assert call(session, "delete a").outcome == outcome
    assert len(session.policy.approver.asked) == asked


def test_a_judge_that_fails_leaves_it_to_a_person(open_session: Open) -> None:
    def judge(request: Request) -> str:
        raise ConnectionError("no model")

    session = open_session(once, config={"approval": {"mode": "smart"}}, judge=judge)
    assert call(session, "delete a").ok
    assert len(session.policy.approver.asked) == 1


def test_a_judge_is_not_asked_unless_the_mode_says_so(open_session: Open) -> None:
    session = open_session(judge=lambda request: "approve")
    assert call(session, "delete a").outcome == "denied"


class TestRulesOfTheConfig:
    def test_deny_beats_allow(self, open_session: Open) -> None:
        config = {"approval": {"allow": ["run"], "deny": ["run(*secret*)"]}}
        session = open_session(config=config)
        assert call(session, "delete a").ok
        result = call(session, "show secret")
        assert result.outcome == "denied"
        assert "run(*secret*)" in result.text

    def test_ask_asks_about_what_has_no_findings(self, open_session: Open) -> None:
        session = open_session(once, config={"approval": {"ask": ["run(command=git push*)"]}})
        assert call(session, "git push origin").ok
        assert call(session, "git status").ok
        assert len(session.policy.approver.asked) == 1

    @pytest.mark.parametrize(
        "command",
        [
            "git status; rm -rf data",
            "git status && rm -rf data",
            "git status | xargs rm -rf",
            "git status $(rm -rf data)",
        ],
    )
    def test_an_allowed_command_carries_no_other_along(self, registry: hermes.Registry, command: str) -> None:
        from hermes_nb.approval import assess

        ran: list[str] = []
        guard = lambda args, context: assess(args["command"])  # noqa: E731

        @hermes.tool(toolset="shell", registry=registry, guard=guard, approval_view=shell_view)
        def run(command: str) -> None:
            ran.append(command)

        config = {"approval": {"allow": ["run(git status*)", "run(command=git status*)", "run(rm -rf build)"]}}
        session = hermes.Session(registry=registry, approver=ScriptedApprover([]), config=config)
        assert call(session, "rm -rf build").ok
        assert call(session, command).outcome == "denied"
        assert ran == ["rm -rf build"]

    @pytest.mark.parametrize("command", ["cd x && git push origin", "git pu''sh origin", "sh -c 'git push'"])
    def test_a_forbidden_command_is_found_wherever_it_hides(self, open_session: Open, command: str) -> None:
        assert call(open_session(config={"approval": {"deny": ["run(git push*)"]}}), command).outcome == "denied"

    def test_a_command_is_parsed_once_whatever_rules_there_are(
        self, registry: hermes.Registry, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from hermes_nb.approval import assess
        from hermes_nb.approval.shell import reader as shell

        parsed: list[bytes] = []
        parse = shell.parse
        monkeypatch.setattr(shell, "parse", lambda text: parsed.append(text) or parse(text))
        guard = lambda args, context: assess(args["command"], cwd=str(context.cwd))  # noqa: E731

        @hermes.tool(toolset="shell", registry=registry, guard=guard, approval_view=shell_view)
        def run(command: str) -> str:
            return "ran"

        hermes.tool(toolset="shell", registry=registry, name="unguarded", approval_view=shell_view)(lambda command: "")
        rules = [f"*(git push origin branch-{number}*)" for number in range(20)]
        session = hermes.Session(registry=registry, config={"approval": {"deny": rules, "ask": rules}})
        assert session.call("run", {"command": "git status"}).ok
        assert parsed == [b"git status"]
        assert session.call("unguarded", {"command": "git log"}).ok
        assert parsed == [b"git status", b"git log"]
        assert session.call("run", {"command": "cd x; git push origin branch-7"}).outcome == "denied"
        assert len(parsed) == 3

    def test_a_command_is_not_parsed_for_rules_of_other_tools(
        self, open_session: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from hermes_nb.approval.shell import reader as shell

        monkeypatch.delattr(shell, "parse")
        config = {"approval": {"deny": ["terminal(git push*)"], "allow": ["run(git status*)"]}}
        assert call(open_session(config=config), "look").ok

    @pytest.mark.parametrize("command", ["rm Докýменты", "cd x; git рush", "echo ＃; git push", "cd x; git push"])
    def test_what_forbids_sees_a_command_as_it_is_and_as_it_looks(self, open_session: Open, command: str) -> None:
        config = {"approval": {"deny": ["run(rm Док*)", "run(git push*)"]}}
        assert call(open_session(config=config), command).outcome == "denied"

    def test_an_allowed_folder_is_not_left_by_going_up(self, registry: hermes.Registry) -> None:
        def suspicious(args: Mapping[str, Any], context: hermes.Context) -> Assessment:
            return Assessment((Finding("write", "writes", args["path"]),))

        @hermes.tool(toolset="files", registry=registry, guard=suspicious)
        def write(path: str) -> str:
            return "written"

        config = {"approval": {"allow": ["write(path=/data/*)"]}}
        session = hermes.Session(registry=registry, approver=ScriptedApprover([]), config=config)
        assert session.call("write", {"path": "/data/a"}).ok
        assert session.call("write", {"path": "/data/../etc/passwd"}).outcome == "denied"

    def test_rules_hold_for_tools_without_a_guard(self, registry: hermes.Registry) -> None:
        registry.register("mcp_x_drop", "mcp-x", {"description": "drop"}, handler=lambda args: "dropped")
        session = hermes.Session(registry=registry, config={"approval": {"deny": ["mcp_*_drop"]}})
        assert session.call("mcp_x_drop", {}).outcome == "denied"
        assert session.call("tool_call", {"name": "mcp_x_drop", "arguments": {}}).outcome == "denied"


class TestEditing:
    def test_the_edit_is_what_runs(self, open_session: Open, runs: list[str]) -> None:
        session = open_session(once(args={"command": "look"}))
        assert call(session, "delete a").ok
        assert runs == ["look"]

    def test_an_edit_is_assessed_again(self, open_session: Open, runs: list[str]) -> None:
        session = open_session(once(args={"command": "fetch x"}), deny)
        assert call(session, "delete a").outcome == "denied"
        assert [request.subject for request in session.policy.approver.asked] == ["delete a", "fetch x"]
        assert runs == []

    def test_an_edit_into_a_catastrophe_is_stopped(self, open_session: Open, runs: list[str]) -> None:
        assert call(open_session(once(args={"command": "doom"})), "delete a").outcome == "denied"
        assert runs == []

    def test_an_edit_is_validated(self, open_session: Open, runs: list[str]) -> None:
        assert call(open_session(once(args={"cmd": "look"})), "delete a").outcome == "invalid"
        assert runs == []

    def test_editing_for_ever_ends_in_a_no(self, open_session: Open) -> None:
        session = open_session(*[once(args={"command": "delete more"})] * 20)
        assert call(session, "delete a").outcome == "denied"

    def test_an_edited_approval_is_not_remembered(self, open_session: Open) -> None:
        session = open_session(for_session(args={"command": "look"}))
        call(session, "delete a")
        assert list(session.policy) == []


class TestWhatWasApprovedIsWhatRuns:
    def test_an_approver_cannot_change_the_arguments_behind_the_back(self, open_session: Open, runs: list[str]) -> None:
        class Sly:
            def decide(self, request: Request) -> hermes.Decision:
                request.args["command"] = "fetch evil"  # type: ignore[index]
                return once

        assert call(open_session(approver=Sly()), "delete a").ok
        assert runs == ["delete a"]

    def test_a_caller_cannot_either(self, open_session: Open, runs: list[str]) -> None:
        args = {"command": "delete a"}

        class Slow:
            def decide(self, request: Request) -> hermes.Decision:
                args["command"] = "fetch evil"
                return once

        open_session(approver=Slow()).call("run", args)
        assert runs == ["delete a"]


class TestFailingClosed:
    def test_nobody_means_no_with_the_reason(self, open_session: Open) -> None:
        result = call(open_session(approver=NobodyApprover()), "delete a")
        assert result.outcome == "denied"
        assert "deletes files; nobody is there" in result.text

    def test_an_approver_that_raises_means_no(self, open_session: Open) -> None:
        class Broken:
            def decide(self, request: Request) -> hermes.Decision:
                raise OSError("screen on fire")

        result = call(open_session(approver=Broken()), "delete a")
        assert result.outcome == "denied"
        assert "screen on fire" in result.text

    @pytest.mark.parametrize("answer", [True, "yes", None, 1])
    def test_an_answer_that_is_no_decision_means_no(self, open_session: Open, answer: Any) -> None:
        class Vague:
            def decide(self, request: Request) -> Any:
                return answer

        assert call(open_session(approver=Vague()), "delete a").outcome == "denied"

    def test_a_callback_that_does_not_answer_in_time_means_no(self, open_session: Open) -> None:
        never = threading.Event()
        try:
            approver = CallbackApprover(lambda request: never.wait(120) and once)  # type: ignore[arg-type, return-value]
            session = open_session(approver=approver, config={"approval": {"timeout": 1}})
            result = call(session, "delete a")
        finally:
            never.set()
        assert result.outcome == "denied"
        assert "no answer within 1 s" in result.text

    def test_a_callbacks_own_time_out_is_not_taken_for_ours(self, open_session: Open) -> None:
        def ask(request: Request) -> hermes.Decision:
            raise TimeoutError("the gateway is down")

        result = call(open_session(approver=CallbackApprover(ask)), "delete a")
        assert result.outcome == "denied"
        assert "the gateway is down" in result.text

    def test_a_callback_has_the_context_variables_of_the_call(self, open_session: Open) -> None:
        user: ContextVar[str] = ContextVar("user", default="nobody")
        user.set("ann")
        approver = CallbackApprover(lambda request: once if user.get() == "ann" else deny)
        assert call(open_session(approver=approver), "delete a").ok

    def test_an_async_callback_can_answer(self, open_session: Open) -> None:
        async def ask(request: Request) -> hermes.Decision:
            return once

        assert call(open_session(approver=CallbackApprover(ask)), "delete a").ok

    def test_a_guard_that_raises_has_to_be_decided_by_a_person(self, registry: hermes.Registry) -> None:
        def broken(args: Mapping[str, Any], context: hermes.Context) -> Assessment:
            raise RuntimeError("guard asleep")

        registry.add(hermes.Tool("risky", "x", "", {"type": "object"}, lambda args: "ran", guard=broken))
        denied = hermes.Session(registry=registry, approver=NobodyApprover(), config={}).call("risky", {})
        assert denied.outcome == "denied"
        assert "guard asleep" in denied.text

    def test_a_bad_mode_in_the_config_leaves_manual_in_force(self, open_session: Open) -> None:
        session = open_session(config={"approval": {"mode": "yolo"}})
        assert session.config.get("approval.mode") == "manual"
        assert call(session, "delete a").outcome == "denied"


def test_calls_at_the_same_time_are_asked_about_once_when_the_answer_covers_them(
    registry: hermes.Registry, runs: list[str]
) -> None:
    @hermes.tool(toolset="shell", registry=registry, guard=guard, parallel=True)
    def run(command: str) -> str:
        runs.append(command)
        return "done"

    asked: list[Request] = []

    def answer(request: Request) -> hermes.Decision:
        asked.append(request)
        return for_session

    session = hermes.Session(registry=registry, approver=CallbackApprover(answer), config={})
    results = session.call_many([("run", {"command": f"delete {number}"}) for number in range(8)])
    assert all(result.ok for result in results)
    assert len(asked) == 1


def test_the_journal_keeps_who_decided_and_why(open_session: Open) -> None:
    session = open_session(deny("too late in the day"))
    call(session, "delete a")
    (record,) = session.journal
    assert record.decision == {
        "choice": "deny",
        "by": "approver",
        "reason": "too late in the day",
        "rules": ["deletion"],
    }


def test_an_isolated_backend_may_skip_the_question_and_says_so(open_session: Open, runs: list[str]) -> None:
    from hermes_nb.approval.policy import Policy

    config = Config({"approval": {"skip_when_isolated": True}})
    finding = RULES["delete"]
    request = Request("run", {"command": "delete"}, (finding,), "docker://x", "/", 5, "s", "c")
    policy = Policy(config, NobodyApprover())
    allowed = policy.decide(request, Assessment((finding,)), isolated=lambda: True)
    assert allowed is not None
    assert (allowed.allowed, allowed.by) == (True, "isolation")
    mounted = policy.decide(request, Assessment((finding,)), isolated=lambda: False)
    assert mounted is not None
    assert not mounted.allowed


def asked_on(backend: str) -> tuple[Request, Assessment]:
    finding = RULES["delete"]
    return Request("run", {}, (finding,), backend, "/", 5, "s", "c"), Assessment((finding,))


def test_whether_a_place_is_isolated_is_found_out_once_and_holds_up_no_other_question() -> None:
    from hermes_nb.approval.policy import Policy

    config = Config({"approval": {"skip_when_isolated": True}})
    policy = Policy(config, ScriptedApprover([once, once]))
    looks: list[int] = []
    looking, found_out = threading.Event(), threading.Event()

    def isolated() -> bool:
        """As of a backend that takes long to open."""
        looks.append(1)
        looking.set()
        return not found_out.wait(60)

    decisions: list[hermes.Decision | None] = []
    slow = threading.Thread(target=lambda: decisions.append(policy.decide(*asked_on("slow"), isolated=isolated)))
    slow.start()
    assert looking.wait(60)
    quick = threading.Thread(target=lambda: decisions.append(policy.decide(*asked_on("quick"))))
    quick.start()
    quick.join(60)
    assert len(decisions) == 1  # while the other one still looks
    found_out.set()
    slow.join(60)
    assert [decision.by for decision in decisions if decision] == ["approver", "approver"]
    assert looks == [1]


def test_an_approved_rule_needs_no_look_at_the_backend() -> None:
    from hermes_nb.approval.policy import Policy

    config = Config({"approval": {"skip_when_isolated": True}, "command_allowlist": ["deletion"]})
    decision = Policy(config, NobodyApprover()).decide(*asked_on("far"), isolated=lambda: pytest.fail("it looked"))
    assert decision is not None
    assert decision.by == "remembered"


@pytest.mark.parametrize(
    "command", ["eval $anything", 'sh -c "$anything"', "sudo -i", "cat hidden | base64 -d | sh", 'say "']
)
def test_a_shell_or_a_wrapper_as_such_is_never_remembered(registry: hermes.Registry, command: str) -> None:
    from hermes_nb.approval import assess

    @hermes.tool(toolset="shell", registry=registry, guard=lambda args, context: assess(args["command"]))
    def run(command: str) -> str:
        return "pretended"

    session = hermes.Session(registry=registry, approver=ScriptedApprover([always, always]), config={})
    assert call(session, command).ok
    assert list(session.policy) == []


def test_every_rule_that_is_never_remembered_exists() -> None:
    from hermes_nb.approval.policy import NEVER_REMEMBERED
    from hermes_nb.approval.rules import RULES

    made_elsewhere = {
        *("undecidable", "unparsable", "python-unparsable", "look-alike"),
        *("process-storm", "too-deep", "too-intricate"),
    }
    assert NEVER_REMEMBERED - made_elsewhere <= RULES.keys()
