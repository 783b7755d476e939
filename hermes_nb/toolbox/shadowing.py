"""A tool that would take the place of another toolset's: when that may be, and who hears of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from hermes_nb.errors import RegistrationError

if TYPE_CHECKING:
    from hermes_nb.toolbox.declaration import Tool

logger = logging.getLogger(__name__)

ShadowReport = Callable[["Tool", RegistrationError], None]
_report_shadow: ContextVar[ShadowReport | None] = ContextVar("hermes_nb_report_shadow", default=None)


@contextmanager
def reporting_shadows(report: ShadowReport) -> Iterator[None]:
    """While this lasts, a tool added here that would shadow another is reported and left out, instead of an error.

    It is for plugins, whose other tools shall not be lost for that, and holds for the code inside alone, whatever
    other threads add meanwhile.
    """
    token = _report_shadow.set(report)
    try:
        yield
    finally:
        _report_shadow.reset(token)


def was_reported(tool: Tool, error: RegistrationError) -> bool:
    """Report a tool that would shadow another, if somebody wants reports; whether somebody does."""
    report = _report_shadow.get()
    if report is not None:
        report(tool, error)
    return report is not None


def check_shadowing(existing: Tool | None, new: Tool, *, override: bool) -> None:
    """Raise RegistrationError where a tool would take the place of one of another toolset, and nobody said so."""
    if existing is None or existing.toolset == new.toolset or override:
        return
    if not existing.source == new.source == "mcp":  # one server may take over from another
        raise RegistrationError(
            f"{new.name!r} of toolset {new.toolset!r} would shadow the tool of toolset {existing.toolset!r}. "
            "Pass override=True if that is meant, or deregister the other one first"
        )


def log_shadowing(existing: Tool | None, new: Tool) -> None:
    """Log that a tool took the place of one of another toolset, if it did."""
    if existing is None or existing.toolset == new.toolset:
        return
    if existing.source == new.source == "mcp":
        logger.debug("%s: %s replaces the tool of %s", new.name, new.toolset, existing.toolset)
    else:
        logger.info("%s: %s overrides the tool of %s on purpose", new.name, new.toolset, existing.toolset)
