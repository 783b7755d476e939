"""The explorer in a browser: type, filter, choose, run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from .jupyter import Notebook

SETUP = """
from typing import Annotated, Any, Literal
import hermes_nb as hermes
from hermes_nb.approval.assessment import Assessment, Finding
from hermes_nb.notebook.asking.approver import NotebookApprover
from hermes_nb.notebook import explore

tools = hermes.Registry()
risky = lambda args, context: Assessment((Finding("drop", "deletes an issue for good", args["title"]),))

@hermes.tool(toolset="mcp-github", registry=tools, emoji="🐙")
def create_issue(
    title: str, body: str = "", labels: list[str] = [], priority: Literal["low", "high"] = "low",
    votes: int = 0, draft: bool = False, extra: dict[str, Any] | None = None,
) -> dict:
    "Open a new issue in a repository, with labels and a priority.\\n\\nArgs:\\n    title: What it is about."
    return {"title": title, "labels": labels, "priority": priority, "votes": votes, "draft": draft, "extra": extra}

@hermes.tool(toolset="mcp-github", registry=tools, guard=risky)
def delete_issue(title: str) -> str:
    "Delete an issue."
    return f"<b>deleted</b> {title}"

@hermes.tool(toolset="mcp-mail", registry=tools)
def send_mail(to: str, subject: str) -> str:
    "Send a message to someone by electronic mail."
    return "sent"

@hermes.tool(toolset="mcp-weather", registry=tools, requires_env=["WEATHER_NOT_SET"])
def forecast(city: str) -> str:
    "The weather of the next days."
    return "rain"

@hermes.tool(toolset="file", registry=tools)
def read_file(path: str) -> str:
    "Read a text file, with line numbers."
    return "1: text"

for n in range(60):
    verb = ["list", "read", "update"][n % 3]
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
    tools.register(f"{verb}_record_{n}", f"mcp-crm-{n % 4}", schema, lambda args, **context: "done",
        description=f"Work with customer records of kind {n}.")

