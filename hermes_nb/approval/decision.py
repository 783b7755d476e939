"""What is asked of an approver, and what it can answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from hermes_nb.approval.view import ApprovalView, everything
from hermes_nb.common.jsonable import written

if TYPE_CHECKING:
    from hermes_nb.approval.assessment import Finding


Choice = Literal["once", "session", "always", "deny"]
_EMPTY = ApprovalView()


@dataclass(frozen=True, slots=True)
class Request:
    """A call that needs a decision.

    Attributes:
        tool: The real tool's name.
        args: Its arguments, validated.
        findings: What is dangerous about them.
        backend: Where the call would run.
        cwd: The folder it would run in.
        timeout: Seconds until no answer means no.
        session_id: The session that asks.
        call_id: The call's id in the journal.
        view: What a person is shown of it; an empty one is replaced by all arguments.
    """

    tool: str
    args: Mapping[str, Any]
    findings: tuple[Finding, ...]
    backend: str
    cwd: str
    timeout: float
    session_id: str
    call_id: str
    view: ApprovalView = _EMPTY

    def __post_init__(self) -> None:
        if self.view == _EMPTY:
            object.__setattr__(self, "view", everything(self.tool, self.args))

    @property
    def subject(self) -> str:
        """What the call is about, in one text: the shell command, or all arguments as JSON."""
        command = self.command
        return written(dict(self.args)) if command is None else command

    @property
    def command(self) -> str | None:
        """The shell command as it would run, however it is shown; None where the tool names none."""
        view = self.view
        if view.language != "shell":
            return None
        return view.text if view.edits is None else str(self.args[view.edits])

    def with_text(self, text: str) -> dict[str, Any]:
        """The arguments, with another text in place of the one that is shown.

        Raises:
            ValueError: What is shown is no argument, so that it can't be changed.
        """
        if self.view.edits is None:
            raise ValueError(f"what is shown of {self.tool} is not one of its arguments")
        return {**self.args, self.view.edits: text}


@dataclass(frozen=True, slots=True)
class Decision:
    """Yes or no, for how long, and why.

    ``Decision.once``, ``.session``, ``.always`` and ``.deny`` are ready to return; call one to say more:
    ``Decision.deny("not on a Friday")``, ``Decision.once(args={"command": "ls"})``.

    Attributes:
        choice: once, session, always or deny.
        reason: Read by the model when the call is denied, and kept in the journal.
        args: The arguments to run with instead; they are validated and assessed again.
        by: Who decided: floor, rule, mode, isolation, remembered, model, approver or nobody.
        findings: What was found, for the journal and the result.
    """

    choice: Choice
    reason: str = ""
    args: Mapping[str, Any] | None = None
    by: str = "approver"
    findings: tuple[Finding, ...] = ()

    once: ClassVar[Decision]
    session: ClassVar[Decision]
    always: ClassVar[Decision]
    deny: ClassVar[Decision]

    @property
    def allowed(self) -> bool:
        """Whether the call may run."""
        return self.choice != "deny"

    def __call__(self, reason: str = "", *, args: Mapping[str, Any] | None = None) -> Decision:
        """The same decision, with a reason or with edited arguments."""
        return replace(self, reason=reason, args=args)

    def by_whom(self, by: str, findings: tuple[Finding, ...] = ()) -> Decision:
        """The same decision, with its origin."""
        return replace(self, by=by, findings=findings or self.findings)

    def record(self) -> dict[str, Any]:
        """What the journal keeps."""
        kept: dict[str, Any] = {"choice": self.choice, "by": self.by}
        if self.reason:
            kept["reason"] = self.reason
        if self.findings:
            kept["rules"] = sorted({finding.rule for finding in self.findings})
        if self.args is not None:
            kept["edited"] = True
        return kept


Decision.once = Decision("once")
Decision.session = Decision("session")
Decision.always = Decision("always")
Decision.deny = Decision("deny")


@runtime_checkable
class Approver(Protocol):
    """Someone who can be asked. An exception, or anything that is not a Decision, counts as no."""

    def decide(self, request: Request) -> Decision:
        """Decide on a call; runs in the thread that made the call, and may take until ``request.timeout``."""
        ...
