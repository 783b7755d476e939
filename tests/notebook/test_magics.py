from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from IPython.utils.capture import capture_output

import hermes_nb as hermes
from hermes_nb import notebook
from hermes_nb.approval.approvers import ScriptedApprover
from hermes_nb.errors import CommandFailed, MagicError
from hermes_nb.notebook.commands import COMMANDS

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from .conftest import Run


def test_loading_says_in_one_line_what_is_there(shell: InteractiveShell, session: hermes.Session) -> None:
    notebook.use(session)
    with capture_output() as said:
        shell.run_line_magic("load_ext", "hermes_nb")
    assert re.fullmatch(r"hermes-nb \S+: 6 tools · local backend · approval: off · %hermes for help\n", said.stdout)


def test_unloading_takes_the_magic_away(run: Run, shell: InteractiveShell) -> None:
    hermes.unload_ipython_extension(shell)
    assert shell.find_magic("hermes") is None
    assert shell.Completer.custom_matchers == []


def test_without_arguments_every_sub_command_is_listed(run: Run) -> None:
    shown = repr(run("%hermes").value)
    assert all(f"%hermes {name}" in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_sub_command_has_help(run: Run, name: str) -> None:
    assert repr(run(f"%hermes {name} --help").value).startswith(f"usage: %hermes {name}")
    assert repr(run(f"%hermes help {name}").value) == repr(run(f"%hermes {name} -h").value)


def test_an_unknown_sub_command_suggests_the_nearest(run: Run) -> None:
    error = run("%hermes serch x").error
    assert isinstance(error, MagicError)
    assert "Did you mean search?" in str(error)


def test_tools_are_listed_with_what_the_model_sees_of_them(run: Run) -> None:
    tools = run("%hermes tools").value
    assert [tool.name for tool in tools] == ["add", "create_issue", "fail", "process", "say", "terminal"]
    assert {tool.state for tool in tools} == {"shown"}


def test_tools_can_be_chosen_by_toolset_and_by_name(run: Run) -> None:
    assert [tool.name for tool in run("%hermes tools -t math").value] == ["add", "fail", "say"]
    assert [tool.name for tool in run("%hermes tools iss").value] == ["create_issue"]
    assert [tool.name for tool in run("%hermes tools *_*").value] == ["create_issue"]


def test_an_unknown_toolset_suggests_the_nearest(run: Run) -> None:
    assert "Did you mean math" in str(run("%hermes tools -t maths").error)


def test_toolsets_are_listed_with_their_sizes(run: Run) -> None:
    sizes = {row.name: row.tools for row in run("%hermes toolsets").value}
    assert sizes["math"] == 3
    assert sizes["terminal"] == 2


def test_search_gives_the_session_s_own_result(run: Run, session: hermes.Session) -> None:
    found = run("hits = %hermes search -n 1 open an issue\nhits").value
    assert found == session.search("open an issue", 1, all=True)


def test_people_search_all_tools_and_a_model_those_that_can_be_deferred(run: Run, session: hermes.Session) -> None:
    found = run("hits = %hermes search run a command\nhits").value
    assert (found.matches[0].name, found.matches[0].state) == ("terminal", "always shown")
    assert "(always shown)" in repr(found).splitlines()[0]
    assert "always shown" in found._repr_html_()
    assert "terminal" not in [hit.name for hit in session.search("run a command", 50).matches]
    answer = session.call("tool_search", {"query": "run a command", "limit": 10})
    assert "terminal" not in answer.text


def test_half_a_word_is_found_by_plain_words_and_it_says_so(run: Run) -> None:
    found = run("hits = %hermes search ositor\nhits").value
    assert [hit.name for hit in found.matches] == ["create_issue"]
    assert found.by_words
    assert "by plain words" in found._repr_html_()


def test_search_takes_prose_with_apostrophes_and_values(run: Run) -> None:
    assert run("what = 'issue'\nx = %hermes search what's an {what}\nx.query").value == "what's an issue"


def test_describe_gives_the_definition_itself(run: Run, session: hermes.Session) -> None:
    assert run("%hermes describe add").value == session.describe("add")
    assert isinstance(run("%hermes describe ad").error, hermes.UnknownToolError)


@pytest.mark.parametrize(("setting", "state"), [("gate", "unavailable"), ("show", "shown")])
def test_describe_names_missing_variables_whatever_becomes_of_the_tool(
    run: Run, session: hermes.Session, tools: hermes.Registry, setting: str, state: str
) -> None:
    tools.register("forecast", "weather", {"type": "object"}, lambda args: "rain", requires_env=["NOT_SET"])
    session.config.set("tools.requires_env", setting)
    described = run("%hermes describe forecast").value
    for face in (repr(described), described._repr_html_()):
        assert face.count("the environment variable NOT_SET is not set") == 1
    assert state in described._repr_html_()


def test_call_gives_the_result(run: Run) -> None:
    assert run("%hermes call add a=1 b=2").value.value == 3
    assert run('%hermes call add {"a": 1, "b": 2}').value.value == 3
    assert run("n = 40\n%hermes call add a={n} b={n // 20}").value.value == 42


def test_call_takes_its_arguments_from_the_cell_below(run: Run) -> None:
    cell = "%%hermes call create_issue state=closed\ntitle: It's {1 + 1}\nlabels: [a, b]\nextra: {x: 1}\n"
    value = run(cell).value.value
    assert value == {
        "title": "It's {1 + 1}",
        "labels": ["a", "b"],
        "state": "closed",
        "draft": False,
        "extra": {"x": 1},
    }


def test_python_values_of_a_function_reach_the_magic(run: Run) -> None:
    assert run("def f(inner):\n    r = %hermes call add a={inner}\n    return r.value\nf(5)").value == 5


def test_an_option_keeps_the_result_in_a_variable(run: Run) -> None:
    kept = run("%hermes call add a=1 -o total\ntotal")
    assert kept.value.value == 1


def test_the_previous_result_has_a_name(run: Run) -> None:
    run("%hermes call add a=1")
    assert run("%hermes call add a={_hermes.value} b=1").value.value == 2
    assert run("_hermes").value.value == 2
    run("tools = %hermes tools -t math")
    assert run("_hermes is tools").value
    run("%hermes call fail")
    assert run("_hermes").value.error == "it went wrong"
    run("%hermes run exit 3")
    assert run("_hermes").value.value.result.exit_code == 3
    run("%hermes cal")
    run("%hermes call add?")
    assert run("_hermes").value.value.result.exit_code == 3


def test_a_failed_call_raises_so_that_run_all_stops(run: Run) -> None:
    error = run("%hermes call fail").error
    assert isinstance(error, hermes.ToolCallError)
    assert error.result.error == "it went wrong"


def test_a_failed_call_is_a_result_where_that_is_wanted(run: Run) -> None:
    assert run("%hermes call fail --no-raise").value.outcome == "error"


def test_a_failure_is_shown_in_a_few_lines(run: Run) -> None:
    shown = run("%hermes call fail").stdout
    assert "ToolCallError: fail: it went wrong" in re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "Traceback" not in shown
    assert len(shown.strip().splitlines()) <= 3


BROKEN = """
import hermes_nb as hermes
from hermes_nb.notebook import state

@hermes.tool(registry=state.current().registry)
def broken(key: str) -> str:
    "Look something up."
    return {}[key]
"""


def test_the_author_of_a_tool_that_fails_gets_their_own_frames_from_tb(run: Run) -> None:
    run(BROKEN)
    failed = run("%hermes call broken key=missing")
    assert "%tb shows where it was raised" in failed.stdout
    assert "return {}[key]" not in failed.stdout
    whole = run("%tb").stdout
    assert re.search(r"Cell In\[.+\], line \d+, in broken\n +return {}\[key\]", whole)
    assert "hermes_nb" not in whole
    run("x = %hermes call --no-raise broken key=missing")
    assert "return {}[key]" in run("x.raise_for_error()").stdout


def test_the_frames_are_folded_in_the_face_of_a_result(run: Run) -> None:
    run(BROKEN)
    result = run("%hermes call --no-raise broken key=missing").value
    faces = result._repr_mimebundle_()
    _, folded, frames = faces["text/html"].partition("<details>")
    assert "where it was raised" in folded + frames
    assert "return {}[key]" in frames
    assert "return {}[key]" not in faces["text/plain"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("call add c=1", "c is not an argument"),
        ("call nothing", "Unknown tool: nothing"),
        ("call add a=1 --tmeout 3", "there is no option --tmeout. Did you mean --timeout"),
        ("run --background sleep 1", "there is no option --background. Did you mean --bg? Usage: %hermes run ["),
        ("run -bg sleep 1", "there is no option -bg. Did you mean --bg?"),
        ("run --workdir=/ ls", "there is no option --workdir. Did you mean --cwd?"),
        ("run --evn A=1 ls", "Did you mean --env?"),
        ("tools --xyz", "there is no option --xyz. Usage: %hermes tools ["),
        ("search --limt 3 x", "Did you mean --limit?"),
        ("ps --kill", "Did you mean --stop?"),
        ("approvals revok x", "there is no 'revok'. Did you mean revoke? Usage: %hermes approvals ["),
        ("approvals x", "there is no 'x'; it is one of list, revoke. Usage: %hermes approvals ["),
        ("call add --timeout soon", "invalid float value: 'soon'. Usage: %hermes call ["),
        ("call", "required: tool"),
        ("run", "run what"),
        ("search", "search for what"),
        ("run --env 1x=2 true", "NAME=VALUE"),
        ("call add a=1 -o 1x", "not a name"),
    ],
)
def test_what_cannot_be_understood_is_explained(run: Run, line: str, message: str) -> None:
    error = run(f"%hermes {line}").error
    assert isinstance(error, hermes.HermesError)
    assert message in str(error)


