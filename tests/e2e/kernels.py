"""Kernels of several versions of ipykernel, and a front end for them that needs no browser."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..kernels import running_kernel
from ..parts import PATIENCE, missing


def installed(version: str, cache: Path) -> Path:
    """A folder with just this version of ipykernel, to put before the one that is installed."""
    folder = cache / f"ipykernel-{version}"
    if (folder / "complete").exists():
        return folder
    needed = [f"ipykernel=={version}", *(["nest_asyncio"] if version.startswith("6.") else [])]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(folder)]
    done = subprocess.run([*command, *needed], capture_output=True, text=True, check=False, timeout=PATIENCE)
    if done.returncode:
        missing(f"ipykernel {version} can't be installed: {done.stderr.strip()[-500:]}")
    (folder / "complete").touch()
    return folder


@dataclass
class Answers:
    """How a cell that asked came out.

    Attributes:
        printed: What it printed.
        ways: How it was asked: ``card`` or ``input``, in order.
    """

    printed: str = ""
    ways: list[str] = field(default_factory=list)


class FrontEnd:
    """Does what a notebook does with an approval card, and answers with a yes."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._nudges: list[Any] = []

    def subshell(self) -> str:
        """A subshell as JupyterLab makes one for widget messages."""
        request = self.client.session.msg("create_subshell_request")
        self.client.control_channel.send(request)
        while True:
            reply = self.client.get_control_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == request["header"]["msg_id"]:
                return str(reply["content"]["subshell_id"])

    def run(self, code: str, *, subshell: str | None = None, person: bool = True, silent: bool = False) -> Answers:
        """Run a cell to its end, and answer what it asks, unless silent."""
        cell = self.client.execute(code, allow_stdin=person)
        answers = Answers()
        card = _Card(self.client, subshell)
        deadline, nudge = time.monotonic() + PATIENCE, time.monotonic() + 2
        while time.monotonic() < deadline:
            if time.monotonic() > nudge:
                self._nudge()
                nudge = time.monotonic() + 2
            with contextlib.suppress(queue.Empty):
                message = self.client.get_iopub_msg(timeout=0.05)
                mine = message["parent_header"].get("msg_id") == cell
                content = message["content"]
                if message["msg_type"] == "stream" and mine:
                    answers.printed += content["text"]
                elif message["msg_type"] == "error" and mine:
                    answers.printed += f"{content['ename']}: {content['evalue']}"
                elif message["msg_type"] == "status" and mine and content["execution_state"] == "idle":
                    return answers
                elif card.takes(message):
                    answers.ways.append("card")
            card.speak()
            with contextlib.suppress(queue.Empty):
                self.client.get_stdin_msg(timeout=0)
                answers.ways.append("input")
                if not silent:
                    self.client.input("y")
        raise TimeoutError(f"the cell did not end; it printed {answers.printed!r}, and asked by {answers.ways}")

    def _nudge(self) -> None:
        """Connect once more: from 7.0 to 7.3, a kernel can leave a request unread until the next connection."""
        self._nudges.append(self.client.connect_shell())

    def close(self) -> None:
        """Drop the connections that were made to nudge."""
        for connection in self._nudges:
            connection.close(linger=0)


class _Card:
    """The card's half of the conversation, as desk.js has it."""

    def __init__(self, client: Any, subshell: str | None) -> None:
        self._client, self._subshell = client, subshell
        self._comm: str | None = None
        self._saying: dict[str, Any] | None = None
        self._said = 0.0
        self._answered: set[str] = set()

    def takes(self, message: dict[str, Any]) -> bool:
        """Follow a message of the kernel; whether the question has now been answered."""
        content = message["content"]
        if message["msg_type"] == "comm_open":
            if "ApprovalCard" in str(content["data"].get("state", {}).get("_anywidget_id")):
                self._comm, self._saying = content["comm_id"], {"kind": "ready"}
            return False
        if message["msg_type"] != "comm_msg" or content["comm_id"] != self._comm:
            return False
        said = content["data"].get("content", {})
        if said.get("kind") == "ask":
            self._saying = {"kind": "shown", "nonce": said["question"]["nonce"]}
        elif said.get("kind") == "noted":
            self._saying = {"kind": "answer", "nonce": said["nonce"], "choice": "once"}
            is_new = said["nonce"] not in self._answered  # what was said twice on a busy machine is noted twice
            self._answered.add(said["nonce"])
            return is_new
        elif said.get("kind") == "closed":
            self._saying = None
        return False

    def speak(self) -> None:
        """Say it again, as long as it was not heard."""
        if self._saying is None or time.monotonic() - self._said < 0.2:
            return
        self._said = time.monotonic()
        data = {"method": "custom", "content": self._saying}
        message = self._client.session.msg("comm_msg", {"comm_id": self._comm, "data": data})
        if self._subshell is not None:
            message["header"]["subshell_id"] = self._subshell
        self._client.shell_channel.send(message)


@contextmanager
def kernel(ipykernel: Path, home: Path) -> Iterator[FrontEnd]:
    """A kernel with the ipykernel of a folder."""
    path = os.pathsep.join(filter(None, [str(ipykernel), os.environ.get("PYTHONPATH")]))
    own = {"PYTHONPATH": path, "HERMES_NB_HOME": str(home), "IPYTHONDIR": str(home / "ipython")}
    with running_kernel(env={**os.environ, **own}) as (_, client):
        front_end = FrontEnd(client)
        try:
            yield front_end
        finally:
            front_end.close()
