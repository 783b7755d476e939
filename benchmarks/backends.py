"""How fast commands run, beside what they are compared with: `python -m benchmarks.backends [--peer PYTHON]`.

Both sides of a ratio are measured in turns, in one run, so that a noisy machine is noisy for both; medians
are compared. `--peer` is a Python that has hermes-agent installed. What this machine lacks (docker, sshd, the
peer) is left out and said so.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hermes_backends import Backend, open_backend
from tests.backends.conftest import DockerServer, SSHServer, find

Action = Callable[[], object]

_PEER = """
import sys, time
from tools.environments.local import LocalEnvironment
began = time.perf_counter()
environment = LocalEnvironment(cwd="/tmp", timeout=60)
print(time.perf_counter() - began, flush=True)
for line in sys.stdin:
    began = time.perf_counter()
    environment.execute(line.strip())
    print(time.perf_counter() - began, flush=True)
environment.cleanup()
"""


@dataclass(frozen=True)
class Ratio:
    """Ours divided by theirs, and what it may be at most (or at least, if `more` is better)."""

    name: str
    ours: float
    theirs: float
    bound: float
    more: bool = False

    @property
    def value(self) -> float:
        """The ratio."""
        return self.ours / self.theirs

    @property
    def met(self) -> bool:
        """Whether it is as good as it should be."""
        return self.value >= self.bound if self.more else self.value <= self.bound

    def __str__(self) -> str:
        word = "at least" if self.more else "at most"
        mark = "ok  " if self.met else "MISS"
        figures = f"{self.ours:.4g} against {self.theirs:.4g}"
        return f"{mark} {self.name}: {self.value:.3f} ({word} {self.bound:.3f}; {figures})"


def timed(action: Action) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def in_turns(rounds: int, *actions: Action) -> list[float]:
    """The median seconds of each action, all of them run in turns."""
    times: list[list[float]] = [[] for _ in actions]
    for action in actions:
        action()
    for _ in range(rounds):
        for taken, action in zip(times, actions, strict=True):
            taken.append(timed(action))
    return [statistics.median(taken) for taken in times]


def quiet(*argv: str) -> Action:
    return lambda: subprocess.run(argv, check=True, capture_output=True)


@contextlib.contextmanager
def peer(python: str) -> Iterator[tuple[float, Callable[[str], float]]]:
    """The peer's local environment: the seconds it took to open, and a way to time a command inside it."""
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [python, "-c", _PEER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=home,
            env={**os.environ, "HERMES_HOME": home},
        )
        with process:
            assert process.stdin
            assert process.stdout

            def execute(command: str) -> float:
                assert process.stdin
                assert process.stdout
                process.stdin.write(command + "\n")
                process.stdin.flush()
                return float(process.stdout.readline())

            yield float(process.stdout.readline()), execute
            process.stdin.close()


def local(rounds: int, peer_python: str | None) -> Iterator[Ratio]:
    def opening() -> None:
        with open_backend("local") as fresh:
            fresh.run("true")

    with open_backend("local") as backend:
        ours, bash = in_turns(rounds, lambda: backend.run("true"), quiet("bash", "-c", "true"))
        yield Ratio("local run('true') / fork+exec of bash", ours, bash, 1.5)
        big = "head -c 50000000 /dev/zero"

        def spill() -> None:
            result = backend.run(big)
            assert result.spill
            result.spill.unlink()

        ours, theirs = in_turns(max(5, rounds // 20), spill, quiet("bash", "-c", big))
        yield Ratio("local, 50 MB of output, speed / subprocess.run", 1 / ours, 1 / theirs, 0.7, more=True)
        if peer_python:
            with peer(peer_python) as (peer_opening, execute):
                pairs = [(timed(lambda: backend.run("true")), execute("true")) for _ in range(rounds)]
            ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
            yield Ratio("local run('true') / the peer's execute", ours, theirs, 1 / 5)
            yield Ratio(
                "local open and first command / the peer's opening",
                in_turns(9, opening)[0],
                peer_opening,
                1 / 10,
            )


def docker(rounds: int, _: str | None) -> Iterator[Ratio]:
    server = DockerServer()
    try:
        with open_backend(f"docker://{server.image}", base_url=server.url) as backend:
            command = [find("docker"), "-H", server.url, "exec", backend.container_id, "true"]  # type: ignore[attr-defined]
            ours, theirs = in_turns(max(10, rounds // 5), lambda: backend.run("true"), quiet(*command))
            yield Ratio("docker run('true') / docker exec", ours, theirs, 1 / 20)
    finally:
        server.end()


def ssh(rounds: int, _: str | None) -> Iterator[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        server = SSHServer(Path(folder))
        master = [
            find("ssh"),
            "-F",
            "none",
            "-p",
            str(server.port),
            "-i",
            str(server.key),
            "-S",
            f"{folder}/control",
        ]
        master += ["-o", f"UserKnownHostsFile={server.known_hosts}", "root@127.0.0.1"]
        subprocess.run([*master[:-1], "-M", "-f", "-N", master[-1]], check=True)
        try:
            with open_backend(server.target, **server.options) as backend, echo(backend) as trip:
                actions = (
                    lambda: backend.run("true"),
                    quiet(*master, "true"),
                    trip,
                    quiet("bash", "-c", "true"),
                )
                ours, theirs, round_trip, bash = in_turns(rounds, *actions)
                yield Ratio("ssh run('true') / OpenSSH's ControlMaster", ours, theirs, 1 / 2)
                yield Ratio("ssh run('true') / one round trip plus fork+exec", ours, round_trip + bash, 1.5)
        finally:
            subprocess.run([*master[:-1], "-O", "exit", master[-1]], check=False, capture_output=True)
            server.end()


@contextlib.contextmanager
def echo(backend: Backend) -> Iterator[Action]:
    """One round trip over the same connection: a byte to `cat` and back."""
    process = backend.spawn(["cat"])

    def trip() -> None:
        process.write(b"x")
        process.read()

    yield trip
    process.close()


def main(argv: list[str] | None = None) -> int:
    """Measure and print all ratios; 1 if one is not met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", metavar="PYTHON", help="a Python with hermes-agent")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    ratios: list[Ratio] = []
    for measure in (local, docker, ssh):
        try:
            for ratio in measure(options.rounds, options.peer):
                ratios.append(ratio)
                print(ratio, file=sys.stderr if options.json else sys.stdout, flush=True)
        except pytest.skip.Exception as missing:
            print(f"left out: {measure.__name__}: {str(missing).splitlines()[0]}", file=sys.stderr)
    if not options.peer:
        print("left out: the peer (give --peer PYTHON)", file=sys.stderr)
    if options.json:
        print(json.dumps({ratio.name: round(ratio.value, 4) for ratio in ratios}, indent=2))
    return 0 if all(ratio.met for ratio in ratios) else 1


if __name__ == "__main__":
    sys.exit(main())
