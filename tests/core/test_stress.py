"""Many threads change and use one registry; nothing is torn, lost or out of scope."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

from hermes_nb import Registry, Session

from ..parts import eventually
from .support import NOTHING, add

CHANGES, CALLS = 1_000, 100


def test_registering_defining_calling_and_listing_at_once(registry: Registry) -> None:
    for number in range(50):
        add(registry, f"stays{number}", toolset="stays")
    add(registry, "secret", toolset="hidden")
    failures: list[str] = []
    generations: list[int] = []
    done = threading.Event()
    sessions = [Session(registry=registry, disabled_toolsets=["hidden"], task_id=str(n)) for n in range(2)]

    def change(seed: int) -> None:
        rng = random.Random(seed)
        name = f"comes{seed}_{rng.randrange(20)}"
        registry.register(name, f"set{seed}", NOTHING, lambda args: "ran", check_fn=lambda: rng.random() < 0.9)
        registry.define_toolset(f"mine{seed}", [name], ["stays"])
        registry.alias_toolset(f"alias{seed}", f"mine{seed}")
        registry.deregister(f"comes{seed}_{rng.randrange(20)}")

    def use(seed: int) -> None:
        session = sessions[seed % 2]
        names = [entry["function"]["name"] for entry in session.definitions(assembled=False)]
        if names != sorted(names) or len(set(names)) != len(names):
            failures.append("definitions are torn")
        if "secret" in names or session.call("secret").ok:
            failures.append("out of scope")
        if not {f"stays{number}" for number in range(50)} <= set(names):
            failures.append("a tool was lost")
        if not session.call(f"stays{seed % 50}", {"x": 1}).ok:
            failures.append("a call failed")
        result = session.call(names[seed % len(names)])
        if result.outcome not in ("ok", "unknown", "unavailable"):
            failures.append(result.text)

    def watch(_: int) -> None:
        snapshot = registry.snapshot
        generations.append(snapshot.generation)
        if any(name != tool.name for name, tool in snapshot.tools.items()):
            failures.append("a snapshot is torn")

    def is_enough() -> bool:
        return registry.generation > CHANGES and all(len(session.journal) > CALLS for session in sessions)

    def repeat(work: Callable[[int], None], seed: int) -> None:
        rng = random.Random(seed)
        try:
            while not (failures or done.is_set()):
                work(rng.randrange(1000) if work is use else seed)
        except BaseException as error:
            failures.append(repr(error))
            raise

    works = [change, change, change, use, use, use, watch]
    threads = [threading.Thread(target=repeat, args=(work, seed)) for seed, work in enumerate(works)]
    for thread in threads:
        thread.start()
    ended = eventually(lambda: failures or is_enough())
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert ended
    assert generations == sorted(generations)
    for session in sessions:
        assert len(list(session.journal)) == session.journal.path.read_bytes().count(b"\n")
        session.close()


def test_no_change_is_lost_when_threads_register_at_once(registry: Registry) -> None:
    barrier = threading.Barrier(8)

    def register(seed: int) -> None:
        barrier.wait()
        for number in range(100):
            add(registry, f"t{seed}_{number}", toolset=f"set{seed}")
            registry.define_toolset(f"mine{seed}_{number}")

    threads = [threading.Thread(target=register, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(registry.snapshot.tools) == 800
    assert registry.generation == 1600
