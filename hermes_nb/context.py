"""What a handler may know about the call it serves."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_nb.common import aio

if TYPE_CHECKING:
    from pathlib import PurePath

    from hermes_backends import Backend
    from hermes_nb.calls.path import Call
    from hermes_nb.calls.place import Place
    from hermes_nb.session import Session

OnOutput = Callable[[str, str], None]

#: The call that is being served here: calls made meanwhile are made inside of it.
current_call: ContextVar[Call | None] = ContextVar("current_call", default=None)


class Context(msgspec.Struct, frozen=True, eq=False):
    """The call that a handler or hook serves.

    A decorated tool gets it by declaring a parameter annotated with ``Context``; a handler or hook in the
    ``(args, **context)`` form gets its attributes, and the object itself as ``context``, as keywords. Only
    keywords that the function accepts are passed.

    Attributes:
        session: The session that made the call; ``session.call`` runs further tools under the same rules.
        call_id: Names this call in the journal.
        place: Where this call works, whatever the session or another thread does meanwhile.
        timeout: Seconds that the caller gave, or None.
        user_task: What the user asked for, where an agent loop passed it on.
        tool_call_id: The model's own id of the call, where an agent loop passed it on.
        on_output: Takes ``stdout`` or ``stderr`` and a piece of text, where the caller watches the call live.
        deadline: When its time is up, by ``time.monotonic()``; None if it may take as long as it takes.
        extra: Whatever else the caller passes on by keyword; it can't replace anything named here.
    """

    session: Session
    call_id: str
    place: Place
    timeout: float | None = None
    user_task: str | None = None
    tool_call_id: str | None = None
    on_output: OnOutput | None = None
    deadline: float | None = None
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
    def cwd(self) -> PurePath | None:
        """The folder that this call works in; None where that is not known before its backend is opened."""
        return self.place.folder

    @property
    def backend(self) -> Backend:
        """Where this call works, opened if need be.

        Raises:
            BackendUnavailable: It can't be opened here; the error says what to do.
            DeadlineExceeded: It did not open in time; it goes on opening, for the calls to come.
        """
        remaining = self.remaining
        if remaining is None or self.place.site.is_open:
            return self.place.backend
        return aio.within(remaining, lambda: self.place.backend)

    @property
    def remaining(self) -> float | None:
        """Seconds until this call's time is up, never less than 0; None if it may take as long as it takes."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)

    def at_most(self, seconds: float) -> float:
        """So many seconds, or those that remain if these are fewer."""
        remaining = self.remaining
        return seconds if remaining is None else min(seconds, remaining)

    def keywords(self, accepted: frozenset[str] | None) -> dict[str, Any]:
        """Everything here that a function accepts by keyword (None: all of it)."""
        session = self.session
        everything = {
            "context": self,
            "session": session,
            "session_id": session.id,
            "task_id": session.task_id,
            "cwd": self.place.folder,
            "place": self.place,
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
