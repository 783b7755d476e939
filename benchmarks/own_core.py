"""Our side of the core's benchmark; run by ``benchmarks.core``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worker import ARGUMENTS, TOOLSET, parameters, serve, timed, timed_after, timed_in_running_loop

from hermes_nb import Registry, Session

registry = Registry()


def handler(_args: Mapping[str, Any], **_context: Any) -> str:
    return '{"ok": true}'


async def async_handler(_args: Mapping[str, Any], **_context: Any) -> str:
    return '{"ok": true}'


def register(number: int) -> None:
    schema = {"description": f"Says something in the {number}th way", "parameters": parameters(number)}
    registry.register(f"bench_{number}", TOOLSET, schema, handler)


def grow(size: int) -> float:
    for number in range(len(registry.snapshot.tools) - 1, size):
        register(number)
    return float(size)


registry.register("bench_async", TOOLSET, {"parameters": parameters(0)}, async_handler, is_async=True)
session = Session(registry=registry, enabled_toolsets=[TOOLSET], config={})
assert session.call("bench_async", ARGUMENTS).ok

serve(
    {
        "grow": grow,
        "call": timed(lambda: session.call("bench_1", ARGUMENTS)),
        "async": timed_in_running_loop(lambda: session.call("bench_async", ARGUMENTS)),
        "cold": timed_after(lambda: register(0), lambda: session.definitions(assembled=False)),
        "warm": timed(lambda: session.definitions()),
    }
)
