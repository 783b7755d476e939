"""The site: it builds without a warning, its links lead somewhere, and what it says of the code is so."""

from __future__ import annotations

import html
import html.parser
import importlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import nbformat
import pytest
from sphinx.util.inventory import InventoryFile

import hermes_backends
import hermes_nb
from hermes_nb.cli import build_parser
from hermes_nb.config import OPTIONS
from hermes_nb.notebook.commands import COMMANDS

from .parts import PATIENCE, run

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
WRITTEN = sorted([*DOCS.glob("*.md"), *(DOCS / "reference").glob("*.md")])
pytestmark = pytest.mark.timeout(900)  # the first of them builds the site
NAMED = re.compile(r"`~?((?:hermes_nb|hermes_backends)(?:\.\w+)+)`")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", str(folder / "doctrees")]
    (folder / "home").mkdir()
    variables = {key: value for key, value in os.environ.items() if key != "HERMES_NB_HOME"} | {
        "HOME": str(folder / "home")
    }
    run(*command, DOCS, folder / "html", env=variables, timeout=4 * PATIENCE)
    return folder / "html"


class Page(html.parser.HTMLParser):
    """The links of a page, and the places in it that links can lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if value is not None and key in ("href", "src"):
                self.links.append(value)
            if value is not None and key in ("id", "name"):
                self.anchors.add(value)


def modules() -> Iterator[str]:
    for package in (ROOT / "hermes_nb", ROOT / "backends" / "hermes_backends"):
        for path in package.rglob("*.py"):
            parts = path.relative_to(package.parent).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def exists(dotted: str) -> bool:
    """Whether a name leads from a module to something in it."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        return all((found := getattr(found, part, None)) is not None for part in parts[end:])
    return False


def command_names() -> list[str]:
    return re.findall(r"^ {4}([a-z][\w-]*)(?: |$)", build_parser().format_help(), re.MULTILINE)


def text_of(page: Path) -> str:
    """What a page says, with the quotes that were typed."""
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))).replace("’", "'")


def test_every_link_within_the_site_leads_somewhere(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            address, anchor = urldefrag(link)
            if urlparse(link).scheme or link.startswith("//"):
                continue
            target = (path.parent / unquote(address.partition("?")[0])).resolve() if address else path
            target = target / "index.html" if target.is_dir() else target
            known = pages.get(target)
            if not target.exists() or (anchor and known is not None and unquote(anchor) not in known.anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert sorted(set(broken)) == []


@pytest.mark.parametrize(("package", "page"), [(hermes_nb, "hermes_nb.md"), (hermes_backends, "backends.md")])
def test_every_public_name_is_in_the_reference(package, page: str, site: Path) -> None:
    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda _base, location: location)
    described = {entry for kind, entries in inventory.items() if kind.startswith("py:") for entry in entries}
    written = re.findall(r"`(?:\w+\.)*(\w+)`", (DOCS / "reference" / page).read_text(encoding="utf-8"))
    missing = {name for name in package.__all__ if f"{package.__name__}.{name}" not in described}
    assert missing - set(written) == set()


def test_the_architecture_names_every_module(site: Path) -> None:
    shown = re.sub(r"<[^>]+>", "", (site / "architecture.html").read_text(encoding="utf-8"))
    named = set(re.findall(r"hermes_(?:nb|backends)(?:\.\w+)*", shown))
    assert set(modules()) - named == set()


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_every_name_of_ours_on_a_page_exists(page: Path) -> None:
    named = set(NAMED.findall(page.read_text(encoding="utf-8")))
    assert [dotted for dotted in sorted(named) if not exists(dotted)] == []


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_every_setting_on_a_page_exists(page: Path) -> None:
    named = set(re.findall(r"`((?:approval|calls|results|plugins)\.\w+)`", page.read_text(encoding="utf-8")))
    assert named - OPTIONS.keys() == set()


def test_every_command_is_on_the_page_of_the_command_line(site: Path) -> None:
    shown = (site / "generated" / "cli.html").read_text(encoding="utf-8")
    assert "import-config" in command_names()
    assert [name for name in command_names() if f"usage: hermes-nb {name} " not in shown] == []


@pytest.mark.parametrize("notebook", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_is_rendered_with_all_its_outputs(notebook: Path, site: Path) -> None:
    page = (site / "notebooks" / f"{notebook.stem}.html").read_text(encoding="utf-8")
    cells = [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
    assert page.count('<div class="cell_input docutils container">') == len(cells)
    assert page.count('<div class="cell_output docutils container">') == sum(bool(cell.outputs) for cell in cells)


def test_every_setting_is_on_the_page_of_the_settings(site: Path) -> None:
    shown = re.sub(r"<[^>]+>", "", (site / "generated" / "config.html").read_text(encoding="utf-8"))
    assert [key for key in OPTIONS if key not in shown] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_sub_command_is_on_the_page_of_the_magics(name: str, site: Path) -> None:
    shown = text_of(site / "generated" / "magics.html")
    command = COMMANDS[name]
    assert command.summary in shown
    assert command.parser.usage_line() in shown
    assert [option for option in command.parser.options if option not in shown] == []
    assert [example for example in command.examples if example not in shown] == []


def test_the_front_page_leads_to_the_magics(site: Path) -> None:
    assert "generated/magics.html" in Page(site / "index.html").links


def test_building_the_site_keeps_no_session_in_the_home_folder(site: Path) -> None:
    assert not (site.parent / "home" / ".hermes-nb").exists()
