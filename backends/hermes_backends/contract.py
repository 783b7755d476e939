"""The conformance suite: what every backend must do, ours and other people's.

```python
from hermes_backends.contract import BackendContract

class TestMine(BackendContract):
    def open(self, **options): return MyBackend(**options)
```
It needs pytest, and bash, tar, grep and sleep on the other side.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .errors import BackendClosed, BackendError, SpawnFailed, StillRunning, TransferFailed, UnsafePath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .base import Backend, Process
    from .shell import Shell

_PATIENCE = 60.0
_tasks = itertools.count()


def read_all(process: Process, stream: int = 1) -> bytes:
    """All that a process puts out on one stream, until it ends."""
    found = b""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        piece = process.read(1)
        if piece is None:
            continue
        if not piece.data:
            return found
        found += piece.data if piece.stream == stream else b""
    raise AssertionError("the process did not end")


def read_until(process: Process, wanted: bytes) -> bytes:
    """What a process puts out until `wanted` is among it."""
    found = b""
    deadline = time.monotonic() + _PATIENCE
    while wanted not in found:
        assert time.monotonic() < deadline, found
        piece = process.read(1)
        assert piece is None or piece.data, found
        found += piece.data if piece else b""
    return found


def eventually(what: Callable[[], bool]) -> bool:
    """Whether it becomes true in time."""
    deadline = time.monotonic() + _PATIENCE
    while not what() and time.monotonic() < deadline:
        time.sleep(0.02)
    return what()


def unique_sleep() -> str:
    """A command that sleeps for so peculiar a time that it can be found among all others."""
    return f"sleep {random.randint(10**8, 10**9)}"  # noqa: S311


def sleeps(shell: Shell, command: str) -> bool:
    """Whether such a sleep lives on the shell's side. The dead that nobody has reaped have no command line."""
    number = command.split()[1]
    return shell.run(f"grep -ls '[{number[0]}]{number[1:]}' /proc/[0-9]*/cmdline").exit_code == 0


class _Fixtures:
    """What the suite's parts share. A subclass gives `open`."""

    #: bytes of the largest output that is tried
    huge = 1 << 30

    def open(self, **options: Any) -> Backend:
        """A new backend of the kind to be tested."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Iterator[Backend]:
        """One backend for all tests that leave it as it was."""
        with cls().open() as backend:
            yield backend

    @pytest.fixture
    def shell(self, backend: Backend) -> Iterator[Shell]:
        """A shell of the test's own."""
        shell = backend.shell(f"contract-{next(_tasks)}")
        yield shell
        shell.close()


class ProcessContract(_Fixtures):
    """`spawn` and the process it gives."""

    def test_output_of_both_streams_comes_apart(self, backend: Backend) -> None:
        process = backend.spawn(["bash", "-c", "echo out; echo err >&2"])
        pieces: dict[int, bytes] = {1: b"", 2: b""}
        while (piece := process.read(_PATIENCE)) and piece.data:
            pieces[piece.stream] += piece.data
        assert (pieces, process.wait(_PATIENCE)) == ({1: b"out\n", 2: b"err\n"}, 0)
        process.close()

    def test_arguments_pass_untouched_by_any_shell(self, backend: Backend) -> None:
        words = ["a b", "$HOME", "'\"", "*", "", "back\\slash", "new\nline", "é日本"]
        process = backend.spawn(["printf", "<%s>", *words])
        assert read_all(process).decode() == "".join(f"<{word}>" for word in words)
        process.close()

    def test_directory_and_variables_are_given(self, backend: Backend) -> None:
        process = backend.spawn(["bash", "-c", 'echo "$PWD $A"'], cwd="/usr", env={"A": "x 'y'\n$z"})
        assert read_all(process).decode() == "/usr x 'y'\n$z\n"
        process.close()

    def test_input_of_any_bytes_arrives_and_ends(self, backend: Backend) -> None:
        process = backend.spawn(["cat"])
        process.write(bytes(range(256)))
        process.close_stdin()
        assert read_all(process) == bytes(range(256))
        assert process.wait(_PATIENCE) == 0
        process.close()

    def test_without_stdin_the_program_reads_an_empty_one(self, backend: Backend) -> None:
        process = backend.spawn(["cat"], stdin=False)
        assert (read_all(process), process.wait(_PATIENCE)) == (b"", 0)
        process.close()

    @pytest.mark.parametrize(("ending", "code"), [("exit 0", 0), ("exit 77", 77), ("kill -TERM $$", 143)])
    def test_exit_codes_are_told(self, backend: Backend, ending: str, code: int) -> None:
        process = backend.spawn(["bash", "-c", ending])
        read_all(process)
        assert process.wait(_PATIENCE) == code
        process.close()

    def test_read_and_wait_give_up_when_told_to(self, backend: Backend) -> None:
        process = backend.spawn(["sleep", "1000"])
        assert process.read(0.01) is None
        with pytest.raises(StillRunning):
            process.wait(0.01)
        process.close()

    def test_kill_ends_the_whole_tree(self, backend: Backend, shell: Shell) -> None:
        one, two, three = unique_sleep(), unique_sleep(), unique_sleep()
        process = backend.spawn(["bash", "-c", f"{one} & setsid {two} & (exec {three} &) ; echo up; wait"])
        read_until(process, b"up")
        assert eventually(lambda: all(sleeps(shell, s) for s in (one, two, three)))
        process.kill()
        assert not any(sleeps(shell, s) for s in (one, two, three))
        process.kill()
        process.close()
        process.close()

    def test_a_program_that_does_not_exist_is_an_error_or_126_or_127(self, backend: Backend) -> None:
        try:
            process = backend.spawn(["no-such-program-anywhere"])
        except SpawnFailed as error:
            assert "no-such-program-anywhere" in str(error)  # noqa: PT017
            return
        read_all(process)
        assert process.wait(_PATIENCE) in (126, 127)
        process.close()

    def test_a_terminal_has_a_size_that_can_change(self, backend: Backend) -> None:
        if not backend.capabilities.pty:
            pytest.skip("this backend has no terminals")
        script = (
            "[ -t 0 ] && [ -t 1 ] && echo tty; trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done"
        )
        process = backend.spawn(["bash", "-c", script], pty=True)
        assert b"tty" in read_until(process, b"up")
        process.resize(33, 111)
        read_until(process, b"33 111")
        process.close()


