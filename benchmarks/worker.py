"""A process that measures on request: one for us, one for the peer, asked in turns so that noise hits both.

Each line on stdin is ``NAME NUMBER``; the answer is the seconds that one repetition took, on a line of its own.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable

Measure = Callable[[int], float]


def serve(measures: dict[str, Measure]) -> None:
    """Answer until stdin ends; whatever else the process prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        name, number = line.split()
        print(measures[name](int(number)), file=answers, flush=True)


def timed(work: Callable[[], object]) -> Measure:
    """A measure of the time that one repetition of ``work`` takes."""

    def measure(repetitions: int) -> float:
        started = time.perf_counter()
        for _ in range(repetitions):
            work()
        return (time.perf_counter() - started) / repetitions

    return measure


def timed_in_running_loop(work: Callable[[], object]) -> Measure:
    """The same, from inside a running event loop, as in a notebook's cell."""

    def measure(repetitions: int) -> float:
        async def cell() -> float:
            return timed(work)(repetitions)

        return asyncio.run(cell())

    return measure


def timed_after(change: Callable[[], object], work: Callable[[], object]) -> Measure:
    """The time of ``work`` alone, where each repetition comes after a change."""

    def measure(repetitions: int) -> float:
        spent = 0.0
        for _ in range(repetitions):
            change()
            spent += timed(work)(1)
        return spent / repetitions

    return measure


def parameters(number: int) -> dict[str, object]:
    """The parameters of the bench's tool of that number, for us and for the peer."""
    return {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": f"What to say, in the {number}th way"},
            "count": {"type": "integer", "minimum": 0, "description": "How often"},
            "loud": {"type": "boolean", "default": False},
        },
        "required": ["text"],
    }


ARGUMENTS = {"text": "hello", "count": 3, "loud": True}
TOOLSET = "mcp-bench"