def test_a_cell_below_a_command_that_takes_none_is_refused(run: Run) -> None:
    assert "takes no cell" in str(run("%%hermes tools\nx").error)


def test_run_shows_the_output_as_streams_and_the_outcome_as_a_line(run: Run) -> None:
    done = run("%hermes run echo out; echo err >&2")
    assert done.stdout.startswith("out\n")
    assert done.stderr == "err\n"
    assert done.stdout.rstrip().endswith("exit code 0")
    assert (done.value.stdout, done.value.stderr, done.value.exit_code) == ("out\n", "err\n", 0)


def test_what_run_showed_is_shown_again_in_another_cell(run: Run) -> None:
    run("x = %hermes run echo out")
    assert run("x").stdout.count("out") >= 1
    assert "out" in repr(run("x").value)


def test_the_cell_is_the_script(run: Run) -> None:
    done = run("%%hermes run\nfor i in {1..3}; do\n  echo ${i}x\ndone\n")
    assert done.value.lines == ["1x", "2x", "3x"]


def test_the_lines_of_a_script_do_not_run_together_in_its_heading(run: Run) -> None:
    page = run("%%hermes run\ncd /\necho '<b>one</b>'\n").value._repr_html_()
    assert "cd / … +1 line</code></span></summary>" in page
    assert "cd /\necho &#x27;&lt;b&gt;one&lt;/b&gt;&#x27;</pre>" in page
    assert "<details" not in run("%hermes run echo one").value._repr_html_()


