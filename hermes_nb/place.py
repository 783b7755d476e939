"""Where a session's commands run: a backend that opens with its first use and can be switched."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_backends import Backend

LOCAL = "local"


class Place:
    """The backends of one session, each opened when it is first needed and kept until the session closes.

    Switching away and back finds a backend as it was left: its shell, its directory, its jobs.
    """

    def __init__(self, backend: str | Backend, task_id: str) -> None:
        self._lock = threading.Lock()
        self._task_id = task_id
        self._start = Path.cwd()
        self._open: dict[str, Backend] = {}
        self._lent: set[str] = set()
        self._options: dict[str, dict[str, Any]] = {}
        self.name = ""
        self.use(backend)

    def use(self, backend: str | Backend, **options: Any) -> None:
        """Run what comes next on this backend: a name as for ``open_backend``, or one that you opened yourself."""
        if isinstance(backend, str):
            self.name = backend
            self._options.setdefault(backend, options)
            return
        self.name = backend.where
        self._open[self.name] = backend
        self._lent.add(self.name)

    @property
    def backend(self) -> Backend:
        """The backend in use, opened if need be.

        Raises:
            BackendUnavailable: It can't be opened here; the error says what to do.
        """
        with self._lock:
            backend = self._open.get(self.name)
            if backend is None:
                from hermes_backends import open_backend

                options = dict(self._options.get(self.name, {}))
                if self.name == LOCAL:
                    options.setdefault("cwd", str(self._start))
                backend = self._open[self.name] = open_backend(self.name, **options)
            return backend

    @property
    def is_isolated(self) -> bool:
        """Whether commands run where they can't touch this machine."""
        return self.backend.capabilities.isolated

    @property
    def cwd(self) -> str:
        """The directory that the next command runs in, as far as it is known."""
        backend = self._open.get(self.name)
        known = backend.shell(self._task_id).cwd if backend is not None else None
        return known or (str(self._start) if self.name == LOCAL else "~")

    def close(self) -> None:
        """Close every backend that was opened here."""
        with self._lock:
            for name, backend in self._open.items():
                if name not in self._lent:
                    backend.close()
            self._open.clear()
