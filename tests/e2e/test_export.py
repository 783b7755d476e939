"""An exported session in a browser without a network: found, folded, in light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_nb import Registry, Session, tool
from hermes_nb.approval.approvers import ScriptedApprover
from hermes_nb.approval.assessment import Assessment, Finding
from hermes_nb.approval.decision import Decision
from hermes_nb.notebook.widgets.session_page import export

from .jupyter import MILLISECONDS, OUTPUT

CALLS = 900


def session_with_calls() -> Session:
    """A session in which some calls failed, and some were decided on."""
    registry = Registry()

    def risky(args: Any, context: Any) -> Assessment:
        return Assessment((Finding("delete", "deletes a file", args["path"]),))

    @tool(toolset="web", registry=registry)
    def fetch(url: str) -> str:
        """Fetch a page."""
        return f"<script>document.title = 'owned'</script></script> of {url}"

    @tool(toolset="words", registry=registry)
    def parse(text: str) -> int:
        """Read a number."""
        return int(text)

    @tool(toolset="files", registry=registry, guard=risky)
    def remove(path: str) -> str:
        """Delete a file."""
        return "gone"

    answers = [Decision.once("fine"), Decision.deny("not that one")]
    session = Session(registry=registry, context_length=60_000, approver=ScriptedApprover(answers))
    session.call("remove", {"path": "build/cache"})
    session.call("remove", {"path": "src"})
    session.call("parse", {"text": "twelve"})
    for number in range(CALLS - 3):
        session.call("fetch", {"url": f"https://example.org/{number}"})
    return session


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("export")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HERMES_NB_HOME", str(folder / "home"))
        with session_with_calls() as session:
            written = export(session.journal, folder, "of-a-day", session)
    context = browser.new_context(offline=True, color_scheme="dark", viewport={"width": 1100, "height": 1000})
    opened = context.new_page()
    opened.set_default_timeout(MILLISECONDS)
    opened.problems = []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("console", lambda said: opened.problems.append(said.text) if said.type == "error" else None)
    opened.goto(written.path.as_uri())
    opened.wait_for_function("() => document.documentElement.dataset.ready === 'true'")
    yield opened
    context.close()


def tally(page: Any, words: str) -> None:
    page.locator(".hermes-toolbar [role=status]", has_text=words).wait_for()


def test_it_opens_with_all_calls_and_without_a_complaint(page: Any) -> None:
    tally(page, "900 calls")
    assert page.locator(".hermes-timeline rect").count() == 300
    assert page.locator("details", has_text="Schema tokens by toolset").count() == 1
    assert page.title() == "Session of-a-day"  # nothing that a tool returned has run
    assert page.problems == []


def test_calls_are_found_by_words_tool_and_outcome(page: Any) -> None:
    search = page.get_by_label("Search calls")
    search.fill("example.org/89 owned")
    tally(page, "8 of 900 calls")
    search.fill("not that one")
    tally(page, "1 of 900 calls")
    search.fill("")
    page.get_by_label("All tools").select_option("remove")
    tally(page, "2 of 900 calls")
    page.get_by_label("All outcomes").select_option("denied")
    tally(page, "1 of 900 calls")
    page.get_by_label("All tools").select_option("")
    page.get_by_label("All outcomes").select_option("error")
    page.locator(".hermes-entry", has_text="twelve").wait_for()
    page.get_by_label("All outcomes").select_option("")
    tally(page, "900 calls")


def test_a_call_unfolds_in_place(page: Any) -> None:
    denied = page.locator(".hermes-entry", has_text="denied").first
    denied.locator("summary").click()
    shown = denied.locator(".hermes-call")
    shown.wait_for()
    assert "not that one" in shown.inner_text()
    assert '"path": "src"' in shown.inner_text()
    page.get_by_role("button", name="Unfold").click()
    page.locator(".hermes-entry").nth(5).locator(".hermes-call pre").first.wait_for()
    page.get_by_role("button", name="Fold", exact=True).click()
    page.locator(".hermes-entry[open]").first.wait_for(state="detached")


def test_the_rest_is_drawn_when_it_comes_near(page: Any) -> None:
    assert page.locator(".hermes-entry").count() < CALLS
    for _ in range(40):
        page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        page.wait_for_function("() => new Promise(resolve => requestAnimationFrame(() => resolve(true)))")
    page.wait_for_function(f"() => document.querySelectorAll('.hermes-entry').length === {CALLS}")
    page.evaluate("window.scrollTo(0, 0)")


def test_the_timeline_leads_to_a_call(page: Any) -> None:
    page.get_by_role("button", name="Later").click()
    page.locator(".hermes-steps", has_text="calls 301 to 600 of 900").wait_for()
    page.locator(".hermes-timeline rect").last.dispatch_event("click")
    assert page.locator("#call-599 .hermes-call").is_visible()
    assert "example.org/596" in page.locator("#call-599").inner_text()


def test_it_is_light_or_dark_as_the_reader_likes(page: Any) -> None:
    OUTPUT.mkdir(exist_ok=True)
    page.evaluate("window.scrollTo(0, 0)")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(13, 17, 23)"
    page.screenshot(path=OUTPUT / "export_dark.png")
    page.get_by_role("button", name="Light").click()
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.screenshot(path=OUTPUT / "export_light.png")