def test_the_shell_keeps_its_state_between_commands(run: Run, tmp_path: Path) -> None:
    run(f"folder = {str(tmp_path)!r}\n%hermes run cd {{folder}}; v=1")
    assert run("%hermes run echo $v $PWD").value.lines == [f"1 {tmp_path}"]


def test_values_in_a_command_are_quoted(run: Run) -> None:
    assert run("evil = 'a b; echo pwned'\n%hermes run printf '%s|' {evil} 'x{evil}'").value.stdout == (
        "a b; echo pwned|x{evil}|"
    )


def test_a_variable_can_hold_the_whole_command(run: Run) -> None:
    assert run("command = 'echo a; echo b'\n%hermes run {command}").value.lines == ["a", "b"]


def test_variables_can_be_set_for_a_script(run: Run) -> None:
    assert run('v = "it\'s"\n%hermes run -e NAME={v} echo $NAME').value.lines == ["it's"]
    run("n = 2")
    assert run("%%hermes run --env A={n + 1} --env=B='x y' -e C=\necho $A-$B-$C\nbash -c 'echo $A'").error is None
    assert run("_hermes").value.lines == ["3-x y-", "3"]
    assert run("%hermes run echo [$NAME$A$B]").value.lines == ["[]"]


def test_a_command_gets_so_many_seconds(run: Run) -> None:
    error = run("%hermes run -t 0.5 sleep 60").error
    assert isinstance(error, hermes.ToolCallError)
    assert "timed out" in str(error)


def test_another_directory_can_be_used_once(run: Run, tmp_path: Path) -> None:
    assert run(f"%hermes run --cwd {tmp_path} pwd").value.lines == [str(tmp_path)]
    assert run("%hermes run pwd").value.lines != [str(tmp_path)]


