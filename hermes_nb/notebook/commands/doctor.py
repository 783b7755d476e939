"""``doctor``: what is installed and what can run here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.notebook.commands.base import Command, Invocation

if TYPE_CHECKING:
    from hermes_nb.doctor import Report


def _doctor(_invocation: Invocation) -> Report:
    from hermes_nb.doctor import examine

    return examine()


DOCTOR = Command(
    "doctor", "What is installed, what can run here, and how to fix the rest.", _doctor,
    order=50, example="%hermes doctor",
)  # fmt: skip
