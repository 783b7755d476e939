"""What Tab offers for an option or a word, by what the command says that it completes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from hermes_nb.config import OPTIONS
from hermes_nb.home import home
from hermes_nb.notebook.completion.words import folders, local_folder

if TYPE_CHECKING:
    from hermes_nb.session import Session


def _tools(session: Session, *_: object) -> Iterable[str]:
    return (tool.name for tool in session.view.in_scope())


def _toolsets(session: Session, *_: object) -> Iterable[str]:
    return session.registry.toolset_names()


def _backends(session: Session, *_: object) -> Iterable[str]:
    from hermes_backends import backend_names

    names = [name if name == "local" else f"{name}://" for name in backend_names()]
    return dict.fromkeys([*names, session.backend_name])


def _jobs(session: Session, *_: object) -> Iterable[str]:
    return (job.id for job in session.jobs)


def _rules(session: Session, before: list[str], _: str) -> Iterable[str]:
    return dict.fromkeys(approval.rule for approval in session.policy if approval.rule not in before)


def _settings(*_: object) -> Iterable[str]:
    return OPTIONS


def _setting_values(_session: Session, before: list[str], _: str) -> Iterable[str]:
    return OPTIONS[before[0]].choices if before and before[0] in OPTIONS else ()


def _sessions(*_: object) -> Iterable[str]:
    return sorted((path.stem for path in (home() / "journal").glob("*.jsonl")), reverse=True)


def _folders(session: Session, _: list[str], fragment: str) -> Iterable[str]:
    inside = local_folder(session.place())
    return folders(fragment, inside) if inside is not None else ()


SOURCES: dict[str, Callable[[Session, list[str], str], Iterable[str]]] = {
    "tool": _tools,
    "toolset": _toolsets,
    "backend": _backends,
    "job": _jobs,
    "rule": _rules,
    "setting": _settings,
    "setting_value": _setting_values,
    "session": _sessions,
    "folder": _folders,
}
