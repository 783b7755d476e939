"""The calls of a session that have begun and not ended; the journal has those that have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_nb.common.jsonable import encode_anything
from hermes_nb.common.listeners import Listeners
from hermes_nb.common.redact import redact, redact_json

if TYPE_CHECKING:
    from hermes_nb.calls.path import Call


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A call under way.

    Attributes:
        id: The call's id, the same as in the journal later.
        time: When it began, in seconds since 1970.
        tool: The real tool's name, once it is known; until then the name as it was written.
        toolset: The tool's toolset, once it is known.
        args: Its arguments as far as they are prepared, without secrets.
        backend: Where it works, once that is known.
    """

    id: str
    time: float
    tool: str
    toolset: str
    args: Any
    backend: str = ""


class Running:
    """The calls under way; iterating gives them in the order in which they began."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self._watchers: Listeners[[]] = Listeners("a watcher of running calls")

    def begin(self, call: Call) -> None:
        """Take note of a call. All else is left to who looks: most calls are over before anybody does."""
        self._calls[call.id] = call
        self._watchers.tell()

    def end(self, call: Call) -> None:
        """Forget a call."""
        self._calls.pop(call.id, None)

    def watch(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Call a function whenever a call begins; returns a function that ends it."""
        return self._watchers.add(watcher)

    def __iter__(self) -> Iterator[RunningCall]:
        return map(_seen, list(self._calls.values()))

    def __len__(self) -> int:
        return len(self._calls)


def _seen(call: Call) -> RunningCall:
    tool = call.tool
    args = call.args if call.args is not None else call.written
    clean = redact_json(msgspec.json.decode(encode_anything(args)))
    name, toolset = (tool.name, tool.toolset) if tool is not None else (redact(str(call.name)), "")
    return RunningCall(call.id, call.started, name, toolset, clean, call.place.name if call.place is not None else "")
