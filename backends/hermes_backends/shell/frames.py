r"""Finding the driver's words in a stream of output.

A frame is `\x1e<nonce>;<kind>;<field>…\x1e`. The nonce is random for each shell and is nowhere written next
to `\x1e`, so no output can be taken for a frame by accident, not even that of `set` or `declare -f`.
"""

from __future__ import annotations

from typing import NamedTuple

RS = b"\x1e"


class Frame(NamedTuple):
    """What the driver said: `E` a command ended, `D` the shell died by itself."""

    kind: str
    fields: list[str]


class FrameSplitter:
    """Separates one stream into output and frames, however the stream is cut into pieces."""

    def __init__(self, nonce: str) -> None:
        self._mark = RS + nonce.encode() + b";"
        self._held = b""

    def feed(self, data: bytes) -> list[bytes | Frame]:
        """Output and frames in their order. What might be the start of a frame is held back."""
        if self._held:
            data = self._held + data
            self._held = b""
        found: list[bytes | Frame] = []
        while data:
            start = data.find(self._mark)
            if start < 0:
                start = self._possible_start(data)
                if start:
                    found.append(data[:start])
                self._held = data[start:]
                break
            if start:
                found.append(data[:start])
            end = data.find(RS, start + 1)
            if end < 0:
                self._held = data[start:]
                break
            kind, *fields = data[start + len(self._mark) : end].decode("utf-8", "surrogateescape").split(";", 3)
            found.append(Frame(kind, fields))
            data = data[end + 1 :]
        return found

    def rest(self) -> bytes:
        """What was held back, once no more can come."""
        held, self._held = self._held, b""
        return held

    def _possible_start(self, data: bytes) -> int:
        tail = max(0, len(data) - len(self._mark) + 1)
        at = data.find(RS, tail)
        while at >= 0:
            if self._mark.startswith(data[at:]):
                return at
            at = data.find(RS, at + 1)
        return len(data)
