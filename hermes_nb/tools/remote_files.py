"""Files of the session's backend, wherever that is: small POSIX commands in a shell of their own.

They don't run in the user's shell, whose functions, aliases and options could change what they mean, but they do
start in its directory, so that relative paths mean the same as in ``terminal``.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from hermes_nb.errors import ToolError

if TYPE_CHECKING:
    from hermes_backends import ExecResult
    from hermes_nb.context import Context

PATIENCE = 120.0
_FAILURES = {44: "there is no such file", 45: "it is a directory", 46: "it can't be read", 47: "it can't be written"}

_READ_CHECKS = '[ -e "$p" ] || exit 44; [ -d "$p" ] && exit 45; [ -r "$p" ] || exit 46'
_WRITE = """
while [ -h "$p" ]; do l=$(readlink -- "$p") || exit 47; case $l in /*) p=$l;; *) p=$(dirname -- "$p")/$l;; esac; done
[ -d "$p" ] && exit 45
mkdir -p -- "$(dirname -- "$p")" || exit 47
t=$(dirname -- "$p")/.hermes-$$.tmp
[ -e "$p" ] && echo replaced || echo created
if [ -e "$p" ]; then [ -w "$p" ] || exit 47; cp -p -- "$p" "$t" || exit 47; fi
cat > "$t" && mv -f -- "$t" "$p" || { rm -f -- "$t"; exit 47; }
"""


def quoted(path: str) -> str:
    """A path for a shell: quoted, with a leading ``~`` meaning the home there."""
    if path == "~" or path.startswith("~/"):
        return f'"$HOME"{shlex.quote(path[1:])}' if len(path) > 1 else '"$HOME"'
    return shlex.quote(path)


def run(context: Context, script: str, path: str, stdin: bytes | None = None) -> ExecResult:
    """Run a script with ``$p`` set to a path.

    Raises:
        ToolError: It failed; the message says why.
    """
    result = context.backend.run(
        f"p={quoted(path)}; {script}",
        cwd=context.place.cwd or None,
        stdin=stdin,
        timeout=context.at_most(PATIENCE),
        task=f"{context.task_id}.files",
    )
    if result.exit_code in _FAILURES:
        raise ToolError(f"{path}: {_FAILURES[result.exit_code]}")
    if result.exit_code is None or result.timed_out:
        raise ToolError(f"{path}: {result.error or 'timed out'}")
    return result


def read_bytes(context: Context, path: str) -> bytes:
    """All of a file that fits into memory.

    Raises:
        ToolError: There is no such file, or it is too large.
    """
    result = run(context, f'{_READ_CHECKS}; cat -- "$p"', path)
    if result.truncated:
        raise ToolError(f"{path}: too large to be changed here; use terminal with sed or a script")
    return result.stdout_bytes


def read_lines(context: Context, path: str, first: int, count: int) -> tuple[int, int, bytes, bytes]:
    """Lines of a file: its size, its number of line ends, its first bytes, and the lines."""
    last = first + count - 1
    script = (
        f'{_READ_CHECKS}; wc -c < "$p"; wc -l < "$p"; head -c 4096 -- "$p" | od -An -v -tx1 | tr -d \' \\n\'; echo; '
        f"sed -n '{first},{last}p;{last}q' -- \"$p\""
    )
    result = run(context, script, path)
    size, ends, sample, lines = result.stdout_bytes.split(b"\n", 3)
    return int(size), int(ends), bytes.fromhex(sample.decode()), lines


def write_bytes(context: Context, path: str, data: bytes) -> bool:
    """Replace a file in one step, keeping its permissions and following links; whether it is new.

    Raises:
        ToolError: It can't be written.
    """
    result = run(context, _WRITE, path, stdin=data)
    if result.exit_code != 0:
        raise ToolError(f"{path}: {result.plain_stderr.strip() or 'could not be written'}")
    return result.stdout.startswith("created")
