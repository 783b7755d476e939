"""Approval: what a call would do, and who decides whether it may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.approval.assessment import Assessment, Finding, Verdict

if TYPE_CHECKING:
    from hermes_nb.approval.assess_command import DANGEROUS_PATTERNS, assess, detect_dangerous_command

__all__ = [
    "DANGEROUS_PATTERNS",
    "Assessment",
    "Finding",
    "Verdict",
    "assess",
    "detect_dangerous_command",
]


def __getattr__(name: str) -> object:
    """Load the parser and the rules when they are first asked for."""
    if name in ("assess", "detect_dangerous_command", "DANGEROUS_PATTERNS"):
        from hermes_nb.approval import assess_command as module

        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
