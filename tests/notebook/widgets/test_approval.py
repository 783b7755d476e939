from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from hermes_nb.approval.approvers import TerminalApprover, default_approver
from hermes_nb.approval.decision import Request
from hermes_nb.notebook.asking.approver import NotebookApprover, notebook_approver
from hermes_nb.notebook.asking.desk import ApprovalCard, inbox
from hermes_nb.notebook.asking.question import Question

if TYPE_CHECKING:
    from .conftest import Outbox

Asked = Callable[..., Request]


def answering(card: ApprovalCard, *messages: dict[str, Any]) -> Callable[[threading.Event, float], bool]:
    """A way to wait in which the front end says one message at each look."""
    waiting = list(messages)

    def wait(event: threading.Event, _seconds: float) -> bool:
        while waiting and not event.is_set():
            card.receive(waiting.pop(0))
        return event.is_set()

    return wait


def test_a_question_that_no_front_end_has_shown_was_not_asked(asked: Asked, outbox: Outbox) -> None:
    question = Question(asked())
    card = ApprovalCard(question)
    outbox(card)
    assert not card.ask(question, answering(card), 0.1)
    assert question.decision is None


def test_an_answer_with_the_nonce_decides(asked: Asked, outbox: Outbox) -> None:
    question = Question(asked())
    card = ApprovalCard(question)
    sent = outbox(card)
    said = [{"kind": "shown", "nonce": question.nonce}, {"kind": "answer", "nonce": question.nonce, "choice": "once"}]
    assert card.ask(question, answering(card, *said), 1)
    assert question.decision is not None
    assert question.decision.allowed
    assert [message["kind"] for message in sent] == ["ask", "noted", "closed"]
    assert card.text_face().splitlines() == [
        "✔ Approved once: shell: cd build && rm -rf ./cache",
        "  found: deletes a folder: rm -rf ./cache",
        "  to run on local in /home/me; decided by the person at the notebook",
        "  Allowed to run as it was asked",
    ]


def test_an_answer_with_another_nonce_counts_for_nothing(asked: Asked, outbox: Outbox) -> None:
    question = Question(asked(timeout=0.01))
    card = ApprovalCard(question)
    outbox(card)
    said = [{"kind": "shown", "nonce": question.nonce}, {"kind": "answer", "nonce": "guessed", "choice": "once"}]
    card.ask(question, answering(card, *said), 1)
    assert question.decision is not None
    assert question.decision.reason.endswith("no answer within 0.01 s")


def test_an_interrupt_closes_the_card_and_goes_on(asked: Asked, outbox: Outbox) -> None:
    question = Question(asked())
    card = ApprovalCard(question)
    sent = outbox(card)

    def interrupted(_event: threading.Event, _seconds: float) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        card.ask(question, interrupted, 1)
    assert sent[-1]["kind"] == "closed"
    assert "interrupted" in card.text_face()


def test_a_front_end_that_opens_late_gets_the_open_question(asked: Asked, outbox: Outbox) -> None:
    question = Question(asked())
    card = ApprovalCard(question)
    sent = outbox(card)
    card.ask(question, answering(card, {"kind": "ready"}), 1)
    assert [message["kind"] for message in sent] == ["ask", "ack", "ask", "closed"]


def test_no_message_has_a_key_by_which_ipykernel_would_route_its_answer(asked: Asked, outbox: Outbox) -> None:
    # ipykernel 7.4 sends an answer that repeats a message's ``id`` to the shell that said it: the blocked one.
    question = Question(asked())
    card = ApprovalCard(question)
    sent = outbox(card)
    card.ask(question, answering(card, {"kind": "shown", "nonce": question.nonce}), 1)
    assert all("id" not in message for message in sent)


def test_the_faces_of_a_card_are_the_same_each_time(asked: Asked) -> None:
    faces = [ApprovalCard(Question(asked()))._repr_mimebundle_()[0] for _ in range(2)]
    for face in faces:
        face.pop("application/vnd.jupyter.widget-view+json")
    assert faces[0] == faces[1]
    assert not re.search(r"0x[0-9a-f]{6,}", str(faces[0]))


def test_a_face_escapes_what_the_command_says(asked: Asked) -> None:
    assert "<img" not in ApprovalCard(Question(asked("<img src=x>"))).html_face()


def test_the_face_of_an_edit_shows_old_and_new(asked: Asked, outbox: Outbox) -> None:
    question = Question(asked("rm <b>"))
    card = ApprovalCard(question)
    outbox(card)
    answer = {"kind": "answer", "nonce": question.nonce, "choice": "once", "edited": "ls <i>"}
    card.ask(question, answering(card, {"kind": "shown", "nonce": question.nonce}, answer), 1)
    assert card.text_face().startswith("✔ Edited and approved: shell: rm <b> → ls <i>\n")
    assert ">rm &lt;b&gt;</del>" in card.html_face()
    assert ">ls &lt;i&gt;</ins>" in card.html_face()


def test_there_is_one_inbox() -> None:
    assert inbox() is inbox()


def test_outside_of_a_kernel_the_terminal_is_asked() -> None:
    assert notebook_approver() is None
    assert isinstance(default_approver(), TerminalApprover)


def test_without_a_kernel_the_answer_is_no(asked: Asked) -> None:
    decision = NotebookApprover().decide(asked())
    assert not decision.allowed
    assert decision.by == "nobody"
