"""What an assessment is: a verdict and the findings that led to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hermes_nb.approval.shell.script import Script

Verdict = Literal["allow", "ask", "block"]

_SEVERITY: dict[Verdict, int] = {"allow": 0, "ask": 1, "block": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in a call that a person should know of.

    Attributes:
        rule: The key of the rule that matched; approvals are remembered under it.
        description: What would happen, in plain words.
        text: The part of the command or argument that matched.
        verdict: What this finding alone calls for.
    """

    rule: str
    description: str
    text: str
    verdict: Verdict = "ask"


@dataclass(frozen=True, slots=True)
class Assessment:
    """Every finding of a call, and the verdict of the worst of them.

    Attributes:
        findings: What was found.
        readings: The commands that were read for it, and what was understood: so that nobody reads them again.
    """

    findings: tuple[Finding, ...] = ()
    readings: Mapping[str, tuple[Script, ...]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def verdict(self) -> Verdict:
        """``allow`` without findings, else the most severe verdict among them."""
        return max((finding.verdict for finding in self.findings), key=_SEVERITY.__getitem__, default="allow")

    @property
    def rules(self) -> frozenset[str]:
        """The keys of all rules that matched."""
        return frozenset(finding.rule for finding in self.findings)

    def __add__(self, other: Assessment) -> Assessment:
        return Assessment(self.findings + other.findings, {**self.readings, **other.readings})


ALLOWED = Assessment()
