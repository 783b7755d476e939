"""The approval chain on every generation of ipykernel: with and without a front end that uses subshells."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .jupyter import OUTPUT
from .kernels import FrontEnd, installed, kernel
from .test_approval import SETUP

OLD = ["6.29.5", "6.31.0"]
WITH_SUBSHELLS = ["7.1.0", "7.3.0"]
ROUTED_BY_COMM = ["7.4.0"]
ASK = """
session = hermes.Session(registry=tools, approver=NotebookApprover(handshake={handshake}))
result = session.call("shell", {{"command": "rm -rf cache"}})
print(result.outcome, "|", result.decision.by, "|", result.error)
"""


# Of each generation one is enough for every day.
EVERY_DAY = [OLD[0], WITH_SUBSHELLS[-1], *ROUTED_BY_COMM]
VERSIONS = [
    pytest.param(version, marks=[] if version in EVERY_DAY else [pytest.mark.slow])
    for version in [*OLD, *WITH_SUBSHELLS, *ROUTED_BY_COMM]
]


@pytest.fixture(scope="module", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.fixture(scope="module")
def front_end(version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrontEnd]:
    with kernel(installed(version, OUTPUT / "ipykernels"), tmp_path_factory.mktemp("home")) as running:
        printed = running.run(f"import ipykernel; print(ipykernel.__version__)\n{SETUP}").printed
        assert printed.startswith(version)
        yield running


def test_nobody_there_is_a_no_at_once(front_end: FrontEnd) -> None:
    answers = front_end.run(ASK.format(handshake=60), person=False)
    assert answers.ways == []
    assert answers.printed.startswith("denied | nobody")


def test_a_click_gets_through_while_the_cell_runs(version: str, front_end: FrontEnd) -> None:
    subshell = None if version in OLD else front_end.subshell()
    answers = front_end.run(ASK.format(handshake=60), subshell=subshell)
    assert answers.ways == ["card"]
    assert answers.printed.startswith("ok | approver")


def test_a_front_end_without_subshells_is_asked_as_well_as_it_can_be(version: str, front_end: FrontEnd) -> None:
    handshake = 0.5 if version in WITH_SUBSHELLS else 60
    answers = front_end.run(ASK.format(handshake=handshake))
    assert answers.ways == ["input" if version in WITH_SUBSHELLS else "card"]
    assert answers.printed.startswith("ok | approver")


def test_an_input_that_is_not_answered_in_time_is_a_no(front_end: FrontEnd) -> None:
    code = """
from hermes_nb.approval.decision import Request
from hermes_nb.notebook.asking.approver import ask_by_input
request = Request("shell", {"command": "x"}, (Finding("r", "is risky", "x"),), "local", "/", 0.3, "s", "c")
print(ask_by_input(request).reason)
"""
    answers = front_end.run(code, silent=True)
    assert answers.ways == ["input"]
    assert answers.printed.strip() == "is risky; no answer within 0.3 s"
    assert front_end.run("print('and the kernel goes on')").printed == "and the kernel goes on\n"
