"""The rules: what is dangerous, one file a family. Importing the package fills the table."""

from . import (
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
)
from .table import RULES, Rule, matching

__all__ = ["RULES", "Rule", "matching"]

_FAMILIES = (
    clouds, code, databases, deletion, disks, files, git, packages, permissions, privilege, processes, remote,
)  # fmt: skip
