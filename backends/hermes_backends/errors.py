"""Everything that can go wrong with a backend, in one tree.

```
BackendError
├── BackendUnavailable     cannot be opened here; `.fix` is what to do about it
│   ├── UnknownBackend     no such backend
│   ├── MissingDependency  known, but its package is not installed
│   ├── ImageMissing       docker: the image is not here and was not pulled
│   ├── AuthenticationFailed
│   └── HostKeyRefused     ssh: the host is unknown, or has changed its key
├── ConnectionLost         the other side is gone: what it was doing has an unknown outcome
├── ContainerGone          docker: the container was removed; nothing was run
├── BackendClosed          used after close(), or before open()
├── SpawnFailed            the program could not be started
├── ShellUnavailable       no bash on the other side
├── DirectoryChanged       the shell is no longer where the caller expects it; nothing was run
├── ShellBusy              another command still ran when the time was up; nothing was run; also a TimeoutError
├── StillRunning           wait(timeout) ran out; also a TimeoutError
├── NoSuchJob
└── TransferFailed         put or get did not finish
    └── UnsafePath         an archive tried to leave its folder
```
`CommandInterrupted` stands apart: it is a KeyboardInterrupt that carries the partial result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .results import ExecResult


class BackendError(Exception):
    """Base of all errors of this package."""


class BackendUnavailable(BackendError):
    """The backend cannot be opened here.

    Args:
        message: What is wrong.
        fix: The one thing to do about it, or empty.
    """

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(f"{message}\n  fix: {fix}" if fix else message)
        self.fix = fix


class UnknownBackend(BackendUnavailable):
    """No backend of that name is known or registered."""


class MissingDependency(BackendUnavailable):
    """The backend is known, but the package it needs is not installed."""


class ImageMissing(BackendUnavailable):
    """The container image is not on this machine and could not be pulled."""


class AuthenticationFailed(BackendUnavailable):
    """The other side refused every key and password it was offered."""


class HostKeyRefused(BackendUnavailable):
    """The host's key is unknown, or differs from the one that was accepted before."""


class ConnectionLost(BackendError):
    """The other side went away. Whatever it was running has an unknown outcome."""


class ContainerGone(BackendError):
    """The container of a backend was removed by somebody else, and with it all that was in it. Nothing was run.

    Not a lost connection: no other container takes its place by itself, as nothing in it would be what it was.
    """


class BackendClosed(BackendError):
    """The backend, shell or process was used after it was closed, or before it was opened."""


class SpawnFailed(BackendError):
    """The program could not be started: it does not exist, or its directory does not."""


class ShellUnavailable(BackendError):
    """The persistent shell needs bash on the other side, and there is none."""


class DirectoryChanged(BackendError):
    """The shell is in another directory than the caller expects, so nothing was run.

    Args:
        cwd: Where it is.
    """

    def __init__(self, cwd: str | None) -> None:
        super().__init__(f"the shell is in {cwd} now; nothing was run")
        self.cwd = cwd


class ShellBusy(BackendError, TimeoutError):
    """The shell was still busy with another command when the time was up, so nothing was run."""


class StillRunning(BackendError, TimeoutError):
    """The process did not end within the time given."""


class NoSuchJob(BackendError, KeyError):
    """No background job has that id."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show its repr


class TransferFailed(BackendError):
    """Files could not be copied, or not all of them."""


class UnsafePath(TransferFailed):
    """An archive held a path or link that leads out of the folder it was unpacked in."""


class CommandInterrupted(KeyboardInterrupt):
    """A KeyboardInterrupt during a command, raised once the command's processes are gone.

    Args:
        result: What the command had put out until then.
    """

    def __init__(self, result: ExecResult) -> None:
        super().__init__("command interrupted")
        self.result = result
