"""What ``make notebooks`` does: run the notebooks and save what they show; with ``--check``, compare instead.

Both run them with an empty home and none of this machine's variables, so that what is committed is what anybody gets.
"""

from __future__ import annotations

import argparse
import configparser
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
SANITIZE = HERE.parent / "tests" / "nbval-sanitize.cfg"
WIDGET = "application/vnd.jupyter.widget-view+json"
#: Seconds that a cell may take. Only one that hangs takes them, however busy the machine is.
PATIENCE = 240
IGNORED = "NBVAL_IGNORE_OUTPUT"
#: What a notebook may see of the environment. DOCKER_HOST lets the one on backends show a container.
KEPT = ("PATH", "LANG", "LC_ALL", "DOCKER_HOST", "CI")


def main() -> int:
    """Refresh or check the notebooks that are named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with what is saved, and change nothing")
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(HERE.glob("*.ipynb")))
    options = parser.parse_args()
    with clean_environment():
        if options.check:
            return check(options.notebooks)
        for path in options.notebooks:
            refresh(path)
    return 0


@contextmanager
def clean_environment() -> Iterator[None]:
    """An environment that says nothing about this machine or its user."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="hermes-course-") as home:
        kept = {name: before[name] for name in KEPT if name in before}
        path = os.pathsep.join([str(Path(sys.executable).parent), kept.pop("PATH", os.defpath)])
        os.environ.clear()
        os.environ.update(kept, PATH=path, HOME=home, HERMES_NB_HOME=f"{home}/hermes", IPYTHONDIR=f"{home}/ipython")
        os.environ["PYTHONHASHSEED"] = "0"  # sets print in one order
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def check(paths: list[Path]) -> int:
    """Run the notebooks and compare every output with the saved one."""
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-sanitize-with", str(SANITIZE), "--nbval-current-env"]
    # What the tests treat as errors includes warnings of nbval itself, about old and new ways to name a kernel.
    command += ["-q", "-p", "no:cacheprovider", "-W", "default", "--rootdir", str(HERE)]
    command += ["--nbval-cell-timeout", str(PATIENCE), "--nbval-kernel-startup-timeout", str(PATIENCE)]
    return subprocess.run([*command, *(path.resolve() for path in paths)], check=False, cwd=HERE).returncode


def refresh(path: Path) -> None:
    """Run a notebook and save it with clean outputs; one that shows the same as before stays as it was.

    So do cells whose output is not compared: they show docker and ssh, which are not everywhere. To renew such a cell,
    clear its output first.
    """
    notebook = nbformat.read(path, as_version=4)
    saved = [cell.get("outputs", []) for cell in notebook.cells]
    settings = {"record_timing": False, "store_widget_state": False, "coalesce_streams": True}
    NotebookClient(notebook, timeout=PATIENCE, kernel_name="python3", **settings).execute(cwd=str(HERE))
    name = path.stem.partition("-")[2]
    outputs = [
        before if before and IGNORED in cell.source else [cleaned(output) for output in cell.get("outputs", [])]
        for cell, before in zip(notebook.cells, saved, strict=True)
    ]
    kept = saved if [*map(shown, saved)] == [*map(shown, outputs)] else outputs
    for number, (cell, shows) in enumerate(zip(notebook.cells, kept, strict=True)):
        cell.id = f"{name}-{number:02}"
        cell.metadata = {key: value for key, value in cell.metadata.items() if key == "tags"}
        if cell.cell_type == "code":
            cell.outputs = shows
    language = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python", "pygments_lexer": "ipython3"}
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    notebook.metadata = {"kernelspec": kernel, "language_info": language}
    nbformat.write(nbformat.from_dict(notebook), path)
    print(path.name)


def cleaned(output: Any) -> Any:
    """An output as it is saved: without the live widget, whose other faces every page can show."""
    output.get("data", {}).pop(WIDGET, None)
    output.pop("metadata", None)
    return nbformat.from_dict({**output, "metadata": {}} if output.output_type != "stream" else output)


def shown(outputs: list[Any]) -> list[str]:
    """Outputs as nbval compares them."""
    return [sanitized(str(sorted(_flat(output).items()))) for output in outputs]


def _flat(output: Any) -> dict[str, str]:
    data = {"text": output.get("text", ""), "error": output.get("evalue", ""), **output.get("data", {})}
    return {kind: "".join(content) for kind, content in data.items()}


def sanitized(text: str) -> str:
    """A text without what may differ between two runs."""
    rules = configparser.RawConfigParser()
    rules.read(SANITIZE, encoding="utf-8")
    for rule in rules.sections():
        text = re.sub(rules[rule]["regex"], rules[rule]["replace"], text)
    return text


if __name__ == "__main__":
    sys.exit(main())
