"""The places where a person is asked: a card in the running cell, and an inbox for calls from elsewhere."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar

import traitlets

from hermes_nb.notebook.asking.decided import decided_html, decided_text
from hermes_nb.notebook.asking.question import PERSON, Question, record_text
from hermes_nb.notebook.faces.markup import AMBER, Html, join, tag
from hermes_nb.notebook.frontend.assets import script, style
from hermes_nb.notebook.frontend.widget import HermesWidget, Message

if TYPE_CHECKING:
    from hermes_nb.notebook.frontend.listening import Wait

_RECORDS_KEPT = 20


class Desk(HermesWidget):
    """A widget at which questions can be asked.

    The front end says ``ready`` until it is heard, shows what it is then sent, and says ``shown`` until that is heard:
    so a question counts as asked only where someone can see it and a click gets through.

    Attributes:
        records: What was decided here, the latest last.
        is_displayed: Whether a front end has ever shown this widget.
    """

    records = traitlets.List(traitlets.Dict()).tag(sync=True)
    answers: ClassVar[dict[str, str]] = {
        "ready": "greet",
        "shown": "_note",
        "answer": "_answer",
        "editable": "_give_editable",
    }

    def __init__(self, **traits: Any) -> None:
        self._open: dict[str, Question] = {}
        self._decided: deque[Question] = deque(maxlen=_RECORDS_KEPT)
        self.is_displayed = False
        super().__init__(**traits)

    def ask(self, question: Question, wait: Wait, handshake: float) -> bool:
        """Put a question to whoever looks at this widget; False if nobody does.

        However it ends, the question has left the desk then; unless nobody saw it, its decision is there.
        """
        self._open[question.nonce] = question
        try:
            self.send({"kind": "ask", "question": question.face()})
            if not wait(question.shown, handshake):
                return False
            if not wait(question.answered, question.remaining):
                question.deny(f"no answer within {question.request.timeout:g} s")
        except KeyboardInterrupt:
            question.deny("interrupted", PERSON)
            raise
        finally:
            del self._open[question.nonce]
            self._close(question)
        return True

    def note(self, question: Question) -> None:
        """Keep what was decided."""
        self._decided.append(question)
        self.records = [*self.records, question.record()][-_RECORDS_KEPT:]
        self.kept.changed()

    def decided_face(self) -> Html:
        """What was decided here, the latest last."""
        return join(map(decided_html, tuple(self._decided)))

    def greet(self, _message: Message) -> None:
        """Answer a front end that has just opened, with the questions that wait."""
        self.is_displayed = True
        self.send({"kind": "ack"})
        for question in tuple(self._open.values()):
            self.send({"kind": "ask", "question": question.face()})

    def _close(self, question: Question) -> None:
        if question.decision is not None:
            self.note(question)
        self.send({"kind": "closed", "nonce": question.nonce})

    def _question(self, message: Message) -> Question | None:
        question = self._open.get(str(message.get("nonce")))
        if question is None:
            self.send({"kind": "closed", "nonce": message.get("nonce")})
        return question

    def _note(self, message: Message) -> None:
        question = self._question(message)
        if question is not None:
            self.send({"kind": "noted", "nonce": question.nonce})
            question.shown.set()

    def _give_editable(self, message: Message) -> None:
        # The text as it is, secrets and all: sent to the one who edits it, and never kept in the widget's state.
        question = self._question(message)
        if question is not None:
            self.send({"kind": "editable", "nonce": question.nonce, "text": question.editable})

    def _answer(self, message: Message) -> None:
        question = self._question(message)
        if question is None:
            return
        edited = message.get("edited")
        problem = question.answer(
            str(message.get("choice")), str(message.get("reason") or ""), None if edited is None else str(edited)
        )
        if problem is not None:
            self.send({"kind": "problem", "nonce": question.nonce, "text": problem})


class ApprovalCard(Desk):
    """One question in the output of the cell that waits for it; afterwards, what was decided, which is no widget."""

    _esm = script("dom", "desk", "approval")
    _css = style("base", "approval")

    def __init__(self, question: Question) -> None:
        self._question_asked = question
        super().__init__()

    def text_face(self) -> str:
        """What was decided, or what is being asked."""
        if self._decided:
            return decided_text(self._question_asked)
        return f"? Approval asked for {self._question_asked.request.tool}: {self._question_asked.record()['subject']}"

    def html_face(self) -> str:
        """The same as a card."""
        if self._decided:
            return self.decided_face()
        return tag("div", tag("code", self.text_face()), style=f"border-left:4px solid {AMBER};padding:2px 10px")


class Inbox(Desk):
    """Where calls from worker threads ask: they have no cell of their own to show a card in."""

    _esm = script("dom", "living", "desk", "inbox")
    _css = style("base", "approval")

    def text_face(self) -> str:
        """How many questions wait, and what was decided."""
        return "\n".join([self._waiting(), *map(record_text, self.records)])

    def html_face(self) -> str:
        """The same, each decision as a card."""
        return join([tag("p", tag("b", self._waiting())), self.decided_face()])

    def _waiting(self) -> str:
        return f"Approval inbox: {len(self._open) or 'nothing'} waiting"


_inbox: Inbox | None = None
_inbox_lock = threading.Lock()


def inbox() -> Inbox:
    """The approval inbox of this kernel: display it once, and calls from worker threads ask there."""
    global _inbox
    with _inbox_lock:
        if _inbox is None or _inbox.comm is None:
            _inbox = Inbox()
        return _inbox


_desk: ContextVar[Desk | None] = ContextVar("hermes_nb_desk", default=None)


@contextmanager
def asking_at(desk: Desk) -> Iterator[None]:
    """Calls made meanwhile, in this context, ask at this widget."""
    token = _desk.set(desk)
    try:
        yield
    finally:
        _desk.reset(token)


def chosen_desk() -> Desk | None:
    """The widget at which the current call should ask, if it was started from one."""
    return _desk.get()
