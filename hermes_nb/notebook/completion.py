"""Tab after ``%hermes``: sub-commands, options, tools, arguments and their values, backends, toolsets, jobs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from hermes_nb.common.jsonable import written
from hermes_nb.config import OPTIONS
from hermes_nb.home import home
from hermes_nb.notebook import state
from hermes_nb.notebook.commands import COMMANDS
from hermes_nb.notebook.faces.schema import followed
from hermes_nb.notebook.line.words import split

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from hermes_nb.notebook.commands.base import Command
    from hermes_nb.session import Session

_LINE = re.compile(r"(?:^|[=(,]|\breturn\b)\s*%{1,2}hermes[ \t]+(?P<typed>.*)$", re.DOTALL)


def install(shell: InteractiveShell) -> None:
    """Let a shell complete ``%hermes`` lines."""
    remove(shell)
    shell.Completer.custom_matchers.append(match)


def remove(shell: InteractiveShell) -> None:
    """Take that back."""
    shell.Completer.custom_matchers[:] = [kept for kept in shell.Completer.custom_matchers if kept is not match]


@context_matcher(identifier="hermes_nb")  # type: ignore[untyped-decorator]
def match(context: CompletionContext) -> SimpleMatcherResult:
    """What can stand at the cursor; on any other line, nothing."""
    found = _LINE.search(context.text_until_cursor)
    if found is None:
        return {"completions": [], "suppress": False}
    candidates, fragment = complete(found["typed"])
    fitting = [candidate for candidate in candidates if candidate.startswith(fragment)]
    return {
        "completions": [SimpleCompletion(text=candidate, type="magic") for candidate in fitting],
        "suppress": bool(fitting),
        "matched_fragment": fragment,
        "ordered": True,
    }


def complete(typed: str) -> tuple[list[str], str]:
    """What can stand at the end of what was typed after ``%hermes``, and the part of it that is being typed."""
    words = [word.raw for word in split(typed)]
    fragment = words.pop() if words and not typed[-1:].isspace() else ""
    if not words:
        return [*COMMANDS, "help"], fragment
    if words[0] == "help":
        return list(COMMANDS), fragment
    command = COMMANDS.get(words[0])
    return ([], fragment) if command is None else _in_command(command, words[1:], fragment)


def _in_command(command: Command, words: list[str], fragment: str) -> tuple[list[str], str]:
    actions = {name: action for action in command.parser._actions for name in action.option_strings}
    before = actions.get(words[-1]) if words else None
    if before is not None and before.nargs is None:
        return _offered(before, [], fragment), fragment
    name, equals, value = fragment.partition("=")
    if equals and name in actions:
        return _offered(actions[name], [], value), value
    positional = _positional(words, actions)
    if fragment.startswith("-") and not (command.rest and positional):
        return sorted(option for option in actions if option not in words), fragment
    if command.name == "call" and positional:
        return _argument(positional, fragment)
    slots = [action for action in command.parser._actions if not action.option_strings]
    if not slots:
        return [], fragment
    slot = slots[min(len(positional), len(slots) - 1)]
    return (_offered(slot, positional, fragment) if len(positional) < len(slots) or slot.nargs == "*" else []), fragment


def _positional(words: list[str], actions: Mapping[str, argparse.Action]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        option = actions.get(word)
        if not skip and option is None:
            kept.append(word)
        skip = not skip and option is not None and option.nargs is None
    return kept


def _offered(action: argparse.Action, before: list[str], fragment: str) -> list[str]:
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    source = _SOURCES.get(getattr(action, "completes", ""))
    return list(source(state.current(), before, fragment)) if source is not None else []


def _argument(words: list[str], fragment: str) -> tuple[list[str], str]:
    """Argument names after a tool's name, and values after ``name=``."""
    view = state.current().view
    if view.resolve(words[0]) is None:
        return [], fragment
    schema = view.seen(words[0]).tool.parameters
    properties = schema.get("properties") or {}
    name, equals, value = fragment.partition("=")
    if equals:
        return list(_values(followed(properties.get(name), schema), schema)), value
    given = {word.partition("=")[0] for word in words[1:]}
    required = set(schema.get("required") or ())
    ordered = sorted(properties, key=lambda key: key not in required)
    return [f"{key}=" for key in ordered if key not in given], fragment


def _values(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterable[str]:
    if isinstance(schema.get("enum"), list):
        yield from (choice if isinstance(choice, str) else written(choice) for choice in schema["enum"])
    elif "const" in schema:
        yield schema["const"] if isinstance(schema["const"], str) else written(schema["const"])
    elif schema.get("type") == "boolean":
        yield from ("true", "false")
    for branch in (*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())):
        yield from _values(followed(branch, root), root)


def _tools(session: Session, *_: object) -> Iterable[str]:
    return (tool.name for tool in session.view.in_scope())


def _toolsets(session: Session, *_: object) -> Iterable[str]:
    return session.registry.toolset_names()


def _backends(session: Session, *_: object) -> Iterable[str]:
    from hermes_backends import backend_names

    names = [name if name == "local" else f"{name}://" for name in backend_names()]
    return dict.fromkeys([*names, session.backend_name])


def _jobs(session: Session, *_: object) -> Iterable[str]:
    return (job.id for job in session.jobs)


def _rules(session: Session, before: list[str], _: str) -> Iterable[str]:
    return dict.fromkeys(approval.rule for approval in session.policy if approval.rule not in before)


def _settings(*_: object) -> Iterable[str]:
    return OPTIONS


def _setting_values(_session: Session, before: list[str], _: str) -> Iterable[str]:
    return OPTIONS[before[0]].choices if before and before[0] in OPTIONS else ()


def _sessions(*_: object) -> Iterable[str]:
    return sorted((path.stem for path in (home() / "journal").glob("*.jsonl")), reverse=True)


_SOURCES: dict[str, Callable[[Session, list[str], str], Iterable[str]]] = {
    "tool": _tools,
    "toolset": _toolsets,
    "backend": _backends,
    "job": _jobs,
    "rule": _rules,
    "setting": _settings,
    "setting_value": _setting_values,
    "session": _sessions,
}
