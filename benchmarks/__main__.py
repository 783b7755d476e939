"""``python -m benchmarks``: every benchmark there is, one after the other."""

from __future__ import annotations

import importlib
import importlib.util
import sys

NAMES = ("core", "tool_search", "retrieval", "approval", "backends", "budget", "widgets", "pages")


def main() -> int:
    """Run all; a benchmark that needs arguments is named and left out."""
    missed = []
    for name in NAMES:
        if importlib.util.find_spec(f"benchmarks.{name}") is None:
            continue
        print(f"\n{name}\n{'=' * len(name)}", flush=True)
        try:
            code = importlib.import_module(f"benchmarks.{name}").main([])
        except SystemExit as stop:
            code = stop.code
        if code == 2:  # argparse's word for missing arguments
            print(f"left out: see python -m benchmarks.{name} --help")
        elif code:
            missed.append(name)
    if missed:
        print(f"\ntargets missed: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
