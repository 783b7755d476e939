"""What a person is shown of a call: what its tool says, and everything where it says nothing."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from hermes_nb.toolbox.declaration import Tool

logger = logging.getLogger(__name__)

Language = Literal["shell", "text", "unknown"]


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """What a person is shown of a call. Secrets and what could deceive are dealt with where it is shown.

    Attributes:
        title: What the call does, in one line; the tool's name if it is empty.
        text: What matters most, such as a command; what was found is marked in it.
        rows: What else there is, by name; a value that is no string is shown as JSON.
        edits: The argument that ``text`` shows, so that a person can change it; None: all arguments are edited as JSON.
        language: How the rules of the config read ``text``: ``shell`` as a shell would, ``text`` as it stands. Where
            a tool doesn't say, the stricter reading counts each time.
    """

    title: str = ""
    text: str = ""
    rows: Iterable[tuple[str, Any]] = ()
    edits: str | None = None
    language: Language = "unknown"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple((str(name), _written(value)) for name, value in self.rows))


def view_of(tool: Tool, args: Mapping[str, Any]) -> ApprovalView:
    """What is shown of a call: what the tool says; all arguments if it says nothing, or fails to."""
    if tool.approval_view is None:
        return everything(tool.name, args)
    try:
        return _checked(tool.approval_view(copy.deepcopy(dict(args))), args)
    except (Exception, SystemExit):
        logger.exception("the approval view of %s failed; all its arguments are shown", tool.name)
        return everything(tool.name, args)


def everything(tool: str, args: Mapping[str, Any]) -> ApprovalView:
    """All arguments of a call, by name."""
    return ApprovalView(tool, rows=args.items())


def _checked(view: object, args: Mapping[str, Any]) -> ApprovalView:
    if not isinstance(view, ApprovalView):
        raise TypeError(f"it must return an ApprovalView, not {type(view).__name__}")
    texts: tuple[object, ...] = (view.title, view.text)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("title and text must be strings")
    if view.edits is not None and not isinstance(args.get(view.edits), str):
        raise ValueError(f"{view.edits!r} is not the name of an argument that holds a string")
    return view


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
