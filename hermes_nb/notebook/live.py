"""The output of a running command, shown as it comes: as streams, which every front end shows as text."""

from __future__ import annotations

import re
import sys

from hermes_nb.notebook import ansi
from hermes_nb.redact import redact

_UNFINISHED_ESCAPE = re.compile(r"\x1b[^A-Za-z\x07]{0,64}\Z")
#: A word that the next piece may complete: half a secret can't be told from an ordinary word.
_UNFINISHED_WORD = re.compile(r"\S*[A-Za-z0-9]\S*\Z")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?!.*-----END)", re.DOTALL)
_HELD_AT_MOST = 8_192


class LiveOutput:
    """Takes ``(stream, text)`` pieces and writes them to the cell, without secrets and without control sequences."""

    def __init__(self) -> None:
        self.written = False
        self._held = {"stdout": "", "stderr": ""}

    def __call__(self, stream: str, text: str) -> None:
        """Take a piece; what may be the beginning of something longer waits for the rest."""
        pending = self._held[stream] + text
        cut = _safe_length(pending)
        self._held[stream] = pending[cut:]
        self._write(stream, pending[:cut])

    def finish(self) -> None:
        """Write what is still held back."""
        for stream, pending in self._held.items():
            self._held[stream] = ""
            self._write(stream, pending)

    def _write(self, stream: str, text: str) -> None:
        if text:
            target = sys.stderr if stream == "stderr" else sys.stdout
            target.write(ansi.coloured(redact(text)))
            target.flush()
            self.written = True


def _safe_length(text: str) -> int:
    """How much of a text can be shown before more comes."""
    starts = [len(text)]
    for pattern in (_UNFINISHED_ESCAPE, _UNFINISHED_WORD, _PRIVATE_KEY):
        found = pattern.search(text, max(0, len(text) - _HELD_AT_MOST))
        if found is not None:
            starts.append(found.start())
    return min(starts)
