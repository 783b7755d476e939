"""The check for dangerous commands: its speed, how it grows with the input, and what it catches.

Run ``python -m benchmarks.approval [--peer PYTHON]``; the peer's figures stand beside ours.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CASES = Path(__file__).parent.parent / "tests" / "adversarial" / "commands.jsonl"
#: The peer takes minutes for some of the inputs; it is given only what it can do in this time.
PEER_SECONDS = 120

_HEREDOC_LINE = 'some line of text with $x and "quotes" and a (b)\n'
GROWING: dict[str, Callable[[int], str]] = {
    "plain statements": lambda size: "echo hello > out.txt\n" * (size // 21),
    "one long here document": lambda size: "cat > f <<'EOF'\n" + _HEREDOC_LINE * (size // len(_HEREDOC_LINE)) + "EOF\n",
    "the word tee": lambda size: "tee " * (size // 4),
    "nested openings": lambda size: "$( ( " * (size // 5),
    "double quotes": lambda size: '"' * size,
    "brace expansions": lambda size: "echo " + "{a,b}" * (size // 5),
    "assignments that double": lambda size: "a=$a$a;" * (size // 7),
}


def seconds(function: Callable[[str], object], text: str, *, times: int = 3) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        function(text)
        best = min(best, time.perf_counter() - start)
    return best


def quality(is_dangerous: Callable[[str], bool], cases: list[dict[str, str]]) -> dict[str, float]:
    dangerous = [case["command"] for case in cases if case["label"] != "benign"]
    benign = [case["command"] for case in cases if case["label"] == "benign"]
    return {
        "dangerous": len(dangerous),
        "caught": sum(map(is_dangerous, dangerous)),
        "benign": len(benign),
        "false alarms": sum(map(is_dangerous, benign)),
    }


def measure(detect: Callable[[str], tuple[object, ...]], *, growth: bool) -> dict[str, object]:
    cases = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    detect("ls")
    figures: dict[str, object] = dict(quality(lambda command: bool(detect(command)[0]), cases))
    figures["median µs"] = round(statistics.median(seconds(detect, case["command"]) for case in cases) * 1e6, 1)
    if growth:
        for name, make in GROWING.items():
            small, large = seconds(detect, make(10_000)), seconds(detect, make(100_000))
            figures[name] = f"100 kB in {large * 1e3:.0f} ms, {large / small:.1f} times the time of 10 kB"
    return figures


def measure_peer(python: str) -> dict[str, object]:
    """Run this file's measurement inside the peer's interpreter."""
    program = (
        "import json, sys; sys.path.insert(0, sys.argv[1])\n"
        "from tools.approval import detect_dangerous_command as detect\n"
        "from benchmarks.approval import measure\n"
        "print(json.dumps(measure(detect, growth=False)))"
    )
    done = subprocess.run(
        [python, "-c", program, str(CASES.parent.parent.parent)],
        capture_output=True, text=True, timeout=PEER_SECONDS, check=True,
    )  # fmt: skip
    figures: dict[str, object] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--peer", metavar="PYTHON", help="an interpreter that has the peer installed")
    options = parser.parse_args(arguments)
    from benchmarks.peer import peer_python
    from hermes_nb.approval import detect_dangerous_command

    ours = measure(detect_dangerous_command, growth=True)
    peers = measure_peer(peer_python(options.peer))
    for name, value in ours.items():
        beside = f"   (peer: {peers[name]})" if name in peers else ""
        print(f"{name}: {value}{beside}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
