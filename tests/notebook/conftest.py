from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config as Traits

import hermes_nb as hermes
from hermes_nb import notebook
from hermes_nb.notebook import state
from hermes_nb.toolbox.registry import registry as process_registry


@pytest.fixture
def tools() -> hermes.Registry:
    """A registry with small real tools, and the built-in ones that run commands."""
    registry = hermes.Registry()

    @hermes.tool(toolset="math", emoji="➕", registry=registry)
    def add(a: int, b: int = 0) -> int:
        """Add two numbers.

        Args:
            a: The first.
            b: The second.
        """
        return a + b

    @hermes.tool(toolset="mcp-github", registry=registry)
    def create_issue(
        title: str,
        labels: list[str] | None = None,
        state: Literal["open", "closed"] = "open",
        draft: bool = False,
        extra: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Open an issue in a repository."""
        return {"title": title, "labels": labels, "state": state, "draft": draft, "extra": extra}

    @hermes.tool(toolset="math", registry=registry)
    def say(text: str) -> str:
        """Give a text back."""
        return text

    @hermes.tool(toolset="math", registry=registry)
    def fail() -> str:
        """Go wrong."""
        raise hermes.ToolError("it went wrong")

    for name in ("terminal", "process"):
        registry.add(process_registry.snapshot.tools[name])
    return registry


@pytest.fixture
def session(tools: hermes.Registry) -> Iterator[hermes.Session]:
    with hermes.Session(tools, config={"approval": {"mode": "off"}}) as opened:
        yield opened


@dataclass
class Ran:
    """What a cell did."""

    value: Any
    error: BaseException | None
    stdout: str
    stderr: str
    outputs: list[Any]


Run = Callable[[str], Ran]


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    traits = Traits()
    traits.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(config=traits, colors="nocolor")
    yield made
    hermes.unload_ipython_extension(made)
    InteractiveShell.clear_instance()


@pytest.fixture
def run(shell: InteractiveShell, session: hermes.Session) -> Run:
    """Run a cell in a shell whose ``%hermes`` speaks to the session with the small tools."""
    notebook.use(session)
    with capture_output():
        hermes.load_ipython_extension(shell)
    assert state.current() is session

    def run_cell(cell: str) -> Ran:
        with capture_output() as captured:
            done: ExecutionResult = shell.run_cell(cell, store_history=True)
        error = done.error_in_exec or done.error_before_exec
        return Ran(done.result, error, captured.stdout, captured.stderr, captured.outputs)

    return run_cell
