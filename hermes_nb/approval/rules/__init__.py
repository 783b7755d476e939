"""The rules: what is dangerous, one file a family. Importing the package fills the table."""

from hermes_nb.approval.rules import (  # noqa: F401 (each puts its rules into the table)
    clouds,
    code,
    databases,
    deletion,
    disks,
    files,
    git,
    packages,
    permissions,
    privilege,
    processes,
    remote,
    sending,
)
from hermes_nb.approval.rules.table import RULES, Rule, matching

__all__ = ["RULES", "Rule", "matching"]
