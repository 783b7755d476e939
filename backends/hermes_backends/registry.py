"""From a name to a backend: `open_backend("docker://debian:12?network=true", memory="2g")`."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from .errors import MissingDependency, UnknownBackend

if TYPE_CHECKING:
    from .base import Backend

#: other packages add theirs here: name = "module:Class", the class being a Backend
ENTRY_POINTS = "hermes_nb.backends"


@dataclass(frozen=True, slots=True)
class Ours:
    """A backend of ours: in its folder, `backend` has the class, and `probe` finds out whether it is usable.

    Attributes:
        class_name: The class.
        needs: The package that it can't do without; empty if there is none.
        fix: What installs that.
    """

    class_name: str
    needs: str = ""
    fix: str = ""

    def missing(self) -> str:
        """The package that it needs, if that is not installed."""
        return self.needs if self.needs and importlib.util.find_spec(self.needs) is None else ""


#: Every backend of ours: one folder of that name, and one line here.
OURS: dict[str, Ours] = {
    "local": Ours("LocalBackend"),
    "docker": Ours("DockerBackend", "docker", "pip install 'hermes-nb[docker]'"),
    "ssh": Ours("SSHBackend", "paramiko", "pip install 'hermes-nb[ssh]'"),
}
#: named in the docs, but not here yet: said plainly instead of "unknown"
PLANNED = ("singularity", "modal", "daytona")


def backend_names() -> list[str]:
    """Every name that `open_backend` knows, other packages' included."""
    return sorted({*OURS, *(point.name for point in entry_points(group=ENTRY_POINTS))})


def backend_class(name: str) -> type[Backend]:
    """The class behind a name, its SDK imported only now.

    Raises:
        UnknownBackend: Nobody registered the name.
        MissingDependency: The package it needs is not installed; the error says what to install.
    """
    ours = OURS.get(name)
    if ours is not None:
        path, needs, fix = f"hermes_backends.{name}.backend:{ours.class_name}", ours.needs, ours.fix
    else:
        path, needs, fix = _others(name)
    module, _, attribute = path.partition(":")
    try:
        loaded: type[Backend] = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        missing = error.name or needs
        raise MissingDependency(f"the {name} backend needs {missing}, which is not installed", fix) from error
    return loaded


def _others(name: str) -> tuple[str, str, str]:
    """Where a backend's class is that another package brings, what it needs, and what installs that."""
    found = [point for point in entry_points(group=ENTRY_POINTS) if point.name == name]
    if not found:
        raise _unknown(name)
    brought_by = found[0].dist.name if found[0].dist else found[0].value
    return found[0].value, brought_by, f"install what the package {brought_by} asks for"


def make_backend(spec: str = "local", **options: Any) -> Backend:
    """A backend that is not open yet: it can be asked what and where it is, and nothing has been done for it.

    Args:
        spec: `local`, `docker://image`, `ssh://user@host:port` or the name of someone else's backend, with options
            after `?` if you like: `docker://debian:12?memory=1g&network=true`.
        options: The same by keyword; these win.

    Raises:
        BackendUnavailable: Unknown, not installed, or given options that it does not have; `.fix` says what to do.
    """
    location, _, query = spec.partition("?")
    name, _, target = location.partition("://")
    cls = backend_class(name)
    given: dict[str, Any] = {key: _value(value) for key, value in parse_qsl(query, keep_blank_values=True)}
    if target:
        given["target"] = unquote(target)
    try:
        return cls(**{**given, **options})
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise UnknownBackend(
            f"{name}: {str(error).partition(') ')[2] or error}", f"see help({cls.__module__}.{cls.__name__})"
        ) from error


def open_backend(spec: str = "local", **options: Any) -> Backend:
    """Make a backend and open it: `make_backend` says what the arguments are.

    Raises:
        BackendUnavailable: Unknown, not installed, or not usable here; `.fix` says what to do.
    """
    return make_backend(spec, **options).open()


def _value(text: str) -> bool | str:
    return {"true": True, "false": False}.get(text.lower(), text)


def _unknown(name: str) -> UnknownBackend:
    if name in PLANNED:
        return UnknownBackend(
            f"the {name} backend is not part of this version", f"use one of: {', '.join(backend_names())}"
        )
    return UnknownBackend(
        f"no backend is called {name!r}",
        f"use one of: {', '.join(backend_names())}; or install one that registers in {ENTRY_POINTS!r}",
    )
