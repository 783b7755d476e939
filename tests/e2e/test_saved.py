"""What was shown stays: a notebook with every widget is saved, and opened again where nothing of it lives."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from .jupyter import OUTPUT, PANEL, Notebook, Server, jupyter_server
from .test_approval import SETUP, button

SECRET = "Tr0ub4dor&3<x>"
WIDGET = "application/vnd.jupyter.widget-view+json"
MORE = f"""
from IPython.display import display
from hermes_nb.notebook import budget, explore, feed, jobs, inbox
hermes.register_secret({SECRET!r})

@hermes.tool(toolset="demo", registry=tools)
def speak(words: str) -> str:
    "Say it: {SECRET}."
    return f"said {{words}}"

kept = session()
work = hermes.Session(enabled_toolsets=["terminal"])
work.call("terminal", {{"command": "echo built {SECRET!r}; echo 'all of it'", "background": True}})
"""
#: What each output must still say, by the code of its cell.
SHOWN = {
    "explore(kept)": ("3 tools", "undeclared"),
    "feed(kept)": ("speak", "said a thing that matters"),
    "budget(kept)": ("without search", "tool search is not active"),
    "jobs(work)": ("exited 0", "all of it"),
    "card": ("Denied", "rm -rf ./cache", "deletes a folder", "not on a Friday", "by the person", "Nothing ran"),
}
CARD = (
    f"denied = kept.call('shell', {{'command': 'cd build && rm -rf ./cache {SECRET}'}}) # card\nprint(denied.outcome)"
)


def made(notebook: Notebook) -> None:
    """Show everything, and let the calls come after the widgets, so that what is kept has to follow."""
    notebook.run(SETUP)
    notebook.run(MORE)
    for code, ready in (("explore", "explorer"), ("feed", "feed"), ("budget", "budget"), ("jobs", "jobs")):
        cell = notebook.run(f"{code}({'work' if code == 'jobs' else 'kept'})")
        cell.locator(f".hermes-living .hermes-{ready}.hermes-ready").wait_for()
    cell = notebook.start(CARD)
    button(cell, "deny").click()
    cell.locator(".hermes-reason").fill("not on a Friday")
    cell.locator(".hermes-reason").press("Enter")
    cell.locator(".hermes-decided").wait_for()
    notebook.wait_until_idle()
    notebook.run(f"kept.call('speak', {{'words': 'a thing that matters {SECRET}'}}).ok")
    # The snapshots are hidden behind the living views, but there.
    notebook.page.locator(".jp-RenderedHTML", has_text="a thing that matters").first.wait_for(state="attached")
    notebook.page.locator(".jp-RenderedHTML", has_text="all of it").first.wait_for(state="attached")


@pytest.fixture(scope="module", params=["lab", "notebook"])
def app(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def saved(app: str, server: Server, browser: Any) -> Iterator[str]:
    notebook = Notebook(server, browser, app=app, name=f"made_in_{app}.ipynb")
    made(notebook)
    yield notebook.save()
    notebook.page.close()


def test_a_living_kernel_shows_the_living_view_after_a_reload_and_the_snapshot_after_a_restart(
    app: str, server: Server, browser: Any
) -> None:
    notebook = Notebook(server, browser, app=app, name=f"living_in_{app}.ipynb")
    notebook.run(SETUP)
    notebook.run("from hermes_nb.notebook import feed\ns = session()\nr = s.call('shell', {'command': 'date'})")
    living = notebook.run("feed(s)").locator(".hermes-living .hermes-feed.hermes-ready")
    living.wait_for()
    notebook.save()
    notebook.page.reload()
    notebook.wait_until_idle()
    notebook.page.locator(".hermes-living .hermes-feed.hermes-ready", has_text="date").wait_for()
    assert notebook.page.locator(".jp-RenderedHTML", has_text="1 call").is_hidden()
    notebook.page.evaluate(f"() => {{ {PANEL} panel.sessionContext.session.kernel.restart(); }}")
    notebook.page.locator(".jp-RenderedHTML", has_text="1 call").wait_for()
    assert notebook.page.locator(".hermes-living").count() == 0
    notebook.page.close()


def test_inside_a_layout_a_widget_is_a_widget(app: str, server: Server, browser: Any) -> None:
    notebook = Notebook(server, browser, app=app, name=f"layout_in_{app}.ipynb")
    notebook.run(SETUP)
    shown = notebook.run("import ipywidgets\nfrom hermes_nb.notebook import feed\nipywidgets.VBox([feed(session())])")
    shown.locator(".widget-box .hermes-feed.hermes-ready").wait_for()
    notebook.page.close()


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with jupyter_server(tmp_path_factory.mktemp("elsewhere")) as running:
        yield running


def seen(page: Any) -> dict[str, str]:
    """What each cell of a page shows when everything is unfolded, by its code."""
    shown = {}
    for cell in page.locator(".jp-CodeCell").all():
        cell.scroll_into_view_if_needed()
        cell.evaluate("cell => { for (const fold of cell.querySelectorAll('details')) fold.open = true; }")
        outputs = cell.locator(".jp-OutputArea-output").all_inner_texts()
        shown[cell.locator(".jp-InputArea").inner_text()] = " ".join(outputs)
    return shown


def is_said(outputs: dict[str, str]) -> None:
    for code, words in SHOWN.items():
        shown = next(text for source, text in outputs.items() if code in source)
        assert [word for word in words if word not in shown] == [], f"{code}: {shown}"


def test_the_file_holds_snapshots_and_no_widget(saved: str) -> None:
    cells = json.loads(saved)["cells"]
    assert WIDGET not in saved
    assert '"widgets"' not in saved
    for face in ("text/html", "text/plain"):
        is_said_in = {
            "".join(cell["source"]): "".join(
                part for output in cell["outputs"] for part in output.get("data", {}).get(face, [])
            )
            for cell in cells
        }
        assert all(is_said_in[code] for code in SHOWN if code != "card")
    assert len(saved) < 120_000


def test_the_file_holds_no_secret(saved: str) -> None:
    shown = "".join(str(cell["outputs"]) for cell in json.loads(saved)["cells"])
    assert "Tr0ub4dor" not in shown
    assert "[redacted]" in shown


@pytest.mark.parametrize("kernel", ["no kernel", "a new kernel"])
@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "not trusted"])
def test_what_was_shown_is_there_when_it_is_opened_again(
    saved: str, app: str, elsewhere: Server, browser: Any, kernel: str, trusted: bool
) -> None:
    notebook = nbformat.reads(saved, as_version=4)
    name = f"{app}_{kernel}_{trusted}.ipynb".replace(" ", "_")
    if kernel == "no kernel":  # as on a machine that has no such kernel
        notebook.metadata = {"kernelspec": {"name": "gone", "display_name": "Gone", "language": "gone"}}
    notebook.metadata["made-for"] = name  # a content of its own, which nobody has signed
    nbformat.write(notebook, elsewhere.folder / name)
    if trusted:
        notary = NotebookNotary()
        notary.sign(nbformat.read(elsewhere.folder / name, as_version=4))
        notary.store.close()
    page = browser.new_page(viewport={"width": 1100, "height": 1400})
    page.set_default_timeout(60_000)
    page.goto(elsewhere.page(app, name))
    if kernel == "no kernel":
        page.locator(".jp-Dialog select").select_option(label="No Kernel")
        page.locator(".jp-Dialog .jp-mod-accept").click()
    page.locator(".jp-RenderedHTML", has_text="Nothing ran").wait_for()
    if kernel == "a new kernel":
        page.wait_for_function("() => document.querySelector('[data-status=idle]') !== null")
        page.wait_for_timeout(3_000)  # JupyterLab looks for a missing model for two seconds before it says so
    assert page.locator(".jp-RenderedHTML.jp-mod-trusted").count() == (len(SHOWN) + 1 if trusted else 0)
    is_said(seen(page))
    OUTPUT.mkdir(exist_ok=True)
    page.screenshot(path=OUTPUT / f"saved_{name}.png")
    assert "Error displaying widget" not in page.content()
    assert "Loading widget" not in page.content()
    page.close()


def test_a_page_made_of_it_shows_them_offline(saved: str, browser: Any, tmp_path: Path) -> None:
    (tmp_path / "made.ipynb").write_text(saved)
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--log-level", "ERROR", "made.ipynb"]
    subprocess.run(command, check=True, cwd=tmp_path)
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto((tmp_path / "made.html").as_uri())
    is_said(seen(page))
    context.close()