class ShellContract(_Fixtures):
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
    def test_exit_codes_are_told(self, shell: Shell, command: str, code: int) -> None:
        assert shell.run(command).exit_code == code
        assert shell.run("echo still here").stdout == "still here\n"

    def test_everything_about_the_shell_lasts(self, shell: Shell) -> None:
        shell.run("cd /usr; plain=1; export exported=2; declare -A map=([k]=3); f() { echo f$1; }")
        shell.run("alias hello='echo hi'; shopt -s nullglob; set -o pipefail")
        said = shell.run(
            "echo $PWD $plain ${map[k]}; bash -c 'echo $exported'; f 4; hello; shopt nullglob; set -o | grep pipef"
        )
        assert said.stdout.split() == "/usr 1 3 2 f4 hi nullglob on pipefail on".split()
        assert said.cwd == shell.cwd == "/usr"

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
        result = shell.run(f"echo part; setsid {one} & ({two} &) ; {three}", timeout=0.5)
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
        assert shell.run("sleep 1000", timeout=0.3).timed_out
        assert sleeps(shell, earlier)

    def test_an_interrupt_from_another_thread_ends_the_command(self, shell: Shell) -> None:
        seen = threading.Event()
        threading.Thread(target=lambda: (seen.wait(_PATIENCE), shell.interrupt())).start()
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

    def test_output_comes_live_and_in_order(self, shell: Shell) -> None:
        pieces: list[tuple[str, str]] = []
        shell.run(
            "for i in 1 2 3; do echo é$i; sleep 0.05; done; echo end >&2",
            on_output=lambda *p: pieces.append(p),
        )
        assert len(pieces) >= 3
        assert "".join(text for stream, text in pieces if stream == "stdout") == "é1\né2\né3\n"

    def test_binary_output_is_kept_to_the_byte(self, shell: Shell) -> None:
        every = "".join(f"\\x{n:02x}" for n in range(256))
        assert shell.run(f"printf '{every}'").stdout_bytes == bytes(range(256))

    def test_huge_output_goes_through_bounded_memory_and_is_whole_in_the_file(self, shell: Shell) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from now
        before = _memory("VmRSS")
        result = shell.run(f"head -c {self.huge} /dev/zero; echo end")
        assert _memory("VmHWM") - before < 64 << 20
        assert result.truncated
        assert result.spill is not None
        try:
            assert result.spill.stat().st_size == self.huge + 4
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
        result = shell.run(
            "echo $PWD $A; bash -c 'echo \"$B\"'; cd /", cwd="/tmp", env={"A": "x y", "B": "'\"$z"}
        )
        assert result.stdout == "/tmp x y\n'\"$z\n"
        assert shell.run("echo $PWD $A $B").stdout == "/usr kept\n"
        assert shell.run("true", cwd="/no/such").exit_code == 1

    def test_many_lines_heredocs_quotes_and_unicode(self, shell: Shell) -> None:
        text = 'it\'s "quoted" \\ $HOME `x` ☃ 日本 \t end'
        assert (
            shell.run(f"cat <<'EOF'\n{text}\n{text}\nEOF\n# a comment at the end").stdout
            == f"{text}\n{text}\n"
        )

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
        gate = f"/tmp/gate-{os.getpid()}-{next(_tasks)}"
        wait = f"until [ -e {gate} ]; do sleep 0.02; done; echo $a; rm -f {gate}"
        backend.run("a=1", task="one")
        results: list[str] = []
        thread = threading.Thread(target=lambda: results.append(backend.run(wait, task="one").stdout))
        thread.start()
        assert backend.run(f"echo [$a]; : > {gate}", task="two").stdout == "[]\n"
        thread.join(_PATIENCE)
        assert results == ["1\n"]

    def test_commands_of_many_threads_take_turns(self, shell: Shell) -> None:
        answers: list[str] = []
        threads = [
            threading.Thread(target=lambda n=n: answers.append(shell.run(f"x={n}; echo $x").stdout))
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_PATIENCE)
        assert sorted(answers) == [f"{n}\n" for n in range(8)]

    def test_many_exits_and_timeouts_wear_nothing_out(self, shell: Shell) -> None:
        shell.run("a=1")
        for _ in range(150):
            assert shell.run("exit 3").exit_code == 3
        for _ in range(5):
            assert shell.run("sleep 1000", timeout=0.05).timed_out
        assert shell.run("echo $a").stdout == "1\n"


