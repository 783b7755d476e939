"""Characters that look like others: what a reader takes them for, and which of them hide or reorder text."""

from __future__ import annotations

import unicodedata

_LETTERS = {
    "a": "аɑα", "b": "Ьƅ", "c": "сϲ", "d": "ԁɗ", "e": "еҽ", "g": "ɡց", "h": "һհ", "i": "іıɩ", "j": "јϳ",
    "k": "κк",
    "l": "ӏⅼ", "m": "м", "n": "ոп", "o": "оοօ", "p": "рρ", "q": "ԛգ", "r": "гᴦ", "s": "ѕꜱ", "t": "тτ",
    "u": "υսᴜ",
    "v": "ѵνᴠ", "w": "ԝѡᴡ", "x": "хχ", "y": "уγү", "z": "ᴢʐ", "A": "АΑ", "B": "ВΒ", "C": "СϹ", "D": "Ꭰ",
    "E": "ЕΕ",
    "H": "НΗ", "I": "ІΙ", "K": "КΚ", "M": "МΜ", "N": "Ν", "O": "ОΟ", "P": "РΡ", "R": "Ꭱ", "S": "Ѕ", "T": "ТΤ",
    "X": "ХΧ", "Y": "ҮΥ", "Z": "Ζ", "-": "‐‑‒–—―−﹣－", "/": "⁄∕╱⧸／", "~": "∼˜～", ".": "․．", "*": "∗⁎＊",
    "|": "∣｜ǀ",
    ";": ";；", "&": "＆﹠", ">": "›＞", "<": "‹＜", "$": "＄﹩",
}  # fmt: skip
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"

#: Characters that take no room on the screen.
INVISIBLE = frozenset(
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u3164\uffa0"
)
#: Characters that change the direction in which text is shown.
BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

#: What a reader takes each of these for.
CONFUSABLE: dict[str, str] = {twin: plain for plain, twins in _LETTERS.items() for twin in twins} | dict.fromkeys(
    _SPACES, " "
)
_TABLE = str.maketrans({**CONFUSABLE, **dict.fromkeys(INVISIBLE | BIDIRECTIONAL, "")})


def plain(text: str) -> str:
    """The text as a reader takes it: look-alikes replaced by their originals, hidden characters dropped."""
    if text.isascii():
        return text
    # The table knows the look-alikes that Unicode calls different letters (Cyrillic а); NFKC resolves those that it
    # calls another form of the same (full-width ａ, ℝ, ﬁ).
    return "".join(
        character if character.isascii() else unicodedata.normalize("NFKC", character)
        for character in text.translate(_TABLE)
    )
