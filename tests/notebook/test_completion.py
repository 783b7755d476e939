from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from IPython.core.completer import provisionalcompleter

import hermes_nb as hermes

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from .conftest import Run


def offered(shell: InteractiveShell, text: str) -> list[str]:
    """The last words that Tab at the end of a text would make of it."""
    with provisionalcompleter():
        found = list(shell.Completer.completions(text, len(text)))
    return [f"{text[: completion.start]}{completion.text}".rpartition(" ")[2] for completion in found]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("%hermes des", ["describe"]),
        ("x = %hermes des", ["describe"]),
        ("%%hermes ca", ["call"]),
        ("%hermes help repl", ["replay"]),
        ("%hermes describe a", ["add"]),
        ("%hermes call cre", ["create_issue"]),
        ("%hermes call create_issue ", ["title=", "labels=", "state=", "draft=", "extra="]),
        ("%hermes call create_issue title=x st", ["state="]),
        ("%hermes call create_issue state=", ["state=open", "state=closed"]),
        ("%hermes call create_issue --no-raise draft=t", ["draft=true"]),
        ("%hermes call add --t", ["--timeout"]),
        ("%hermes run --c", ["--cwd"]),
        ("%hermes run --backend l", ["local"]),
        ("%hermes run --backend=do", ["--backend=docker://"]),
        ("%hermes backend ss", ["ssh://"]),
        ("%hermes tools --toolset ma", ["math"]),
        ("%hermes config approval.m", ["approval.mode"]),
        ("%hermes config approval.mode s", ["smart"]),
        ("%hermes config approval.skip_when_isolated t", ["true"]),
        ("%hermes config tools.tool_search ", ["true", "false"]),
        ("%hermes approvals re", ["revoke"]),
    ],
)
def test_tab_offers_what_can_stand_there(run: Run, shell: InteractiveShell, typed: str, expected: list[str]) -> None:
    assert offered(shell, typed) == expected


def test_tab_offers_the_jobs_there_are(run: Run, shell: InteractiveShell) -> None:
    run("%hermes run --bg sleep 60")
    assert offered(shell, "%hermes ps jo") == ["job-1"]


def test_tab_offers_the_rules_that_can_be_revoked(run: Run, shell: InteractiveShell, session: hermes.Session) -> None:
    session.config.set("command_allowlist", ["recursive_delete"])
    assert offered(shell, "%hermes approvals revoke ") == ["recursive_delete"]


def test_tab_offers_past_sessions(run: Run, shell: InteractiveShell, session: hermes.Session) -> None:
    run("%hermes call add a=1")
    assert offered(shell, "%hermes replay 2") == [session.id]


def test_other_lines_are_completed_as_before(run: Run, shell: InteractiveShell) -> None:
    run("a_long_variable_name = 1")
    assert "a_long_variable_name" in offered(shell, "a_long_var")


def test_a_tool_outside_the_session_is_not_offered(shell: InteractiveShell, tools: hermes.Registry) -> None:
    from hermes_nb import notebook

    with hermes.Session(tools, enabled_toolsets=["terminal"]) as narrow:
        notebook.use(narrow)
        hermes.load_ipython_extension(shell)
        assert offered(shell, "%hermes call ") == ["process", "terminal"]
        assert not {"a=", "b="} & set(offered(shell, "%hermes call add "))
