"""What a handler may know about the call it serves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_nb.session import Session

OnOutput = Callable[[str, str], None]


class Context(msgspec.Struct, frozen=True, eq=False):
    """The call that a handler or hook serves.

    A decorated tool gets it by declaring a parameter annotated with ``Context``; a handler or hook in the
    ``(args, **context)`` form gets its attributes, and the object itself as ``context``, as keywords. Only
    keywords that the function accepts are passed.

    Attributes:
        session: The session that made the call; ``session.call`` runs further tools under the same rules.
        call_id: Names this call in the journal.
        timeout: Seconds that the caller gave, or None.
        user_task: What the user asked for, where an agent loop passed it on.
        tool_call_id: The model's own id of the call, where an agent loop passed it on.
        on_output: Takes ``stdout`` or ``stderr`` and a piece of text, where the caller watches the call live.
        extra: Whatever else the caller passes on by keyword; it can't replace anything named here.
    """

    session: Session
    call_id: str
    timeout: float | None = None
    user_task: str | None = None
    tool_call_id: str | None = None
    on_output: OnOutput | None = None
    extra: Mapping[str, Any] = {}

    @property
    def task_id(self) -> str:
        """The task this session works on."""
        return self.session.task_id

    @property
    def session_id(self) -> str:
        """The session's id, as in the journal."""
        return self.session.id

    @property
    def cwd(self) -> Path:
        """The session's working directory."""
        return self.session.cwd

    def keywords(self, accepted: frozenset[str] | None) -> dict[str, Any]:
        """Everything here that a function accepts by keyword (None: all of it)."""
        session = self.session
        everything = {
            "context": self,
            "session": session,
            "session_id": session.id,
            "task_id": session.task_id,
            "cwd": session.cwd,
            "call_id": self.call_id,
            "timeout": self.timeout,
            "user_task": self.user_task,
            "tool_call_id": self.tool_call_id,
            "on_output": self.on_output,
        }
        if self.extra:
            everything = {**self.extra, **everything}
        return everything if accepted is None else {name: everything[name] for name in accepted & everything.keys()}


def accepted_keywords(function: Callable[..., Any]) -> frozenset[str] | None:
    """The names a function takes by keyword, or None where it takes any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin without a signature: pass nothing it could choke on
        return frozenset()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    by_keyword = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return frozenset(parameter.name for parameter in parameters if parameter.kind in by_keyword)
