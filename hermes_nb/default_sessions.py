"""The sessions that make calls where nobody opened one: for ``model_tools``, and for a registry's own words."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_nb.calls.results import error_json, sanitise
from hermes_nb.common.redact import redact
from hermes_nb.context import current_call
from hermes_nb.errors import did_you_mean
from hermes_nb.session import Session
from hermes_nb.toolbox.toolsets import Expected, as_names, is_toolset

if TYPE_CHECKING:
    from hermes_nb.toolbox.registry import Registry

logger = logging.getLogger(__name__)

#: Sessions of so many scopes and tasks are kept; each may hold a file open.
KEPT = 200

Key = tuple[Expected | None, Expected | None, str | None]


class _Kept(NamedTuple):
    session: Session
    close: Callable[[], object]


class DefaultSessions:
    """The default sessions of one registry, which keeps them: one for each scope and task.

    Nobody opened them, so nobody will close them: they are closed when the registry goes, or the process ends.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._lock = threading.Lock()
        self._kept: dict[Key, _Kept] = {}
        self._missed: dict[Key | None, list[str]] = {}

    def get(
        self,
        enabled: Iterable[str] | None = None,
        disabled: Iterable[str] | None = None,
        task_id: str | None = None,
    ) -> Session:
        """The session of a scope and a task, kept: approvals and working state belong to it.

        What a handler asks for without naming toolsets is made by the session that runs the handler: its scope and
        its rules hold for that, too. A toolset that doesn't exist is skipped, and a warning says so; it still selects
        what is registered under its name later, so that a scope is never wider than it was asked for.
        """
        if enabled is None and disabled is None:
            around = current_call.get()
            if around is not None and around.session.registry is self._registry:
                return around.session
        only = None if enabled is None else Expected(as_names(enabled))
        never = None if disabled is None else Expected(as_names(disabled))
        key = (only, never, task_id)
        found = self._kept.get(key)
        if found is None:  # not under the lock: a plugin that loads with the first session may ask for one, too
            session = Session(self._registry, only, never, task_id=task_id)
            found = _Kept(session, weakref.finalize(self._registry, _close, os.getpid(), session.closing))
        kept = self._keep(key, found)
        if kept is not found:  # another thread was quicker
            found.close()
        self._warn_of_missing(key, [*(only or ()), *(never or ())])
        return kept.session

    def dispatch(
        self,
        name: str,
        args: Mapping[str, Any] | str | None,
        /,
        *,
        enabled_toolsets: Iterable[str] | None = None,
        disabled_toolsets: Iterable[str] | None = None,
        task_id: str | None = None,
        user_task: str | None = None,
        tool_call_id: str | None = None,
        **extra: Any,
    ) -> str:
        """What ``Registry.dispatch`` does."""
        try:
            session = self.get(enabled_toolsets, disabled_toolsets, task_id)
            return session.call(name, args, user_task=user_task, tool_call_id=tool_call_id, extra=extra).text
        except Exception as error:
            logger.exception("the call of %s could not be made", name)
            return error_json(redact(sanitise(f"Error executing {name}: {error}")))

    def _keep(self, key: Key, found: _Kept) -> _Kept:
        """Keep a session as the one that was used last, and close those that were not used for longest."""
        with self._lock:
            kept = self._kept.pop(key, found)
            self._kept[key] = kept
            surplus = list(self._kept)[: max(len(self._kept) - KEPT, 0)]
            oldest = [self._kept.pop(each) for each in surplus]
            for each in surplus:
                self._missed.pop(each, None)
        for unused in oldest:
            unused.close()
        return kept

    def _warn_of_missing(self, key: Key, names: list[str]) -> None:
        snapshot = self._registry.snapshot
        missing = [name for name in names if not is_toolset(name, snapshot)]
        if missing != self._missed.get(key, []):  # once, not with every call
            for name in missing:
                near = did_you_mean(str(name), snapshot.toolset_names)
                logger.warning("there is no toolset %r, so it is skipped%s", name, near)
            self._missed[key] = missing


def _close(process: int, closing: Callable[[], None]) -> None:
    if os.getpid() == process:  # in a fork's copy the shells are the parent's
        closing()
