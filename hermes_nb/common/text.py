"""Text made shorter, and text made readable, for whoever shows it.

What becomes of control characters depends on who reads. For a model, ``hermes_backends.strip_ansi`` takes the escape
sequences out of what a command printed. For a person, ``readable`` does so too and makes visible what else would act or
hide; ``hermes_nb.notebook.faces.ansi`` does the same and keeps the colours. For a person who decides,
``hermes_nb.approval.display.inert`` takes out nothing, and names the letters that pose as others.
"""

from __future__ import annotations

import re
import unicodedata

#: Every escape sequence that terminals know: CSI, OSC, DCS and its kin, and the two-character ones; also cut ones.
ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[(?P<parameters>[0-9;:]*)(?P<final>m)"  # colours: the only kind that a notebook gives a meaning
    r"|\[[0-?]*[ -/]*[@-~]?"
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|[PX^_][^\x1b]*(?:\x1b\\)?"
    r"|[ -/]*[0-~]?)"
    r"|\x9b[0-?]*[ -/]*[@-~]?"
)
_OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\n\r])")
#: What joins letters in living scripts and emoji; hiding anything behind it is not possible.
_JOINERS = "\u200c\u200d"


def cut(text: str, limit: int) -> str:
    """The beginning of a text, with an ellipsis where that is not all of it; never longer than the limit."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def beginning(text: str, limit: int) -> str:
    """The beginning of a text, and how much more of it there is."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def one_line(text: str, limit: int) -> str:
    """A text in one line, cut to the limit."""
    return cut(" ".join(text.split()), limit)


def first_line(text: str, limit: int) -> str:
    """The first line of a text, cut to the limit, and how many more there are: lines that run together mislead."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        return one_line(text, limit)
    more = f" … +{len(lines) - 1:,} line{'s' if len(lines) > 2 else ''}"
    return one_line(lines[0], limit - len(more)) + more


def head_and_tail(text: str, limit: int, marker: str | None = None) -> str:
    """The beginning and the end of a text that is longer than the limit, and between them a line in place of the rest.

    The end gets more of the room: it usually says more.

    Args:
        text: The text.
        limit: How many of its characters are kept.
        marker: The line; by default it says how many characters are left out.
    """
    if len(text) <= limit:
        return text
    head, left_out = int(limit * 0.4), len(text) - limit
    return f"{text[:head]}\n{marker or f'… {left_out:,} characters not shown …'}\n{text[head + left_out :]}"


def readable(text: str) -> str:
    """The text without any escape sequence, progress lines at their end, the rest visible."""
    return visible(ESCAPE_SEQUENCE.sub("", settled(text)))


def settled(text: str) -> str:
    """The text with only the last state of lines that were written over, as a terminal would leave them."""
    if "\r" not in text:
        return text
    return _OVERWRITTEN.sub("", text.replace("\r\n", "\n")).replace("\r", "")


def visible(text: str) -> str:
    """The text with control, direction-changing and other invisible characters shown by their codes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in "\n\t" or char in _JOINERS or not is_hidden(char) else _code(char) for char in text)


def is_hidden(char: str) -> bool:
    """Whether a character acts instead of being seen, or is none."""
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn")


def _code(char: str) -> str:
    point = ord(char)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
