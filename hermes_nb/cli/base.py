"""What a command of the command line is."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CliCommand:
    """A command. What it needs is imported when it runs: ``hermes-nb --help`` shows all and loads none.

    Attributes:
        name: What is typed after ``hermes-nb``.
        summary: What it does, in one line.
        run: Does it; returns the exit code.
        configure: Adds its options to a parser.
        order: Where help lists it: by this number.
    """

    name: str
    summary: str
    run: Callable[[argparse.Namespace], int]
    configure: Callable[[argparse.ArgumentParser], None] = lambda _: None
    order: int = 100
