"""A real shell that lives from command to command, on any backend."""

from .persistent import Shell

__all__ = ["Shell"]
