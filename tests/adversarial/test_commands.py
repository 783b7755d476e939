"""The labelled commands: dangerous ones caught, the catastrophes blocked, benign ones let through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes_nb.approval import assess

CASES = [json.loads(line) for line in (Path(__file__).parent / "commands.jsonl").read_text("utf-8").splitlines()]


def _labelled(label):
    return [
        pytest.param(
            case["command"],
            id=f"{case['family']}: {case['command'][:70]}",
            marks=[pytest.mark.xfail(reason=case["known_gap"])] if "known_gap" in case else [],
        )
        for case in CASES
        if case["label"] == label
    ]


@pytest.mark.parametrize("command", _labelled("dangerous"))
def test_a_dangerous_command_is_asked_about(command):
    assert assess(command).verdict in ("ask", "block")


@pytest.mark.parametrize("command", _labelled("blocked"))
def test_a_catastrophe_is_blocked(command):
    assert assess(command).verdict == "block"


@pytest.mark.parametrize("command", _labelled("benign"))
def test_a_benign_command_is_allowed(command):
    assert assess(command).findings == ()


def test_the_set_is_large_and_has_no_command_twice():
    commands = [case["command"] for case in CASES]
    assert len(commands) >= 500
    assert len(set(commands)) == len(commands)
