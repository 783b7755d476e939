"""The core beside hermes-agent: ``python -m benchmarks.core [--peer PYTHON]`` prints a table of ratios.

Both sides run in processes of their own and are asked in turns, so that a busy machine slows both. Figures are the best
of the rounds, which noise can only make worse; a ratio below 1 means that we are faster.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from benchmarks.peer import peer_python

HERE = Path(__file__).parent
SIZES = (100, 1_000, 10_000)
UNCHANGED = "definitions, unchanged"
ROUNDS = 9
#: Definitions that nothing has changed may cost this many times as much at the largest size as at the smallest.
CONSTANT = 3.0


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    size: int | None
    ours: float
    peers: float
    target: float | None

    @property
    def ratio(self) -> float:
        """Our time by the peer's."""
        return self.ours / self.peers

    def __str__(self) -> str:
        size = f"{self.size:,}" if self.size else ""
        target = "" if self.target is None else f"≤ {self.target:.2f} {'yes' if self.ratio <= self.target else 'NO'}"
        return f"{self.what:42}{size:>8}{_time(self.ours):>12}{_time(self.peers):>12}{self.ratio:>9.3f}   {target}"


class Worker:
    """One side, in a process of its own."""

    def __init__(self, python: str, script: str, home: str) -> None:
        self._process = subprocess.Popen(
            [python, str(HERE / script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=_environment(home),
        )
        self._read()

    def measure(self, name: str, number: int) -> float:
        """The seconds of one repetition."""
        assert self._process.stdin is not None
        print(name, number, file=self._process.stdin, flush=True)
        return float(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended with {self._process.wait()}; run it by hand to see why")
        return line

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and say by the exit code whether every target was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", metavar="PYTHON", help="the Python that has hermes-agent; by default one is made")
    python = peer_python(parser.parse_args(arguments).peer)
    print(f"{'':42}{'tools':>8}{'ours':>12}{'peer':>12}{'ratio':>9}   target", flush=True)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as home:
        for row in _rows(python, home):
            print(row, flush=True)
            rows.append(row)
    growth = _growth(rows)
    print(f"unchanged definitions cost {growth:.1f} times as much at {SIZES[-1]:,} tools as at {SIZES[0]:,}", end="")
    print(f"   ≤ {CONSTANT:.2f} {'yes' if growth <= CONSTANT else 'NO'}")
    return 0 if growth <= CONSTANT and all(row.target is None or row.ratio <= row.target for row in rows) else 1


def _growth(rows: list[Row]) -> float:
    unchanged = {row.size: row.ours for row in rows if row.what == UNCHANGED}
    return unchanged[SIZES[-1]] / unchanged[SIZES[0]]


def _rows(python: str, home: str) -> Iterator[Row]:
    yield _imports(python, home)
    with Worker(sys.executable, "own_core.py", home) as ours, Worker(python, "peer_core.py", home) as peer:
        for size in SIZES:
            ours.measure("grow", size)
            peer.measure("grow", size)
            cold = max(1, 500 // size)
            yield from (
                _compared(ours, peer, "call", 2_000, "a full call", size, 1.0),
                _compared(ours, peer, "async", 200, "an async handler inside a running loop", size, 0.25),
                _compared(ours, peer, "cold", cold, "definitions after a change", size, 0.2),
                _compared(ours, peer, "warm", cold, UNCHANGED, size, None),
            )


def _compared(
    ours: Worker, peer: Worker, name: str, repetitions: int, what: str, size: int, target: float | None
) -> Row:
    ours.measure(name, repetitions)  # once to warm up
    peer.measure(name, repetitions)
    pairs = [(ours.measure(name, repetitions), peer.measure(name, repetitions)) for _ in range(ROUNDS)]
    return Row(what, size, *(min(side) for side in zip(*pairs, strict=True)), target)


def _imports(python: str, home: str) -> Row:
    pairs = [
        (_import_time(sys.executable, "hermes_nb", home), _import_time(python, "model_tools", home))
        for _ in range(ROUNDS)
    ]
    return Row("import", None, *(min(side) for side in zip(*pairs[1:], strict=True)), 1 / 3)


def _import_time(python: str, module: str, home: str) -> float:
    code = (
        "import os, time; t = time.perf_counter(); import "
        f"{module}; spent = time.perf_counter() - t; os.write(3, str(spent).encode())"
    )
    reader, writer = os.pipe()
    try:
        subprocess.run(
            ["/bin/sh", "-c", f'exec "$0" "$@" 3>&{writer}', python, "-c", code],
            check=True,
            pass_fds=[writer],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment(home),
        )
        return float(os.read(reader, 100))
    finally:
        os.close(reader)
        os.close(writer)


def _environment(home: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": home, "HERMES_HOME": f"{home}/peer", "HERMES_NB_HOME": f"{home}/ours"}


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.2f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


if __name__ == "__main__":
    sys.exit(main())
