"""``demo``: the tour, in JupyterLab where that is installed, else in this terminal."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from hermes_nb.cli.base import CliCommand

_HINT = "JupyterLab is not installed here: pip install 'hermes-nb[demo]' brings it. The tour in this terminal:\n"


def _demo(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="hermes-nb-demo-") as passing:
        os.environ.setdefault("HERMES_NB_HOME", f"{passing}/home")  # a tour leaves nothing in yours
        if options.print or find_spec("jupyterlab") is None:
            if not options.print:
                print(_HINT)
            return _in_terminal()
        folder = options.folder or Path(passing, "course")
        return _in_lab(folder.resolve(), options.port, browser=not options.no_browser)


def _in_terminal() -> int:
    from hermes_nb.demo.course import TOUR, course
    from hermes_nb.demo.terminal import run_here

    return 0 if run_here(course() / TOUR) else 1


def _in_lab(folder: Path, port: int, *, browser: bool) -> int:
    from hermes_nb.demo.course import TOUR, copy_course
    from hermes_nb.demo.lab import LabFailed, can_open_browser, lab, open_browser

    try:
        copy_course(folder)
        with lab(folder, TOUR, port) as (address, server):
            print(f"The tour is at  {address}\nCtrl-C stops it.", flush=True)
            if browser and can_open_browser():
                open_browser(address)
            return server.wait()
    except KeyboardInterrupt:
        return 0
    except (LabFailed, OSError) as error:
        print(error, file=sys.stderr)
        return 1


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--print", action="store_true", help="run the tour here, and print it as text")
    parser.add_argument(
        "--folder", type=Path, help="put the notebooks there, and keep them; by default they go at the end"
    )
    parser.add_argument("--port", type=int, default=0, help="of the server; any that is free by default")
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open nothing")


DEMO = CliCommand(
    "demo", "the tour in JupyterLab, or in this terminal where that is not installed", _demo, _options, order=5
)