def test_another_backend_can_be_used_once(run: Run, session: hermes.Session) -> None:
    done = run("%hermes run --backend local?cwd=/ pwd").value
    assert (done.backend, done.lines) == ("local?cwd=/", ["/"])
    assert session.backend_name == "local"


def test_a_command_that_fails_raises_with_its_output_in_hand(run: Run) -> None:
    done = run("%hermes run echo before; exit 3")
    assert isinstance(done.error, CommandFailed)
    assert done.error.exit_code == 3
    assert "before" in done.stdout
    assert run("%hermes run --no-raise exit 3").value.exit_code == 3


def test_a_command_that_failed_by_itself_is_marked_so_everywhere(run: Run, session: hermes.Session) -> None:
    done = run("%hermes run --no-raise false").value
    assert repr(done) == "✗ exit 1"
    assert ">✗ exit 1<" in done._repr_html_()
    again = run("%hermes call --no-raise terminal command=false").value
    assert repr(again).startswith("<terminal: ✗ exit 1,")
    assert again._repr_mimebundle_()["text/plain"] == "terminal: ✗ exit 1"
    assert ">✗ exit 1<" in again._repr_mimebundle_()["text/html"]
    replayed = run("%hermes replay").value
    assert str(replayed).count("→ ✗ exit 1 in") == 2
    assert replayed._repr_html_().count(">✗ exit 1<") == 2
    assert session.journal._repr_mimebundle_()["text/plain"].count("✗ exit 1") == 2
    feed = hermes.notebook.feed(session)
    assert feed.text_face().splitlines()[0] == "2 calls: 2 ✗ exit 1"
    assert feed.html_face().count("✗ exit 1</td>") == 2
    feed.close()


def test_a_job_that_failed_by_itself_is_marked_so(run: Run) -> None:
    run("job = %hermes run --bg exit 3\njob.wait()")
    assert run("job").value._repr_mimebundle_()["text/plain"].startswith("job-1: ✗ exit 3: exit 3")
    assert repr(run("%hermes ps").value) == "job-1 ✗ exit 3: exit 3"


def test_what_an_approver_made_of_a_command_is_what_is_named(run: Run, session: hermes.Session) -> None:
    session.config.set("approval.mode", "manual")
    session.policy.approver = ScriptedApprover([hermes.Decision.once(args={"command": "echo kept"})] * 2)
    done = run("%hermes run --no-raise git clean -fdx").value
    assert done.command == "echo kept"
    assert repr(done) == "exit code 0\n- git clean -fdx\n+ echo kept"
    heading, _, changed = done._repr_html_().partition("<pre")
    assert "echo kept" in heading
    assert "git clean" not in heading
    assert re.search(r">- <del [^>]*line-through[^>]*>git clean -fdx</del>", changed)
    assert re.search(r">\+ <ins [^>]*>echo kept</ins>", changed)
    shown = run("%hermes call terminal command='git clean -fdx'").value._repr_mimebundle_()
    assert "\n- git clean -fdx\n+ echo kept\n" in shown["text/plain"]
    assert ">echo kept</ins>" in shown["text/html"]
    assert ">echo kept</ins>" in run("%hermes replay").value._repr_html_()


def test_a_command_that_takes_too_long_is_stopped(run: Run) -> None:
    error = run("%hermes run --timeout 0.2 echo early; sleep 60").error
    assert isinstance(error, hermes.ToolCallError)
    assert "timed out" in str(error)


def test_a_quiet_run_streams_nothing(run: Run) -> None:
    done = run("x = %hermes run -q echo out")
    assert done.stdout == ""
    assert run("str(x)").value == "out\n"


def test_hostile_output_is_streamed_with_its_colours_only(run: Run) -> None:
    done = run(r"x = %hermes run printf '\033]0;title\007\033[31mred\033[0m\033[2J \342\200\256evil\n'")
    assert done.stdout == "\x1b[31mred\x1b[0m \\u202eevil\n"


def test_a_secret_is_masked_in_the_stream_even_in_pieces(run: Run) -> None:
    done = run("x = %hermes run printf 'ghp_aaaaaaaaaaaaaaaaaa'; sleep 0.1; printf 'aaaaaaaaaaaaaaaaaa end\\n'")
    assert done.stdout == "[redacted] end\n"


def test_a_denied_command_says_why(run: Run) -> None:
    error = run("%hermes run rm -rf /").error
    assert isinstance(error, hermes.ToolCallError)
    assert error.result.outcome == "denied"


