"""``hermes_nb.registry``, the process's registry of tools, under the path that it always had."""

from hermes_nb.default_sessions import DefaultSessions
from hermes_nb.toolbox.registry import Registry, registry

__all__ = ["Registry", "registry"]

Registry.speakers = DefaultSessions
