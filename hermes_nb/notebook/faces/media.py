"""Pictures and sounds that a tool gave back: what they are is read from their bytes, whatever they were called."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from hermes_nb.notebook.faces import markup

if TYPE_CHECKING:
    from hermes_nb.notebook.faces.markup import Html

_PARTS_SHOWN = 50
_SOUND_SHOWN = 8_000_000
_DATA_URI = re.compile(r"data:(?:image|audio)/[a-z0-9.+-]+;base64,([A-Za-z0-9+/=\s]+)", re.IGNORECASE)
#: What their bytes begin with. SVG is not here: it is a document that can hold script.
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_SOUNDS = {b"ID3": "audio/mpeg", b"OggS": "audio/ogg", b"fLaC": "audio/flac"}
_FRAMES_OF_MP3 = (b"\xff\xfb", b"\xff\xfa", b"\xff\xf3", b"\xff\xf2")


@dataclass(frozen=True, slots=True)
class Picture:
    """An image.

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

    def __str__(self) -> str:
        return f"[picture: {self.mime}]"


@dataclass(frozen=True, slots=True)
class Sound:
    """A recording; it plays when somebody wants it to.

    Attributes:
        mime: What kind it is.
        data: The recording, in base64.
    """

    mime: str
    data: str

    def html(self) -> Html:
        """A player."""
        source = f"data:{self.mime};base64,{self.data}"
        return markup.tag("audio", src=source, controls=True, style="display:block;max-width:100%;margin-top:.4em")

    def __str__(self) -> str:
        return f"[sound: {self.mime}]"


Medium = Picture | Sound


def media_in(value: Any) -> list[Medium]:
    """The pictures and sounds in a value: a data URI, a part of MCP's or OpenAI's content, or a list of parts."""
    parts = value if isinstance(value, list | tuple) else [value]
    found = [_medium(part) for part in islice(parts, _PARTS_SHOWN)]
    return [medium for medium in found if medium is not None]


def lone_picture(value: Any) -> Picture | None:
    """The picture that is all there is to a value."""
    media = media_in(value)
    alone = media[0] if len(media) == 1 and not beside_media(value) else None
    return alone if isinstance(alone, Picture) else None


def beside_media(value: Any) -> list[Any]:
    """What stands beside pictures and sounds in a list of parts."""
    if not isinstance(value, list | tuple):
        return []
    return [
        part["text"] if isinstance(part, Mapping) and part.get("type") == "text" and "text" in part else part
        for part in islice(value, _PARTS_SHOWN)
        if _medium(part) is None
    ]


def of_bytes(raw: bytes) -> Medium | None:
    """The picture or sound that bytes are, if they are one."""
    mime = mime_of(raw)
    if mime is None:
        return None
    data = base64.b64encode(raw).decode()
    if mime.startswith("image/"):
        return Picture(mime, data)
    return Sound(mime, data) if len(data) <= _SOUND_SHOWN else None


def mime_of(raw: bytes) -> str | None:
    """What kind of picture or sound bytes are; None if they are neither."""
    if raw[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(bytes(raw[8:12]))
    if raw.startswith(_FRAMES_OF_MP3):
        return "audio/mpeg"
    return next((mime for start, mime in (_PICTURES | _SOUNDS).items() if raw.startswith(start)), None)


def _medium(part: Any) -> Medium | None:
    data: Any = part
    if isinstance(part, Mapping):
        nested = part.get("image_url") or part.get("input_audio")
        data = part.get("data") if part.get("type") in ("image", "audio") else nested
        if isinstance(nested, Mapping):
            data = nested.get("url") or nested.get("data")
    if isinstance(data, bytes):
        return of_bytes(data)
    if not isinstance(data, str):
        return None
    uri = _DATA_URI.fullmatch(data)
    if uri is None and data is part:
        return None
    try:
        raw = base64.b64decode("".join((uri[1] if uri else data).split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    return of_bytes(raw)
