"""``import-config``: settings of a hermes-agent, taken over."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hermes_nb.cli.base import CliCommand


def _import_config(options: argparse.Namespace) -> int:
    from hermes_nb.config import Config
    from hermes_nb.errors import ConfigError
    from hermes_nb.import_config import default_source, plan_import

    try:
        plan = plan_import(options.path or default_source(), Config.load())
        if not options.dry_run:
            plan.apply()
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 1
    print(plan)
    if options.dry_run:
        print("nothing was written: this was a dry run")
    return 0


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", type=Path, help="the file; by default below HERMES_HOME or ~/.hermes")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and write nothing")


IMPORT_CONFIG = CliCommand(
    "import-config", "carry over what fits of a hermes-agent config.yaml", _import_config, _options, order=30
)
