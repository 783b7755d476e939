"""The place of one call: a backend and a folder, which stay the same for as long as the call lasts."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any

from hermes_nb.errors import SessionClosedError

if TYPE_CHECKING:
    from hermes_backends import Backend, Job

LOCAL = "local"
CLOSED = "this session is closed; make a new one"


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where one call works; it never changes, whatever the session or another thread does meanwhile.

    Attributes:
        name: The backend's name, as it was given.
        folder: Where its commands start: a `Path` on this machine, a `PurePosixPath` on another, None where that is
            not known before the backend is opened.
    """

    name: str
    folder: PurePath | None
    site: Site

    @property
    def backend(self) -> Backend:
        """The backend, opened if need be.

        Raises:
            BackendUnavailable: It can't be opened here; the error says what to do.
        """
        return self.site.backend

    @property
    def cwd(self) -> str:
        """The folder as text; empty where it is not known."""
        return str(self.folder) if self.folder is not None else ""

    @property
    def is_isolated(self) -> bool:
        """Whether commands run where they can't touch this machine; opens the backend."""
        return self.backend.capabilities.isolated

    def at(self, folder: str | None) -> Place:
        """The same backend in another folder; None for one that is not known."""
        return replace(self, folder=self.site.path(folder))

    def inside(self, folder: str | None) -> Place:
        """The same backend, in a folder as a command there would find it: relative to where it starts."""
        if not folder:
            return self
        if folder.startswith(("/", "~")):
            return self.at(folder)
        return self.at(None if self.folder is None else os.path.normpath(self.folder / folder))


class Site:
    """One backend of a session: opened with its first use, or lent to it.

    Args:
        name: What it is called in this session, unlike any other.
        spec: The name as for ``open_backend``.
        options: Its options, as they were given.
        start: Where its first command runs, if that is known beforehand.
        opener: Opens it.
        lent: The backend, where somebody else opened it and will close it.
    """

    def __init__(
        self,
        name: str,
        spec: str,
        options: Mapping[str, Any],
        start: str | None,
        opener: Callable[[Site], Backend] | None = None,
        lent: Backend | None = None,
    ) -> None:
        self.name = name
        self.spec = spec
        self.options = options
        self.start = start
        self.is_lent = lent is not None
        self._opener = opener
        self._backend = lent
        self._latest_path: tuple[str, PurePath] | None = None
        self._lock = threading.Lock()  # of this one alone: while it opens, others are used

    @property
    def backend(self) -> Backend:
        """The backend, opened if need be."""
        backend = self._backend
        if backend is not None:
            return backend
        with self._lock:
            if self._backend is None:
                if self._opener is None:
                    raise SessionClosedError(CLOSED)
                self._backend = self._opener(self)
            return self._backend

    @property
    def is_open(self) -> bool:
        """Whether there is anything to wait for before it can be used."""
        return self._backend is not None

    def folder(self, task: str) -> PurePath | None:
        """Where the next command of a task would start, as far as it is known; nothing is opened to find out."""
        backend = self._backend
        try:
            known = backend.shell(task).cwd if backend is not None else None
        except Exception:  # closed by whoever lent it, for one; a command will say so
            return None
        return self.path(self.start if known is None else known)

    def path(self, folder: str | None) -> PurePath | None:
        """A folder there: only one of this machine can be looked into from here."""
        if folder is None:
            return None
        latest = self._latest_path
        if latest is None or latest[0] != folder:  # every call asks, and mostly for the same
            latest = (folder, Path(folder) if scheme(self.spec) == LOCAL else PurePosixPath(folder))
            self._latest_path = latest
        return latest[1]

    def jobs(self) -> list[Job]:
        """The background jobs there, ended ones too."""
        return [] if self._backend is None else self._backend.jobs.list()

    def close(self) -> None:
        """Close what was opened here; what was lent is its owner's."""
        with self._lock:
            backend, self._backend = self._backend, None
            self._opener = None
        if backend is not None and not self.is_lent:
            backend.close()


def scheme(spec: str) -> str:
    """The kind of backend that a name stands for: ``docker`` for ``docker://debian:12``."""
    return spec.partition("://")[0].partition("?")[0]
