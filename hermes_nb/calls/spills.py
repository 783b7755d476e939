"""The files of a session that hold what was too long to be shown: without secrets from their first byte."""

from __future__ import annotations

import codecs
import logging
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_nb.common.redact import SecretsHeldBack
from hermes_nb.home import home, private_folder

if TYPE_CHECKING:
    from hermes_backends.output import OpenSpill, SpillFile

logger = logging.getLogger(__name__)

FOLDER = "spill"


class Spills:
    """The files of one session, each under the name of the call or job that it belongs to."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id

    def keep(self, name: str, text: str) -> tuple[Path | None, str]:
        """Write a text, from which secrets have been taken: the file, and where the text is, in words."""
        try:
            path = self._path(name)
            with os.fdopen(_new(path), "w", encoding="utf-8", newline="") as file:
                file.write(text)
        except OSError as problem:
            logger.warning("a result could not be kept: %s", problem)
            return None, f"could not be kept: {problem}"
        return path, f"is in {path}"

    def opener(self, name: str) -> OpenSpill:
        """Opens the file for an output that a backend can't hold in memory, once there is one."""
        return partial(self._open, name)

    def _open(self, name: str) -> RedactedSpill:
        from hermes_backends.output import SpillFile

        path = self._path(name)
        return RedactedSpill(SpillFile(path, _new(path)))

    def holds(self, path: str) -> Path | None:
        """The file, if it is one of this session: of these alone a session knows that they are on this machine."""
        named = Path(path)
        folder = home() / FOLDER / self._session_id
        is_ours = named.is_absolute() and named.parent == folder and named.is_file() and not named.is_symlink()
        return named if is_ours else None

    def _path(self, name: str) -> Path:
        return private_folder(FOLDER, self._session_id) / f"{name}.txt"


def _new(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


class RedactedSpill:
    """A file that takes the output of a command while it comes, and never has a secret in it."""

    def __init__(self, file: SpillFile) -> None:
        self._file = file
        # Bytes that are no UTF-8 pass through as they are, by way of surrogates.
        self._decoders = {stream: codecs.getincrementaldecoder("utf-8")("surrogateescape") for stream in (1, 2)}
        self._held_back = {stream: SecretsHeldBack() for stream in (1, 2)}

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def write(self, stream: int, data: bytes) -> None:
        """Take the next piece of a stream; its end may wait for the piece after it."""
        self._put(stream, self._held_back[stream].feed(self._decoders[stream].decode(data)))

    def close(self) -> None:
        """Write what was held back, and finish the file."""
        try:
            for stream, decoder in self._decoders.items():
                last = self._held_back[stream].feed(decoder.decode(b"", final=True))
                self._put(stream, last + self._held_back[stream].rest())
        finally:
            self._file.close()

    def _put(self, stream: int, text: str) -> None:
        if text:
            self._file.write(stream, text.encode("utf-8", "surrogateescape"))
