from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from hermes_nb.notebook.asking.desk import ApprovalCard, Inbox
from hermes_nb.notebook.panels import PANELS

if TYPE_CHECKING:
    from hermes_nb.notebook.frontend.widget import HermesWidget

WIDGETS = [ApprovalCard, Inbox, *(panel.widget for panel in PANELS.values())]


@pytest.mark.parametrize("widget", WIDGETS)
def test_a_widget_is_one_module_that_fetches_nothing(widget: type[HermesWidget]) -> None:
    source = str(widget._esm)
    assert not re.search(r"^import\b|https?://(?!www\.w3\.org/2000/svg)", source, re.MULTILINE)
    assert "url(" not in str(widget._css)
    assert source.count("export default") == 1
    assert not re.search(r"^export (?!default)", source, re.MULTILINE)


@pytest.mark.parametrize("widget", WIDGETS)
def test_a_module_has_all_that_its_parts_import(widget: type[HermesWidget]) -> None:
    source = str(widget._esm)
    folder = files("hermes_nb.notebook.frontend") / "static"
    for part in (entry for entry in folder.iterdir() if entry.name.endswith(".js")):
        text = part.read_text(encoding="utf-8")
        body = re.sub(r"^import\b[^;]*;\n", "", text, flags=re.MULTILINE)
        if re.sub(r"^export (?=function|const|class)", "", body, flags=re.MULTILINE) not in source:
            continue
        for names in re.findall(r"^import \{([^}]*)\}", text, re.MULTILINE):
            for name in (each.strip() for each in names.split(",")):
                assert re.search(rf"^(?:function|const|class) {name}\b", source, re.MULTILINE), f"{part.name}: {name}"


def test_no_name_is_declared_twice_in_a_module() -> None:
    for widget in WIDGETS:
        declared = re.findall(r"^(?:async )?(?:function|const|class|let) (\w+)", str(widget._esm), re.MULTILINE)
        assert len(declared) == len(set(declared)), widget


def test_nothing_parses_html() -> None:
    for widget in WIDGETS:
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", str(widget._esm))
