"""Commands on this machine, confined if that is asked for."""

from .backend import LocalBackend, clean_environment

__all__ = ["LocalBackend", "clean_environment"]
