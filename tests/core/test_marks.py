"""How a call went: decided in one place, the same in result, journal and replay, also of journals from before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hermes_nb import Registry, Session, replay
from hermes_nb.calls.marks import exit_code_of, mark_of, mark_of_job

from .support import add


@pytest.fixture
def shell(registry: Registry) -> Registry:
    add(registry, "shell", lambda args: {"stdout": "", "exit_code": args["code"]})
    return registry


@pytest.mark.parametrize(
    ("outcome", "exit_code", "shown", "tone"),
    [
        ("ok", None, "✓ ok", "good"),
        ("ok", 0, "✓ ok", "good"),
        ("ok", 1, "✗ exit 1", "failed"),
        ("error", None, "✗ error", "bad"),
        ("timeout", 124, "✗ timeout", "bad"),
        ("denied", None, "⊘ denied", "held"),
    ],
)
def test_a_commands_own_failure_has_its_own_mark(outcome: str, exit_code: int | None, shown: str, tone: str) -> None:
    mark = mark_of(outcome, exit_code)
    assert (str(mark), mark.tone) == (shown, tone)


@pytest.mark.parametrize(
    ("status", "exit_code", "shown"),
    [("running", None, "… running"), ("exited", 0, "✓ exited 0"), ("exited", 3, "✗ exit 3"), ("lost", None, "✗ lost")],
)
def test_jobs_have_marks_too(status: str, exit_code: int | None, shown: str) -> None:
    assert str(mark_of_job(status, exit_code)) == shown


@pytest.mark.parametrize("value", [None, "1", 1, [1], {"exit_code": 1}, {"stdout": "", "exit_code": True}])
def test_what_is_no_command_has_no_exit_code(value: Any) -> None:
    assert exit_code_of(value) is None


def test_a_value_that_can_not_be_looked_at_has_no_exit_code() -> None:
    class Awkward:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert exit_code_of(Awkward()) is None


def test_the_result_the_record_and_the_replay_say_the_same(shell: Registry, session: Session) -> None:
    result = session.call("shell", {"code": 1})
    (record,) = session.journal
    assert result.ok
    assert (result.exit_code, record.exit_code) == (1, 1)
    assert str(result.mark) == str(record.mark) == "✗ exit 1"
    assert "→ ✗ exit 1 in" in str(replay(session.id))
    assert repr(result).startswith("<shell: ✗ exit 1,")


def test_what_succeeded_is_still_ok(shell: Registry, session: Session) -> None:
    session.call("shell", {"code": 0})
    assert "→ ok in" in str(replay(session.id))


def test_journals_from_before_are_read_with_their_exit_codes(shell: Registry, session: Session) -> None:
    session.call("shell", {"code": 2})
    session.call("shell", {"code": 0})
    lines = [json.loads(line) for line in session.journal.path.read_text().splitlines()]
    for line in lines:
        assert "exit_code" in line
        del line["exit_code"]
    older = Path(session.journal.path).with_name("older.jsonl")
    older.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert [str(record.mark) for record in replay(older)] == ["✗ exit 2", "✓ ok"]


def test_a_text_that_only_speaks_of_exit_codes_has_none(registry: Registry, session: Session) -> None:
    add(registry, "t", lambda args: 'the key "exit_code" is not JSON here')
    session.call("t")
    assert [record.exit_code for record in session.journal] == [None]
