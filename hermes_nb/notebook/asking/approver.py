"""Asking a person in a notebook: a live card, else ``input()``, else no."""

from __future__ import annotations

import _thread
import threading
from typing import TYPE_CHECKING, Any

from hermes_nb.approval.approvers import answered, question, summary
from hermes_nb.approval.decision import Approver, Decision, Request
from hermes_nb.notebook.frontend.listening import is_executing_here, listening, running_kernel, someone_is_there

if TYPE_CHECKING:
    from hermes_nb.notebook.asking.desk import Desk

#: Seconds in which a front end must have shown a question; it takes about 0.1.
HANDSHAKE = 2.5


def notebook_approver() -> Approver | None:
    """The approver for this notebook, or None outside of a kernel."""
    return NotebookApprover() if running_kernel() is not None else None


class NotebookApprover:
    """Asks whoever sits at the notebook.

    In a running cell the question is a card in its output; if the front end can't make its buttons work, it is asked
    by ``input()``. A call from a worker thread asks at the widget it was started from, or in the inbox. Where nobody
    can see the question, or nobody answers in time, the answer is no.

    Args:
        handshake: Seconds in which the front end must have shown the question.
    """

    def __init__(self, handshake: float = HANDSHAKE) -> None:
        self.handshake = handshake

    def decide(self, request: Request) -> Decision:
        """What the person says."""
        from hermes_nb.notebook.asking.desk import chosen_desk

        kernel = running_kernel()
        desk = chosen_desk()
        if kernel is None:
            return _nobody(request, "there is no notebook to ask in")
        if desk is not None:
            return self._elsewhere(request, kernel, desk)
        if not someone_is_there(kernel):
            return _nobody(request, "nobody is at the notebook")
        if is_executing_here(kernel):
            return self._in_cell(request, kernel)
        return self._in_inbox(request, kernel)

    def _in_cell(self, request: Request, kernel: Any) -> Decision:
        from hermes_nb.notebook.asking.desk import ApprovalCard
        from hermes_nb.notebook.asking.question import NOBODY, PERSON, Question

        asked = Question(request)
        card = ApprovalCard(asked)
        card.kept.show()
        try:
            with listening(kernel) as wait:
                live = card.ask(asked, wait, self.handshake)
            if not live:
                decision = ask_by_input(request)
                asked.settle(decision, NOBODY if decision.by == "nobody" else PERSON)
                card.note(asked)
        finally:
            card.kept.settle()  # what was decided must be readable without a kernel
        assert asked.decision is not None
        return asked.decision

    def _in_inbox(self, request: Request, kernel: Any) -> Decision:
        from IPython.display import display

        from hermes_nb.notebook.asking.desk import inbox

        desk = inbox()
        decision = self._asked(request, kernel, desk) if desk.is_displayed else None
        if decision is None:
            display(desk)  # type: ignore[no-untyped-call]  # lands in the cell that runs now, if there is one
            decision = self._asked(request, kernel, desk)
        unseen = (
            "the approval inbox is not on display, or can't be heard while the cell runs: "
            "show hermes.notebook.inbox() first, or call from the cell itself"
        )
        return decision or _nobody(request, unseen)

    def _elsewhere(self, request: Request, kernel: Any, desk: Desk) -> Decision:
        decision = self._asked(request, kernel, desk)
        return decision or _nobody(request, "the widget that it was called from is not on display any more")

    def _asked(self, request: Request, kernel: Any, desk: Desk) -> Decision | None:
        from hermes_nb.notebook.asking.question import Question

        asked = Question(request)
        with listening(kernel) as wait:
            desk.ask(asked, wait, self.handshake)
        return asked.decision


def ask_by_input(request: Request) -> Decision:
    """Ask by ``input()`` in the main thread; no answer in time, or no input to ask by, means no."""
    try:
        line = _line_within(request.timeout, question(request))
    except TimeoutError:
        return _nobody(request, f"no answer within {request.timeout:g} s")
    except (EOFError, NotImplementedError, RuntimeError) as error:  # StdinNotImplementedError is of the latter two
        return _nobody(request, f"there is no input to ask by ({type(error).__name__})")
    return answered(request, line)


def _line_within(seconds: float, prompt: str) -> str:
    """What ``input()`` returns. It can't be given a time, so it is interrupted when that is over."""
    expired = threading.Event()
    over = threading.Lock()  # held by whichever of the two comes first, from then on

    def expire() -> None:
        if over.acquire(blocking=False):
            expired.set()
            _thread.interrupt_main()

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        line = input(prompt)
        if not over.acquire(blocking=False):
            expired.wait(1)  # the interrupt is on its way: it must not hit what comes after us
            threading.Event().wait(1)
    except KeyboardInterrupt:
        if expired.is_set():
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
    return line


def _nobody(request: Request, why: str) -> Decision:
    return Decision.deny(f"{summary(request)}; {why}").by_whom("nobody")