session = hermes.Session(registry=tools, context_length=20_000, approver=NotebookApprover(handshake=120))
explore(session)
"""


@pytest.fixture(scope="module")
def explorer(notebook: Notebook) -> Any:
    cell = notebook.run(SETUP)
    shown = cell.locator(".hermes-explorer.hermes-ready")
    shown.wait_for()
    shown.scroll_into_view_if_needed()
    return shown


def search(explorer: Any, query: str) -> list[str]:
    explorer.locator(".hermes-search").fill(query)
    explorer.page.wait_for_function(
        "([root, query]) => root.dataset.query === query", arg=[explorer.element_handle(), query]
    )
    return explorer.locator(".hermes-row-name").all_inner_texts()


def choose(explorer: Any, name: str) -> Any:
    search(explorer, name)
    explorer.locator(".hermes-row", has_text=name).first.click()
    tool = explorer.locator(f'.hermes-tool[aria-label="{name}"]')
    tool.wait_for()
    return tool


def test_typing_ranks_all_tools_as_the_magic_does(notebook: Notebook, explorer: Any) -> None:
    assert search(explorer, "e-mail")[0] == "send_mail"
    assert search(explorer, "open an issue")[0] == "create_issue"
    found = search(explorer, "read a file")
    assert found[0] == "read_file"
    assert "always shown" in explorer.locator(".hermes-row").first.inner_text()
    notebook.screenshots(explorer, "explorer_search")
    cell = notebook.run("print(*[hit.name for hit in session.search('read a file', 100, all=True).matches])")
    assert cell.locator(".jp-OutputArea-output").first.inner_text().split()[: len(found)] == found
    shown = notebook.run("%load_ext hermes_nb\nhermes.notebook.use(session)\n%hermes search read a file")
    shown.locator("td", has_text="always shown").wait_for()
    notebook.screenshots(shown, "search_all")


def test_a_tool_costs_the_same_wherever_it_is_shown(notebook: Notebook, explorer: Any) -> None:
    cell = notebook.run("print(f\"{session.budget().per_tool['create_issue']:,} tokens\")")
    cost = cell.locator(".jp-OutputArea-output").first.inner_text().strip()
    tool = choose(explorer, "create_issue")
    assert tool.locator(".hermes-chip", has_text="tokens").inner_text() == cost


def test_a_filter_keeps_one_state_and_says_how_many_are_left(explorer: Any) -> None:
    search(explorer, "")
    explorer.get_by_label("All states").select_option(label="unavailable (1)")
    assert explorer.locator(".hermes-row-name").all_inner_texts() == ["forecast"]
    assert explorer.locator(".hermes-found").inner_text() == "1 of 65 tools"
    explorer.get_by_label("All states").select_option("")


def test_the_gauge_says_what_the_model_sees_now(explorer: Any) -> None:
    assert "63 are deferred behind tool_search" in explorer.locator(".hermes-gauge").inner_text()


def test_a_form_sends_typed_arguments_and_shows_the_result(notebook: Notebook, explorer: Any) -> None:
    tool = choose(explorer, "create_issue")
    tool.locator('[data-field="title"] input').fill("It rains")
    tool.locator('[data-field="priority"] select').select_option("high")
    tool.locator('[data-field="votes"] input').fill("3")
    tool.locator('[data-field="draft"] select').select_option("true")
    for label in ("bug", "weather"):
        tool.get_by_label("Add to labels").click()
        tool.locator(".hermes-list-row input").last.fill(label)
    tool.locator('[data-field="extra"] textarea').fill('{"a": 1}')
    tool.get_by_role("button", name="Run").click()
    result = tool.locator(".hermes-result-text")
    result.wait_for()
    expected = {"labels": ["bug", "weather"], "priority": "high", "votes": 3, "draft": True, "extra": {"a": 1}}
    assert json.loads(result.inner_text()) == {"title": "It rains", **expected}
    notebook.screenshots(explorer, "explorer_form")


def test_a_required_field_that_is_empty_stops_the_run(explorer: Any) -> None:
    tool = choose(explorer, "send_mail")
    tool.get_by_role("button", name="Run").click()
    assert tool.locator(".hermes-result-text, .hermes-running").count() == 0
    assert tool.locator("form").evaluate("form => form.checkValidity()") is False


def test_what_is_wrong_with_json_is_said_at_its_field(explorer: Any) -> None:
    tool = choose(explorer, "create_issue")
    tool.locator('[data-field="title"] input').fill("x")
    tool.locator('[data-field="extra"] textarea').fill("{oops")
    tool.get_by_role("button", name="Run").click()
    assert "extra: not JSON" in tool.locator(".hermes-problem").inner_text()


def test_a_dangerous_call_from_the_form_is_asked_about_in_the_explorer(notebook: Notebook, explorer: Any) -> None:
    tool = choose(explorer, "delete_issue")
    tool.locator('[data-field="title"] input').fill("old one")
    tool.get_by_role("button", name="Run").click()
    once = explorer.locator('.hermes-card [data-choice="once"]')
    once.wait_for()
    notebook.screenshots(explorer, "explorer_approval")
    once.click()
    result = tool.locator(".hermes-result-text")
    result.wait_for()
    assert result.inner_text() == "<b>deleted</b> old one"  # as text: nothing a tool says becomes markup


def test_a_call_can_be_copied_as_code_and_as_magic(explorer: Any) -> None:
    tool = choose(explorer, "create_issue")
    tool.locator('[data-field="title"] input').fill('say "hi"')
    tool.locator('[data-field="draft"] select').select_option("false")
    source = tool.locator(".hermes-source")
    tool.get_by_role("button", name="Copy as code").click()
    assert source.inner_text() == 'session.call("create_issue", {"title": "say \\"hi\\"", "draft": False})'
    tool.get_by_role("button", name="Copy").last.click()
    assert source.inner_text() == '%hermes call create_issue {"title":"say \\"hi\\"","draft":false}'


def test_the_keyboard_moves_through_the_list(notebook: Notebook, explorer: Any) -> None:
    first = search(explorer, "mail")[0]
    explorer.locator(".hermes-search").press("ArrowDown")
    explorer.locator(".hermes-search").press("Enter")
    explorer.locator(f'.hermes-tool[aria-label="{first}"]').wait_for()


def test_a_tool_that_is_registered_later_is_found(notebook: Notebook, explorer: Any) -> None:
    notebook.run("hermes.tool(lambda move: move, toolset='x', registry=tools, name='play_chess', description='Chess')")
    assert search(explorer, "chess")[0] == "play_chess"


@pytest.mark.parametrize("width", [420, 1180])
def test_it_fits_the_width_it_is_given(notebook: Notebook, explorer: Any, width: Literal[420, 1180]) -> None:
    search(explorer, "issue")
    explorer.evaluate("(root, width) => { root.style.maxWidth = `${width}px`; }", width)
    assert explorer.evaluate("root => root.scrollWidth <= root.clientWidth")
    if width == 420:
        notebook.screenshots(explorer, "explorer_narrow")
