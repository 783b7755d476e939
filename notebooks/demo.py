"""What ``make demo`` does: JupyterLab on the tour, or with HEADLESS=1 the tour executed and printed."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TOUR = HERE / "01-tour.ipynb"


def main() -> int:
    """Run the demo."""
    return show_tour() if os.environ.get("HEADLESS") else start_lab()


def start_lab() -> int:
    """Start JupyterLab on the tour and print its address; Ctrl-C stops it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    print(f"The tour is at  http://127.0.0.1:{port}/lab/tree/{TOUR.name}?token={token}\nCtrl-C stops it.", flush=True)
    command = [sys.executable, "-m", "jupyterlab", "--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={token}"]
    command += [f"--ServerApp.root_dir={HERE}", "--no-browser", "--log-level=WARN"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    try:
        return subprocess.run(command, check=False).returncode
    except KeyboardInterrupt:
        return 0


def show_tour() -> int:
    """Execute the tour and print its text, its code and what the code showed."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(TOUR, as_version=4)
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("HERMES_NB_HOME", home)
        NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(HERE)}}).execute()
    for cell in notebook.cells:
        print(cell.source if cell.cell_type == "markdown" else "\n".join(f">>> {line}" for line in cell.source.split("\n")))
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            if text:
                print(text.rstrip("\n"))
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
