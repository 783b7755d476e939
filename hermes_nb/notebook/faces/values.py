"""How a value looks: JSON that folds, differences in colour, pictures as pictures, all else as text."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from hermes_nb.common.jsonable import written
from hermes_nb.common.redact import redact
from hermes_nb.common.text import head_and_tail, readable
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.markup import GREEN, RED, Html

TEXT_SHOWN = 20_000
_ITEMS_SHOWN = 50
_DEPTH_SHOWN = 12
_STRING_SHOWN = 2_000
_OPEN_ITEMS = 12

_DIFF = re.compile(r"^(?:diff --git .*\n(?:.*\n){0,6}?)?--- .*\n\+\+\+ .*\n@@ ", re.MULTILINE)
_DATA_URI = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,([A-Za-z0-9+/=\s]+)", re.IGNORECASE)
#: What a picture's bytes begin with. SVG is not here: it is a document that can hold script.
_SIGNATURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


@dataclass(frozen=True, slots=True)
class Picture:
    """An image that a tool gave back, as its bytes say, whatever it was called.

    Attributes:
        mime: What kind of image it is.
        data: The image, in base64.
        width: How wide it wants to be shown, where that is not as wide as it is.
    """

    mime: str
    data: str
    width: int | None = None

    def html(self) -> Html:
        """The picture, no wider than the cell."""
        style = f"max-width:100%;margin-top:.4em{f';width:{self.width}px' if self.width else ''}"
        return markup.tag("img", src=f"data:{self.mime};base64,{self.data}", style=style, alt="picture")


def render(value: Any) -> Html:
    """A value as HTML, nothing in it taken for markup."""
    pictures = pictures_in(value)
    if pictures:
        texts = [content for content in texts_beside(value) if content]
        return markup.join([*(render(content) for content in texts), *(picture.html() for picture in pictures)])
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping) and isinstance(value.get("diff"), str):
        rest = {key: item for key, item in value.items() if key != "diff"}
        return markup.join([_tree_block(rest) if rest else None, difference(value["diff"])])
    if isinstance(value, Mapping | list | tuple):
        return _tree_block(value)
    return markup.block(markup.text(redact(written(value))))


def plain(value: Any) -> str:
    """A value as text: strings as they are, all else as indented JSON."""
    if pictures_in(value):
        words = [f"[picture: {picture.mime}]" for picture in pictures_in(value)]
        return "\n".join([*map(str, texts_beside(value)), *words])
    text = value if isinstance(value, str) else written(value, indent=2)
    return head_and_tail(readable(redact(text)), TEXT_SHOWN).rstrip("\n")


def difference(text: str) -> Html:
    """A unified diff, its lines coloured."""
    lines = [_difference_line(line) for line in readable(head_and_tail(redact(text), TEXT_SHOWN)).splitlines()]
    return markup.block(markup.join(lines))


def _difference_line(line: str) -> Html:
    if line.startswith(("+++", "---", "diff ")):
        style = "font-weight:600;opacity:.75"
    elif line.startswith("@@"):
        style = f"color:{markup.BLUE}"
    elif line.startswith("+"):
        style = f"color:{GREEN};background:{GREEN}1c"
    elif line.startswith("-"):
        style = f"color:{RED};background:{RED}1c"
    else:
        style = ""
    return markup.tag("span", f"{line}\n", style=style)


def _string(value: str) -> Html:
    if _DIFF.search(value):
        return difference(value)
    stripped = value.lstrip()
    if stripped[:1] in ("{", "[") and len(value) < 200_000:
        try:
            return _tree_block(json.loads(value))
        except (ValueError, RecursionError):
            pass
    return markup.printed(head_and_tail(redact(value), TEXT_SHOWN).rstrip("\n"))


def _tree_block(value: Any) -> Html:
    return markup.block(tree(value))


def tree(value: Any, depth: int = 0) -> Html:
    """A JSON value whose inner parts fold."""
    if isinstance(value, Mapping):
        return _branch(
            "{", "}", [(f"{written(str(key))}: ", item) for key, item in _first(value.items())],
            len(value), depth,
        )  # fmt: skip
    if isinstance(value, list | tuple):
        return _branch("[", "]", [("", item) for item in _first(value)], len(value), depth)
    return _leaf(value)


def _first(items: Any) -> list[Any]:
    return list(islice(items, _ITEMS_SHOWN))


def _branch(opening: str, closing: str, shown: Sequence[tuple[str, Any]], size: int, depth: int) -> Html:
    if not size:
        return markup.text(f"{opening}{closing}")
    if depth >= _DEPTH_SHOWN:
        return markup.dim(f"{opening}… {size} …{closing}")
    lines = [
        markup.tag("div", markup.dim(redact(label)), tree(item, depth + 1), style="padding-left:1.3em")
        for label, item in shown
    ]
    if size > len(shown):
        lines.append(markup.tag("div", markup.dim(f"… {size - len(shown):,} more"), style="padding-left:1.3em"))
    if depth == 0:
        return markup.join([opening, *lines, closing])
    summary = markup.join([opening, markup.dim(f" {size} "), closing])
    small = all(not isinstance(item, Mapping | list | tuple) for _, item in shown) and size <= _OPEN_ITEMS
    return markup.tag(
        "details", markup.tag("summary", summary, style="cursor:pointer;display:inline"), *lines,
        style="display:inline", open=depth == 1 and small,
    )  # fmt: skip


def _leaf(value: Any) -> Html:
    if isinstance(value, str):
        quoted = written(head_and_tail(redact(value), _STRING_SHOWN))
        return markup.tag("span", quoted, style=f"color:{GREEN}")
    colour = markup.AMBER if value is None or isinstance(value, bool) else markup.BLUE
    return markup.tag("span", written(value), style=f"color:{colour}")


def pictures_in(value: Any) -> list[Picture]:
    """The images in a value: a data URI, an image part of MCP's or OpenAI's content, or a list of parts."""
    parts = value if isinstance(value, list | tuple) else [value]
    found = [_picture(part) for part in islice(parts, _ITEMS_SHOWN)]
    return [picture for picture in found if picture is not None]


def lone_picture(value: Any) -> Picture | None:
    """The picture that is all there is to a value."""
    pictures = pictures_in(value)
    return pictures[0] if len(pictures) == 1 and not texts_beside(value) else None


def texts_beside(value: Any) -> list[Any]:
    """What stands beside the images in a list of parts."""
    if not isinstance(value, list | tuple):
        return []
    return [
        part["text"] if isinstance(part, Mapping) and part.get("type") == "text" and "text" in part else part
        for part in islice(value, _ITEMS_SHOWN)
        if _picture(part) is None
    ]


def _picture(part: Any) -> Picture | None:
    data: Any = part
    if isinstance(part, Mapping):
        nested = part.get("image_url")
        data = part.get("data") if part.get("type") == "image" else nested
        if isinstance(nested, Mapping):
            data = nested.get("url")
    if not isinstance(data, str):
        return None
    uri = _DATA_URI.fullmatch(data)
    if uri is None and data is part:
        return None
    encoded = "".join((uri[1] if uri else data).split())
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
    mime = mime_of(raw)
    return Picture(mime, encoded) if mime else None


def mime_of(raw: bytes) -> str | None:
    """What kind of picture bytes are; None if they are none."""
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for start, mime in _SIGNATURES.items() if raw.startswith(start)), None)
