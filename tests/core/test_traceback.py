"""A tool of one's own that fails: its author gets the frames of their own code, the model one line."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hermes_nb
import hermes_nb as hermes
from hermes_nb import Registry, Session
from hermes_nb.common import aio

from .support import add, error_of

OURS = str(Path(hermes_nb.__file__).parent)
SECRET = "sk-" + "a1b2c3d4" * 5


def look_up(table: dict[str, int], key: str) -> int:
    return table[key]


def failing(args: Any) -> int:
    return look_up({}, "missing")


async def failing_later(args: Any) -> int:
    return look_up({}, "missing")


def generating(args: Any) -> Any:
    yield 1
    yield look_up({}, "missing")


@pytest.fixture
def tools(registry: Registry) -> Registry:
    add(registry, "failing", failing)
    hermes.tool(registry=registry, name="beside", parallel=True)(lambda: look_up({}, "missing"))
    add(registry, "failing_later", failing_later, is_async=True)
    add(registry, "generating", generating)
    return registry


def frames(result: hermes.ToolResult) -> list[str]:
    assert result.traceback is not None
    return [line.rpartition(" in ")[2] for line in result.traceback.splitlines() if line.startswith("  File ")]


@pytest.mark.parametrize("timeout", [None, 60])
@pytest.mark.parametrize("name", ["failing", "failing_later", "generating"])
def test_the_authors_frames_are_there_and_ours_are_not(
    tools: Registry, session: Session, name: str, timeout: float | None
) -> None:
    result = session.call(name, timeout=timeout)
    assert result.traceback is not None
    assert frames(result) == [name, "look_up"]
    assert "return table[key]" in result.traceback
    assert result.traceback.endswith("KeyError: 'missing'")
    assert OURS not in result.traceback
    assert error_of(result) == "Tool execution failed: KeyError: 'missing'"


def test_from_threads_and_side_by_side_it_is_the_same(tools: Registry, session: Session) -> None:
    results = session.call_many([("beside", {}), ("beside", {}), ("failing_later", {})])
    worker = threading.Thread(target=lambda: results.append(session.call("failing_later")))
    worker.start()
    worker.join()
    assert [frames(each)[-1] for each in results] == ["look_up"] * 4


async def test_from_a_running_loop_it_is_the_same(tools: Registry, session: Session) -> None:
    assert frames(await session.acall("failing_later")) == ["failing_later", "look_up"]


def test_what_it_was_caused_by_is_told(registry: Registry, session: Session) -> None:
    def wrapping(args: Any) -> None:
        try:
            look_up({}, "missing")
        except KeyError as error:
            raise hermes.ToolError("there is no such thing") from error

    add(registry, "wrapping", wrapping)
    result = session.call("wrapping")
    assert error_of(result) == "there is no such thing"
    assert frames(result) == ["wrapping", "look_up", "wrapping"]


def test_a_failure_inside_of_a_call_that_the_tool_made_is_told(tools: Registry, session: Session) -> None:
    add(tools, "outer", lambda args: session.call("failing").raise_for_error())
    result = session.call("outer")
    assert result.traceback is not None
    assert "look_up" in result.traceback
    assert OURS not in result.traceback


def test_a_pool_of_the_authors_own_is_theirs(registry: Registry, session: Session) -> None:
    add(registry, "pooled", lambda args: aio.within(60, lambda: look_up({}, "missing")))
    assert frames(session.call("pooled"))[-1] == "look_up"


@pytest.mark.parametrize("call", [("absent", {}), ("picky", {}), ("fine", {})])
def test_where_no_handler_raised_there_is_none(
    registry: Registry, session: Session, call: tuple[str, dict[str, Any]]
) -> None:
    add(registry, "picky", schema={"type": "object", "required": ["x"]})
    add(registry, "fine")
    assert session.call(*call).traceback is None


def test_the_model_and_the_journal_do_not_get_it(tools: Registry, session: Session) -> None:
    result = session.call("failing")
    assert "look_up" not in result.text
    assert "look_up" not in session.journal.path.read_text()


def test_a_secret_in_it_is_taken_out(registry: Registry, session: Session) -> None:
    def leaking(args: Any) -> None:
        raise ValueError(f"the key is {SECRET}")

    add(registry, "leaking", leaking)
    result = session.call("leaking")
    assert result.traceback is not None
    assert "the key is [redacted]" in result.traceback
    assert SECRET not in result.traceback


def test_whoever_raises_it_gets_it_whole(tools: Registry, session: Session) -> None:
    result = session.call("failing")
    with pytest.raises(hermes.ToolCallError) as raised:
        result.raise_for_error()
    assert str(raised.value) == "failing: Tool execution failed: KeyError: 'missing'"
    assert result.traceback is not None
    assert result.traceback in "".join(raised.value.__notes__)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_a_copy_has_it(tools: Registry, session: Session, copied: Callable[[Any], Any]) -> None:
    result = session.call("failing")
    assert copied(result).traceback == result.traceback


def test_a_recursion_without_end_is_told_in_bounds(registry: Registry, session: Session) -> None:
    def endless(args: Any, other: Any = None) -> None:
        return (other or endless)(args, endless)

    add(registry, "endless", lambda args: endless(args))
    result = session.call("endless")
    assert result.traceback is not None
    assert len(result.traceback) < 25_000
