"""The rules: what is dangerous, one file a family. Importing the package fills the table."""

from . import (  # noqa: F401 (each puts its rules into the table)
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
from .table import RULES, Rule, matching

__all__ = ["RULES", "Rule", "matching"]
