"""``replay``: the calls of a past session."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hermes_nb.cli.base import CliCommand


def _replay(options: argparse.Namespace) -> int:
    from hermes_nb.calls.journal import Journal, replay
    from hermes_nb.home import home

    session = options.session
    if session is None:
        journals = sorted((home() / "journal").glob("*.jsonl"))
        if not journals:
            print(f"no journals below {home()} yet", file=sys.stderr)
            return 1
        session = str(journals[-1])
    try:
        if options.html is None:
            print(replay(session))
        else:
            from hermes_nb.notebook.widgets.session_page import export

            journal = Journal.open(session)
            print(export(journal, options.html, journal.path.stem))
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="a session's id or journal file; the newest by default")
    parser.add_argument(
        "--html",
        nargs="?",
        type=Path,
        const=Path(),
        metavar="PATH",
        help="write them as one page that works anywhere, into this file or folder; the current folder by default",
    )


REPLAY = CliCommand("replay", "show a past session's calls without running anything", _replay, _options, order=20)
