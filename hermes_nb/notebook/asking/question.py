"""One question to a person: what is shown of a call, and how the answer is read."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hermes_nb.approval.approvers import heading, summary
from hermes_nb.approval.decision import Decision, Request
from hermes_nb.approval.display import inert
from hermes_nb.approval.edit import Edit
from hermes_nb.approval.policy import NEVER_REMEMBERED
from hermes_nb.common.jsonable import written
from hermes_nb.common.redact import redact
from hermes_nb.common.text import first_line

if TYPE_CHECKING:
    from hermes_nb.approval.assessment import Finding

_CHOICES = {"once": Decision.once, "session": Decision.session, "always": Decision.always, "deny": Decision.deny}
_RECORDED = {
    "once": "Approved once",
    "session": "Approved for this session",
    "always": "Approved always",
    "deny": "Denied",
}
_RECORD_LENGTH = 120
#: Who decides, in the words of what stays of it.
PERSON, NOBODY = "the person at the notebook", "nobody, so it is a no"
#: A part of a text, and the number of the finding that speaks of it (None: nothing does).
Part = tuple[str, int | None]


class Question:
    """A request in front of a person. Only an answer with its nonce counts, and only the first.

    Attributes:
        request: What is asked about.
        nonce: Known only to the card that shows this question.
        shown: Set when a front end has shown it.
        answered: Set when the decision is there.
        decided_by: Who made it, in words.
        decided_at: When, in seconds since 1970.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self.nonce = secrets.token_hex(16)
        self.shown = threading.Event()
        self.answered = threading.Event()
        self.decision: Decision | None = None
        self.decided_by, self.decided_at = NOBODY, 0.0
        self._started = time.monotonic()
        self._lock = threading.Lock()

    @property
    def remaining(self) -> float:
        """Seconds until no answer means no."""
        return max(0.0, self.request.timeout - (time.monotonic() - self._started))

    def face(self) -> dict[str, Any]:
        """What the card shows; no secret is in it."""
        view, findings = self.request.view, self.request.findings
        return {
            "nonce": self.nonce,
            "tool": self.request.tool,
            "title": heading(self.request),
            "parts": marked(redact(view.text), findings),
            "rows": [(inert(redact(name)), marked(redact(value), findings)) for name, value in view.rows],
            "findings": [
                {"what": inert(redact(finding.description)), "where": inert(redact(finding.text))}
                for finding in findings
            ],
            "backend": self.request.backend,
            "cwd": inert(self.request.cwd),
            "timeout": self.request.timeout,
            "remaining": self.remaining,
            "rememberable": not NEVER_REMEMBERED & {finding.rule for finding in findings},
            "edits": inert(view.edits or ""),
        }

    @property
    def editable(self) -> str:
        """The text that a person edits: the argument that is shown, or all arguments as JSON."""
        if self.request.view.edits is not None:
            return str(self.request.args[self.request.view.edits])
        return written(dict(self.request.args), indent=2)

    def answer(self, choice: str, reason: str = "", edited: str | None = None) -> str | None:
        """Take the answer; returns what is wrong with it, None if nothing is."""
        decision = _CHOICES.get(choice)
        if decision is None:
            return f"there is no choice {choice!r}"
        if choice == "deny":
            self.deny(reason.strip() or "denied in the notebook", PERSON)
            return None
        try:
            args = None if edited is None else self._edited(edited)
        except ValueError as error:
            return str(error)
        self.settle(decision(reason.strip(), args=args), PERSON)
        return None

    def deny(self, why: str, by: str = NOBODY) -> None:
        """No; the model reads what was found, and why that was not approved."""
        self.settle(Decision.deny(f"{summary(self.request)}; {why}"), by)

    def settle(self, decision: Decision, by: str) -> None:
        """Make this the decision of somebody, unless there is one already."""
        with self._lock:
            if self.decision is None:
                self.decision, self.decided_by, self.decided_at = decision, by, time.time()
                self.answered.set()

    def record(self) -> dict[str, Any]:
        """The one line that stays of it."""
        decision = self.decision or Decision.deny("not decided")
        edit = self._edit(decision)
        what = "Edited and approved" if decision.args is not None else _RECORDED[decision.choice]
        reason = decision.reason.removeprefix(f"{summary(self.request)}; ")
        return {
            "allowed": decision.allowed,
            "what": what,
            "tool": self.request.tool,
            "subject": self._subject() if edit is None else first_line(edit.after, _RECORD_LENGTH),
            "edit": [] if edit is None else edit.lines(),
            "reason": inert(redact(reason)),
        }

    def _edit(self, decision: Decision) -> Edit | None:
        if decision.args is None:
            return None
        edit = Edit.between(self.request.args, decision.args, self.request.view.edits)
        return edit and Edit(inert(redact(edit.before)), inert(redact(edit.after)))

    def _subject(self) -> str:
        view = self.request.view
        title = "" if view.title == self.request.tool else view.title
        said = ": ".join(part for part in (title, view.text) if part)
        return first_line(inert(redact(said or self.request.subject)), _RECORD_LENGTH)

    def _edited(self, text: str) -> Mapping[str, Any] | None:
        if text == self.editable:
            return None
        if self.request.view.edits is not None:
            return self.request.with_text(text)
        try:
            args = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"this is not JSON: {error}") from None
        if not isinstance(args, dict):
            raise ValueError("the arguments must be a JSON object")  # noqa: TRY004
        return args


def record_text(record: Mapping[str, Any]) -> str:
    """A record as a line of text."""
    mark = "✔" if record["allowed"] else "✘"
    reason = f" ({record['reason']})" if record["reason"] else ""
    changed = record["edit"]
    is_short = [sign for sign, _ in changed] == ["-", "+"] and sum(len(text) for _, text in changed) <= _RECORD_LENGTH
    subject = " → ".join(text for _, text in changed) if is_short else record["subject"]
    lines = [] if is_short else [f"  {sign} {text}" for sign, text in changed]
    return "\n".join([f"{mark} {record['what']}: {record['tool']}: {subject}{reason}", *lines])


def marked(subject: str, findings: Iterable[Finding]) -> list[Part]:
    """A text cut where findings begin and end; everything in it visible."""
    owner: list[int | None] = [None] * len(subject)
    for number, finding in enumerate(findings):
        text = redact(finding.text.removesuffix("…"))
        for start in _occurrences(subject, text) or _occurrences(subject, written(text)[1:-1]):
            for place in range(start, start + len(text)):
                if place < len(owner) and owner[place] is None:
                    owner[place] = number
    parts: list[Part] = []
    for char, marker in zip(subject, owner, strict=True):
        if parts and parts[-1][1] == marker:
            parts[-1] = (parts[-1][0] + char, marker)
        else:
            parts.append((char, marker))
    return [(inert(text), marker) for text, marker in parts]


def _occurrences(subject: str, text: str) -> list[int]:
    found: list[int] = []
    start = subject.find(text) if text else -1
    while start >= 0:
        found.append(start)
        start = subject.find(text, start + len(text))
    return found
