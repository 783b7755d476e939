"""Files that a script writes before it uses them: what is known of their contents.

``echo 'rm -rf x' > s; sh s`` and ``curl … -o s; sh s`` take a detour through the disk; noting what went there is
enough to follow it. Nothing is ever read from the real disk: what a script didn't write itself isn't known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.approval import paths
from hermes_nb.approval.shell.commands import MOST_SOURCES, Stream
from hermes_nb.approval.shell.flow import is_download, output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_nb.approval.shell.commands import Command


class WrittenFiles(dict[str, Stream]):
    """Normalised path -> what the script wrote there."""

    def note(self, command: Command, commands: list[Command]) -> None:
        """Remember what a command writes; ``commands`` are itself and all that it runs."""
        for redirect in command.redirects:
            if redirect.writes and not redirect.target.unknown:
                self._write(command.path(redirect.target), _printed(commands), appends=">>" in redirect.operator)
        if not command.words:
            return
        if command.name == "tee":
            for word in command.operands:
                self._write(command.path(word), command.stdin or Stream(None), appends=command.has("-a", "--append"))
        elif command.name in ("cp", "mv") and len(command.operands) == 2:
            # The old name stays known after mv too: running it fails, and does no harm.
            moved = self.get(command.path(command.operands[0]))
            if moved:
                self[command.path(command.operands[1])] = moved
        elif is_download(command) and not command.wraps:
            for saved in _saved_names(command):
                self[paths.normalise(saved, command.cwd)] = Stream(None, (command,))
        elif command.name in ("base64", "openssl", "gpg", "xxd"):
            for value in command.values("-o", "--output", "-out"):
                self[command.path(value)] = Stream(None, (command,))  # decoded: by whom is known, not into what

    def _write(self, path: str, made: Stream, *, appends: bool) -> None:
        earlier = self.get(path) if appends else None
        if earlier and earlier.text is not None and made.text is not None and len(earlier.text) < 200_000:
            made = Stream(earlier.text + made.text, (earlier.sources + made.sources)[-MOST_SOURCES:])
        self[path] = made


def _printed(commands: list[Command]) -> Stream:
    """What commands print into a redirection: all that they would print without it."""
    # "output" takes a command that redirects for silent. What is redirected is asked for here, so redirections are
    # taken off meanwhile.
    saved = [(command, command.redirects) for command in commands]
    for command in commands:
        command.redirects = []
    made = output(commands)
    for command, redirects in saved:
        command.redirects = redirects
    # In "curl … | sed … > s" it is curl that s comes from.
    earlier = tuple(source for command in commands[:8] if command.stdin for source in command.stdin.sources)
    return Stream(made.text, (earlier + made.sources)[-MOST_SOURCES:])


def _saved_names(command: Command) -> Iterator[str]:
    """The files a download is saved to."""
    if command.name == "wget":
        yield from (value.text for value in command.values("-O", "--output-document"))
    if command.name in ("curl", "aria2c", "axel", "http", "xh"):
        yield from (value.text for value in command.values("-o", "--output"))
    if command.name in ("aws", "gsutil", "scp", "gcloud", "rclone") and len(command.operands) > 1:
        yield command.operands[-1].text
        yield from (
            word.text.rsplit("/", 1)[-1].rsplit(":", 1)[-1] for word in command.operands[:-1] if ":" in word.text
        )
    folder = next((f"{value.text}/" for value in command.values("-P", "--directory-prefix", "--output-dir")), "")
    for word in command.operands:
        if "://" in word.text or (command.name == "wget" and "/" in word.text):
            yield folder + word.text.split("?", 1)[0].rstrip("/").rsplit("/", 1)[-1]
