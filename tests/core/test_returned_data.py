"""Data on the way of a call: the text for the model, the object itself for the notebook, and nothing that breaks it."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import hermes_nb as hermes
from hermes_nb import Registry, Session
from hermes_nb.returned.iterated import ITEMS_TAKEN

from .support import add, error_of

Open = Callable[..., Session]


@pytest.mark.parametrize(
    "value",
    [pd.DataFrame({"a": [1]}), pd.Series([1]), np.arange(3), Figure(), {"frame": pd.DataFrame()}],
    ids=lambda value: type(value).__name__,
)
def test_the_value_is_the_object_itself(registry: Registry, session: Session, value: Any) -> None:
    add(registry, "t", lambda args: value)
    result = session.call("t")
    assert result.ok
    assert result.value is value
    (record,) = session.journal
    assert record.text == result.text


@pytest.mark.parametrize("name", ["error", "result", "stdout", "value", "ok"])
def test_a_column_may_have_any_name(registry: Registry, session: Session, name: str) -> None:
    add(registry, "t", lambda args: pd.DataFrame({name: ["x"]}))
    result = session.call("t")
    assert result.ok, result.error
    assert json.loads(result.text)["rows"] == [["x"]]


def test_a_secret_in_data_is_nowhere_to_be_read_and_the_data_stays_data(registry: Registry, session: Session) -> None:
    secret = "ghp_" + "a1B2" * 9
    add(registry, "t", lambda args: pd.DataFrame({"key": [secret]}))
    result = session.call("t")
    assert secret not in result.text
    assert secret not in str(result._repr_mimebundle_())
    assert secret not in session.journal.path.read_text()
    assert isinstance(result.value, pd.DataFrame)


# Iterators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("timeout", [None, 30.0])
def test_a_generator_is_run_and_the_value_is_its_list(
    registry: Registry, session: Session, timeout: float | None
) -> None:
    @hermes.tool(registry=registry)
    def count(to: int) -> Iterator[int]:
        """Count."""
        yield from range(to)

    result = session.call("count", {"to": 3}, timeout=timeout)
    assert (result.text, result.value) == ("[0,1,2]", [0, 1, 2])


async def test_an_async_generator_is_run_too(registry: Registry, session: Session) -> None:
    @hermes.tool(registry=registry)
    async def count(to: int) -> AsyncIterator[int]:
        """Count."""
        for number in range(to):
            yield number

    assert session.call("count", {"to": 3}).value == [0, 1, 2]
    assert (await session.acall("count", {"to": 3})).value == [0, 1, 2]


def test_an_async_handler_may_give_an_iterator(registry: Registry, session: Session) -> None:
    @hermes.tool(registry=registry)
    async def letters() -> Any:
        """Letters."""
        return iter("ab")

    assert session.call("letters").value == ["a", "b"]


def test_of_an_endless_iterator_the_first_items_are_taken(registry: Registry, session: Session) -> None:
    add(registry, "t", lambda args: itertools.count())
    value = session.call("t").value
    assert isinstance(value, list)
    assert value == list(range(ITEMS_TAKEN))


async def test_of_an_endless_async_iterator_too(registry: Registry, session: Session) -> None:
    closed = []

    @hermes.tool(registry=registry)
    async def count() -> AsyncIterator[int]:
        """Count."""
        try:
            for number in itertools.count():
                yield number
        finally:
            closed.append(True)

    assert len(session.call("count").value) == ITEMS_TAKEN
    assert closed == [True]


def test_a_generator_that_is_not_run_to_its_end_can_put_things_away(registry: Registry, session: Session) -> None:
    closed = []

    def generate(args: Any) -> Iterator[int]:
        try:
            yield from itertools.count()
        finally:
            closed.append(True)

    add(registry, "t", generate)
    assert session.call("t").ok
    assert closed == [True]


def test_a_generator_that_fails_is_a_handler_that_fails(registry: Registry, session: Session) -> None:
    def generate(args: Any) -> Iterator[int]:
        yield 1
        raise ValueError("at the second item")

    add(registry, "t", generate)
    assert error_of(session.call("t")) == "Tool execution failed: ValueError: at the second item"


def test_a_generator_that_takes_too_long_runs_into_the_deadline(registry: Registry, session: Session) -> None:
    release = threading.Event()

    def generate(args: Any) -> Iterator[int]:
        yield 1
        release.wait(60)

    add(registry, "t", generate)
    assert session.call("t", timeout=0.05).outcome == "timeout"
    release.set()


def test_a_file_is_not_taken_for_its_lines(registry: Registry, session: Session, tmp_path: Any) -> None:
    (tmp_path / "f").write_text("a\nb\n")
    with (tmp_path / "f").open() as file:
        add(registry, "t", lambda args: file)
        assert "has no JSON form" in error_of(session.call("t"))
        assert file.read() == "a\nb\n"
