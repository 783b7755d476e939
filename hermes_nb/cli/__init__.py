"""The command line, ``hermes-nb``: every module of this folder is one command."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence

from hermes_nb import __version__
from hermes_nb.cli.base import CliCommand
from hermes_nb.common.modules import declared_in


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit code."""
    options = build_parser().parse_args(arguments)
    logging.basicConfig(level=logging.ERROR)
    code: int = options.run(options)
    return code


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; the documentation is made from it."""
    parser = argparse.ArgumentParser(prog="hermes-nb", description="Tools for LLM agents in notebooks.")
    parser.add_argument("--version", action="version", version=f"hermes-nb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in sorted(declared_in(__name__, CliCommand), key=lambda command: command.order):
        one = commands.add_parser(command.name, help=command.summary)
        command.configure(one)
        one.set_defaults(run=command.run)
    return parser
