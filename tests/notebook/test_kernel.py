"""The magic in a real kernel: what a front end receives."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from ..kernels import execute, running_kernel
from ..parts import PATIENCE, eventually, is_alive

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient
    from jupyter_client.manager import KernelManager

SETUP = """
import hermes_nb as hermes
hermes.notebook.use(hermes.Session(config={"approval": {"mode": "off"}}))
%load_ext hermes_nb

@hermes.tool
def say(text: str) -> str:
    "Give a text back."
    return text
"""


class Kernel:
    """A kernel and what it sends."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client

    def run(self, code: str) -> list[dict[str, Any]]:
        return self.until_idle(self.client.execute(code))

    def answer(self, request: str) -> dict[str, Any]:
        """The reply to a request."""
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == request:
                content: dict[str, Any] = reply["content"]
                return content

    def until_idle(self, request: str) -> list[dict[str, Any]]:
        return list(self.follow(request))

    def follow(self, request: str) -> Iterator[dict[str, Any]]:
        """What the kernel sends for a request, as it comes, until it is done."""
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return
            yield {"kind": kind, **content}


def streamed(contents: list[dict[str, Any]], name: str) -> str:
    return "".join(entry["text"] for entry in contents if entry["kind"] == "stream" and entry["name"] == name)


def shown(contents: list[dict[str, Any]]) -> dict[str, str]:
    return next(entry["data"] for entry in contents if entry["kind"] == "execute_result")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    home = tmp_path_factory.mktemp("home")
    with running_kernel(env={**os.environ, "HERMES_NB_HOME": str(home)}) as (manager, client):
        made = Kernel(manager, client)
        made.run(f"from hermes_nb import notebook{SETUP}")
        yield made


def test_a_result_has_both_faces(kernel: Kernel) -> None:
    data = shown(kernel.run("%hermes call say text=<b>hi</b>"))
    assert data["text/plain"] == "say: ok\n<b>hi</b>"
    assert "&lt;b&gt;hi" in data["text/html"]
    assert "<b>hi" not in data["text/html"]


def test_output_comes_as_streams_while_the_command_runs(kernel: Kernel, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    command = f"echo first; echo problem >&2; until [ -e {gate} ]; do sleep 0.02; done; echo second"
    contents = []
    for entry in kernel.follow(kernel.client.execute(f"%hermes run {command}")):
        contents.append(entry)
        if streamed(contents, "stdout") == "first\n":
            gate.touch()  # the command goes on only when this was seen
    assert streamed(contents, "stdout") == "first\nsecond\n"
    assert streamed(contents, "stderr") == "problem\n"
    assert shown(contents)["text/plain"] == "exit code 0"


def test_a_failure_is_an_error_that_stops_run_all(kernel: Kernel) -> None:
    error = kernel.run("%hermes run echo kept; exit 4")[-1]
    assert (error["kind"], error["ename"]) == ("error", "CommandFailed")
    assert "exit code 4" in error["evalue"]
    assert len(error["traceback"]) <= 3


def test_an_interrupt_stops_the_command_and_keeps_what_it_printed(kernel: Kernel, tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    request = kernel.client.execute(f"%hermes run echo early; sleep 600 & echo $! > {marker}; wait")
    assert eventually(lambda: marker.exists() and marker.read_text().strip())
    kernel.manager.interrupt_kernel()
    contents = kernel.until_idle(request)
    assert streamed(contents, "stdout") == "early\n"
    assert contents[-1]["ename"] in ("KeyboardInterrupt", "CommandInterrupted")
    assert len(contents[-1]["traceback"]) == 1
    assert not is_alive(int(marker.read_text()))


def test_completion_works_through_the_kernel(kernel: Kernel) -> None:
    line = "%hermes call say te"
    assert kernel.answer(kernel.client.complete(line, len(line)))["matches"] == ["text="]
    cell = "%%hermes call say\nte"
    assert kernel.answer(kernel.client.complete(f"{cell}\n# more", len(cell)))["matches"] == ["text: "]


@pytest.mark.parametrize("line", ["%hermes call say?", "?%hermes call say", "%%hermes call say?"])
def test_a_question_mark_shows_help_in_the_pager(kernel: Kernel, line: str) -> None:
    (shown,) = kernel.answer(kernel.client.execute(line))["payload"]
    assert shown["source"] == "page"
    assert "Give a text back" in shown["data"]["text/plain"]
    assert "Give a text back" in shown["data"]["text/html"]


def test_shift_tab_shows_help_and_leaves_python_alone(kernel: Kernel) -> None:
    kernel.run("import hermes_nb as hermes")  # a name that hides the magic from IPython's own help
    for line, cursor, starts in (
        ("%hermes run ls", 4, "%hermes tools "),
        ("%hermes run ls", 10, "usage: %hermes run"),
        ("x = %hermes call say te", 23, "say ("),
    ):
        told = kernel.answer(kernel.client.inspect(line, cursor))
        assert told["found"]
        assert told["data"]["text/plain"].startswith(starts)
    assert "Docstring" in kernel.answer(kernel.client.inspect("len(x)", 2))["data"]["text/plain"]


FIGURE = """
@hermes.tool
def plot() -> object:
    "Plot."
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots()
    axes.set_title("a plot")
    return figure

@hermes.tool
def plots() -> object:
    "Plot, and say more."
    return {"figure": plot(), "n": 1}
"""


def test_a_figure_is_shown_once_though_pyplot_shows_open_figures_too(kernel: Kernel) -> None:
    kernel.run(f"%matplotlib inline{FIGURE}")
    alone = kernel.run("%hermes call plot")
    assert [entry["kind"] for entry in alone if "data" in entry] == ["execute_result"]
    assert "image/png" in shown(alone)
    inside = kernel.run("%hermes call plots")
    assert [entry["kind"] for entry in inside if "data" in entry] == ["execute_result"]
    assert "data:image/png;base64," in shown(inside)["text/html"]


def test_a_figure_of_a_call_that_is_not_shown_is_left_to_pyplot(kernel: Kernel) -> None:
    kernel.run(f"%matplotlib inline{FIGURE}")
    contents = kernel.run("kept = %hermes call plot")
    assert [entry["kind"] for entry in contents if "data" in entry] == ["display_data"]
    assert "image/png" in shown(kernel.run("kept"))


def test_a_figure_for_a_screen_with_many_pixels_is_shown_as_large_as_any(kernel: Kernel) -> None:
    kernel.run(f"%matplotlib inline\n%config InlineBackend.figure_format = 'retina'{FIGURE}")
    page = shown(kernel.run("%hermes call plot"))["text/html"]
    kernel.run("%config InlineBackend.figure_format = 'png'")
    assert re.search(r"<img [^>]*style=\"[^\"]*width:\d{3}px", page)


def test_a_notebook_runs_the_same_way_twice_without_anybody_there(tmp_path: Path) -> None:
    cells = [
        f"from hermes_nb import notebook{SETUP}",
        "%hermes call say text=hi",
        "%hermes describe say",
        "%%hermes run\necho out; echo err >&2",
        "hits = %hermes search give a text back\nhits",
        "%hermes tools",
    ]

    def texts() -> list[Any]:
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        made = execute(made, tmp_path)
        return [output.get("text") or output["data"]["text/plain"] for cell in made.cells for output in cell["outputs"]]

    first = texts()
    assert len(first) >= len(cells)
    assert texts() == first
