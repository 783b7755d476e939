"""Feed, budget and jobs in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .jupyter import Notebook

SETUP = """
import time, threading
import hermes_nb as hermes
from hermes_nb.approval.approvers import ScriptedApprover
from hermes_nb.approval.assessment import Assessment, Finding
from hermes_nb.approval.decision import Decision
from hermes_nb.notebook import budget, explore, feed, jobs

tools = hermes.Registry()
risky = lambda args, context: Assessment((Finding("delete", "deletes a file", args["path"]),))

@hermes.tool(toolset="files", registry=tools, parallel=True)
def fetch(url: str, wait: float = 0.05) -> str:
    "Fetch a page."
    time.sleep(wait)
    return f"<script>document.title = 'owned'</script> of {url}"

@hermes.tool(toolset="files", registry=tools)
def parse(text: str) -> int:
    "Read a number."
    return int(text)

@hermes.tool(toolset="files", registry=tools, guard=risky)
def remove(path: str) -> str:
    "Delete a file."
    return "gone"

for server, size in {"github": 40, "jira": 25, "slack": 18, "mail": 9, "maps": 6}.items():
    for n in range(size):
        schema = {"type": "object", "properties": {"id": {"type": "integer", "description": "Which one is meant."}}}
        tools.register(f"{server}_action_{n}", f"mcp-{server}", schema, lambda args, **context: "done",
            description=f"Do the {n}th of the things that {server} can do, with all the care that it takes.")

@hermes.tool(toolset="shell", registry=tools, guard=risky)
def command(path: str, code: int) -> dict:
    "Run a command that may fail by itself."
    return {"stdout": "", "stderr": "no such file", "exit_code": code}

@hermes.tool(toolset="own", registry=tools)
def look_up(key: str) -> str:
    "Look something up."
    return {}[key]

answers = [Decision.once("fine"), Decision.deny("not that one")]
session = hermes.Session(registry=tools, context_length=60_000, approver=ScriptedApprover(answers))
session.call("fetch", {"url": "https://example.org/first"})
"""


@pytest.fixture(scope="module", autouse=True)
def _setup(notebook: Notebook) -> None:
    notebook.run(SETUP)


@pytest.fixture(scope="module")
def feed(notebook: Notebook) -> Any:
    shown = notebook.run("feed(session)").locator(".hermes-feed.hermes-ready")
    shown.wait_for()
    return shown


def test_the_feed_shows_past_calls_and_new_ones_as_they_end(notebook: Notebook, feed: Any) -> None:
    assert feed.locator(".hermes-row").count() == 1
    notebook.run("""
session.call_many([("fetch", {"url": f"https://example.org/{n}", "wait": 0.1 + n / 50}) for n in range(5)])
session.call("parse", {"text": "twelve"})
session.call("remove", {"path": "build/cache"})
session.call("remove", {"path": "src"})
session.call("parse", {})
session.call("parse", {"text": "12"})""")
    feed.locator(".hermes-toolbar", has_text="11 calls").wait_for()
    feed.locator(".hermes-row", has_text="denied").click()
    assert "not that one" in feed.locator(".hermes-call").inner_text()
    notebook.screenshots(feed, "feed")


def test_the_feed_can_be_filtered(feed: Any) -> None:
    feed.get_by_label("Filter calls").fill("remove")
    feed.locator(".hermes-toolbar", has_text="2 of 11 calls").wait_for()
    feed.get_by_label("Filter calls").fill("")
    feed.get_by_label("Outcome").select_option("ok")
    feed.locator(".hermes-toolbar", has_text="8 of 11 calls").wait_for()
    assert feed.locator(".hermes-timeline rect").count() == 8


def test_a_new_call_leaves_the_reader_where_they_read(notebook: Notebook, feed: Any) -> None:
    feed.get_by_label("Outcome").select_option("")
    rows = feed.locator(".hermes-scroll")
    rows.evaluate("list => { list.scrollTop = 20; }")
    notebook.run("session.call('parse', {'text': '13'})")
    feed.locator(".hermes-toolbar", has_text="12 calls").wait_for()
    assert rows.evaluate("list => list.scrollTop") == 50


def test_nothing_that_a_tool_returned_becomes_markup(notebook: Notebook, feed: Any) -> None:
    feed.get_by_label("Filter calls").fill("first")
    feed.locator(".hermes-row", has_text="example.org/first").click()
    assert "<script>document.title" in feed.locator(".hermes-call").inner_text()
    assert notebook.page.title() != "owned"


def test_a_commands_own_failure_and_an_edit_can_be_seen(notebook: Notebook) -> None:
    notebook.run("""
