"""The output of a running command, shown as it comes: as streams, which every front end shows as text."""

from __future__ import annotations

import re
import sys

from hermes_nb.common.redact import SecretsHeldBack
from hermes_nb.notebook.faces import ansi

_UNFINISHED_ESCAPE = re.compile(r"\x1b[^A-Za-z\x07]{0,64}\Z")


class LiveOutput:
    """Takes ``(stream, text)`` pieces and writes them to the cell, without secrets and without control sequences."""

    def __init__(self) -> None:
        self.written = False
        self._streams = {name: SecretsHeldBack(_UNFINISHED_ESCAPE) for name in ("stdout", "stderr")}

    def __call__(self, stream: str, text: str) -> None:
        """Take a piece; what may be the beginning of something longer waits for the rest."""
        self._write(stream, self._streams[stream].feed(text))

    def finish(self) -> None:
        """Write what is still held back."""
        for stream, held_back in self._streams.items():
            self._write(stream, held_back.rest())

    def _write(self, stream: str, text: str) -> None:
        if text:
            target = sys.stderr if stream == "stderr" else sys.stdout
            target.write(ansi.coloured(text))
            target.flush()
            self.written = True
