"""The terminal: commands, what lasts between them, and jobs beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hermes_nb as hermes
from hermes_nb.approval.approvers import ScriptedApprover, question
from hermes_nb.notebook.asking.question import Question

from ..parts import PATIENCE


def run(session: hermes.Session, command: str, **options: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(session.call("terminal", {"command": command, **options}).text)
    return answer


def process(session: hermes.Session, action: str, **options: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(session.call("process", {"action": action, **options}).text)
    return answer


def test_a_command_gives_both_streams_its_code_and_where_it_ran(session: hermes.Session, folder: Path) -> None:
    answer = run(session, "echo out; echo err >&2; (exit 3)")
    assert answer == {
        "stdout": "out\n",
        "stderr": "err\n",
        "exit_code": 3,
        "cwd": str(folder),
        "where": session.backend.where,
    }


def test_state_lasts_from_command_to_command(session: hermes.Session, folder: Path) -> None:
    run(session, "mkdir sub; cd sub; plain=1; export EXPORTED=2; greet() { echo hello $1; }; exit 5")
    assert run(session, "echo $plain $EXPORTED; greet you; pwd")["stdout"] == f"1 2\nhello you\n{folder}/sub\n"
    assert str(session.cwd) == f"{folder}/sub"


def test_workdir_is_for_one_command(session: hermes.Session, folder: Path) -> None:
    assert run(session, "pwd", workdir="/")["stdout"] == "/\n"
    assert run(session, "pwd")["stdout"] == f"{folder}\n"


def test_variables_are_for_one_command(session: hermes.Session) -> None:
    run(session, "cd /tmp; A=own; export B=own")
    told = run(session, "echo $A $B $C; bash -c 'echo $A $B'; cd /", env={"A": "it's $x", "B": "two\nlines", "C": ""})
    assert told["stdout"] == "it's $x two lines\nit's $x two lines\n"
    assert run(session, "echo $A $B ${C-unset}; pwd")["stdout"] == "own own unset\n/\n"
    job = run(session, "echo $A", background=True, env={"A": "of the job"})["job"]
    assert process(session, "wait", job=job)["output"] == "of the job\n"


@pytest.mark.parametrize("env", [{"A;touch x": "1"}, {"é": "1"}, {"": "1"}, {"A": "\0"}, {"A B": "1"}])
def test_what_is_no_variable_is_refused(session: hermes.Session, folder: Path, env: dict[str, str]) -> None:
    assert "env: " in (session.call("terminal", {"command": "true", "env": env}).error or "")
    assert list(folder.iterdir()) == []


def test_a_time_out_keeps_what_was_printed_and_says_so(session: hermes.Session) -> None:
    for timeout in (0.5, 2, 8, 32):  # until the command has begun in it
        result = session.call("terminal", {"command": "echo begun; sleep 1000", "timeout": timeout})
        if json.loads(result.text)["stdout"]:
            break
    assert not result.ok
    assert json.loads(result.text)["stdout"] == "begun\n"
    assert "timed out" in (result.error or "")


def test_colours_are_for_the_notebook_and_not_for_the_model(session: hermes.Session) -> None:
    result = session.call("terminal", {"command": r"printf '\033[31mred\033[0m'"})
    assert json.loads(result.text)["stdout"] == "red"
    assert result.value.result.stdout == "\x1b[31mred\x1b[0m"


def test_long_output_keeps_head_and_tail_and_all_of_it_in_a_file(session: hermes.Session) -> None:
    stdout = run(session, "seq 1 50000")["stdout"]
    assert stdout.startswith("1\n2\n")
    assert stdout.endswith("50000\n")
    assert len(stdout) < 50_000
    spilled = Path(stdout.partition("the whole result is in ")[2].partition(" …]")[0])
    assert spilled.read_text() == "".join(f"{number}\n" for number in range(1, 50_001))


def test_output_streams_while_the_command_runs(session: hermes.Session) -> None:
    pieces: list[tuple[str, str]] = []
    session.call("terminal", {"command": "echo a; echo b >&2"}, on_output=lambda *piece: pieces.append(piece))
    assert sorted(pieces) == [("stderr", "b\n"), ("stdout", "a\n")]


def test_two_sessions_have_two_shells(session: hermes.Session) -> None:
    run(session, "secret=1")
    with hermes.Session(enabled_toolsets=["terminal"], config={"approval": {"mode": "off"}}) as other:
        assert run(other, "echo [$secret]")["stdout"] == "[]\n"


def test_a_backend_can_be_switched_and_found_again_as_it_was_left(session: hermes.Session, folder: Path) -> None:
    run(session, "here=1")
    session.use_backend("local?cwd=/")
    assert run(session, "echo [$here]; pwd")["stdout"] == "[]\n/\n"
    session.use_backend("local")
    assert run(session, "echo [$here]")["stdout"] == "[1]\n"


def test_a_backend_that_cannot_be_opened_is_an_error_that_says_what_to_do(session: hermes.Session) -> None:
    session.use_backend("nowhere")
    result = session.call("terminal", {"command": "true"})
    assert not result.ok
    assert "local" in (result.error or "")


class TestApproval:
    @pytest.fixture
    def asking(self, folder: Path) -> Iterator[hermes.Session]:
        approver = ScriptedApprover([hermes.Decision.once])
        with hermes.Session(enabled_toolsets=["terminal", "file"], approver=approver, config={}) as session:
            yield session

    def test_sees_command_backend_and_directory(self, asking: hermes.Session, folder: Path) -> None:
        (folder / "build").mkdir()
        run(asking, "cd build")
        assert asking.call("terminal", {"command": "rm -rf ../build"}).ok
        (request,) = asking.policy.approver.asked
        assert (request.subject, request.backend, request.cwd) == ("rm -rf ../build", "local", f"{folder}/build")
        assert not (folder / "build").exists()

    @pytest.mark.parametrize(
        ("name", "value"), [("LD_PRELOAD", "./x.so"), ("BASH_ENV", "/tmp/x"), ("PATH", "/tmp/bin:/bin"), ("X", "1")]
    )
    def test_variables_are_judged_as_if_they_stood_before_the_command(
        self, asking: hermes.Session, name: str, value: str
    ) -> None:
        asking.policy.approver = ScriptedApprover([])
        apart = asking.call("terminal", {"command": "ls -l", "env": {name: value}})
        before = asking.call("terminal", {"command": f"{name}={value} ls -l"})
        asked = asking.policy.approver.asked
        assert apart.outcome == before.outcome == ("ok" if name == "X" else "denied")
        assert [{finding.rule for finding in request.findings} for request in asked] in ([], [{"load-code"}] * 2)

    def test_variables_are_known_where_the_command_uses_them(self, asking: hermes.Session) -> None:
        result = asking.call("terminal", {"command": 'rm -rf "$D"', "env": {"D": "/usr"}})
        assert result.outcome == "denied"
        assert result.decision is not None
        assert result.decision.by == "floor"

    def test_no_rule_that_allows_the_command_allows_its_variables(self, asking: hermes.Session) -> None:
        asking.config.set("approval.allow", ["terminal(ls*)"])
        asking.policy.approver = ScriptedApprover([])
        assert asking.call("terminal", {"command": "ls", "env": {"LD_PRELOAD": "x.so"}}).outcome == "denied"

    def test_a_rule_that_forbids_sees_what_a_variable_holds(self, asking: hermes.Session) -> None:
        asking.config.set("approval.deny", ["terminal(ls /etc*)"])
        assert asking.call("terminal", {"command": "ls $D", "env": {"D": "/etc"}}).outcome == "denied"
        assert asking.call("terminal", {"command": "ls $D", "env": {"D": "/"}}).ok

    def test_shows_variables_and_no_secret(self, asking: hermes.Session, home: Path) -> None:
        env = {"LD_PRELOAD": "x.so", "API_KEY": "short", "SERVICE_TOKEN": "sesame-open-wide"}
        result = asking.call("terminal", {"command": "echo $API_KEY $SERVICE_TOKEN 2>/dev/null", "env": env})
        (request,) = asking.policy.approver.asked
        rows = (("env LD_PRELOAD", "x.so"), ("env API_KEY", "[redacted]"), ("env SERVICE_TOKEN", "[redacted]"))
        assert request.view.rows == rows
        for shown in (question(request), str(Question(request).face())):
            assert "LD_PRELOAD" in shown
            assert "short" not in shown
            assert "sesame" not in shown
        assert "sesame" not in result.text
        assert "sesame" not in "".join(path.read_text() for path in home.rglob("*.jsonl"))

    def test_holds_for_background_commands(self, asking: hermes.Session, folder: Path) -> None:
        asking.policy.approver = ScriptedApprover([])
        assert asking.call("terminal", {"command": "rm -rf x", "background": True}).outcome == "denied"
        assert process(asking, "list") == {"jobs": []}

    def test_holds_for_what_is_typed_into_a_job(self, asking: hermes.Session) -> None:
        asking.policy.approver = ScriptedApprover([])
        job = run(asking, "cat", background=True)["job"]
        assert asking.call("process", {"action": "submit", "job": job, "data": "rm -rf /data"}).outcome == "denied"

    def test_holds_for_credential_files(self, asking: hermes.Session, folder: Path) -> None:
        asking.policy.approver = ScriptedApprover([])
        for path in ("~/.ssh/authorized_keys", "/etc/passwd"):
            assert asking.call("write_file", {"path": path, "content": "x"}).outcome == "denied"
        assert asking.call("read_file", {"path": "~/.ssh/id_rsa"}).outcome == "denied"


class TestJobs:
    def test_a_job_starts_from_the_shell_s_state_and_outlives_the_next_command(self, session: hermes.Session) -> None:
        run(session, "word=hello")
        job = run(session, "echo $word; read line; echo got $line", background=True)["job"]
        assert run(session, "echo meanwhile")["stdout"] == "meanwhile\n"
        process(session, "submit", job=job, data="input")
        done = process(session, "wait", job=job)
        assert (done["status"], done["exit_code"]) == ("exited", 0)
        assert process(session, "log", job=job)["output"] == "hello\ngot input\n"

    def test_jobs_are_listed_and_killed(self, session: hermes.Session) -> None:
        job = run(session, "sleep 300", background=True)["job"]
        assert [entry["status"] for entry in process(session, "list")["jobs"]] == ["running"]
        assert process(session, "kill", job=job)["status"] == "killed"

    def test_the_end_of_a_job_is_told(self, session: hermes.Session) -> None:
        job = run(session, "echo over", background=True, notify_on_complete=True)["job"]
        session.backend.jobs.get(job).wait(PATIENCE)
        session.backend.jobs.get(job).close()
        (notice,) = session.notices
        assert (notice.job, notice.kind, notice.exit_code) == (job, "completed", 0)

    def test_a_job_with_a_terminal_has_one(self, session: hermes.Session) -> None:
        job = run(session, "test -t 0 && echo yes", background=True, pty=True)["job"]
        assert process(session, "wait", job=job)["output"].strip() == "yes"

    def test_a_job_that_does_not_exist_is_an_error_that_names_those_that_do(self, session: hermes.Session) -> None:
        job = run(session, "true", background=True)["job"]
        assert job in process(session, "poll", job="job-99")["error"]

    def test_an_action_without_a_job_says_so(self, session: hermes.Session) -> None:
        assert "needs a job" in process(session, "kill")["error"]