class JobContract(_Fixtures):
    """Background jobs."""

    def test_a_job_inherits_the_state_and_outlives_commands(self, backend: Backend) -> None:
        backend.run(
            "cd /usr; a=1; export b=2; f() { echo f $a $b $PWD; }; alias g=f; set -o pipefail", task="job"
        )
        job = backend.jobs.start("f; g; read -r line; echo got $line; exit 5", task="job")
        assert backend.run("echo meanwhile", task="job").stdout == "meanwhile\n"
        assert job.running
        job.write("word\n")
        assert job.wait(_PATIENCE) == 5
        assert job.log() == "f 1 2 /usr\nf 1 2 /usr\ngot word\n"
        assert job.status == "exited"
        assert job in backend.jobs.list()

    def test_poll_gives_each_piece_once(self, backend: Backend) -> None:
        job = backend.jobs.start("echo one; read -r x; echo two")
        assert eventually(lambda: "one" in job.log())
        assert job.poll() == "one\n"
        assert job.poll() == ""
        job.write("go\n")
        job.wait(_PATIENCE)
        assert job.poll() == "two\n"

    def test_closing_its_input_ends_a_reader(self, backend: Backend) -> None:
        job = backend.jobs.start("cat; echo end")
        job.write("text\n")
        job.close_stdin()
        assert (job.wait(_PATIENCE), job.log()) == (0, "text\nend\n")

    def test_a_job_in_a_terminal_is_interactive(self, backend: Backend) -> None:
        job = backend.jobs.start("read -r -p 'name? ' n; echo hello $n", pty=True)
        assert eventually(lambda: "name?" in job.log())
        job.write("you\n")
        assert job.wait(_PATIENCE) == 0
        assert "hello you" in job.log()

    def test_kill_ends_the_whole_tree(self, backend: Backend, shell: Shell) -> None:
        one, two = unique_sleep(), unique_sleep()
        job = backend.jobs.start(f"setsid {one} & {two}")
        assert eventually(lambda: sleeps(shell, one) and sleeps(shell, two))
        job.kill()
        assert job.status == "killed"
        assert not sleeps(shell, one)
        assert not sleeps(shell, two)

    def test_completion_and_patterns_are_told_but_not_too_often(self, backend: Backend) -> None:
        events: list[Any] = []
        job = backend.jobs.start(
            "for i in 1 2 3; do echo ready $i; done; exit 2",
            notify=events.append,
            notify_on_complete=True,
            watch=[r"ready \d"],
        )
        job.wait(_PATIENCE)
        assert eventually(lambda: len(events) == 2)
        assert [(e.kind, e.exit_code, e.held_back) for e in events] == [
            ("matched", None, 0),
            ("completed", 2, 2),
        ]
        assert events[0].text == "ready 1"

    def test_waiting_for_a_job_can_time_out_and_a_wrong_id_is_an_error(self, backend: Backend) -> None:
        job = backend.jobs.start("sleep 1000")
        with pytest.raises(StillRunning):
            job.wait(0.01)
        job.kill()
        with pytest.raises(BackendError, match=job.id):
            backend.jobs.get("no-such-job")


