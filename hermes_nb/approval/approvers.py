"""Who can be asked: a person at a terminal, a function of yours, a script of answers, or nobody."""

from __future__ import annotations

import inspect
import select
import sys
import textwrap
from collections.abc import Awaitable, Callable, Iterable
from typing import cast

from hermes_nb.approval.decision import Approver, Decision, Request
from hermes_nb.approval.display import inert
from hermes_nb.common import aio
from hermes_nb.common.redact import redact
from hermes_nb.common.text import cut

_ANSWERS = {"y": Decision.once, "yes": Decision.once, "s": Decision.session, "a": Decision.always}
_LONGEST_TITLE = 120


class NobodyApprover:
    """Says no, because there is nobody to ask."""

    def __init__(self, why: str = "nobody is there to approve it") -> None:
        self.why = why

    def decide(self, request: Request) -> Decision:
        """No, with what was found and why nobody could be asked."""
        return Decision.deny(f"{summary(request)}; {self.why}").by_whom("nobody")


class ScriptedApprover:
    """Gives the answers it was given, one a question, then says no. For tests and demonstrations.

    Attributes:
        asked: The requests so far.
    """

    def __init__(self, answers: Iterable[Decision]) -> None:
        self._answers = list(answers)
        self.asked: list[Request] = []

    def decide(self, request: Request) -> Decision:
        """The next answer."""
        self.asked.append(request)
        return self._answers.pop(0) if self._answers else Decision.deny("no scripted answer is left")


class CallbackApprover:
    """Asks a function, sync or async: a chat gateway, a web page. No answer in time means no."""

    def __init__(self, callback: Callable[[Request], Decision | Awaitable[Decision]]) -> None:
        self._callback = callback

    def decide(self, request: Request) -> Decision:
        """What the function says, within the request's time."""
        try:
            if inspect.iscoroutinefunction(self._callback):
                return aio.run(lambda: self._await(request), request.timeout)
            answer = aio.within(request.timeout, lambda: self._callback(request))
        except aio.DeadlineExceeded:
            return Decision.deny(f"{summary(request)}; no answer within {request.timeout:g} s")
        return cast(Decision, answer)  # whatever else it may be is a no

    async def _await(self, request: Request) -> Decision:
        answer = self._callback(request)
        return answer if isinstance(answer, Decision) else await answer


class TerminalApprover:
    """Asks at the terminal. No terminal, no answer in time or the end of input means no."""

    def decide(self, request: Request) -> Decision:
        """Show the call with everything made visible, and read the answer."""
        if not _is_interactive():
            return Decision.deny(f"{summary(request)}; there is no terminal to ask at").by_whom("nobody")
        print(question(request), file=sys.stderr, flush=True)
        answer = _read_line(request.timeout)
        if answer is None:
            return Decision.deny(f"{summary(request)}; no answer within {request.timeout:g} s")
        return answered(request, answer)


#: Places other than a terminal where somebody may be asked: each gives its approver, or None where it is not now.
PLACES: list[Callable[[], Approver | None]] = []


def default_approver() -> Approver:
    """Who is asked when a session names nobody: whoever sits at the notebook, or at the terminal."""
    found = (approver for place in PLACES if (approver := place()) is not None)
    return next(found, None) or TerminalApprover()


def answered(request: Request, line: str) -> Decision:
    """The decision that a line typed below the question stands for."""
    word, _, rest = line.strip().partition(" ")
    if word.lower() == "e" and rest and request.view.edits is not None:
        return Decision.once(args=request.with_text(rest))
    return _ANSWERS.get(word.lower(), Decision.deny(rest or f"{summary(request)}; denied at the terminal"))


def summary(request: Request) -> str:
    """What was found, in one line."""
    return "; ".join(dict.fromkeys(inert(finding.description) for finding in request.findings))


def question(request: Request) -> str:
    """The question as a terminal shows it; nothing in it can move the cursor, hide, or pose as a line of ours."""
    view = request.view
    edit = "" if view.edits is None else f"[e NEW {_flat(view.edits).upper()}] edit  "
    lines = [
        f"{heading(request)} wants to run on {request.backend}{f' in {_flat(request.cwd)}' if request.cwd else ''}:",
        *([_indented(redact(view.text))] if view.text else []),
        *(_indented(redact(f"{name}: {value}")) for name, value in view.rows),
        *(f"  ! {_flat(redact(finding.description))}: {_flat(redact(finding.text))}" for finding in request.findings),
        f"[y] once  [s] for this session  [a] always  {edit}[n REASON] deny: ",
    ]
    return "\n".join(lines)


def heading(request: Request) -> str:
    """The tool's name, and what it is about to do where its view says that, in one line."""
    title = cut(_flat(redact(request.view.title)), _LONGEST_TITLE)
    return request.tool if title in ("", request.tool) else f"{request.tool} ({title})"


def _flat(text: str) -> str:
    return " ".join(inert(text).split())


def _indented(text: str) -> str:
    return textwrap.indent(inert(text), "    ", bool)


def _is_interactive() -> bool:
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:  # closed
        return False


def _read_line(timeout: float) -> str | None:
    ready, _, _ = select.select([sys.stdin], [], [], timeout)
    if not ready:
        return None
    return sys.stdin.readline() or "n the input ended"
