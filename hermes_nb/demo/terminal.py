"""A notebook in a terminal: its text, its code, and what the code shows, run cell by cell in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def run_here(path: Path) -> bool:
    """Run a notebook and print it; whether all of its cells ran.

    Whoever sits there is asked what a card would ask in a notebook. Where nobody does, the answer is no.
    """
    from IPython.core.displayhook import DisplayHook
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Results(DisplayHook):
        """Shows what cells return, without ``Out[1]:`` before it."""

        def write_output_prompt(self) -> None: ...

    class Shell(InteractiveShell):
        displayhook_class = Results

    settings = {"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}}
    shell: Any = Shell.instance(config=Config(settings))
    ran = [_show(shell, cell) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    return all(ran)


def _show(shell: Any, cell: dict[str, Any]) -> bool:
    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        print(f"{source}\n")
        return True
    print("\n".join(f">>> {line}" for line in source.split("\n")), flush=True)
    ran: bool = shell.run_cell(source, store_history=False).success
    print(flush=True)
    return ran
