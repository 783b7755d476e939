"""What ``make pictures`` does: the moving picture of the README, filmed in a real JupyterLab."""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from PIL import Image

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tests.e2e.jupyter import Notebook, chromium, jupyter_server  # noqa: E402  (the same hands as the browser tests')

OUT = HERE / "images" / "first-minute.gif"
WIDTH = 760
FIRST = """import hermes_nb as hermes
import pandas as pd

@hermes.tool(toolset="shop")
def sales(region: str) -> pd.DataFrame:
    "Sales of a region by month."
    return pd.DataFrame({"month": ["May", "June"], "sold": [3, 5]}).assign(region=region)"""
CALL = "%load_ext hermes_nb\n%hermes call sales region=north"
DANGEROUS = "%hermes run mkdir -p build && rm -rf build && echo gone"


class Film:
    """Frames of a part of a page, each with how long it stays."""

    def __init__(self, part: Any) -> None:
        self._part = part
        self._frames: list[tuple[Image.Image, int]] = []

    def take(self, milliseconds: int) -> None:
        """Add what is to be seen now."""
        picture = Image.open(io.BytesIO(self._part.screenshot())).convert("RGB")
        height = round(picture.height * WIDTH / picture.width)
        self._frames.append((picture.resize((WIDTH, height), Image.Resampling.LANCZOS), milliseconds))

    def save(self, path: Path) -> None:
        """Write it as a GIF, each frame with colours of its own: there are few, but they must be right."""
        drawn = [frame.quantize(128, method=Image.Quantize.FASTOCTREE) for frame, _ in self._frames]
        stay = [milliseconds for _, milliseconds in self._frames]
        drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=stay, loop=0, optimize=True)


def main() -> None:
    """Film it."""
    with tempfile.TemporaryDirectory() as folder, jupyter_server(Path(folder)) as server, chromium() as browser:
        notebook = Notebook(server, browser, name="first-minute.ipynb")
        notebook.page.set_viewport_size({"width": 900, "height": 800})
        film = Film(notebook.page.locator(".jp-NotebookPanel-notebook"))
        for code in (FIRST, CALL):
            notebook.run(code)
            time.sleep(0.5)  # for what fades in
            film.take(2200)
        asking = notebook.start(DANGEROUS)
        once = asking.locator('[data-choice="once"]:enabled')
        once.wait_for()
        time.sleep(0.5)
        film.take(3500)
        once.click()
        notebook.wait_until_idle()
        time.sleep(0.5)
        film.take(2500)
    OUT.parent.mkdir(exist_ok=True)
    film.save(OUT)
    print(f"{OUT.relative_to(HERE.parent)}: {OUT.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
