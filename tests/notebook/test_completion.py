from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from IPython.core.completer import CompletionContext, provisionalcompleter

import hermes_nb as hermes
from hermes_nb.notebook.completion import match

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from .conftest import Run


@dataclass
class Step:
    """A part of a plan."""

    kind: Literal["walk", "run", "rest"]
    far: bool = False


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the session's commands run, with some files in it."""
    place = tmp_path / "work"
    (place / "sub" / "deeper").mkdir(parents=True)
    for name in ("notes.txt", "with s & co.txt", ".hidden", "sub/deep.csv", "sub/.also hidden"):
        (place / name).touch()
    monkeypatch.chdir(place)
    return place


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
        ("%hermes run -e A=1 -", ["--backend", "--bg", "--cwd", "--env", "--help", "--no-raise", "--out", "--quiet"]),
        ("%hermes run wc no", ["notes.txt"]),
        ("%hermes run -q no", ["notes.txt"]),
        ("%hermes run cat <su", ["<sub/"]),
        ("%hermes run cat sub/", ["sub/deep.csv", "sub/deeper/"]),
        ("%hermes run ls; cat ./sub/d", ["./sub/deep.csv", "./sub/deeper/"]),
        ("%hermes run cat with\\ s", ["co.txt"]),
        ("%hermes run cat .h", [".hidden"]),
        ("%hermes run --bg -t 5 --cwd sub cat de", ["deep.csv", "deeper/"]),
        ("%hermes run --cwd su", ["sub/"]),
        ("%hermes run --cwd=sub/", ["--cwd=sub/deeper/"]),
        ("%%hermes run -q\nls\ncat no", ["notes.txt"]),
        ("%%hermes run --cwd sub\ncat de", ["deep.csv", "deeper/"]),
        ("%hermes run --backend docker://x:1 cp alpha.txt beta; mv al", ["alpha.txt"]),
        ("%%hermes run -b ssh://me@box\ncp alpha.txt beta\nmv al", ["alpha.txt"]),
        ("%hermes backend ss", ["ssh://"]),
        ("%hermes tools --toolset ma", ["math"]),
        ("%hermes config approval.m", ["approval.mode"]),
        ("%hermes config approval.mode s", ["smart"]),
        ("%hermes config approval.skip_when_isolated t", ["true"]),
        ("%hermes config tools.tool_search ", ["true", "false"]),
        ("%hermes approvals re", ["revoke"]),
    ],
)
def test_tab_offers_what_can_stand_there(
    folder: Path, run: Run, shell: InteractiveShell, typed: str, expected: list[str]
) -> None:
    found = offered(shell, typed)
    assert (
        found if len(expected) < 8 else [option for option in found if option[:2] == "--"][: len(expected)]
    ) == expected


def test_files_are_those_of_the_folder_where_the_shell_is(folder: Path, run: Run, shell: InteractiveShell) -> None:
    run("%hermes run cd sub")
    assert offered(shell, "%hermes run cat de") == ["deep.csv", "deeper/"]
    assert offered(shell, "%hermes run --cwd ../su") == ["../sub/"]


def test_a_quote_that_is_open_stays_one(folder: Path, run: Run, shell: InteractiveShell) -> None:
    with provisionalcompleter():
        text = "%hermes run cat 'with s"
        (found,) = shell.Completer.completions(text, len(text))
    assert text[: found.start] + found.text == "%hermes run cat 'with s & co.txt'"


CALL = "%%hermes call create_issue\n"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (f"{CALL}ti", "title: "),
        (f"{CALL}title: x\nst", "state: "),
        (f"{CALL}title: x\nstate: ", ["open", "closed"]),
        (f"{CALL}state: cl", "closed"),
        (f'{CALL}state: "cl', 'closed"'),
        (f"{CALL}draft: t", "true"),
        (f"{CALL}title: x\nti", None),
        (f"{CALL}extra:\n  ti", None),
        ("%%hermes call create_issue title=x\nti", None),
        ("\n%%hermes call --no-raise create_issue\nti", "title: "),
        (f"{CALL}{{ti", '"title": '),
        (f'{CALL}{{"ti', 'title": '),
        (f'{CALL}{{"title": "a, {{b", "st', 'state": '),
        (f'{CALL}{{"state": ', ['"open"', '"closed"']),
        (f'{CALL}{{"state": "cl', 'closed"'),
        (f'{CALL}{{\n  "title": "x",\n  "draft": fa', "false"),
        (f'{CALL}{{"title": "x", "ti', None),
        ("%%hermes call plan\nsteps:\n  - ki", "kind: "),
        ("%%hermes call plan\nsteps:\n- kind: walk\n  fa", "far: "),
        ("%%hermes call plan\nsteps:\n- kind: walk\n  ki", None),
        ("%%hermes call plan\nsteps:\n- kind: walk\n- kind: r", ["rest", "run"]),
        ("%%hermes call plan\nsteps: []\ntags:\n- u", "urgent"),
        ('%%hermes call plan\n{"steps": [{"kind": "walk"}, {"ki', 'kind": '),
        ('%%hermes call plan\n{"steps": [{"kind": "walk", "far": tr', "true"),
        ('%%hermes call plan\n{"tags": ["u', 'urgent"'),
        ("%%hermes call nothing\nti", None),
        ("%%hermes tools\nti", None),
    ],
)
def test_tab_in_the_cell_below_a_call(
    run: Run, shell: InteractiveShell, tools: hermes.Registry, typed: str, expected: str | list[str] | None
) -> None:
    @hermes.tool(toolset="math", registry=tools)
    def plan(steps: list[Step], tags: list[Literal["urgent", "later"]] | None = None) -> str:
        """Plan."""
        return ""

    context = CompletionContext(
        token="",
        full_text=f"{typed}\nlater: 1",
        cursor_position=len(typed.rpartition("\n")[2]),
        cursor_line=typed.count("\n"),
        limit=None,
    )
    found = [completion.text for completion in match(context)["completions"]]
    assert found == ([] if expected is None else [expected] if isinstance(expected, str) else expected)


def test_what_the_front_end_has_closed_already_is_not_closed_again(run: Run) -> None:
    def first(text: str) -> str:
        position = text.index("|") - text.rindex("\n", 0, text.index("|")) - 1
        context = CompletionContext(
            token="",
            full_text=text.replace("|", ""),
            cursor_position=position,
            cursor_line=text[: text.index("|")].count("\n"),
            limit=None,
        )
        return match(context)["completions"][0].text

    assert first(f'{CALL}{{"ti|"}}') == "title"
    assert first(f'{CALL}{{"state": "cl|"}}') == "closed"
    assert first(f"{CALL}ti|: x") == "title"


def test_nothing_is_opened_by_typing_its_name(run: Run, shell: InteractiveShell, session: hermes.Session) -> None:
    offered(shell, "%hermes run --backend docker://nothing:0 ls a")
    offered(shell, "%hermes run --backend ssh://nobody@nowhere ls a")
    assert run("%hermes backend").value.name == "local"
    assert len(session.workspace._sites) == 1


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