def test_a_background_job_is_started_looked_at_and_stopped(run: Run) -> None:
    started = run("%hermes run --bg echo up; sleep 60").value
    assert (started.id, started.status) == ("job-1", "running")
    assert run("%hermes ps job-1").value.job is started.job
    assert run("%hermes ps job-1 --stop").value.status == "killed"


def test_an_unknown_job_names_those_there_are(run: Run) -> None:
    assert "no job is called 'job-9'" in str(run("%hermes ps job-9").error)


def test_the_backend_says_what_it_does_not_protect_from(run: Run) -> None:
    shown = run("%hermes backend").value
    assert not shown.isolated
    assert "can touch everything" in repr(shown)


def test_a_backend_that_cannot_be_opened_leaves_the_old_one(run: Run, session: hermes.Session) -> None:
    assert "no backend is called 'dokcer'" in str(run("%hermes backend dokcer://x").error)
    assert session.backend_name == "local"


def test_settings_are_read_and_changed(run: Run, session: hermes.Session) -> None:
    assert run("%hermes config approval.mode").value[0].value == "off"
    assert run("%hermes config calls.parallel 3").value[0].value == 3
    assert run('%hermes config approval.allow ["terminal(ls*)"]').value[0].value == ["terminal(ls*)"]
    assert session.config.get("calls.parallel") == 3


def test_a_wrong_setting_is_refused_with_what_it_takes(run: Run) -> None:
    assert "one of manual" in str(run("%hermes config approval.mode maybe").error)
    assert "Did you mean approval.mode" in str(run("%hermes config approval.mod").error)


def test_approvals_are_listed_and_revoked(run: Run, session: hermes.Session) -> None:
    session.config.set("command_allowlist", ["recursive_delete"])
    assert [approval.rule for approval in run("%hermes approvals").value] == ["recursive_delete"]
    assert list(run("%hermes approvals revoke recursive_delete").value) == []
    assert "nothing is approved" in str(run("%hermes approvals revoke recursive_delete").error)


def test_replay_shows_the_calls_of_this_session_and_of_others(run: Run, session: hermes.Session) -> None:
    run("%hermes call add a=1")
    assert [record.tool for record in run("%hermes replay").value] == ["add"]
    assert [record.tool for record in run(f"%hermes replay {session.id}").value] == ["add"]
    assert isinstance(run("%hermes replay no-such-session").error, FileNotFoundError)


def test_the_doctor_reports(run: Run) -> None:
    assert any(check.area == "python" for check in run("%hermes doctor").value)


@pytest.mark.parametrize("name", ["explore", "feed", "budget", "ps"])
def test_the_live_views_are_widgets(run: Run, name: str) -> None:
    assert hasattr(run(f"w = %hermes {name}\nw").value, "_repr_mimebundle_")


def test_a_session_is_made_when_none_was_chosen(shell: InteractiveShell) -> None:
    with capture_output() as said:
        hermes.load_ipython_extension(shell)
    assert "approval: manual" in said.stdout
    assert isinstance(notebook.current(), hermes.Session)


@pytest.mark.parametrize(
    "line",
    ["", "tools", "toolsets", "describe add", "search issue", "call add a=1", "run -q echo hi", "backend", "config"],
)
def test_the_text_face_is_the_same_every_time_and_holds_no_addresses(run: Run, line: str) -> None:
    texts = [run(f"x = %hermes {line}\nx").stdout.partition(":")[2] for _ in range(2)]
    assert texts[0] == texts[1]
    assert texts[0].strip()
    assert not re.search(r"0x[0-9a-f]{6}|\d+(?:\.\d+)? ms", texts[0])


@pytest.mark.parametrize(
    "line",
    [
        *(
            "",
            "help run",
            "tools",
            "toolsets",
            "describe add",
            "search issue",
            "call add a=1",
            "run echo hi",
            "backend",
        ),
        *("config", "approvals", "replay", "doctor", "run --bg sleep 60", "export page.html"),
    ],
)
def test_a_face_is_a_plain_string(
    run: Run, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # front ends that encode by exact type show nothing of any other
    monkeypatch.chdir(tmp_path)
    shown = run(f"x = %hermes {line}\nx").value
    bundle = shown._repr_mimebundle_() if hasattr(shown, "_repr_mimebundle_") else {}
    faces = [*bundle.values(), *([shown._repr_html_()] if hasattr(shown, "_repr_html_") else [])]
    assert {type(face) for face in faces} == {str}
