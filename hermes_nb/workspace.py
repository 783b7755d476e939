"""Where a session works: its backends, the place of each call, the background jobs, and whatever is closed with it.

A session may have several backends, and its threads may use them at the same time. So nobody asks "which backend now?"
in the middle of a call: a call gets its `Place` when it begins, and what is shown to a person, what runs and what is
recorded all read that one.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol

from hermes_nb.calls.place import CLOSED, LOCAL, Place, Site, scheme
from hermes_nb.common.redact import names_credential, redact
from hermes_nb.errors import SessionClosedError

if TYPE_CHECKING:
    from hermes_backends import Backend, Job
    from hermes_nb.calls.spills import Spills
    from hermes_nb.common.progress import Reporter, Work

_PULLS = "docker"  # the backend that may have to fetch an image before it opens


class Closable(Protocol):
    """Something that has to be closed with the session."""

    def close(self) -> None:
        """Give back what it holds."""


class Workspace:
    """The backends of one session, each opened when it is first needed and kept until the session closes.

    Switching away and back finds a backend as it was left: its shell, its directory, its jobs.
    """

    def __init__(self, backend: str | Backend, task_id: str, progress: Reporter, spills: Spills) -> None:
        self._lock = threading.Lock()
        self._spills = spills
        self._progress = progress
        self._task_id = task_id
        self._start = str(Path.cwd())
        self._sites: dict[str, Site] = {}
        self._latest: dict[str, Site] = {}
        self._numbers = itertools.count(1)
        self._closables: list[Closable] = []
        self._closed = False
        self._current = self.site(backend)

    # Backends --------------------------------------------------------------------------------------------------

    def use(self, backend: str | Backend, **options: Any) -> None:
        """Run what comes next on this backend: a name as for ``open_backend``, or one that you opened yourself."""
        self._current = self.site(backend, **options)

    @property
    def current(self) -> Site:
        """The backend in use."""
        return self._current

    def place(self, site: Site | None = None) -> Place:
        """Where a call that begins now works."""
        site = self._current if site is None else site
        return Place(site.name, site.folder(self._task_id), site)

    def site(self, backend: str | Backend, **options: Any) -> Site:
        """The backend of that name and options, a new one if there is none yet.

        A name without options means the backend that is called so, or else the one last chosen under that name with
        options: switching back finds what was left.
        """
        with self._lock:
            if not isinstance(backend, str):
                return self._lent(backend)
            known = self._sites.get(backend) or self._latest.get(backend) if not options else None
            return known or self._chosen(backend, options)

    def _chosen(self, spec: str, options: dict[str, Any]) -> Site:
        for site in self._sites.values():
            if not site.is_lent and site.spec == spec and site.options == options:
                break
        else:
            if self._closed:
                raise SessionClosedError(CLOSED)
            site = Site(self._unused(_label(spec, options)), spec, options, self._start_of(spec, options), self._opened)
            self._sites[site.name] = site
        self._latest[spec] = site
        return site

    def _start_of(self, spec: str, options: Mapping[str, Any]) -> str | None:
        if "cwd" in options:
            return str(options["cwd"])
        return self._start if scheme(spec) == LOCAL and "cwd=" not in spec else None

    def _lent(self, backend: Backend) -> Site:
        for site in self._sites.values():
            if site.is_open and site.backend is backend:
                return site
        start = self._start if backend.name == LOCAL else None
        site = Site(self._unused(backend.where), backend.name, {}, start, lent=backend)
        self._sites[site.name] = site
        return site

    def _unused(self, name: str) -> str:
        if name not in self._sites:
            return name
        return next(other for number in itertools.count(2) if (other := f"{name} #{number}") not in self._sites)

    def _opened(self, site: Site) -> Backend:
        from hermes_backends import open_backend

        options = dict(site.options)
        if site.start is not None:
            options["cwd"] = site.start
        if scheme(site.spec) != _PULLS:
            return open_backend(site.spec, **options)
        with self._progress.work(f"opening {site.spec.partition('?')[0]}") as work:
            options.setdefault("on_progress", _Pull(work))
            return open_backend(site.spec, **options)

    # Jobs ------------------------------------------------------------------------------------------------------

    def start_job(self, place: Place, command: str, **options: Any) -> Job:
        """Start a background job under an id that no other job of this session has.

        Raises:
            BackendError: It could not be started; the error says why.
        """
        backend = place.backend
        taken = {job.id for job in self.jobs()}
        free = next(name for number in self._numbers if (name := f"job-{number}") not in taken)
        return backend.jobs.start(command, id=free, task=self._task_id, open_spill=self._spills.opener(free), **options)

    def jobs(self) -> list[Job]:
        """The background jobs of all backends, ended ones too, in the order in which they began."""
        with self._lock:
            sites = list(self._sites.values())
        return sorted((job for site in sites for job in site.jobs()), key=lambda job: job.started)

    def job(self, id: str) -> Job:  # noqa: A002
        """The job with that id.

        Raises:
            NoSuchJob: There is none; the error names those there are.
        """
        jobs = self.jobs()
        for job in jobs:
            if job.id == id:
                return job
        from hermes_backends import NoSuchJob

        raise NoSuchJob(f"no job is called {id!r}; there are: {', '.join(job.id for job in jobs) or 'none'}")

    def place_of(self, job_id: str) -> Place:
        """Where a job runs; the folder is its own affair.

        Raises:
            NoSuchJob: There is none.
        """
        job = self.job(job_id)
        with self._lock:
            site = next(site for site in self._sites.values() if job in site.jobs())
        return Place(site.name, None, site)

    # Files -----------------------------------------------------------------------------------------------------

    def put(self, place: Place, src: str | os.PathLike[str], dest: str) -> None:
        """Copy a local file or folder to a backend."""
        backend = place.backend
        with self._progress.work(f"sending {Path(src).name}", unit="bytes") as work:
            if not work.has_listener:
                backend.put(src, dest)
                return
            total = _size(Path(src))
            # The archive that travels is a little larger than what is in it.
            backend.put(src, dest, progress=lambda sent: work.reach(min(sent, total), total))

    def get(self, place: Place, src: str, dest: str | os.PathLike[str]) -> None:
        """Copy a file or folder of a backend to a local path."""
        backend = place.backend
        with self._progress.work(f"fetching {PurePosixPath(src).name}", unit="bytes") as work:
            backend.get(src, dest, progress=work.reach if work.has_listener else None)

    # The end ---------------------------------------------------------------------------------------------------

    def keep(self, closable: Closable) -> None:
        """Close this with the session, before the backends."""
        with self._lock:
            if self._closed:
                raise SessionClosedError(CLOSED)
            self._closables.append(closable)

    def close(self) -> None:
        """Close what was kept, the last first, and every backend that was opened here."""
        with self._lock:
            self._closed = True
            closables, self._closables = self._closables[::-1], []
            sites = list(self._sites.values())
        try:
            for closable in closables:
                closable.close()
        finally:
            for site in sites:
                site.close()


def _label(spec: str, options: Mapping[str, Any]) -> str:
    """A name with its options, as ``open_backend`` reads them; what may be a secret stays unsaid."""
    if not options:
        return spec
    shown = "&".join(f"{name}={_shown(name, value)}" for name, value in options.items())
    return f"{spec}{'&' if '?' in spec else '?'}{shown}"


def _shown(name: str, value: Any) -> str:
    if names_credential(name) or not isinstance(value, str | int | float):
        return "…"
    return str(value).lower() if isinstance(value, bool) else redact(str(value))


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
