"""Availability: a tool whose check fails is neither shown nor run, and one can read why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hermes_nb import Registry, Session

from ..parts import eventually
from .support import add, error_of, shown


class Check:
    """A check that gives the answers it is told, then stays with the last."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.runs = 0

    def __call__(self) -> object:
        self.runs += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer


def test_a_tool_whose_check_passes_is_shown_and_run(registry: Registry, session: Session) -> None:
    add(registry, "t", check_fn=Check(True))
    assert shown(session) == {"t"}
    assert session.call("t").ok


def test_a_tool_whose_check_fails_is_neither_shown_nor_run(registry: Registry, session: Session) -> None:
    ran: list[object] = []
    add(registry, "t", ran.append, check_fn=Check(False))
    assert shown(session) == set()
    assert session.call("t").outcome == "unavailable"
    assert session.call_many([("t", {}), ("t", {})])[1].outcome == "unavailable"
    assert ran == []


def test_the_refusal_says_which_check_failed_and_why(registry: Registry, session: Session) -> None:
    def server_is_up() -> bool:
        raise ConnectionError("no route")

    add(registry, "t", check_fn=server_is_up)
    assert error_of(session.call("t")) == (
        "t is not available: its check server_is_up raised ConnectionError: no route"
    )


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(1)])
def test_a_check_that_raises_means_unavailable(registry: Registry, session: Session, error: BaseException) -> None:
    add(registry, "broken", check_fn=Check(error))
    add(registry, "fine")
    assert shown(session) == {"fine"}
    assert session.call("broken").outcome == "unavailable"


@pytest.mark.parametrize("variables", [(), ("HERMES_TEST_NEEDED",)])
def test_tools_that_share_a_check_run_it_once_a_pass(
    registry: Registry, session: Session, monkeypatch: pytest.MonkeyPatch, variables: tuple[str, ...]
) -> None:
    monkeypatch.setenv("HERMES_TEST_NEEDED", "there")
    check = Check(True)
    for number in range(20):
        add(registry, f"t{number}", check_fn=check, requires_env=variables)
    assert len(shown(session)) == 20
    assert check.runs == 1


def test_a_slow_checks_answer_is_kept_a_while(registry: Registry, session: Session) -> None:
    def work_a_while() -> bool:
        check.runs += 1
        return sum(range(3_000_000)) > 0

    check = Check(True)
    add(registry, "t", check_fn=work_a_while)
    for _ in range(5):
        session.definitions()
    assert check.runs == 1


def test_a_flake_right_after_a_success_does_not_strip_the_tools(registry: Registry, session: Session) -> None:
    check = Check(True, False, True)
    add(registry, "t", check_fn=check)
    assert eventually(lambda: shown(session) != {"t"} or check.runs >= 3)
    assert shown(session) == {"t"}


def test_a_check_that_turned_false_is_believed(registry: Registry, session: Session) -> None:
    add(registry, "t", check_fn=Check(True, False))
    assert shown(session) == {"t"}
    assert eventually(lambda: shown(session) == set())
    assert session.call("t").outcome == "unavailable"


def test_a_warm_cache_does_not_keep_a_tool_whose_check_turned_false(registry: Registry, session: Session) -> None:
    state = [True]
    add(registry, "t", check_fn=lambda: state[0])
    for _ in range(3):
        assert shown(session) == {"t"}
    state[0] = False
    assert eventually(lambda: shown(session) == set())
    state[0] = True
    assert eventually(lambda: shown(session) == {"t"})


