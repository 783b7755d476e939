"""The contract of `spawn` and the process it gives."""

# ruff: noqa: D102  (the names are the promises; /tmp is the other side's)
from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from ..errors import SpawnFailed, StillRunning
from .common import PATIENCE, Fixtures, eventually, read_all, read_until, sleeps, unique_sleep

if TYPE_CHECKING:
    from ..base import Backend
    from ..shell import Shell


class ProcessContract(Fixtures):
    """`spawn` and the process it gives."""

    def test_output_of_both_streams_comes_apart(self, backend: Backend) -> None:
        process = backend.spawn(["bash", "-c", "echo out; echo err >&2"])
        pieces: dict[int, bytes] = {1: b"", 2: b""}
        while (piece := process.read(PATIENCE)) and piece.data:
            pieces[piece.stream] += piece.data
        assert (pieces, process.wait(PATIENCE)) == ({1: b"out\n", 2: b"err\n"}, 0)
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
        assert process.wait(PATIENCE) == 0
        process.close()

    def test_without_stdin_the_program_reads_an_empty_one(self, backend: Backend) -> None:
        process = backend.spawn(["cat"], stdin=False)
        assert (read_all(process), process.wait(PATIENCE)) == (b"", 0)
        process.close()

    @pytest.mark.parametrize(("ending", "code"), [("exit 0", 0), ("exit 77", 77), ("kill -TERM $$", 143)])
    def test_exit_codes_are_told(self, backend: Backend, ending: str, code: int) -> None:
        process = backend.spawn(["bash", "-c", ending])
        read_all(process)
        assert process.wait(PATIENCE) == code
        process.close()

    def test_read_and_wait_give_up_when_told_to(self, backend: Backend) -> None:
        process = backend.spawn(["sleep", "1000"])
        assert process.read(0.01) is None
        with pytest.raises(StillRunning):
            process.wait(0.01)
        process.close()

    def test_kill_ends_the_whole_tree(self, backend: Backend, watcher: Shell) -> None:
        one, two, three = unique_sleep(), unique_sleep(), unique_sleep()
        process = backend.spawn(["bash", "-c", f"{one} & setsid {two} & (exec {three} &) ; echo up; wait"])
        read_until(process, b"up")
        assert eventually(lambda: all(sleeps(watcher, s) for s in (one, two, three)))
        process.kill()
        assert not any(sleeps(watcher, s) for s in (one, two, three))
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
        assert process.wait(PATIENCE) in (126, 127)
        process.close()

    def test_a_terminal_has_a_size_that_can_change(self, backend: Backend) -> None:
        if not backend.capabilities.pty:
            pytest.skip("this backend has no terminals")
        script = "[ -t 0 ] && [ -t 1 ] && echo tty; trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done"
        process = backend.spawn(["bash", "-c", script], pty=True)
        assert b"tty" in read_until(process, b"up")
        found = b""
        deadline = time.monotonic() + PATIENCE
        while b"33 111" not in found:  # said more than once: podman may still be about to set the size of the start
            assert time.monotonic() < deadline, found
            process.resize(33, 111)
            piece = process.read(1)
            found += piece.data if piece is not None else b""
        process.close()
