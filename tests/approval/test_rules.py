"""Every rule finds its own dangerous examples, and no rule finds its benign ones."""

from __future__ import annotations

import pytest

from hermes_nb.approval import assess
from hermes_nb.approval.rules import RULES

DANGEROUS = [
    pytest.param(rule, command, id=f"{rule.key}: {command[:60]}")
    for rule in RULES.values()
    for command in rule.dangerous
]
BENIGN = [pytest.param(command, id=f"{rule.key}: {command[:60]}") for rule in RULES.values() for command in rule.benign]


@pytest.mark.parametrize(("rule", "command"), DANGEROUS)
def test_a_rule_finds_its_dangerous_examples(rule, command):
    found = assess(command)
    assert rule.key in found.rules
    assert found.verdict == "block" or rule.verdict == "ask"


@pytest.mark.parametrize("command", BENIGN)
def test_no_rule_finds_a_benign_example(command):
    assert assess(command).findings == ()


def test_every_rule_has_examples_of_both_kinds_and_a_plain_description():
    for rule in RULES.values():
        assert len(rule.dangerous) >= 2, rule.key
        assert rule.benign, rule.key
        assert rule.description[0].islower(), rule.key
        assert not rule.description.endswith("."), rule.key


def test_the_floor_is_small():
    blocking = {rule.key for rule in RULES.values() if rule.verdict == "block"}
    assert blocking == {
        "chmod-everything", "delete-system", "find-delete-system", "fork-bomb", "format-disk",
        "kill-everything",
        "shutdown", "sysrq", "write-raw-device",
    }  # fmt: skip
