"""Text for a person's eyes, made inert."""

from __future__ import annotations


def visible(text: str) -> str:
    """The text with everything visible: control characters are shown by their codes."""
    return "".join(char if char.isprintable() or char == "\n" else f"\\x{ord(char):02x}" for char in text)
