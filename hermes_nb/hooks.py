"""Hooks: what a user's code does before and after every call.

A hook is any object with a ``pre_tool_call`` or a ``post_tool_call`` method (or a dict with such keys). Each is called
with those of these keywords that it accepts: ``tool_name``, ``args`` (a copy), ``toolset``, ``result`` (after only),
and what `Context` offers: ``session``, ``session_id``, ``task_id``, ``call_id``, ``tool_call_id``, ``user_task``,
``cwd``.

Before a call, a hook returns None to let it pass, or one of `Veto`, `Rewrite` and `Ask`; the plain dicts
``{"action": "block", "message": …}``, ``{"action": "rewrite", "args": …}`` and ``{"action": "approve", "message": …,
"rule_key": …}`` mean the same. A hook that raises, or answers with anything else, denies the call.

After a call, a hook returns None, or a string that replaces what the model reads. One that raises is logged: the call
has already happened.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_nb.common.jsonable import copy_json
from hermes_nb.context import accepted_keywords
from hermes_nb.errors import CallRefused, RegistrationError

if TYPE_CHECKING:
    from hermes_nb.context import Context
    from hermes_nb.toolbox.declaration import Tool

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Veto:
    """The call must not happen; the model reads the message."""

    message: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The call shall happen with these arguments instead; they are validated and assessed anew."""

    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """A person has to approve the call; ``rule`` is what an approval is remembered under."""

    message: str
    rule: str = "hook"


Answer = Veto | Rewrite | Ask


class _Function:
    """A hook's function, and the keywords it takes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.accepted = accepted_keywords(function)
        self.name = getattr(function, "__qualname__", repr(function))

    def __call__(self, context: Context, **keywords: Any) -> Any:
        if self.accepted is not None:
            keywords = {name: value for name, value in keywords.items() if name in self.accepted}
        return self.function(**keywords, **context.keywords(self.accepted))


class Hooks:
    """The hooks of one session, in the order they were given."""

    def __init__(self, hooks: Iterable[object] = ()) -> None:
        self._before: tuple[_Function, ...] = ()
        self._after: tuple[_Function, ...] = ()
        for hook in hooks:
            self.add(hook)

    def add(self, hook: object) -> None:
        """Add a hook; it sees every call from now on.

        Raises:
            RegistrationError: The object has neither of the two methods.
        """
        before, after = (
            hook.get(name) if isinstance(hook, Mapping) else getattr(hook, name, None)
            for name in ("pre_tool_call", "post_tool_call")
        )
        if not callable(before) and not callable(after):
            raise RegistrationError(f"{hook!r} is no hook: it has neither pre_tool_call nor post_tool_call")
        if callable(before):
            self._before = (*self._before, _Function(before))
        if callable(after):
            self._after = (*self._after, _Function(after))

    @property
    def has_before(self) -> bool:
        """Whether there is anything to ask before a call."""
        return bool(self._before)

    @property
    def has_after(self) -> bool:
        """Whether anyone wants to see results."""
        return bool(self._after)

    def before(
        self, tool: Tool, args: dict[str, Any], context: Context, prepare: Callable[[Any], dict[str, Any]]
    ) -> Iterable[Answer]:
        """What each hook has to say, one after the other; a later hook sees what an earlier one rewrote, prepared.

        Raises:
            CallRefused: A hook vetoed the call, rewrote it to one that is not valid, or failed.
        """
        for hook in self._before:
            try:
                answer = _understand(hook(context, tool_name=tool.name, toolset=tool.toolset, args=_copied(args)))
            except (Exception, SystemExit) as error:
                logger.exception("pre_tool_call hook %s failed; the call is denied", hook.name)
                message = f"a pre_tool_call hook failed ({type(error).__name__}: {error}), so {tool.name} was not run"
                raise CallRefused("vetoed", message) from error
            if isinstance(answer, Veto):
                raise CallRefused("vetoed", answer.message)
            if isinstance(answer, Rewrite):
                args = prepare(answer.args)
                answer = Rewrite(args)
            if answer is not None:
                yield answer

    def after(self, tool: Tool, args: dict[str, Any], text: str, context: Context) -> str:
        """What the model reads, after every hook has seen the result."""
        for hook in self._after:
            keywords = {
                "tool_name": tool.name,
                "toolset": tool.toolset,
                "args": _copied(args),
                "result": text,
            }
            try:
                replacement = hook(context, **keywords)
            except (Exception, SystemExit):
                logger.exception("post_tool_call hook %s failed; the result stands", hook.name)
                continue
            if isinstance(replacement, str):
                text = replacement
        return text


def _copied(args: dict[str, Any]) -> dict[str, Any]:
    copied: dict[str, Any] = copy_json(args)
    return copied


def _understand(answer: object) -> Answer | None:
    if answer is None or isinstance(answer, Veto | Rewrite | Ask):
        return answer
    if isinstance(answer, Mapping):
        match answer.get("action"):
            case None | "allow":
                return None
            case "block" | "deny" | "veto":
                return Veto(str(answer.get("message") or "vetoed by a hook"))
            case "rewrite" if isinstance(answer.get("args"), Mapping):
                return Rewrite(answer["args"])
            case "approve" | "ask":
                message = str(answer.get("message") or "a hook asks for approval")
                return Ask(message, str(answer.get("rule_key") or "hook"))
    raise TypeError(f"a pre_tool_call hook answered {answer!r}; expected None, Veto, Rewrite or Ask")
