"""Guards for tools other than the terminal: paths that are written or read, and Python that is run."""

from __future__ import annotations

from hermes_nb.approval import paths
from hermes_nb.approval.assessment import ALLOWED, Assessment, Finding
from hermes_nb.approval.languages.python_code import assess_python

__all__ = ["assess_python", "assess_read", "assess_write"]


def assess_write(path: str, *, cwd: str | None = None) -> Assessment:
    """Say whether writing to a path needs a person: system, start-up and credential files do.

    The path is judged as text: ``..``, ``~`` and doubled slashes are resolved, links are not followed.
    """
    place = paths.normalise(path.strip(), cwd)
    if paths.is_raw_device(place):
        return _found("write-raw-device", "writes over a raw disk, partition or the machine's memory", path, "block")
    if paths.is_startup_file(place):
        return _found("write-startup-file", "writes to a file that runs by itself later, or lets somebody in", path)
    if paths.is_system_file(place):
        return _found("write-system-file", "writes to a file of the operating system", path)
    if paths.is_credential(place):
        return _found("write-credential-file", "overwrites a file that holds credentials", path)
    if "\x00" in path or (place.startswith("..") and not cwd):
        return _found("write-outside", "writes outside the working directory", path)
    return ALLOWED


def assess_read(path: str, *, cwd: str | None = None) -> Assessment:
    """Say whether reading a path needs a person: credentials and raw devices do."""
    place = paths.normalise(path.strip(), cwd)
    if paths.is_credential(place):
        return _found("read-credentials", "reads credentials: keys, tokens or passwords", path)
    if paths.is_raw_device(place):
        return _found("read-raw-device", "reads a raw disk or the machine's memory", path)
    return ALLOWED


def _found(rule: str, description: str, text: str, verdict: str = "ask") -> Assessment:
    return Assessment((Finding(rule, description, text, "block" if verdict == "block" else "ask"),))
