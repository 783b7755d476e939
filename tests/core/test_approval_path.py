"""Approval on the path of a call: whatever is not a clear yes is a no."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import hermes_nb as hermes
from hermes_nb import Decision, Registry, Session
from hermes_nb.approval.approvers import CallbackApprover, NobodyApprover, ScriptedApprover
from hermes_nb.hooks import Rewrite

from .support import dangerous, error_of, raising

Open = Callable[..., Session]


@pytest.fixture
def run(registry: Registry) -> list[dict[str, Any]]:
    """A tool ``run`` that asks before it runs a command with rm in it; the list of what was run."""
    ran: list[dict[str, Any]] = []

    @hermes.tool(registry=registry, guard=dangerous())
    def run(command: str) -> str:
        ran.append({"command": command})
        return "done"

    return ran


def test_a_guarded_call_without_findings_asks_nobody(run: list[Any], open_session: Open) -> None:
    approver = ScriptedApprover([])
    assert open_session(approver=approver).call("run", {"command": "ls"}).ok
    assert approver.asked == []


def test_a_dangerous_call_runs_once_it_is_approved(run: list[Any], open_session: Open) -> None:
    approver = ScriptedApprover([Decision.once])
    result = open_session(approver=approver).call("run", {"command": "rm x"})
    assert result.ok
    assert result.decision is not None
    assert result.decision.choice == "once"
    (request,) = approver.asked
    assert (request.tool, dict(request.args), request.subject) == ("run", {"command": "rm x"}, '{"command": "rm x"}')
    assert run == [{"command": "rm x"}]


def test_a_denied_call_does_not_run_and_says_why(run: list[Any], open_session: Open) -> None:
    session = open_session(approver=ScriptedApprover([Decision.deny("not on a Friday")]))
    result = session.call("run", {"command": "rm x"})
    assert (result.outcome, error_of(result)) == ("denied", "run was denied: not on a Friday")
    assert run == []
    record = next(iter(session.journal))
    assert record.decision == {"choice": "deny", "by": "approver", "reason": "not on a Friday", "rules": ["danger"]}


@pytest.mark.parametrize(
    "approver",
    [
        NobodyApprover(),
        CallbackApprover(raising(ValueError("x"))),
        SimpleNamespace(decide=raising(SystemExit(1))),
        SimpleNamespace(decide=lambda request: True),
        SimpleNamespace(decide=lambda request: None),
    ],
    ids=["nobody", "raises", "exits", "true", "none"],
)
def test_whatever_is_not_a_clear_yes_is_a_no(run: list[Any], open_session: Open, approver: Any) -> None:
    assert open_session(approver=approver).call("run", {"command": "rm x"}).outcome == "denied"
    assert run == []


def test_without_a_terminal_and_without_an_approver_the_answer_is_no(
    run: list[Any], open_session: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert open_session().call("run", {"command": "rm x"}).outcome == "denied"


def test_an_approval_for_the_session_is_remembered(run: list[Any], open_session: Open) -> None:
    approver = ScriptedApprover([Decision.session])
    session = open_session(approver=approver)
    assert [session.call("run", {"command": f"rm {n}"}).ok for n in range(3)] == [True] * 3
    assert len(approver.asked) == 1


def test_an_approval_of_one_session_is_none_for_another(run: list[Any], open_session: Open) -> None:
    first = open_session(approver=ScriptedApprover([Decision.session]))
    second = open_session(approver=ScriptedApprover([]))
    assert first.call("run", {"command": "rm x"}).ok
    assert second.call("run", {"command": "rm x"}).outcome == "denied"


def test_edited_arguments_are_what_runs_and_they_are_assessed_again(run: list[Any], open_session: Open) -> None:
    approver = ScriptedApprover([Decision.once(args={"command": "rm y"}), Decision.once(args={"command": "ls"})])
    result = open_session(approver=approver).call("run", {"command": "rm x"})
    assert result.ok
    assert [request.args["command"] for request in approver.asked] == ["rm x", "rm y"]
    assert run == [{"command": "ls"}]


def test_edited_arguments_that_do_not_fit_the_schema_are_refused(run: list[Any], open_session: Open) -> None:
    approver = ScriptedApprover([Decision.once(args={"command": ["rm"]})])
    assert open_session(approver=approver).call("run", {"command": "rm x"}).outcome == "invalid"
    assert run == []


def test_endless_editing_ends_in_a_no(run: list[Any], open_session: Open) -> None:
    approver = CallbackApprover(lambda request: Decision.once(args={"command": "rm again"}))
    assert open_session(approver=approver).call("run", {"command": "rm x"}).outcome == "denied"
    assert run == []


def test_rewritten_arguments_are_assessed(run: list[Any], open_session: Open) -> None:
    approver = ScriptedApprover([])
    session = open_session(approver=approver, hooks=[{"pre_tool_call": lambda: Rewrite({"command": "rm all"})}])
    assert session.call("run", {"command": "ls"}).outcome == "denied"
    assert approver.asked[0].args == {"command": "rm all"}


def test_an_approver_can_not_change_what_runs_behind_the_approval(run: list[Any], open_session: Open) -> None:
    def decide(request: Any) -> Decision:
        request.args["command"] = "rm everything"
        return Decision.once

    open_session(approver=SimpleNamespace(decide=decide)).call("run", {"command": "rm x"})
    assert run == [{"command": "rm x"}]


def test_a_guard_that_raises_asks_and_is_never_remembered(registry: Registry, open_session: Open) -> None:
    hermes.tool(registry=registry, name="t", guard=raising(ValueError("guard broke")))(lambda: "ran")
    approver = ScriptedApprover([Decision.session, Decision.once, Decision.deny])
    session = open_session(approver=approver)
    assert [session.call("t").ok for _ in range(3)] == [True, True, False]
    assert len(approver.asked) == 3


def test_what_must_never_happen_is_refused_in_every_mode(registry: Registry, open_session: Open) -> None:
    hermes.tool(registry=registry, name="t", guard=dangerous(verdict="block"))(lambda: "ran")
    approver = ScriptedApprover([Decision.always])
    session = open_session(approver=approver, config={"approval": {"mode": "off", "allow": ["*"]}})
    assert session.call("t").outcome == "denied"
    assert approver.asked == []


def test_two_calls_at_once_ask_one_after_the_other(run: list[Any], open_session: Open) -> None:
    asking = threading.Lock()
    overlaps: list[bool] = []

    def decide(request: Any) -> Decision:
        overlaps.append(not asking.acquire(blocking=False))
        threading.Event().wait(0.02)
        asking.release()
        return Decision.once

    session = open_session(approver=SimpleNamespace(decide=decide))
    threads = [threading.Thread(target=session.call, args=("run", {"command": "rm"})) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps == [False] * 4


def test_an_approval_for_good_holds_in_later_sessions(run: list[Any], open_session: Open) -> None:
    open_session(approver=ScriptedApprover([Decision.always])).call("run", {"command": "rm x"})
    assert open_session(approver=NobodyApprover()).call("run", {"command": "rm y"}).ok


def test_approvals_for_good_of_two_sessions_do_not_overwrite_each_other(registry: Registry, open_session: Open) -> None:
    for rule in ("one", "two"):
        hermes.tool(registry=registry, name=rule, guard=dangerous(rule))(lambda: "ran")
    first, second = (open_session(approver=ScriptedApprover([Decision.always])) for _ in range(2))
    assert first.call("one").ok
    assert second.call("two").ok
    later = open_session(approver=NobodyApprover())
    assert later.call("one").ok
    assert later.call("two").ok


def test_a_revoked_approval_is_asked_for_again(run: list[Any], open_session: Open) -> None:
    session = open_session(approver=ScriptedApprover([Decision.always]))
    assert session.call("run", {"command": "rm x"}).ok
    assert session.policy.revoke("danger")
    assert not session.policy.revoke("danger")
    assert session.call("run", {"command": "rm x"}).outcome == "denied"
    assert open_session(approver=NobodyApprover()).call("run", {"command": "rm x"}).outcome == "denied"
