"""Text made shorter: to one line, to its beginning, or to its head and tail."""

from __future__ import annotations


def cut(text: str, limit: int) -> str:
    """The beginning of a text, with an ellipsis where that is not all of it; never longer than the limit."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def beginning(text: str, limit: int) -> str:
    """The beginning of a text, and how much more of it there is."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters)"


def one_line(text: str, limit: int) -> str:
    """A text in one line, cut to the limit."""
    return cut(" ".join(text.split()), limit)


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
