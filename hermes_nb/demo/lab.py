"""JupyterLab on a notebook: started here, told of when it answers, ended with us."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import webbrowser
from collections.abc import Iterator
from pathlib import Path

_PATIENCE = 120.0


class LabFailed(RuntimeError):
    """JupyterLab did not start; the message has the end of what it said."""


@contextlib.contextmanager
def lab(folder: Path, notebook: str, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A JupyterLab that serves a folder, and the address of a notebook in it; answering already.

    Raises:
        LabFailed: It ended at once, or did not answer in time.
    """
    port, token = port or _free_port(), secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += [f"--ServerApp.root_dir={folder}", "--no-browser", "--log-level=WARN"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    with tempfile.TemporaryFile() as said:
        # The token is nobody else's business: the environment is ours alone, the list of processes is not.
        variables = {**os.environ, "JUPYTER_TOKEN": token}
        server = subprocess.Popen(command, stdout=said, stderr=said, env=variables)  # noqa: S603  (ours)
        try:
            address = f"http://127.0.0.1:{port}"
            if not _answers(server, f"{address}/api/status?token={token}"):
                said.seek(0)
                raise LabFailed(f"JupyterLab did not start:\n{said.read().decode(errors='replace')[-2000:]}")
            yield f"{address}/lab/tree/{notebook}?token={token}", server
        finally:
            _end(server)


def can_open_browser() -> bool:
    """Whether there is a screen to open a browser on: one for terminals would take this terminal away."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def open_browser(address: str) -> None:
    """Open an address, if that can be done."""
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(address)


def _answers(server: subprocess.Popen[bytes], address: str) -> bool:
    deadline = time.monotonic() + _PATIENCE
    while server.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(address, timeout=5).close()  # noqa: S310  (an address of this machine)
        except OSError:  # nobody listens yet; an error over HTTP is one, too
            time.sleep(0.1)
        else:
            return True
    return False


def _end(server: subprocess.Popen[bytes]) -> None:
    """Let it shut its kernels down, which a second signal would keep it from."""
    if server.poll() is None:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