edit = Decision.once(args={"path": "status", "code": 1})
audit = hermes.Session(registry=tools, approver=ScriptedApprover([edit, Decision.once, Decision.deny("no")]))
failed = audit.call("command", {"path": "clean", "code": 1})
audit.call("command", {"path": "x", "code": 1})
audit.call("look_up", {"key": "missing"})
audit.call("parse", {"text": "1"})""")
    shown = notebook.run("feed(audit)").locator(".hermes-feed.hermes-ready")
    shown.wait_for()
    badges = shown.locator(".hermes-row .hermes-badge").all_inner_texts()
    assert badges == ["✓ ok", "✗ error", "⊘ denied", "✗ exit 1"]
    shown.get_by_label("Outcome").select_option("✗ exit 1")
    shown.locator(".hermes-row", has_text="edited").click()
    assert '"path": "status",' in shown.locator(".hermes-call ins").all_inner_texts()
    shown.get_by_label("Outcome").select_option("")
    notebook.screenshots(shown, "feed_failed")
    replayed = notebook.run("hermes.replay(audit.id)")
    replayed.locator("td", has_text="✗ exit 1").first.wait_for()
    notebook.screenshots(replayed, "replay_failed")
    notebook.screenshots(notebook.run("failed"), "result_failed")


def test_the_author_of_a_tool_that_fails_sees_where(notebook: Notebook) -> None:
    cell = notebook.run("audit.call('look_up', {'key': 'missing'})")
    fold = cell.locator("summary", has_text="where it was raised")
    frames = cell.locator("details pre", has_text="return {}[key]")
    assert not frames.is_visible()
    fold.click()
    frames.wait_for()
    assert "hermes_nb" not in frames.inner_text()
    notebook.screenshots(cell, "result_traceback")


def test_the_budget_says_what_a_server_less_would_change(notebook: Notebook) -> None:
    shown = notebook.run("budget(session)").locator(".hermes-budget.hermes-ready")
    shown.wait_for()
    assert "tool search is active" in shown.locator(".hermes-sentence").inner_text()
    notebook.screenshots(shown, "budget")
    shown.locator(".hermes-set", has_text="mcp-github").click()
    shown.locator(".hermes-sentence", has_text="Without mcp-github").wait_for()
    assert "tool search would switch off" in shown.locator(".hermes-sentence").inner_text()
    notebook.screenshots(shown, "budget_less")
    shown.locator(".hermes-set", has_text="mcp-github").click()
    shown.locator(".hermes-sentence", has_text="tool search is active").wait_for()


JOBS = """
import subprocess, types
class Job:
    status, exit_code = "running", None
    def __init__(self, id, command):
        self.id, self.command, self.started, self.text = id, command, time.time(), ""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(["bash", "-c", command], text=True, bufsize=1, **pipes)
        threading.Thread(target=self.follow, daemon=True).start()
    def follow(self):
        for line in self.process.stdout:
            self.text += line
        self.exit_code = self.process.wait()
        self.status = "exited" if self.exit_code >= 0 else "killed"
    def log(self): return self.text
    def write(self, data): self.process.stdin.write(data); self.process.stdin.flush()
    def close_stdin(self): self.process.stdin.close()
    def kill(self): self.process.kill(); self.process.wait()

count = 'for n in 1 2 3; do echo "step $n of 3"; sleep 0.1; done; echo done'
started = [Job("job-1", count), Job("job-2", 'while read line; do echo "you said: $line"; done')]
jobs(types.SimpleNamespace(id="jobs", jobs=started))
"""


def test_jobs_show_their_output_take_input_and_stop(notebook: Notebook) -> None:
    shown = notebook.run(JOBS).locator(".hermes-jobs.hermes-ready")
    shown.wait_for()
    shown.locator('[data-job="job-1"]').click()
    shown.locator(".hermes-tail", has_text="done").wait_for()
    shown.locator('[data-job="job-1"]', has_text="exited 0").wait_for()
    shown.locator('[data-job="job-2"]').click()
    shown.get_by_label("Write to standard input").fill("hello")
    shown.get_by_label("Write to standard input").press("Enter")
    shown.locator(".hermes-tail", has_text="you said: hello").wait_for()
    notebook.screenshots(shown, "jobs")
    shown.get_by_role("button", name="Stop").click()
    shown.locator('[data-job="job-2"]', has_text="killed").wait_for()


def test_the_saved_notebook_is_small_and_has_an_honest_static_face(notebook: Notebook) -> None:
    notebook.page.locator(".jp-RenderedHTML", has_text="12 calls").wait_for(state="attached")
    saved = notebook.save()
    assert len(saved) < 150_000
    assert '"widgets"' not in saved
    assert "widget-view" not in saved
    assert "tool search is active" in saved  # the budget's sentence
    assert "12 calls" in saved  # the feed as it was at the last
