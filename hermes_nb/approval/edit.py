"""What an approver changed of a call before it ran."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from itertools import islice
from typing import Any, Literal

import msgspec

from hermes_nb.common.jsonable import written
from hermes_nb.common.redact import redact

Sign = Literal["-", "+", " "]

_LINES_SHOWN = 40


class Edit(msgspec.Struct, frozen=True):
    """What an approver changed: the text that was asked about, or all arguments as JSON.

    Attributes:
        before: What was asked about.
        after: What was approved instead, and ran.
    """

    before: str
    after: str

    @classmethod
    def between(cls, before: Mapping[str, Any], after: Mapping[str, Any], shown: str | None) -> Edit | None:
        """The difference between two sets of arguments; None if there is none.

        Args:
            before: The arguments that were asked about.
            after: Those that were approved.
            shown: The argument that a person was shown as a text.
        """
        if before == after:
            return None
        if shown is not None and {**before, shown: ""} == {**after, shown: ""}:
            return cls(str(before[shown]), str(after[shown]))
        return cls(written(dict(before), indent=2), written(dict(after), indent=2))

    def without_secrets(self) -> Edit:
        """The same, to be stored and shown."""
        return Edit(redact(self.before), redact(self.after))

    def lines(self) -> list[tuple[Sign, str]]:
        """What was taken out (``-``) and put in (``+``), with a line around it where there is more."""
        compared = difflib.unified_diff(self.before.splitlines(), self.after.splitlines(), n=1, lineterm="")
        changed = (line for line in islice(compared, 2, None) if not line.startswith("@@"))
        lines = [(_sign(line), line[1:]) for line in islice(changed, _LINES_SHOWN + 1)]
        return lines if len(lines) <= _LINES_SHOWN else [*lines[:_LINES_SHOWN], (" ", "…")]

    def __str__(self) -> str:
        return "\n".join(f"{sign} {text}" for sign, text in self.lines())


def _sign(line: str) -> Sign:
    return "-" if line.startswith("-") else "+" if line.startswith("+") else " "
