"""The peer's side of the core's benchmark; run by ``benchmarks.core`` with the Python that has the peer."""

from __future__ import annotations

from typing import Any

import model_tools
from tools.registry import registry
from worker import ARGUMENTS, TOOLSET, parameters, serve, timed, timed_after, timed_in_running_loop

registered = 0


def handler(_args: dict[str, Any], **_context: Any) -> str:
    return '{"ok": true}'


async def async_handler(_args: dict[str, Any], **_context: Any) -> str:
    return '{"ok": true}'


def register(number: int) -> None:
    name = f"bench_{number}"
    schema = {
        "name": name,
        "description": f"Says something in the {number}th way",
        "parameters": parameters(number),
    }
    registry.register(name=name, toolset=TOOLSET, schema=schema, handler=handler)


def grow(size: int) -> float:
    global registered
    for number in range(registered, size):
        register(number)
    registered = size
    return float(size)


def call(name: str) -> str:
    return str(model_tools.handle_function_call(name, dict(ARGUMENTS), task_id="bench"))


def definitions(*, assembled: bool) -> int:
    found = model_tools.get_tool_definitions([TOOLSET], quiet_mode=True, skip_tool_search_assembly=not assembled)
    return len(found)


registry.register(
    name="bench_async",
    toolset=TOOLSET,
    schema={"name": "bench_async", "description": "", "parameters": parameters(0)},
    handler=async_handler,
    is_async=True,
)
assert "ok" in call("bench_async")
assert definitions(assembled=False) == 1

serve(
    {
        "grow": grow,
        "call": timed(lambda: call("bench_1")),
        "async": timed_in_running_loop(lambda: call("bench_async")),
        "cold": timed_after(lambda: register(0), lambda: definitions(assembled=False)),
        "warm": timed(lambda: definitions(assembled=True)),
    }
)
