"""``doctor``: what is installed, and what can run here."""

from __future__ import annotations

import argparse

from hermes_nb.cli.base import CliCommand


def _doctor(_: argparse.Namespace) -> int:
    from hermes_nb.doctor import examine

    report = examine()
    print(report)
    return 1 if report.problems else 0


DOCTOR = CliCommand("doctor", "what is installed, what can run here, and how to fix the rest", _doctor, order=10)
