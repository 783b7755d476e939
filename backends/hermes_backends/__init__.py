r"""Places where commands run, and one shell that behaves the same in all of them.

>>> from hermes_backends import open_backend
>>> with open_backend("local") as b:
...     b.run("cd /tmp; x=1").exit_code, b.run("echo $x $PWD").stdout
(0, '1 /tmp\n')
"""

from .base import END, STDERR, STDOUT, Backend, Capabilities, Output, Process
from .errors import (
    AuthenticationFailed,
    BackendClosed,
    BackendError,
    BackendUnavailable,
    CommandInterrupted,
    ConnectionLost,
    ContainerGone,
    DirectoryChanged,
    HostKeyRefused,
    ImageMissing,
    MissingDependency,
    NoSuchJob,
    ShellBusy,
    ShellUnavailable,
    SpawnFailed,
    StillRunning,
    TransferFailed,
    UnknownBackend,
    UnsafePath,
)
from .jobs import Event, Job, Jobs
from .registry import backend_names, make_backend, open_backend
from .results import ExecResult, strip_ansi
from .shell import Shell

__all__ = [
    "END",
    "STDERR",
    "STDOUT",
    "AuthenticationFailed",
    "Backend",
    "BackendClosed",
    "BackendError",
    "BackendUnavailable",
    "Capabilities",
    "CommandInterrupted",
    "ConnectionLost",
    "ContainerGone",
    "DirectoryChanged",
    "Event",
    "ExecResult",
    "HostKeyRefused",
    "ImageMissing",
    "Job",
    "Jobs",
    "MissingDependency",
    "NoSuchJob",
    "Output",
    "Process",
    "Shell",
    "ShellBusy",
    "ShellUnavailable",
    "SpawnFailed",
    "StillRunning",
    "TransferFailed",
    "UnknownBackend",
    "UnsafePath",
    "backend_names",
    "make_backend",
    "open_backend",
    "strip_ansi",
]
