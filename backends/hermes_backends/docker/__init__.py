"""Commands in a container, by docker's daemon or podman's socket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import DockerBackend

__all__ = ["DockerBackend"]


def __getattr__(name: str) -> Any:
    """The class, and with it the SDK: who only asks what is usable here needs neither."""
    if name in __all__:
        from .backend import DockerBackend

        return DockerBackend
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
