"""Text that a program printed, with its colours: everything else in it is shown or dropped, and nothing is markup."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from hermes_nb.common.text import ESCAPE_SEQUENCE, settled, visible

#: Readable on white and on black.
_PALETTE = ("#6b7280", "#d0434f", "#2f9356", "#b07d10", "#3b7dd8", "#a855c7", "#1593a5", "#8b93a1")
_BRIGHT = ("#8a919e", "#ea5a66", "#3fb26c", "#cf9a22", "#5b9cf0", "#c678e0", "#2bb3c4", "#a3abb8")


def coloured(text: str) -> str:
    """The text for a terminal or a stream output: only colours may act, carriage returns stay."""
    kept: list[str] = []
    position = 0
    for found in ESCAPE_SEQUENCE.finditer(text):
        kept += [_visible_but_returns(text[position : found.start()]), found[0] if found["final"] else ""]
        position = found.end()
    return "".join([*kept, _visible_but_returns(text[position:])])


def _visible_but_returns(text: str) -> str:
    return "\r".join(map(visible, text.split("\r"))) if "\r" in text else visible(text)


def to_html(text: str) -> str:
    """The text as HTML: escaped, with its colours as spans."""
    text = settled(text)
    pieces: list[str] = []
    style, position = _PLAIN, 0
    for found in ESCAPE_SEQUENCE.finditer(text):
        pieces.append(style.wrap(text[position : found.start()]))
        position = found.end()
        if found["final"]:
            style = style.after(found["parameters"])
    return "".join([*pieces, style.wrap(text[position:])])


@dataclass(frozen=True, slots=True)
class _Style:
    """What the colour sequences so far add up to."""

    colour: str = ""
    background: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    struck: bool = False
    inverse: bool = False

    def wrap(self, text: str) -> str:
        if not text:
            return ""
        inert = escape(visible(text))
        css = self._css()
        return f'<span style="{css}">{inert}</span>' if css else inert

    def _css(self) -> str:
        colour, background = self.colour, self.background
        if self.inverse:
            colour, background = (
                background or "var(--jp-layout-color0, #fff)",
                colour or "var(--jp-content-font-color1, #555)",
            )
        lines = [word for word, on in (("underline", self.underline), ("line-through", self.struck)) if on]
        parts = [
            f"color:{colour}" if colour else "",
            f"background:{background}" if background else "",
            "font-weight:600" if self.bold else "",
            "opacity:.65" if self.dim else "",
            "font-style:italic" if self.italic else "",
            f"text-decoration:{' '.join(lines)}" if lines else "",
        ]
        return ";".join(filter(None, parts))

    def after(self, parameters: str) -> _Style:
        """The style once a colour sequence has acted."""
        codes = [int(code) if code else 0 for code in re.split("[;:]", parameters)]
        style = self
        while codes:
            code = codes.pop(0)
            if code in (38, 48):
                colour = _extended(codes)
                style = replace(style, colour=colour) if code == 38 else replace(style, background=colour)
            else:
                style = style._after_code(code)
        return style

    def _after_code(self, code: int) -> _Style:
        if code == 0:
            return _PLAIN
        if code in _SWITCHES:
            return replace(self, **_SWITCHES[code])
        for first, colours in ((30, _PALETTE), (90, _BRIGHT)):
            if first <= code < first + 8:
                return replace(self, colour=colours[code - first])
            if first + 10 <= code < first + 18:
                return replace(self, background=colours[code - first - 10])
        return self


_PLAIN = _Style()
_SWITCHES: dict[int, dict[str, Any]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"inverse": True},
    9: {"struck": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"inverse": False},
    29: {"struck": False},
    39: {"colour": ""},
    49: {"background": ""},
}


def _extended(codes: list[int]) -> str:
    """The colour after 38 or 48: ``5;n`` out of 256, or ``2;r;g;b``; takes what it reads from the codes."""
    kind = codes.pop(0) if codes else 0
    if kind == 5 and codes:
        return _of_256(min(codes.pop(0), 255))
    if kind == 2 and len(codes) >= 3:
        red, green, blue = (min(codes.pop(0), 255) for _ in range(3))
        return f"#{red:02x}{green:02x}{blue:02x}"
    return ""


def _of_256(number: int) -> str:
    if number < 16:
        return (_PALETTE + _BRIGHT)[number]
    if number >= 232:
        return f"#{8 + (number - 232) * 10:02x}" + f"{8 + (number - 232) * 10:02x}" * 2
    steps = (0, 95, 135, 175, 215, 255)
    cube = number - 16
    return "#" + "".join(f"{steps[part]:02x}" for part in (cube // 36, cube // 6 % 6, cube % 6))
