"""Hooks: before a call they may veto, rewrite or ask; after it they may replace what the model reads."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from hermes_nb import Decision, RegistrationError, Registry, Session
from hermes_nb.approval.approvers import ScriptedApprover
from hermes_nb.hooks import Ask, Rewrite, Veto

from .support import INTEGER, add, error_of, raising

Open = Callable[..., Session]


@pytest.mark.parametrize("answer", [Veto("not today"), {"action": "block", "message": "not today"}])
def test_a_hook_may_veto(registry: Registry, open_session: Open, answer: Any) -> None:
    add(registry, "t", raising(AssertionError("ran")))
    result = open_session(hooks=[{"pre_tool_call": lambda: answer}]).call("t")
    assert (result.outcome, error_of(result)) == ("vetoed", "not today")


@pytest.mark.parametrize("answer", [Rewrite({"n": "8"}), {"action": "rewrite", "args": {"n": "8"}}])
def test_a_hook_may_rewrite_the_arguments_and_they_are_coerced(
    registry: Registry, open_session: Open, answer: Any
) -> None:
    add(registry, "t", schema=INTEGER)
    session = open_session(hooks=[{"pre_tool_call": lambda: answer}])
    result = session.call("t", {"n": 7})
    assert result.value == {"n": 8}
    assert result.notes
    record = next(iter(session.journal))
    assert record.args == {"n": 8}
    assert record.written == {"name": "t", "args": {"n": 7}}


def test_a_rewrite_that_does_not_fit_the_schema_is_refused(registry: Registry, open_session: Open) -> None:
    add(registry, "t", raising(AssertionError("ran")), schema=INTEGER)
    assert open_session(hooks=[{"pre_tool_call": lambda: Rewrite({"n": "x"})}]).call("t").outcome == "invalid"


def test_a_later_hook_sees_what_an_earlier_one_rewrote(registry: Registry, open_session: Open) -> None:
    seen: list[Any] = []
    add(registry, "t", schema=INTEGER)
    hooks = [{"pre_tool_call": lambda: Rewrite({"n": "8"})}, {"pre_tool_call": lambda args: seen.append(args)}]
    open_session(hooks=hooks).call("t", {"n": 7})
    assert seen == [{"n": 8}]


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(1)])
def test_a_hook_that_raises_denies(registry: Registry, open_session: Open, error: BaseException) -> None:
    add(registry, "t", raising(AssertionError("ran")))
    result = open_session(hooks=[{"pre_tool_call": raising(error)}]).call("t")
    assert result.outcome == "vetoed"
    assert type(error).__name__ in error_of(result)


@pytest.mark.parametrize("answer", [True, "yes", {"action": "whatever"}, {"action": "rewrite"}, 0])
def test_a_hook_that_answers_nonsense_denies(registry: Registry, open_session: Open, answer: Any) -> None:
    add(registry, "t", raising(AssertionError("ran")))
    assert open_session(hooks=[{"pre_tool_call": lambda: answer}]).call("t").outcome == "vetoed"


@pytest.mark.parametrize("answer", [None, {}, {"action": "allow"}])
def test_a_hook_that_has_nothing_to_say_lets_the_call_pass(registry: Registry, open_session: Open, answer: Any) -> None:
    add(registry, "t", lambda args: "ran")
    assert open_session(hooks=[{"pre_tool_call": lambda: answer}]).call("t").text == "ran"


@pytest.mark.parametrize(
    "answer", [Ask("is it wise?", "wisdom"), {"action": "approve", "message": "is it wise?", "rule_key": "wisdom"}]
)
@pytest.mark.parametrize(("decision", "ok"), [(Decision.once, True), (Decision.deny("no"), False)])
def test_a_hook_may_ask_for_approval(
    registry: Registry, open_session: Open, answer: Any, decision: Decision, ok: bool
) -> None:
    add(registry, "t", lambda args: "ran")
    approver = ScriptedApprover([decision])
    result = open_session(hooks=[{"pre_tool_call": lambda: answer}], approver=approver).call("t")
    assert result.ok is ok
    assert [(f.rule, f.description) for f in approver.asked[0].findings] == [("wisdom", "is it wise?")]


def test_a_hook_gets_what_it_asks_for(registry: Registry, open_session: Open) -> None:
    seen: dict[str, Any] = {}
    add(registry, "t")
    session = open_session(hooks=[{"pre_tool_call": lambda **all_of_it: seen.update(all_of_it)}], task_id="task")
    session.call("t", {"a": 1}, user_task="find", tool_call_id="id")
    assert seen["tool_name"] == "t"
    assert (seen["toolset"], seen["args"], seen["task_id"]) == ("test", {"a": 1}, "task")
    assert (seen["session_id"], seen["tool_call_id"], seen["user_task"]) == (session.id, "id", "find")


def test_an_object_with_methods_is_a_hook_and_anything_else_is_not(open_session: Open) -> None:
    open_session(hooks=[SimpleNamespace(post_tool_call=lambda: None)])
    with pytest.raises(RegistrationError, match="no hook"):
        open_session(hooks=[object()])


def test_a_post_hook_may_replace_what_the_model_reads(registry: Registry, open_session: Open) -> None:
    add(registry, "t", lambda args: {"a": 1})
    session = open_session(hooks=[{"post_tool_call": lambda result, tool_name: f"{tool_name}: {result}"}])
    result = session.call("t")
    assert result.text == 't: {"a":1}'
    assert result.value == {"a": 1}
    assert next(iter(session.journal)).text == result.text


def test_a_post_hook_sees_errors_too(registry: Registry, open_session: Open) -> None:
    seen: list[str] = []
    add(registry, "t", raising(ValueError("x")))
    open_session(hooks=[{"post_tool_call": lambda result: seen.append(result)}]).call("t")
    assert seen == ['{"error":"Tool execution failed: ValueError: x"}']


def test_a_post_hook_is_not_asked_about_a_call_that_did_not_happen(registry: Registry, open_session: Open) -> None:
    hooks = [{"pre_tool_call": lambda: Veto("no"), "post_tool_call": raising(AssertionError("asked"))}]
    add(registry, "t")
    assert error_of(open_session(hooks=hooks).call("t")) == "no"


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(1)])
def test_a_post_hook_that_raises_changes_nothing(registry: Registry, open_session: Open, error: BaseException) -> None:
    add(registry, "t", lambda args: "ran")
    assert open_session(hooks=[{"post_tool_call": raising(error)}]).call("t").text == "ran"
