"""Commands in a container, by docker's daemon or podman's socket."""

from .backend import DockerBackend

__all__ = ["DockerBackend"]
