"""How long a model waits for the bridge: `python -m benchmarks.tool_search [--peer PYTHON]`.

A whole `tool_search`, `tool_describe` and `tool_call`, from name to result, at 100, 1,000 and 15,000 tools, with the
registry unchanged and after ten tools were added. PYTHON is the interpreter of an environment with hermes-agent in it;
the same script measures both sides, one after the other, on the same made-up catalogs.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SIZES = (100, 1000, 15_000)
ROWS = ("tool_search", "after a change", "tool_describe", "tool_call")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="PYTHON", help="made if none is given")
    parser.add_argument("--side", choices=("ours", "peer"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.side:
        print(json.dumps([measure(options.side, size) for size in SIZES]))
        return
    from benchmarks.peer import peer_python  # not on the peer's side, which has no such package

    ours = run_side(sys.executable, "ours")
    theirs = run_side(peer_python(options.peer), "peer")
    print(f"{'ms, median':16}" + "".join(f"{size:>26,}" for size in SIZES))
    for row in ROWS:
        cells = []
        for place in range(len(SIZES)):
            mine = ours[place][row]
            peer = theirs[place][row]
            cells.append(f"{mine:8.3f} peer {peer:9.2f} ({peer / mine:.0f}x)")
        print(f"{row:16}" + "".join(f"{cell:>32}" for cell in cells))


def run_side(python: str, side: str) -> list[dict[str, float]]:
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HERMES_NB_HOME": home, "HERMES_HOME": home}
        command = [python, str(Path(__file__)), "--side", side]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    measured: list[dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return measured


def measure(side: str, size: int) -> dict[str, float]:
    register, call = _our_side() if side == "ours" else _peer_side()
    sys.path.insert(0, str(Path(__file__).parent))
    from catalogs import made_up_tools

    tools = made_up_tools(size + 30)
    for tool in tools[:size]:
        register(tool)
    name = tools[size // 2]["name"]
    call("tool_search", {"query": "create issue"})
    found = {
        "tool_search": _median(lambda: call("tool_search", {"query": "create an issue in github"}), 9),
        "tool_describe": _median(lambda: call("tool_describe", {"name": name}), 9),
        "tool_call": _median(lambda: call("tool_call", {"name": name, "arguments": {"id": "7"}}), 9),
    }
    changes = []
    for start in range(size, size + 30, 10):
        for tool in tools[start : start + 10]:
            register(tool)
        changes.append(_median(lambda: call("tool_search", {"query": "create an issue in github"}), 1))
    return {**found, "after a change": statistics.median(changes)}


def _median(work: Callable[[], Any], times: int) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def _our_side() -> tuple[Callable[[dict[str, Any]], None], Callable[[str, dict[str, Any]], Any]]:
    import hermes_nb as hermes

    registry = hermes.Registry()

    def register(tool: dict[str, Any]) -> None:
        schema = {"description": tool["description"], "parameters": tool["parameters"]}
        registry.register(tool["name"], tool["toolset"], schema, handler=lambda args: "done")

    return register, hermes.Session(registry=registry).call


def _peer_side() -> tuple[Callable[[dict[str, Any]], None], Callable[[str, dict[str, Any]], Any]]:
    from model_tools import handle_function_call
    from tools.registry import registry

    def register(tool: dict[str, Any]) -> None:
        schema = {key: tool[key] for key in ("name", "description", "parameters")}
        registry.register(tool["name"], tool["toolset"], schema, handler=lambda args, **_: "done")

    return register, handle_function_call


if __name__ == "__main__":
    main()
