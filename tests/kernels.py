"""Kernels for tests, on sockets of their own: a port that was free when it was chosen may be taken when it is used."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from traitlets.config import Config

from .parts import PATIENCE

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient
    from nbformat import NotebookNode


@contextmanager
def running_kernel(**options: Any) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    """A kernel that is ready, and a client of it."""
    with _sockets() as settings:
        manager = KernelManager(kernel_name="python3", **settings)
        manager.start_kernel(**options)
        client = manager.client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=PATIENCE)
            yield manager, client
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
            manager.cleanup_resources()


def execute(notebook: NotebookNode, folder: object, kernel: str = "python3") -> NotebookNode:
    """Run a notebook as continuous integration does, in a folder."""
    limits = {"timeout": PATIENCE, "startup_timeout": PATIENCE}
    resources = {"metadata": {"path": str(folder)}}
    with _sockets() as settings:
        config = Config({"KernelManager": settings})
        return NotebookClient(notebook, kernel_name=kernel, config=config, resources=resources, **limits).execute()


@contextmanager
def _sockets() -> Iterator[dict[str, str]]:
    folder = tempfile.mkdtemp(prefix="hermes-kernel-")  # short: a socket's path has at most 107 characters
    try:
        yield {"transport": "ipc", "ip": f"{folder}/socket"}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
