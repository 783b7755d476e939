"""Whether a tool can work right now: its check function and the environment variables it needs."""

from __future__ import annotations

import inspect
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_nb.config import Config
    from hermes_nb.toolbox.declaration import Tool

Check = Callable[[], object]

#: A check's answer is kept for this many times as long as the check took, so that checking costs about 1 % at most:
#: a look at a variable is as good as always fresh, a slow ping is asked again after a few seconds.
KEPT_PER_SECOND_SPENT = 100
KEPT_AT_MOST = 5.0
#: A failure this soon after a success is asked again at once before it is believed.
FLAKE_WINDOW = 60.0


@dataclass(slots=True)
class _Answer:
    reason: str | None
    good_until: float
    last_success: float


class Availability:
    """Says whether tools can be used now, and why not.

    A registry has one, in which a tool without its environment variables is unavailable. A session takes the same
    answers by its own settings: with ``tools.requires_env: show`` missing variables are only shown.
    """

    def __init__(self) -> None:
        self._checks = _Checks()
        self._config: Config | None = None

    def under(self, config: Config) -> Availability:
        """The same answers, by these settings; checks still run once for everybody."""
        other = Availability()
        other._checks, other._config = self._checks, config
        return other

    def reason(self, tool: Tool) -> str | None:
        """Why a tool can't be used now, or None if it can."""
        return next(iter(self.unavailable([tool]).values()), None)

    def unavailable(self, tools: Iterable[Tool]) -> dict[str, str]:
        """The tools that can't be used now, each with the reason; a check that several share runs once."""
        answers: dict[Check, str | None] = {}
        found: dict[str, str] = {}
        for tool in tools:
            check = tool.check_fn
            reason = missing_variables(tool) if tool.requires_env and self._variables_gate else None
            if reason is None and check is not None:
                if check not in answers:
                    answers[check] = self._checks.ask(check)
                reason = answers[check]
            if reason is not None:
                found[tool.name] = reason
        return found

    def forget(self, check: Check | None) -> None:
        """Drop a check's answer: the tool that brought it is gone."""
        if check is not None:
            self._checks.forget(check)

    @property
    def _variables_gate(self) -> bool:
        return self._config is None or self._config.get("tools.requires_env") == "gate"


class _Checks:
    """Runs checks and keeps their answers, for all tools that share a check."""

    def __init__(self) -> None:
        self._answers: dict[Check, _Answer] = {}
        self._lock = threading.Lock()

    def forget(self, check: Check) -> None:
        with self._lock:
            self._answers.pop(check, None)

    def ask(self, check: Check) -> str | None:
        answer = self._answers.get(check)
        if answer is not None and time.monotonic() < answer.good_until:
            return answer.reason
        started = time.monotonic()
        reason = _run(check)
        recently_fine = answer is not None and started - answer.last_success < FLAKE_WINDOW
        if reason is not None and recently_fine:
            reason = _run(check)
        now = time.monotonic()
        kept = min((now - started) * KEPT_PER_SECOND_SPENT, KEPT_AT_MOST)
        last_success = now if reason is None else (answer.last_success if answer else float("-inf"))
        with self._lock:
            self._answers[check] = _Answer(reason, now + kept, last_success)
        return reason


def missing_variables(tool: Tool) -> str | None:
    """Which of its environment variables a tool lacks, in words; None if it has them all."""
    missing = [variable for variable in tool.requires_env if not os.environ.get(variable)]
    if len(missing) > 1:
        return f"the environment variables {', '.join(missing[:-1])} and {missing[-1]} are not set"
    return f"the environment variable {missing[0]} is not set" if missing else None


def _run(check: Check) -> str | None:
    name = getattr(check, "__name__", repr(check))
    try:
        answer = check()
        if inspect.iscoroutine(answer):
            answer.close()
            return f"its check {name} is async, and a check has to answer at once"
        passed = bool(answer)
    except (Exception, SystemExit) as error:
        return f"its check {name} raised {type(error).__name__}: {error}"
    return None if passed else f"its check {name} returned False"
