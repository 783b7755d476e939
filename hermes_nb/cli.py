"""The command line: ``hermes-nb doctor``, ``replay`` and ``import-config``."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from hermes_nb import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit code."""
    options = build_parser().parse_args(arguments)
    logging.basicConfig(level=logging.ERROR)
    match options.command:
        case "doctor":
            return _doctor()
        case "replay":
            return _replay(options.session)
        case _:
            return _import_config(options.path, dry_run=options.dry_run)


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; the documentation is made from it."""
    parser = argparse.ArgumentParser(prog="hermes-nb", description="Tools for LLM agents in notebooks.")
    parser.add_argument("--version", action="version", version=f"hermes-nb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("doctor", help="what is installed, what can run here, and how to fix the rest")
    replay = commands.add_parser("replay", help="show a past session's calls without running anything")
    replay.add_argument("session", nargs="?", help="a session's id or journal file; the newest by default")
    take_over = commands.add_parser("import-config", help="carry over what fits of a hermes-agent config.yaml")
    take_over.add_argument("path", nargs="?", type=Path, help="the file; by default below HERMES_HOME or ~/.hermes")
    take_over.add_argument("--dry-run", action="store_true", help="show what would change, and write nothing")
    return parser


def _doctor() -> int:
    from hermes_nb.doctor import examine

    report = examine()
    print(report)
    return 1 if report.problems else 0


def _replay(session: str | None) -> int:
    from hermes_nb.calls.journal import replay
    from hermes_nb.home import home

    if session is None:
        journals = sorted((home() / "journal").glob("*.jsonl"))
        if not journals:
            print(f"no journals below {home()} yet", file=sys.stderr)
            return 1
        session = str(journals[-1])
    try:
        print(replay(session))
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _import_config(source: Path | None, *, dry_run: bool) -> int:
    from hermes_nb.config import Config
    from hermes_nb.errors import ConfigError
    from hermes_nb.import_config import default_source, plan_import

    try:
        plan = plan_import(source or default_source(), Config.load())
        if not dry_run:
            plan.apply()
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 1
    print(plan)
    if dry_run:
        print("nothing was written: this was a dry run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
