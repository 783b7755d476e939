"""The command line: ``hermes-nb doctor`` and ``hermes-nb replay``."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from hermes_nb import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit code."""
    parser = argparse.ArgumentParser(prog="hermes-nb", description="Tools for LLM agents in notebooks.")
    parser.add_argument("--version", action="version", version=f"hermes-nb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("doctor", help="what is installed, what can run here, and how to fix the rest")
    replay = commands.add_parser("replay", help="show a past session's calls without running anything")
    replay.add_argument("session", nargs="?", help="a session's id or journal file; the newest by default")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.ERROR)
    return _doctor() if options.command == "doctor" else _replay(options.session)


def _doctor() -> int:
    from hermes_nb.doctor import examine

    report = examine()
    print(report)
    return 1 if report.problems else 0


def _replay(session: str | None) -> int:
    from hermes_nb.home import home
    from hermes_nb.journal import replay

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


if __name__ == "__main__":
    sys.exit(main())
