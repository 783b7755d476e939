"""Asking at a terminal: a real one, and none at all."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import textwrap

import pytest

from ..parts import PATIENCE, run

PROGRAM = textwrap.dedent(
    """
    import sys
    from hermes_nb.approval.approvers import TerminalApprover
    from hermes_nb.approval.assessment import Finding
    from hermes_nb.approval.decision import Request
    from hermes_nb.approval.view import ApprovalView

    finding = Finding("deletion", "deletes files", "rm -rf build")
    args, patience = {"command": sys.argv[1]}, float(sys.argv[2])
    view = ApprovalView(text=sys.argv[1], rows=[("workdir", "/srv")], edits="command", language="shell")
    request = Request("terminal", args, (finding,), "local", "/home/me", patience, "s", "c", view)
    decision = TerminalApprover().decide(request)
    print("DECIDED", decision.choice, dict(decision.args or {}), decision.reason)
    """
)


def ask(answer: bytes | None, command: str = "rm -rf build", patience: str = "120") -> str:
    """Answer the question at a pseudo-terminal; all that was shown."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, command, patience],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    shown = b""
    try:
        while b"[y] once" not in shown:
            shown += os.read(controller, 4096)
        if answer is not None:
            os.write(controller, answer)
        while b"DECIDED" not in shown or not shown.endswith(b"\n"):
            shown += os.read(controller, 4096)
    finally:
        process.kill()
        process.wait(PATIENCE)
        os.close(controller)
    return shown.decode()


@pytest.mark.parametrize(
    ("answer", "decided"),
    [
        (b"y\n", "DECIDED once {}"),
        (b"s\n", "DECIDED session {}"),
        (b"a\n", "DECIDED always {}"),
        (b"\n", "DECIDED deny {}"),
        (b"what?\n", "DECIDED deny {}"),
        (b"n keep it\n", "DECIDED deny {} keep it"),
        (b"e ls build\n", "DECIDED once {'command': 'ls build'}"),
    ],
)
def test_an_answer_at_the_terminal_is_taken_and_everything_else_is_no(answer: bytes, decided: str) -> None:
    assert decided in ask(answer)


def test_no_answer_in_time_is_no() -> None:
    assert "DECIDED deny {} deletes files; no answer within 0.2 s" in ask(None, patience="0.2")


def test_what_is_shown_cannot_move_the_cursor_or_hide() -> None:
    shown = ask(b"n\n", command="echo safe\r\x1b[2Krm -rf build\u202e")
    question = shown.split("[y] once")[0]
    assert "\x1b" not in question
    assert "\u202e" not in question
    assert "\r\x1b" not in question
    assert "rm -rf build" in question


def test_no_line_of_a_command_can_pose_as_a_line_of_the_question() -> None:
    question = ask(b"n\n", command="rm -rf build\n[y] nothing to worry about").split("[y] once")[0]
    assert question.splitlines() == [
        "terminal wants to run on local in /home/me:",
        "    rm -rf build",
        "    [y] nothing to worry about",
        "    workdir: /srv",
        "  ! deletes files: rm -rf build",
    ]


def test_without_a_terminal_the_answer_is_no_at_once() -> None:
    done = run(sys.executable, "-c", PROGRAM, "rm -rf build", "120", stdin=subprocess.DEVNULL)
    assert "DECIDED deny {} deletes files; there is no terminal to ask at" in done.stdout
