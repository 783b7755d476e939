"""Session: a scope, a policy, a backend and a journal; the only door to a call."""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from hermes_nb.approval.policy import Judge, Policy
from hermes_nb.calls.journal import Journal
from hermes_nb.calls.parallel import call_many
from hermes_nb.calls.path import Call, run
from hermes_nb.calls.running import Running
from hermes_nb.calls.spills import Spills
from hermes_nb.common import aio
from hermes_nb.common.progress import Reporter
from hermes_nb.config import Config
from hermes_nb.context import current_call
from hermes_nb.errors import RegistrationError
from hermes_nb.hooks import Hooks
from hermes_nb.storage import sweep_once
from hermes_nb.toolbox.registry import Registry
from hermes_nb.toolbox.registry import registry as process_registry
from hermes_nb.view import View
from hermes_nb.workspace import Workspace

if TYPE_CHECKING:
    from types import TracebackType

    from hermes_backends import Backend, Event, Job
    from hermes_nb.approval.decision import Approver
    from hermes_nb.calls.place import Place
    from hermes_nb.calls.results import ToolResult
    from hermes_nb.context import OnOutput
    from hermes_nb.search.budget import Budget
    from hermes_nb.search.catalog import SearchResult
    from hermes_nb.search.settings import ToolSearchConfig
    from hermes_nb.toolbox.declaration import Handler, Tool
    from hermes_nb.toolbox.definitions import Format


