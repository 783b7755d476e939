"""Where a session's commands run: a backend that opens with its first use and can be switched."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_backends import Backend
    from hermes_nb.progress import Reporter, Work

LOCAL = "local"
_PULLS = "docker"  # the backend that may have to fetch an image before it opens


class Place:
    """The backends of one session, each opened when it is first needed and kept until the session closes.

    Switching away and back finds a backend as it was left: its shell, its directory, its jobs.
    """

    def __init__(self, backend: str | Backend, task_id: str, progress: Reporter) -> None:
        self._lock = threading.Lock()
        self._progress = progress
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
                backend = self._open[self.name] = self._opened(self.name)
            return backend

    def _opened(self, name: str) -> Backend:
        from hermes_backends import open_backend

        options = dict(self._options.get(name, {}))
        if name == LOCAL:
            options.setdefault("cwd", str(self._start))
        if name.partition("://")[0] != _PULLS:
            return open_backend(name, **options)
        with self._progress.work(f"opening {name.partition('?')[0]}") as work:
            options.setdefault("on_progress", _Pull(work))
            return open_backend(name, **options)

    def put(self, src: str | os.PathLike[str], dest: str) -> None:
        """Copy a local file or folder to the backend in use."""
        backend = self.backend
        with self._progress.work(f"sending {Path(src).name}", unit="bytes") as work:
            if not work.has_listener:
                backend.put(src, dest)
                return
            total = _size(Path(src))
            # The archive that travels is a little larger than what is in it.
            backend.put(src, dest, progress=lambda sent: work.reach(min(sent, total), total))

    def get(self, src: str, dest: str | os.PathLike[str]) -> None:
        """Copy a file or folder of the backend in use to a local path."""
        backend = self.backend
        with self._progress.work(f"fetching {Path(src).name}", unit="bytes") as work:
            backend.get(src, dest, progress=work.reach if work.has_listener else None)

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


class _Pull:
    """Counts the layers of an image by what docker says of each: its id, and what is happening to it."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._layers: set[str] = set()
        self._there: set[str] = set()

    def __call__(self, line: str) -> None:
        layer, _, status = line.partition(" ")
        is_there = status.startswith(("Pull complete", "Already exists"))
        if is_there or status.startswith("Pulling fs layer"):
            self._layers.add(layer)
        if is_there:
            self._there.add(layer)
        self._work.reach(len(self._there), len(self._layers) or None, line)


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files if file.is_file())