def test_a_tool_needs_its_environment_variables(
    registry: Registry, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HERMES_TEST_NEEDED", raising=False)
    add(registry, "t", requires_env=["HERMES_TEST_NEEDED"])
    assert shown(session) == set()
    assert error_of(session.call("t")) == ("t is not available: the environment variable HERMES_TEST_NEEDED is not set")
    monkeypatch.setenv("HERMES_TEST_NEEDED", "")
    assert shown(session) == set()
    monkeypatch.setenv("HERMES_TEST_NEEDED", "x")
    assert shown(session) == {"t"}
    assert session.call("t").ok


def test_one_variable_may_be_given_as_a_text(registry: Registry) -> None:
    assert add(registry, "t", requires_env="HERMES_TEST_NEEDED").requires_env == ("HERMES_TEST_NEEDED",)


def test_every_unavailable_tool_comes_with_its_reason(registry: Registry) -> None:
    tools = [
        add(registry, "a", check_fn=Check(False)),
        add(registry, "b"),
        add(registry, "c", requires_env=["NOT_SET"]),
    ]
    reasons = registry.availability.unavailable(tools)
    assert set(reasons) == {"a", "c"}
    assert "NOT_SET" in reasons["c"]


def test_a_tool_that_replaces_another_is_judged_by_its_own_check(registry: Registry, session: Session) -> None:
    add(registry, "t", check_fn=Check(False))
    assert shown(session) == set()
    add(registry, "t", check_fn=Check(True))
    assert shown(session) == {"t"}


def test_checks_of_tools_out_of_scope_are_not_run(registry: Registry, open_session: Callable[..., Session]) -> None:
    check = Check(True)
    add(registry, "t", toolset="other", check_fn=check)
    add(registry, "u")
    session = open_session(enabled_toolsets=["test"])
    session.definitions()
    session.call("t")
    assert check.runs == 0


def test_an_async_check_is_a_no_because_nobody_waits_for_it(registry: Registry, session: Session) -> None:
    async def check() -> bool:
        return True

    add(registry, "t", check_fn=check)
    assert shown(session) == set()
    assert "is async" in error_of(session.call("t"))


SHOW = {"tools": {"requires_env": "show"}}


def test_missing_variables_can_be_a_matter_of_display(
    registry: Registry, open_session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HERMES_TEST_NEEDED", raising=False)
    add(registry, "t", requires_env=["HERMES_TEST_NEEDED"])
    showing, gating = open_session(config=SHOW), open_session()
    assert (shown(showing), shown(gating)) == ({"t"}, set())
    assert showing.call("t").ok
    assert showing.call_many([("t", {})])[0].ok
    assert gating.call("t").outcome == "unavailable"


def test_a_check_gates_however_missing_variables_are_taken(
    registry: Registry, open_session: Callable[..., Session]
) -> None:
    add(registry, "t", requires_env=["NOT_SET"], check_fn=Check(False))
    session = open_session(config=SHOW)
    assert shown(session) == set()
    assert "its check" in error_of(session.call("t"))


def test_the_setting_can_be_changed_while_a_session_is_open(
    registry: Registry, open_session: Callable[..., Session]
) -> None:
    add(registry, "t", requires_env=["NOT_SET"])
    session = open_session(config={})
    session.definitions()
    session.config.set("tools.requires_env", "show")
    assert shown(session) == {"t"}
    session.config.set("tools.requires_env", "gate")
    assert shown(session) == set()


def test_sessions_share_a_checks_answer_whatever_their_settings(
    registry: Registry, open_session: Callable[..., Session]
) -> None:
    def work_a_while() -> bool:
        check.runs += 1
        return sum(range(2_000_000)) > 0

    check = Check(True)
    add(registry, "t", check_fn=work_a_while)
    assert shown(open_session(config=SHOW)) == shown(open_session()) == {"t"}
    assert check.runs == 1


def test_a_setting_that_is_no_choice_leaves_the_gate(registry: Registry, open_session: Callable[..., Session]) -> None:
    add(registry, "t", requires_env=["NOT_SET"])
    session = open_session(config={"tools": {"requires_env": "whatever"}})
    assert shown(session) == set()
    assert any("gate, show" in problem for problem in session.config.problems)


def test_every_missing_variable_is_named(registry: Registry, session: Session) -> None:
    add(registry, "t", requires_env=["NOT_SET_1", "PATH", "NOT_SET_2", "NOT_SET_3"])
    assert "the environment variables NOT_SET_1, NOT_SET_2 and NOT_SET_3 are not set" in error_of(session.call("t"))
