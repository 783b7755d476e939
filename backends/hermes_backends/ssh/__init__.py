"""Commands on another machine, by ssh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import SSHBackend

__all__ = ["SSHBackend"]


def __getattr__(name: str) -> Any:
    """The class, and with it the SDK: who only asks what is usable here needs neither."""
    if name in __all__:
        from .backend import SSHBackend

        return SSHBackend
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
