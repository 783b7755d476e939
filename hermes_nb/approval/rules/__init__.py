"""The rules: what is dangerous, one file a family. Importing the package fills the table with those of all files."""

from hermes_nb.approval.rules.table import RULES, Rule, matching
from hermes_nb.common.modules import modules_of

__all__ = ["RULES", "Rule", "matching"]

modules_of(__name__)