class FileContract(_Fixtures):
    """`put` and `get`."""

    def test_folders_of_every_shape_go_and_come_back(self, backend: Backend, tmp_path: Path) -> None:
        source = tmp_path / "source"
        (source / "empty").mkdir(parents=True)
        (source / "deep/er").mkdir(parents=True)
        (source / "deep/er/binary").write_bytes(os.urandom(300_000))
        (source / "é 'name' $x\n").write_text("odd")
        (source / "-dash").write_text("")
        (source / "run").write_text("#!/bin/sh\n")
        (source / "run").chmod(0o755)
        (source / "link").symlink_to("deep/er/binary")
        (source / ("long-" * 40)).write_text("long")
        seen: list[int] = []
        there = f"/tmp/contract-{os.getpid()}-{next(_tasks)}/made/on/the way"
        backend.put(source, there, progress=seen.append)
        backend.get(there, tmp_path / "back", progress=seen.append)
        assert _tree(tmp_path / "back") == _tree(source)
        assert max(seen) >= 300_000

    def test_a_file_goes_and_comes_back_under_another_name(self, backend: Backend, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"\0\1\2")
        there = f"/tmp/contract-{os.getpid()}-{next(_tasks)}"
        backend.put(tmp_path / "a", there)
        backend.get(there, tmp_path / "b")
        assert (tmp_path / "b").read_bytes() == b"\0\1\2"

    def test_what_is_missing_is_named(self, backend: Backend, tmp_path: Path) -> None:
        with pytest.raises(TransferFailed, match="/no/such/file"):
            backend.get("/no/such/file", tmp_path / "x")
        with pytest.raises(FileNotFoundError):
            backend.put(tmp_path / "nothing", "/tmp/x")
        with pytest.raises(TransferFailed):
            backend.put(tmp_path, "/proc/no/such/place")

    def test_links_out_of_the_folder_are_refused_both_ways(self, backend: Backend, tmp_path: Path) -> None:
        there = f"/tmp/contract-{os.getpid()}-{next(_tasks)}"
        backend.run(f"mkdir {there} && ln -s /etc {there}/out && : > {there}/file")
        with pytest.raises(UnsafePath):
            backend.get(there, tmp_path / "got")
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "src").mkdir()
        (tmp_path / "src/out").symlink_to("../../etc/passwd")
        with pytest.raises(UnsafePath):
            backend.put(tmp_path / "src", f"{there}/in")

    def test_a_link_in_the_way_here_is_replaced_and_not_followed(
        self, backend: Backend, tmp_path: Path
    ) -> None:
        there = f"/tmp/contract-{os.getpid()}-{next(_tasks)}"
        backend.run(f"mkdir -p {there}/sub && echo theirs > {there}/sub/file")
        (tmp_path / "precious").mkdir()
        (tmp_path / "precious/file").write_text("ours")
        (tmp_path / "got").mkdir()
        (tmp_path / "got/sub").symlink_to(tmp_path / "precious")
        backend.get(there, tmp_path / "got")
        assert (tmp_path / "precious/file").read_text() == "ours"
        assert (tmp_path / "got/sub/file").read_text() == "theirs\n"


class ClosingContract(_Fixtures):
    """`close` leaves nothing behind."""

    def test_close_ends_shells_jobs_and_all_they_started(self, backend: Backend, shell: Shell) -> None:
        one, two, three = unique_sleep(), unique_sleep(), unique_sleep()
        own = self.open()
        own.run(f"{one} & setsid {two} &")
        own.jobs.start(three)
        own.close()
        own.close()
        assert not any(sleeps(shell, s) for s in (one, two, three))
        with pytest.raises(BackendClosed):
            own.run("true")
        with pytest.raises(BackendClosed):
            own.spawn(["true"])
        assert "closed" in repr(own)

    def test_close_ends_a_running_command(self) -> None:
        own = self.open()
        started = threading.Event()
        results: list[Any] = []
        command = threading.Thread(
            target=lambda: results.append(own.run("echo up; sleep 1000", on_output=lambda *_: started.set()))
        )
        command.start()
        assert started.wait(_PATIENCE)
        own.close()
        command.join(_PATIENCE)
        assert not command.is_alive()
        assert results[0].exit_code != 0


class BackendContract(ProcessContract, ShellContract, JobContract, FileContract, ClosingContract):
    """All of it. Subclass it and give `open`."""


def _memory(field: str) -> int:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[field].split()[0]) * 1024


def _tree(root: Path) -> dict[str, Any]:
    def content(path: Path) -> Any:
        if path.is_symlink():
            return ("link", os.readlink(path))
        return "folder" if path.is_dir() else (path.stat().st_mode & 0o777, path.read_bytes())

    return {str(path.relative_to(root)): content(path) for path in sorted(root.rglob("*"))}
