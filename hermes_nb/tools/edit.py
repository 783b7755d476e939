"""Finding the text that a model wants replaced, as closely as it is needed and no more loosely.

Models quote files from memory: indentation shifts, trailing spaces vanish, quotes turn typographic. Each way of
looking is tried in turn, strict ones first, and a loose match counts only if it is the only one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from hermes_nb.errors import ToolError, did_you_mean

Span = tuple[int, int]
_TYPOGRAPHIC = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "...", "\u00a0": " "})


def replace(text: str, old: str, new: str, *, everywhere: bool = False) -> tuple[str, int, str]:
    """The text with ``old`` replaced, how often, and how it was found.

    Raises:
        ToolError: It isn't there, or there more than once; the message says what to do.
    """
    if not old:
        raise ToolError("old_string is empty; quote the text to replace, or use write_file for a whole file")
    if old == new:
        raise ToolError("old_string and new_string are the same; nothing to do")
    for how, find in _WAYS:
        spans = find(text, old)
        if not spans:
            continue
        if len(spans) > 1 and not everywhere:
            lines = ", ".join(str(text.count("\n", 0, start) + 1) for start, _ in spans[:5])
            raise ToolError(f"old_string is there {len(spans)} times (lines {lines}); quote more of it, or replace_all")
        for start, end in reversed(spans):
            replacement = new if how == "exact" else _reindented(text[start:end], old, new)
            text = text[:start] + replacement + text[end:]
        return text, len(spans), how
    raise ToolError(f"old_string was not found{_nearest_line(text, old)}")


def _exact(text: str, old: str) -> list[Span]:
    return [(match.start(), match.end()) for match in re.finditer(re.escape(old), text)]


def _by_lines(clean: Callable[[str], str]) -> Callable[[str, str], list[Span]]:
    def find(text: str, old: str) -> list[Span]:
        wanted = [clean(line) for line in old.strip("\n").split("\n")]
        lines = text.split("\n")
        cleaned = [clean(line) for line in lines]
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        size = len(wanted)
        return [
            (starts[at], starts[at + size] - 1)
            for at in range(len(lines) - size + 1)
            if cleaned[at : at + size] == wanted
        ]

    return find


def _plain(line: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", line).translate(_TYPOGRAPHIC).split())


_WAYS: tuple[tuple[str, Callable[[str, str], list[Span]]], ...] = (
    ("exact", _exact),
    ("ignoring trailing space", _by_lines(str.rstrip)),
    ("ignoring indentation", _by_lines(str.strip)),
    ("ignoring space and typography", _by_lines(_plain)),
)


def _reindented(found: str, old: str, new: str) -> str:
    """The new text, moved to where the old one really stood."""
    actual, quoted = _indentation(found), _indentation(old)
    new = new.strip("\n") if old.strip("\n") != old else new
    if actual == quoted:
        return new
    moved = [actual + line.removeprefix(quoted) if line.strip() else line for line in new.split("\n")]
    return "\n".join(moved)


def _indentation(text: str) -> str:
    first = next((line for line in text.split("\n") if line.strip()), "")
    return first[: len(first) - len(first.lstrip())]


def _nearest_line(text: str, old: str) -> str:
    first = next((line.strip() for line in old.split("\n") if line.strip()), "")
    hint = did_you_mean(first, {line.strip() for line in text.split("\n") if line.strip()}, limit=1)
    return hint or "; read the file again: it may have changed"
