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
- `landlock`: rlimits, and the kernel lets nothing be written outside the working folder and the temporary
  folder,
  not even by root. Everything can still be read, and the network reached.
- `bubblewrap`: rlimits, and a file system that is read-only except for the working folder and an empty /tmp
  of its
  own, its own processes, and no network unless `network=True`. Your files can still be read.

Only a container or another machine is a boundary against code that means harm: use docker or ssh for that.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .base import Backend, Capabilities
from .cgroup import Cgroup
from .confine import Isolation, Limits, launcher
from .errors import SpawnFailed
from .local_process import PipedProcess, TerminalProcess

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .base import Process

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
        BackendUnavailable: This machine cannot isolate that way.
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
        self.isolation = isolation
        self._pass_env = tuple(pass_env)
        folders = [str(Path(self.cwd or Path.cwd()).resolve()), *writable]
        if isolation == "landlock":
            folders.append(tempfile.gettempdir())
        limits = limits or Limits()
        self._launcher = launcher(isolation, limits, folders, network=network)
        self._group = Cgroup(limits.memory, limits.processes) if isolation == "cgroup" else None
        if self._group is not None:
            self._launcher = [*self._group.join, *self._launcher]

    @property
    def capabilities(self) -> Capabilities:
        """Not isolated at any level: files of this machine can be read at each of them."""
        return Capabilities(isolated=False, pty=True, limits=self.isolation != "none")

    @property
    def where(self) -> str:
        """This machine, and how confined."""
        return "this machine" if self.isolation == "none" else f"this machine ({self.isolation})"

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
        words = [*self._launcher, *argv]
        folder = cwd or self.cwd
        if folder is not None and not Path(folder).is_dir():
            raise SpawnFailed(f"cannot start {argv[0]!r}: no such directory: {folder}")
        variables = {**clean_environment(self._pass_env), **self.env, **(env or {})}
        if pty:
            return TerminalProcess(words, folder, variables)
        return PipedProcess(words, folder, variables, stdin=stdin)

    def _release(self) -> None:
        if self._group is not None:
            self._group.close()
