"""Commands on this machine.

What each `isolation` protects from, and what it does not:

- `none`: nothing. A command can do all that you can. Only the environment is kept clean: variables pass by an
  allowlist, so the API keys in it are not seen unless named. A command can still read your files, keys among
  them.
- `rlimits`: bounds the memory and files of each process, and the number of processes unless you are root. Against
  accidents, not against malice.
- `cgroup`: bounds the memory and number of all processes together, root's too, and `close` ends even those that hid.
  Where the kernel's control groups can be written to: as root, or where the service manager hands a part of them
  on to you. It protects from nothing else, and root can lift it.
- `landlock`: rlimits, and the kernel lets nothing be written, made or removed outside the working folder, the
  `writable` ones and the temporary folder, not even by root; of /dev only what is harmless, terminals and shared
  memory. Not held back: reading, the network, UNIX sockets (docker's, the desktop's, an agent's), signals to your
  other processes, changes of permissions, owners and times, and what else only root may do, if you are root.
- `bubblewrap`: rlimits, and a file system that is read-only except for the working folder, the `writable` ones and a
  /tmp of the backend's own, which its shells and jobs share and which is gone when it closes. Own processes, no
  capabilities, no network unless `network=True`. /run is empty, so that the sockets of docker and the desktop are out
  of reach. As root it is less than root: files of other owners cannot be changed, and what only root may do is
  refused (installing packages, mounting, changing users). Not held back: reading your files, keys among them; sockets
  elsewhere, as in your home; with `network=True` also those without a path; and, unless you are root, a file system
  that is mounted on this machine while a program runs, which it sees as you do.

At neither of the last two is code safe that you run later from a folder that was writable: a virtual environment, git's
hooks, a Makefile. If this machine cannot confine that way, opening fails, and nothing is run unconfined.

Only a container or another machine is a boundary against code that means harm: use docker or ssh for that.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base import Backend, Capabilities
from ..errors import BackendUnavailable, SpawnFailed
from .bubblewrap import Bubblewrap
from .cgroup import Cgroup
from .confine import LEVELS, Isolation, Limits, behind, bounds, landlock_words, writable_folders
from .process import PipedProcess, TerminalProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..base import Process

#: what a command may see of our environment; `pass_env=` adds to it
ALLOWED = frozenset(
    [
        *(
            "HOME",
            "USER",
            "LOGNAME",
            "SHELL",
            "PATH",
            "PWD",
            "TMPDIR",
            "TZ",
            "LANG",
            "LANGUAGE",
            "TERM",
            "COLORTERM",
        ),
        *(
            "NO_COLOR",
            "EDITOR",
            "PAGER",
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "CONDA_DEFAULT_ENV",
            "PYENV_ROOT",
            "NVM_DIR",
        ),
        *(
            "GOPATH",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "JAVA_HOME",
            "LD_LIBRARY_PATH",
            "DISPLAY",
            "WAYLAND_DISPLAY",
        ),
    ]
)
_ALLOWED_PREFIXES = ("LC_", "XDG_")


def clean_environment(pass_env: Iterable[str] = ()) -> dict[str, str]:
    """Our environment without all that was not named: by allowlist, because secrets have no common name."""
    named = ALLOWED.union(pass_env)
    return {k: v for k, v in os.environ.items() if k in named or k.startswith(_ALLOWED_PREFIXES)}


class LocalBackend(Backend):
    """Runs commands on this machine, as you.

    Args:
        isolation: `none`, `rlimits`, `cgroup`, `landlock` or `bubblewrap`; see the module's text for what each
            is worth.
        limits: For every level but `none`.
        pass_env: Names of variables that commands may see beside the harmless ones.
        writable: Folders that `landlock` and `bubblewrap` leave writable beside the working folder.
        network: Whether `bubblewrap` leaves the network in reach.
        options: `cwd`, `env`, `setup`, `max_output`, `spill_dir`: see `Backend`.

    Raises:
        BackendUnavailable: There is no such isolation; from `open`, if this machine cannot isolate that way.
    """

    name = "local"

    def __init__(
        self,
        *,
        isolation: Isolation = "none",
        limits: Limits | None = None,
        pass_env: Iterable[str] = (),
        writable: Sequence[str] = (),
        network: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if isolation not in LEVELS:
            raise BackendUnavailable(f"no isolation is called {isolation!r}", f"choose one of {', '.join(LEVELS)}")
        self.isolation = isolation
        self._limits = limits or Limits()
        self._pass_env = tuple(pass_env)
        self._writable = tuple(writable)
        self._network = network
        self._launcher: list[str] = []
        self._inside: dict[str, str] = {}
        self._folder = ""
        self._bubblewrap: Bubblewrap | None = None
        self._held = contextlib.ExitStack()

    @property
    def capabilities(self) -> Capabilities:
        """Not isolated at any level: files of this machine can be read at each of them."""
        return Capabilities(isolated=False, pty=True, limits=self.isolation != "none")

    @property
    def where(self) -> str:
        """This machine, and how confined."""
        return "this machine" if self.isolation == "none" else f"this machine ({self.isolation})"

    def _open(self) -> None:
        match self.isolation:
            case "rlimits":
                self._launcher = bounds(self._limits)
            case "cgroup":
                group = Cgroup(self._limits.memory, self._limits.processes)
                self._held.callback(group.close)
                self._launcher = [*group.join, *bounds(self._limits, together=True)]
            case "landlock":
                folders = writable_folders([self.cwd or ".", *self._writable, tempfile.gettempdir()])
                self._launcher = [*landlock_words(folders), *bounds(self._limits)]
            case "bubblewrap":
                self._folder = os.path.realpath(self.cwd or ".")
                folders = writable_folders([self._folder, *self._writable])
                self._bubblewrap = Bubblewrap(folders, network=self._network)
                self._held.callback(self._bubblewrap.close)
                self._inside = {"TMPDIR": "/tmp"}  # noqa: S108  (its own)

    def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
        stdin: bool = True,
    ) -> Process:
        """Start a program: see `Backend.spawn`."""
        self.check_open()
        variables = {**clean_environment(self._pass_env), **self._inside, **self.env, **(env or {})}
        folder = cwd or self.cwd
        launcher = self._launcher
        if self._bubblewrap is not None:
            # The folder may be one that is there only inside.
            inside = os.path.abspath(cwd) if cwd else self._folder  # noqa: PTH100  (links are for the inside to follow)
            launcher, folder = [*self._bubblewrap.words, *bounds(self._limits, inside)], None
        elif folder is not None and not Path(folder).is_dir():
            raise SpawnFailed(f"cannot start {argv[0]!r}: no such directory: {folder}")
        words, variables = behind(launcher, argv, variables)
        kind = TerminalProcess if pty else partial(PipedProcess, stdin=stdin)
        start: Callable[[], Process] = partial(kind, words, folder, variables)
        return self._bubblewrap.start(start) if self._bubblewrap is not None else start()

    def _release(self) -> None:
        self._held.close()
