"""A person decides about a call, in the output of the running cell."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .jupyter import Notebook

SETUP = """
import threading
import hermes_nb as hermes
from hermes_nb.approval.assessment import Assessment, Finding
from hermes_nb.notebook.asking.approver import NotebookApprover

def guard(args, context):
    command = args["command"]
    if "rm -rf" not in command:
        return Assessment()
    start = command.index("rm -rf")
    return Assessment((Finding("recursive_delete", "deletes a folder and everything in it", command[start:]),))

tools = hermes.Registry()

def show(args):
    return hermes.ApprovalView(text=args["command"], edits="command", language="shell")

@hermes.tool(toolset="demo", registry=tools, guard=guard, approval_view=show)
def shell(command: str) -> str:
    "Run a command."
    return f"ran {command}"

@hermes.tool(toolset="demo", registry=tools, guard=guard)
def undeclared(command: str, times: int) -> str:
    "Run a command, and say nothing of how it is shown."
    return f"ran {command} {times} times"

def session(timeout=600):
    config = {"approval": {"timeout": timeout}}
    return hermes.Session(registry=tools, config=config, approver=NotebookApprover(handshake=120))
"""
ASK = (
    "r = session().call('shell', {'command': 'cd build && rm -rf ./cache'})\nprint('outcome:', r.outcome, '|', r.text)"
)


@pytest.fixture(scope="module", autouse=True)
def _setup(notebook: Notebook) -> None:
    notebook.run(SETUP)


def button(cell: Any, choice: str) -> Any:
    return cell.locator(f'.hermes-card [data-choice="{choice}"]')


def armed(notebook: Notebook, cell: Any) -> None:
    """Wait until the card takes answers: it doesn't in its first moment."""
    button(cell, "once").wait_for()
    notebook.page.wait_for_function("b => !b.disabled", arg=button(cell, "once").element_handle())


def expect_text(cell: Any, text: str) -> None:
    cell.locator(".jp-OutputArea-output", has_text=text).first.wait_for()


def test_a_command_is_broken_between_its_words_only(notebook: Notebook) -> None:
    words = "cd /srv/www-data && rm -rf ./cache-of-yesterday || echo some--thing/else/entirely; true "
    cell = notebook.start(f"r = session().call('shell', {{'command': {words!r} * 6}})")
    button(cell, "once").wait_for()
    command = cell.locator(".hermes-command")
    assert command.inner_text() == (words * 6)
    for width in (700, 430, 290):
        command.evaluate("(block, width) => { block.style.width = `${width}px`; }", width)
        heights = command.locator(".hermes-word").evaluate_all("all => all.map((word) => word.offsetHeight)")
        assert len(heights) == 6 * len(words.split())
        assert max(heights) < 30  # each on one line
        assert command.evaluate("block => block.scrollWidth <= block.clientWidth")
    command.evaluate("block => { block.style.width = ''; }")
    notebook.screenshots(cell.locator(".hermes-card"), "approval_long")
    button(cell, "once").click()
    notebook.wait_until_idle()


def test_approving_once_runs_the_call_and_leaves_what_was_decided(notebook: Notebook) -> None:
    cell = notebook.start(ASK)
    button(cell, "once").wait_for()
    assert cell.locator(".hermes-command mark").inner_text() == "rm -rf ./cache"
    button(cell, "once").click()
    expect_text(cell, "outcome: ok | ran cd build && rm -rf ./cache")
    assert "Approved once" in cell.locator(".hermes-decided").inner_text()
    assert cell.locator(".hermes-card").count() == 0
    notebook.screenshots(cell, "approval_record")


def test_the_card_looks_right_in_both_themes(notebook: Notebook) -> None:
    cell = notebook.start(ASK)
    armed(notebook, cell)
    notebook.screenshots(cell, "approval_card")
    button(cell, "once").click()
    expect_text(cell, "outcome: ok")


def test_denying_with_a_reason_gives_the_model_the_reason(notebook: Notebook) -> None:
    cell = notebook.start(ASK)
    button(cell, "deny").click()
    cell.locator(".hermes-reason").fill("not on a Friday")
    cell.locator(".hermes-reason").press("Enter")
    expect_text(cell, "outcome: denied")
    expect_text(cell, "not on a Friday")


def test_an_edited_command_is_what_runs(notebook: Notebook) -> None:
    cell = notebook.start(ASK)
    button(cell, "edit").click()
    text = cell.locator(".hermes-edit")
    text.wait_for()
    assert text.input_value() == "cd build && rm -rf ./cache"
    text.fill("cd build && ls")
    notebook.screenshots(cell, "approval_edit")
    button(cell, "run-edit").click()
    expect_text(cell, "outcome: ok | ran cd build && ls")
    record = cell.locator(".hermes-decided")
    record.wait_for()
    assert "Edited and approved" in record.inner_text()
    assert record.locator("del").inner_text() == "cd build && rm -rf ./cache"
    assert record.locator("ins").inner_text() == "cd build && ls"
    notebook.screenshots(cell, "approval_edited")
    shown = notebook.run("r")
    shown.locator(".jp-OutputArea-output ins", has_text="cd build && ls").wait_for()
    notebook.screenshots(shown, "result_edited")