class Session:
    """Some tools, the rules under which they run, and the record of what they did.

    Args:
        registry: Where the tools are; the process's own registry by default.
        enabled_toolsets: Only the tools of these; None means all.
        disabled_toolsets: Never the tools of these, whatever else is enabled.
        backend: Where commands run.
        context_length: The model's context in tokens, for the tool-search threshold; None if unknown.
        config: Settings: a Config, a mapping, a file, or None for config.yaml below HERMES_NB_HOME.
        approver: Who is asked about dangerous calls; by default a person, if one is there.
        hooks: Objects with ``pre_tool_call`` or ``post_tool_call``.
        task_id: Names the task in the journal and for the backend; a new one by default.
        judge: For ``approval.mode: smart``: a model that answers approve, deny or anything else to ask a person.

    Attributes:
        view: What it sees of the tools there are, each with its state.
        workspace: Where it works: backends, jobs, and whatever is closed with it.
        closing: What ``close`` does; whoever keeps this function doesn't keep the session.
        journal: The calls that have ended.
        running: The calls that have not.
        progress: Reports on long work, such as many calls, transfers and pulls, to its ``listener``; None by default.

    Raises:
        UnknownToolsetError: A toolset doesn't exist; the message suggests the nearest.
    """

    def __init__(
        self,
        registry: Registry | None = None,
        enabled_toolsets: Iterable[str] | None = None,
        disabled_toolsets: Iterable[str] | None = None,
        backend: str | Backend = "local",
        context_length: int | None = 200_000,
        config: Config | Mapping[str, Any] | str | Path | None = None,
        approver: Approver | None = None,
        hooks: Iterable[object] = (),
        task_id: str | None = None,
        judge: Judge | None = None,
    ) -> None:
        self.id = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"
        self.task_id = task_id or self.id
        self.config = Config.of(config)
        self.registry = process_registry if registry is None else registry
        if self.registry is process_registry:
            from hermes_nb.toolbox.discovery import discover_plugins

            discover_plugins(self.config)
        self.progress = Reporter()
        self.view = View(self.registry, enabled_toolsets, disabled_toolsets, self.config, context_length, self.progress)
        self._agent_handlers: dict[str, Handler] = {}
        self._calls = itertools.count(1)
        self.notices: deque[Event] = deque(maxlen=1000)
        self.spills = Spills(self.id)
        self.workspace = Workspace(backend, self.task_id, self.progress, self.spills)
        self.hooks = Hooks(hooks)
        self.journal = Journal.for_session(self.id)
        sweep_once(self.config)
        self.closing = partial(_close, self.workspace, self.journal)
        self.running = Running()
        if approver is None:
            from hermes_nb.approval.approvers import default_approver

            approver = default_approver()
        self.policy = Policy(self.config, approver, judge)

    # What is there ---------------------------------------------------------------------------------------------

    def resolve(self, name: str) -> Tool | None:
        """The tool of that name, if it is in scope; a tool outside the scope is None as one that doesn't exist."""
        return self.view.resolve(name)

    def describe(self, name: str) -> dict[str, Any]:
        """A tool's definition in OpenAI's format.

        Raises:
            UnknownToolError: There is no such tool in scope.
        """
        return self.view.describe(name)

    def definitions(self, assembled: bool = True, format: Format = "openai") -> list[dict[str, Any]]:  # noqa: A002
        """What the model sees: the tools in scope that are available.

        The list is a copy: change it as you like.

        Args:
            assembled: After tool search: when it is active, three bridge tools stand for the deferred ones.
            format: ``openai``, or ``anthropic``, where deferred tools are marked for Anthropic's own tool search
                instead.

        Raises:
            ValueError: There is no such format.
        """
        return self.view.definitions(assembled=assembled, format=format)

    def search(self, query: str, limit: int | None = None, all: bool = False) -> SearchResult:  # noqa: A002
        """Find tools by what they do.

        Args:
            query: What is needed, in words.
            limit: At most this many tools; by default as many as a model gets.
            all: Search what people do, every tool in scope, each hit with its state: built-in tools, which a model
                always sees, and those that can't be used now are among them. Otherwise what a model searches, in the
                same ranking as its ``tool_search``: the tools that can be deferred.
        """
        limit = self.search_config.search_default_limit if limit is None else limit
        if not all:
            return self.view.catalog.search(query, limit)
        return self.view.everything.search(query, limit, {seen.tool.name: seen.state for seen in self.view})

    def budget(self) -> Budget:
        """What the tools' schemas cost, and what deferring them saves."""
        return self.view.budget()

    @property
    def search_config(self) -> ToolSearchConfig:
        """The settings of tool search in force."""
        return self.view.search_config

    @property
    def context_length(self) -> int | None:
        """The model's context in tokens; None if unknown."""
        return self.view.context_length

    @context_length.setter
    def context_length(self, tokens: int | None) -> None:
        self.view.context_length = tokens

    # Calls -----------------------------------------------------------------------------------------------------

    def call(
        self,
        name: str,
        args: Mapping[str, Any] | str | None = None,
        *,
        timeout: float | None = None,
        user_task: str | None = None,
        tool_call_id: str | None = None,
        on_output: OnOutput | None = None,
        backend: str | Backend | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        """Call a tool, on the one guarded path.

        Args:
            name: The tool.
            args: Its arguments: a mapping, or the JSON document that a model wrote. It is never changed.
            timeout: Seconds that the tool may run, and whatever it calls; the time of a person who is asked doesn't
                count. A command is killed then, an async handler cancelled, a sync one no longer waited for.
            user_task: Passed on to the handler.
            tool_call_id: The model's own id of this call, passed on to handler and hooks.
            on_output: Called with ``stdout`` or ``stderr`` and a piece of text while a command runs. It gets what
                the command printed as it is; take care where you show it.
            backend: Where this call works, and the calls made inside of it: a name as for ``open_backend``, or one
                that you opened. By default where the call around it works, or else where the session does.
            extra: Passed on by keyword to a handler that takes it: an agent's own state, a function to call back.

        Returns:
            The result. A refusal or an error is a result too; this raises only when it is interrupted.
        """
        call = Call(self, name, args, self._next_id(), timeout, user_task, tool_call_id, on_output)
        call.backend, call.extra = backend, extra or {}
        return run(call)

    async def acall(
        self,
        name: str,
        args: Mapping[str, Any] | str | None = None,
        *,
        timeout: float | None = None,
        user_task: str | None = None,
        tool_call_id: str | None = None,
        on_output: OnOutput | None = None,
        backend: str | Backend | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        """The same as ``call`` without blocking the event loop; cancelling it cancels an async handler."""
        running: list[Future[Any]] = []
        cancelled = threading.Event()

        def on_start(future: Future[Any]) -> None:
            running.append(future)
            if cancelled.is_set():  # before the handler was reached
                future.cancel()

        call = Call(self, name, args, self._next_id(), timeout, user_task, tool_call_id, on_output, on_start)
        call.backend, call.extra = backend, extra or {}
        try:
            return await aio.in_thread(lambda: run(call))
        except asyncio.CancelledError:
            cancelled.set()
            for future in running:
                future.cancel()
            raise

    def call_many(
        self,
        calls: Iterable[tuple[str, Mapping[str, Any] | str | None]],
        *,
        timeout: float | None = None,
        backend: str | Backend | None = None,
    ) -> list[ToolResult]:
        """Make several calls: beside each other where that is safe, in order where it is not.

        The results are in the order of the calls, and a failure belongs to its own call. ``timeout`` and ``backend``
        are those of each call.
        """
        return call_many(self, list(calls), timeout=timeout, backend=backend)

    def unwrap(self, call: Call) -> tuple[Tool, Any]:
        """The real tool of a call and the arguments meant for it.

        Raises:
            CallRefused: There is no such tool in scope.
        """
        tool = self.resolve(call.name)
        if tool is not None:
            return tool, call.written
        from hermes_nb.search.bridge import unwrap

        return unwrap(self.view, call)

    def intercept(self, name: str, handler: Handler) -> None:
        """Handle an agent-level tool (todo, memory, session_search, delegate_task) with this agent's own state.

        Raises:
            RegistrationError: There is no such tool, or it isn't one that sessions handle; register a tool instead.
        """
        tool = self.registry.get(name)
        if tool is None or not tool.handled_by_session:
            handled = [known.name for known in self.registry.snapshot.ordered if known.handled_by_session]
            raise RegistrationError(
                f"{name!r} is not a tool that sessions handle (here: {', '.join(handled) or 'none'}); "
                "register a tool instead, or that one with handled_by_session=True"
            )
        self._agent_handlers[name] = handler

    def handler_of(self, tool: Tool) -> Handler:
        """What runs for a tool in this session."""
        return self._agent_handlers.get(tool.name, tool.handler) if tool.handled_by_session else tool.handler

    # Where ----------------------------------------------------------------------------------------------------

    def place(self, backend: str | Backend | None = None) -> Place:
        """Where a call that begins now works.

        That is, in this order: the backend named, that of the call which is being handled here, the session's own.
        """
        if backend is not None:
            return self.workspace.place(self.workspace.site(backend))
        around = current_call.get()
        while around is not None and (around.place is None or around.session is not self):
            around = around.parent
        return self.workspace.place(around.place.site if around is not None and around.place is not None else None)

    @property
    def backend(self) -> Backend:
        """Where commands run; opened with its first use. In a handler, where the call works that it serves.

        Raises:
            BackendUnavailable: It can't be opened here; the error says what to do.
        """
        return self.place().backend

    @property
    def backend_name(self) -> str:
        """The backend's name, as it was given."""
        return self.place().name

    @property
    def cwd(self) -> PurePath | None:
        """The directory that the next command runs in: a ``Path`` on this machine, a ``PurePosixPath`` on another.

        None where that is not known yet, because the backend has not been opened.
        """
        return self.place().folder

    @property
    def is_isolated(self) -> bool:
        """Whether commands run where they can't touch this machine; opens the backend."""
        return self.place().is_isolated

    def use_backend(self, backend: str | Backend, **options: Any) -> None:
        """Run what comes next on another backend; switching back finds the earlier one as it was left.

        Calls that have begun stay where they are. With other options, a name means another backend beside the first.
        """
        self.workspace.use(backend, **options)

    @property
    def jobs(self) -> list[Job]:
        """The background jobs of all backends, ended ones too, in the order in which they began."""
        return self.workspace.jobs()

    def put(self, src: str | os.PathLike[str], dest: str) -> None:
        """Copy a local file or folder to a path on the backend in use.

        Raises:
            BackendError: It could not be copied; the error says why.
            FileNotFoundError: There is no ``src``.
        """
        self.workspace.put(self.place(), src, dest)

    def get(self, src: str, dest: str | os.PathLike[str]) -> None:
        """Copy a file or folder of the backend in use to a local path.

        Raises:
            BackendError: It could not be copied; the error says why.
        """
        self.workspace.get(self.place(), src, dest)

    def notify(self, event: Event) -> None:
        """Take the news of a background job; ``notices`` has them until they are read."""
        self.notices.append(event)

    def close(self) -> None:
        """Give back what the session holds, jobs and shells included; its journal stays."""
        self.closing()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Session {self.id}: {len(self.view)} tools on {self.backend_name}>"

    def _next_id(self) -> str:
        return f"c{next(self._calls):04}"


def _close(workspace: Workspace, journal: Journal) -> None:
    workspace.close()
    journal.close()
