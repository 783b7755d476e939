"""The contract of `run`: the persistent shell."""

# ruff: noqa: D102, S108  (the names are the promises; /tmp is the other side's)
from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..errors import DirectoryChanged, ShellBusy
from .common import GIGABYTE, PATIENCE, TIMEOUTS, Fixtures, eventually, number, sleeps, unique_sleep

if TYPE_CHECKING:
    from ..base import Backend
    from ..shell import Shell


class ShellContract(Fixtures):
    """`run`: the persistent shell."""

    def test_streams_are_separate_and_complete(self, shell: Shell) -> None:
        result = shell.run("for i in 1 2 3; do echo o$i; echo e$i >&2; done")
        assert (result.stdout, result.stderr, result.exit_code) == ("o1\no2\no3\n", "e1\ne2\ne3\n", 0)

    @pytest.mark.parametrize(
        ("command", "code"),
        [
            ("true", 0),
            ("false", 1),
            ("exit 3", 3),
            ("(exit 9)", 9),
            ("no-such-command", 127),
            ("kill -9 $BASHPID", 137),
        ],
    )
    def test_exit_codes_of_commands_are_told(self, shell: Shell, command: str, code: int) -> None:
        assert shell.run(command).exit_code == code
        assert shell.run("echo still here").stdout == "still here\n"

    def test_everything_about_the_shell_lasts(self, shell: Shell) -> None:
        shell.run("cd /usr; plain=1; export exported=2; declare -A map=([k]=3); f() { echo f$1; }")
        shell.run("alias hello='echo hi'; shopt -s nullglob; set -o pipefail")
        said = shell.run(
            "echo $PWD $plain ${map[k]}; bash -c 'echo $exported'; f 4; hello; shopt nullglob; set -o | grep pipef"
        )
        assert said.stdout.split() == ["/usr", "1", "3", "2", "f4", "hi", "nullglob", "on", "pipefail", "on"]
        assert said.cwd == shell.cwd == "/usr"

    def test_a_command_runs_only_where_it_is_expected_to(self, shell: Shell) -> None:
        assert shell.run("pwd", expected_cwd=shell.cwd).ok, "before its first command, it may be anywhere"
        with pytest.raises(DirectoryChanged):
            shell.run("touch /tmp/hermes-contract-late", expected_cwd=None)
        shell.run("cd /usr")
        with pytest.raises(DirectoryChanged) as moved:
            shell.run("touch /tmp/hermes-contract-late", expected_cwd="/")
        assert moved.value.cwd == "/usr"
        assert shell.run("ls /tmp/hermes-contract-late; pwd", expected_cwd="/usr").stdout == "/usr\n"

    def test_the_time_for_a_command_includes_the_wait_for_its_turn(self, shell: Shell) -> None:
        begun = threading.Event()
        first = threading.Thread(
            target=shell.run, args=(f"echo begun; {unique_sleep()}",), kwargs={"on_output": lambda *_: begun.set()}
        )
        first.start()
        assert begun.wait(PATIENCE)
        with pytest.raises(ShellBusy):
            shell.run("touch /tmp/hermes-contract-late", timeout=0.2)
        shell.interrupt()
        first.join(PATIENCE)
        assert shell.run("ls /tmp/hermes-contract-late; echo free").stdout == "free\n"

    def test_exit_keeps_the_state_even_from_within_a_function(self, shell: Shell) -> None:
        assert shell.run("cd /usr; a=1; exit 3").exit_code == 3
        assert shell.run("echo $? $PWD $a; b=2; g() { exit 4; }; g; echo not reached").exit_code == 4
        assert shell.run("echo $? $PWD $a $b; exit 5").stdout == "4 /usr 1 2\n"
        assert shell.run("set -e; false; echo not reached").exit_code == 1
        assert shell.run("set +e; echo $a $b").stdout == "1 2\n"

    def test_exec_and_a_killed_shell_keep_the_state_of_before(self, shell: Shell) -> None:
        shell.run("cd /usr; a=1")
        result = shell.run("a=2; exec echo replaced")
        assert (result.stdout, result.exit_code) == ("replaced\n", 0)
        assert shell.run("kill -9 $BASHPID").exit_code == 137
        assert shell.run("echo $a $PWD").stdout == "1 /usr\n"

    def test_a_timeout_kills_the_tree_and_keeps_output_and_state(self, shell: Shell) -> None:
        one, two, three = unique_sleep(), unique_sleep(), unique_sleep()
        shell.run("cd /usr; a=1")
        for timeout in TIMEOUTS:
            result = shell.run(f"echo part; setsid {one} & ({two} &) ; {three}", timeout=timeout)
            if result.stdout:
                break
        assert (result.stdout, result.exit_code, result.timed_out) == ("part\n", 124, True)
        assert not any(sleeps(shell, s) for s in (one, two, three))
        assert shell.run("echo $a $PWD").stdout == "1 /usr\n"

    @pytest.mark.parametrize(
        "stubborn",
        [
            "while :; do :; done",
            "trap '' INT TERM HUP; sleep 1000",
            "exec sleep 1000",
            "read -r x < <(sleep 1000)",
        ],
    )
    def test_a_timeout_ends_whatever_does_not_want_to(self, shell: Shell, stubborn: str) -> None:
        shell.run("a=1")
        assert shell.run(stubborn, timeout=0.3).timed_out
        assert shell.run("echo $a").stdout == "1\n"

    def test_a_timeout_spares_what_earlier_commands_left_running(self, shell: Shell) -> None:
        earlier = unique_sleep()
        shell.run(f"{earlier} & disown")
        assert eventually(lambda: sleeps(shell, earlier))
        assert shell.run("sleep 1000", timeout=0.3).timed_out
        assert sleeps(shell, earlier)

    def test_an_interrupt_from_another_thread_ends_the_command(self, shell: Shell) -> None:
        seen = threading.Event()
        threading.Thread(target=lambda: (seen.wait(PATIENCE), shell.interrupt())).start()
        result = shell.run("echo part; sleep 1000", on_output=lambda *_: seen.set())
        assert (result.stdout, result.interrupted, result.exit_code, result.timed_out) == (
            "part\n",
            True,
            130,
            False,
        )
        assert shell.run("echo next").stdout == "next\n"
        assert not shell.interrupt()

    def test_a_callback_that_raises_ends_the_command(self, shell: Shell) -> None:
        stop = unique_sleep()

        def refuse(stream: str, text: str) -> None:
            raise LookupError(stream + text)

        with pytest.raises(LookupError, match="stdoutup"):
            shell.run(f"echo up; {stop}", on_output=refuse)
        assert not sleeps(shell, stop)

    def test_output_comes_live_and_in_order(self, shell: Shell, backend: Backend) -> None:
        gate = f"/tmp/live-{os.getpid()}-{number()}"
        pieces: list[tuple[str, str]] = []

        def take(stream: str, text: str) -> None:
            pieces.append((stream, text))
            backend.run(f": > {gate}", task="gate")  # it goes on only when this was seen

        wait = f"until [ -e {gate} ]; do sleep 0.02; done; rm {gate}"
        shell.run(f"for i in 1 2 3; do echo é$i; {wait}; done; echo end >&2; {wait}", on_output=take)
        assert len(pieces) >= 4
        assert pieces[-1] == ("stderr", "end\n")
        assert "".join(text for stream, text in pieces if stream == "stdout") == "é1\né2\né3\n"

    def test_binary_output_is_kept_to_the_byte(self, shell: Shell) -> None:
        every = "".join(f"\\x{n:02x}" for n in range(256))
        assert shell.run(f"printf '{every}'").stdout_bytes == bytes(range(256))

    def test_huge_output_goes_through_bounded_memory_and_is_whole_in_the_file(self, shell: Shell) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from now
        before = _memory("VmRSS")
        huge = GIGABYTE if os.environ.get("HERMES_CONTRACT_HUGE") == "1" else self.huge
        result = shell.run(f"head -c {huge} /dev/zero; echo end")
        assert _memory("VmHWM") - before < 64 << 20
        assert result.truncated
        assert result.spill is not None
        try:
            assert result.spill.stat().st_size == huge + 4
            assert result.stdout.endswith("\0end\n")
            assert str(result.spill) in result.stdout
        finally:
            result.spill.unlink()

    def test_input_of_any_bytes_reaches_the_command(self, shell: Shell) -> None:
        data = bytes(range(256)) * 300 + b"no newline \\0 at end"
        assert shell.run("cat; got=$(true)", stdin=data).stdout_bytes == data
        assert shell.run("cat; read -r x || echo empty").stdout == "empty\n"
        assert shell.run("true", stdin=b"x" * 300_000).exit_code == 0

    def test_directory_and_variables_of_one_command_do_not_stay(self, shell: Shell) -> None:
        shell.run("cd /usr; A=kept")
        result = shell.run("echo $PWD $A; bash -c 'echo \"$B\"'; cd /", cwd="/tmp", env={"A": "x y", "B": "'\"$z"})
        assert result.stdout == "/tmp x y\n'\"$z\n"
        assert shell.run("echo $PWD $A $B").stdout == "/usr kept\n"
        assert shell.run("true", cwd="/no/such").exit_code == 1

    def test_many_lines_heredocs_quotes_and_unicode(self, shell: Shell) -> None:
        text = 'it\'s "quoted" \\ $HOME `x` ☃ 日本 \t end'
        assert shell.run(f"cat <<'EOF'\n{text}\n{text}\nEOF\n# a comment at the end").stdout == f"{text}\n{text}\n"

    def test_a_syntax_error_is_an_error_and_no_more(self, shell: Shell) -> None:
        result = shell.run("if then fi '")
        assert result.exit_code not in (0, None)
        assert result.stderr
        assert shell.run("echo fine").stdout == "fine\n"

    def test_tracing_shows_the_commands_and_not_the_driver(self, shell: Shell) -> None:
        shell.run("set -x")
        assert "__h_" not in shell.run("echo traced").stderr
        assert shell.run("{ set +x; } 2>/dev/null").stderr == ""

    def test_shells_of_two_tasks_are_apart_and_run_at_once(self, backend: Backend) -> None:
        gate = f"/tmp/gate-{os.getpid()}-{number()}"
        wait = f"until [ -e {gate} ]; do sleep 0.02; done; echo $a; rm -f {gate}"
        backend.run("a=1", task="one")
        results: list[str] = []
        thread = threading.Thread(target=lambda: results.append(backend.run(wait, task="one").stdout))
        thread.start()
        assert backend.run(f"echo [$a]; : > {gate}", task="two").stdout == "[]\n"
        thread.join(PATIENCE)
        assert results == ["1\n"]

    def test_commands_of_many_threads_take_turns(self, shell: Shell) -> None:
        answers: list[str] = []
        threads = [
            threading.Thread(target=lambda n=n: answers.append(shell.run(f"x={n}; echo $x").stdout)) for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert sorted(answers) == [f"{n}\n" for n in range(8)]

    def test_many_exits_and_timeouts_wear_nothing_out(self, shell: Shell) -> None:
        shell.run("a=1")
        for _ in range(150):
            assert shell.run("exit 3").exit_code == 3
        for _ in range(5):
            assert shell.run("sleep 1000", timeout=0.05).timed_out
        assert shell.run("echo $a").stdout == "1\n"


def _memory(field: str) -> int:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[field].split()[0]) * 1024
