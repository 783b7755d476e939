"""The budget of many tools: what showing it costs over what must be done, which is to count each definition once.

Run it with ``python -m benchmarks.budget``. Times are those of the processor, so that a busy machine spoils none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from time import process_time

import hermes_nb as hermes
from benchmarks.catalogs import made_up_tools
from hermes_nb.notebook.widgets.budget import BudgetView
from hermes_nb.search.budget import Tokenizer, counter, installed_tokenizer

SIZES = (100, 1_000, 10_000)
#: The first showing, and each one after it, as a multiple of counting every definition once.
FIRST, AGAIN = 1.6, 0.5


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures, and say by the exit code whether every target was met."""
    count, name = installed_tokenizer()
    print(f"{'tools':>8}{'count once':>14}{'first':>14}{'again':>14}   counted by {name}")
    met = True
    for size in SIZES:
        floor, ratios = measured(session_of(size), count)
        if size == SIZES[-1]:
            met = ratios[0] <= FIRST and ratios[1] <= AGAIN
        print(f"{size:>8,}{floor * 1e3:>11.1f} ms{ratios[0]:>13.2f}×{ratios[1]:>13.2f}×")
    print(f"at {SIZES[-1]:,}: first ≤ {FIRST}×, again ≤ {AGAIN}×: {'yes' if met else 'NO'}")
    return 0 if met else 1


def measured(session: hermes.Session, count: Tokenizer) -> tuple[float, tuple[float, float]]:
    """The seconds of counting once, and showing the budget first and again as multiples of it."""
    definitions = [tool.definition_json.decode() for tool in session.view.visible().tools]
    floor = spent(lambda: list(map(count, definitions)), before=lambda: None)
    first = spent(lambda: shown(session), before=counter.cache_clear)
    again = spent(lambda: shown(session), before=lambda: None)
    return floor, (first / floor, again / floor)


def session_of(size: int) -> hermes.Session:
    """A session with so many tools of a dozen servers."""
    registry = hermes.Registry()
    for tool in made_up_tools(size):
        registry.register(
            tool["name"], tool["toolset"], tool["parameters"], lambda args: "done", description=tool["description"]
        )
    return hermes.Session(registry=registry)


def shown(session: hermes.Session) -> None:
    """All that the kernel does until the widget is on the screen, but for ipywidgets itself."""
    view = BudgetView(session)
    view._repr_mimebundle_()
    view.receive({"kind": "ready"})
    view.close()


def spent(work: Callable[[], object], before: Callable[[], object], rounds: int = 5) -> float:
    """The processor's seconds of the best round."""
    taken = []
    for _ in range(rounds):
        before()
        started = process_time()
        work()
        taken.append(process_time() - started)
    return min(taken)


if __name__ == "__main__":
    sys.exit(main())