def test_of_a_tool_without_a_view_all_arguments_are_shown_and_edited_as_json(notebook: Notebook) -> None:
    cell = notebook.start(
        "r = session().call('undeclared', {'command': 'rm -rf <b>x</b>', 'times': 2})\n"
        "print('outcome:', r.outcome, r.text)"
    )
    armed(notebook, cell)
    assert cell.locator(".hermes-command").count() == 0
    assert cell.locator(".hermes-rows dt").all_inner_texts() == ["command", "times"]
    assert cell.locator(".hermes-rows dd").all_inner_texts() == ["rm -rf <b>x</b>", "2"]
    assert cell.locator(".hermes-rows mark").inner_text() == "rm -rf <b>x</b>"
    notebook.screenshots(cell, "approval_rows")
    button(cell, "edit").click()
    text = cell.locator(".hermes-edit")
    text.wait_for()
    assert json.loads(text.input_value()) == {"command": "rm -rf <b>x</b>", "times": 2}
    text.fill('{"command": "ls", "times": 3}')
    button(cell, "run-edit").click()
    expect_text(cell, "outcome: ok ran ls 3 times")


def test_approving_for_the_session_covers_the_next_call(notebook: Notebook) -> None:
    cell = notebook.start(
        "s = session()\nfor n in range(2):\n    print(n, s.call('shell', {'command': f'rm -rf {n}'}).outcome)"
    )
    button(cell, "session").click()
    expect_text(cell, "1 ok")
    assert cell.locator(".hermes-decided").count() == 1


def test_the_keyboard_is_enough(notebook: Notebook) -> None:
    cell = notebook.start(ASK)
    armed(notebook, cell)
    cell.locator(".hermes-command").focus()
    notebook.page.keyboard.press("Tab")
    assert notebook.page.evaluate("document.activeElement.dataset.choice") == "once"
    notebook.page.keyboard.press("Enter")
    expect_text(cell, "outcome: ok")


def test_a_click_made_by_a_script_in_another_output_counts_for_nothing(notebook: Notebook) -> None:
    cell = notebook.start(ASK)
    armed(notebook, cell)
    notebook.page.evaluate("""() => {
        const script = document.createElement('script');
        script.textContent = `for (const b of document.querySelectorAll('.hermes-card button')) {
            b.click(); b.dispatchEvent(new MouseEvent('click', {bubbles: true})); }`;
        document.querySelector('.jp-OutputArea').append(script); }""")
    assert cell.locator(".hermes-card").count() == 1
    button(cell, "deny").click()
    button(cell, "deny-now").click()
    expect_text(cell, "outcome: denied")  # had a forged click counted, it would have run


def test_no_answer_in_time_is_a_no(notebook: Notebook) -> None:
    cell = notebook.start(ASK.replace("session()", "session(timeout=1)"))
    expect_text(cell, "no answer within 1 s")
    expect_text(cell, "outcome: denied")


def test_interrupting_the_cell_ends_the_question(notebook: Notebook) -> None:
    cell = notebook.start(ASK)
    button(cell, "once").wait_for()
    notebook.interrupt()
    expect_text(cell, "KeyboardInterrupt")
    cell.locator(".hermes-decided", has_text="interrupted").wait_for()
    notebook.recover()


def test_a_call_from_a_worker_thread_asks_in_the_inbox(notebook: Notebook) -> None:
    notebook.run("from hermes_nb.notebook import inbox\ninbox()")
    shown = notebook.page.locator(".hermes-inbox")
    shown.wait_for()
    notebook.run(
        "seen = []\nwork = lambda: seen.append(session().call('shell', {'command': 'rm -rf /tmp/x'}).outcome)\n"
        "worker = threading.Thread(target=work); worker.start()"
    )
    shown.locator('[data-choice="once"]').click()
    expect_text(notebook.run("worker.join(120); print('seen:', seen)"), "seen: ['ok']")


def test_parallel_calls_of_a_running_cell_ask_one_after_the_other(notebook: Notebook) -> None:
    cell = notebook.start(
        "many = [('shell', {'command': f'rm -rf {n}'}) for n in 'ab']\n"
        "print('outcomes:', [r.outcome for r in session().call_many(many)])"
    )
    for _ in range(2):
        notebook.page.locator('.hermes-card [data-choice="once"] >> visible=true').first.click()
        notebook.page.locator(".hermes-sent").first.wait_for(state="detached")
    expect_text(cell, "outcomes: ['ok', 'ok']")


def test_the_saved_notebook_says_how_it_ended_and_holds_no_widget_state(notebook: Notebook) -> None:
    saved = json.loads(notebook.save())
    assert "widgets" not in saved["metadata"]
    texts = [
        "".join(output["data"]["text/plain"])
        for cell in saved["cells"]
        for output in cell.get("outputs", ())
        if "hermes-decided" in "".join(output.get("data", {}).get("text/html", ""))
    ]
    assert "application/vnd.jupyter.widget-view+json" not in json.dumps(saved)
    assert any(re.match(r"✔ Approved once: shell: cd build && rm -rf ./cache", text) for text in texts)
    assert any("not on a Friday" in text for text in texts)
    edited = "✔ Edited and approved: shell: cd build && rm -rf ./cache → cd build && ls"
    assert any(text.startswith(edited) for text in texts)
