"""A real Jupyter server, a real browser, and a notebook in it that tests can type into."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import TimeoutError as LateError

from ..parts import PATIENCE, eventually, free_port

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
OUTPUT = Path(__file__).parents[1] / "output"
MILLISECONDS = PATIENCE * 1_000
QUIET = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}

# A predicate that returns a promise would be truthy at once: these are synchronous on purpose.
PANEL = "const app = window.jupyterapp; const panel = app?.shell?.currentWidget;"
IDLE = f"""() => {{ {PANEL}
    const kernel = panel?.sessionContext?.session?.kernel;
    return !!(panel?.sessionContext?.isReady && kernel?.connectionStatus === 'connected' && kernel?.status === 'idle'
        && app.commands.isEnabled('notebook:run-cell-and-insert-below')); }}"""


@dataclass
class Server:
    """A running Jupyter server."""

    address: str
    token: str
    folder: Path

    def page(self, app: str, notebook: str) -> str:
        """Where a notebook opens: in JupyterLab, in a workspace without other tabs, or in Notebook 7."""
        path = f"lab/workspaces/{Path(notebook).stem}/tree" if app == "lab" else "notebooks"
        return f"{self.address}/{path}/{notebook}?token={self.token}"


@contextmanager
def jupyter_server(folder: Path) -> Iterator[Server]:
    """JupyterLab and Notebook 7 on the loopback interface, with their settings in a folder of their own."""
    config = folder / "config"
    (config / "labconfig").mkdir(parents=True)
    (config / "labconfig" / "default_setting_overrides.json").write_text(json.dumps(QUIET))
    port, token = free_port(), secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", "--KernelManager.transport=ipc"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"]
    command += [f"--{app}.expose_app_in_browser=True" for app in ("LabApp", "JupyterNotebookApp")]
    sockets = tempfile.mkdtemp(prefix="hermes-jupyter-")  # short: a socket's path has at most 107 characters
    own = {name: str(folder / name.lower()) for name in ("IPYTHONDIR", "HERMES_NB_HOME")}
    own |= {"JUPYTER_RUNTIME_DIR": sockets}
    own |= {f"JUPYTERLAB_{kind}_DIR": str(folder / kind.lower()) for kind in ("WORKSPACES", "SETTINGS")}
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            command,
            env={**os.environ, "JUPYTER_CONFIG_DIR": str(config), **own},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(f"http://127.0.0.1:{port}", token, folder)
    try:
        _wait_until_up(server, process)
        yield server
    finally:
        _end(process)
        shutil.rmtree(sockets, ignore_errors=True)


def _end(process: subprocess.Popen[Any]) -> None:
    """End a server and all that it started, if it has not ended by itself."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE / 4)


def _wait_until_up(server: Server, process: subprocess.Popen[Any]) -> None:
    def is_up() -> bool:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{server.address}/api/status?token={server.token}", timeout=PATIENCE).close()
            return True
        return process.poll() is not None

    if not eventually(is_up) or process.poll() is not None:
        raise RuntimeError(f"the server did not come up:\n{(server.folder / 'server.log').read_text()[-2000:]}")


@contextmanager
def chromium() -> Iterator[Any]:
    """The system's Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS), timeout=MILLISECONDS
        )
        try:
            yield browser
        finally:
            browser.close()


class Notebook:
    """A notebook in a browser tab: run cells, look at their outputs."""

    def __init__(self, server: Server, browser: Any, app: str = "lab", name: str = "test.ipynb") -> None:
        self.path = server.folder / name
        empty = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("")])
        empty.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(empty, self.path)
        self.page = browser.new_page(viewport={"width": 1100, "height": 1000}, device_scale_factor=1)
        self.page.set_default_timeout(MILLISECONDS)
        self.page.goto(server.page(app, name))
        try:
            self.page.wait_for_function(IDLE, timeout=MILLISECONDS / 2)
        except LateError:  # JupyterLab may miss that its kernel has come up: as anybody would, load the page again
            self.page.reload()
            self.wait_until_idle()
        if app == "lab":
            self.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")

    def wait_until_idle(self) -> None:
        """Wait until the kernel is connected and has nothing to do."""
        self.page.wait_for_function(IDLE)

    def start(self, code: str) -> Any:
        """Run code in a new last cell without waiting for it; returns the cell."""
        number = self.page.evaluate(
            f"""code => {{ {PANEL}
                const notebook = panel.content;
                const number = notebook.activeCellIndex = notebook.widgets.length - 1;
                notebook.activeCell.model.sharedModel.setSource(code);
                app.commands.execute('notebook:run-cell-and-insert-below').catch(console.error);
                return number; }}""",
            code,
        )
        cell = self.page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{number}"]')
        cell.scroll_into_view_if_needed()
        return cell

    def run(self, code: str) -> Any:
        """Run code in a new last cell to its end; returns the cell."""
        cell = self.start(code)
        self.wait_until_idle()
        return cell

    def interrupt(self) -> None:
        """Press the button that interrupts the kernel."""
        self.page.evaluate(f"() => {{ {PANEL} app.commands.execute('notebook:interrupt-kernel'); }}")

    def recover(self) -> None:
        """Wait until cells run again: for a moment after an error, the kernel aborts what it is sent."""
        for _ in range(20):
            cell = self.run("print('running again')")
            if cell.locator(".jp-OutputArea-output", has_text="running again").count():
                return
        raise RuntimeError("the kernel did not recover")

    def save(self) -> str:
        """Save the notebook; returns the file's text."""
        self.page.evaluate(f"async () => {{ {PANEL} await panel.context.save(); }}")
        return self.path.read_text()

    def theme(self, name: str) -> None:
        """Switch to ``JupyterLab Light`` or ``JupyterLab Dark``."""
        self.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
        light = "true" if name.endswith("Light") else "false"
        self.page.wait_for_function(
            f"() => document.body.dataset.jpThemeLight === '{light}' && !document.querySelector('#jupyterlab-splash')"
        )

    def screenshots(self, element: Any, name: str) -> None:
        """Keep pictures of an element in both themes."""
        OUTPUT.mkdir(exist_ok=True)
        for theme in ("Light", "Dark"):
            self.theme(f"JupyterLab {theme}")
            element.screenshot(path=OUTPUT / f"{name}_{theme.lower()}.png")
        self.theme("JupyterLab Light")
