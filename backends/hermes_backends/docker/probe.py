"""Whether a daemon that speaks docker's language answers."""

from __future__ import annotations

from ..errors import BackendUnavailable
from ..probe import Probe
from .daemon import Daemon


def look() -> Probe:
    """What is found, in a line."""
    try:
        daemon = Daemon.connect(timeout=3)
    except BackendUnavailable as error:
        return Probe("docker", usable=False, detail=str(error).splitlines()[0], fix=error.fix)
    try:
        return Probe("docker", usable=True, detail=f"{daemon.client.version().get('Version')} at {daemon.url}")
    finally:
        daemon.client.close()
