"""The face that a value brings along: a data frame's table, a figure's picture, as any cell would show it.

It is made by IPython's own formatters, so that what a user has set up for a type holds here too. It is framed by our
card, so it has to be whole, of a bearable size, and without the secrets that are known.
"""

from __future__ import annotations

import base64
import io
import logging
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from html import unescape
from html.parser import HTMLParser
from itertools import islice
from typing import TYPE_CHECKING, Any

from hermes_nb.common.jsonable import encode_anything
from hermes_nb.common.redact import redact, redact_json
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.markup import Html
from hermes_nb.notebook.faces.media import Medium, Picture, of_bytes
from hermes_nb.notebook.faces.records import SORTABLE
from hermes_nb.returned.drawings import figure_of

if TYPE_CHECKING:
    from IPython.core.formatters import DisplayFormatter

logger = logging.getLogger(__name__)

HTML_SHOWN = 500_000
PICTURE_SHOWN = 4_000_000
_SIDE_SHOWN = 2_000
_FACES_INSIDE = 6
_BUILT_IN = (str, int, float, bool, Mapping, list, tuple, set, frozenset, type(None))
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
)
_ENDS_BY_ITSELF = frozenset(("p", "li", "dt", "dd", "option", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup"))

Face = Html | Medium


def face_of(value: Any) -> Face | None:
    """The face of a value, if it has one that can be shown in a frame."""
    if isinstance(value, _BUILT_IN):
        return None
    if isinstance(value, bytes):
        return of_bytes(value)
    try:
        figure = figure_of(value)
        return _chosen(bundle_of(_of_bearable_size(value))) if figure is None else _figure(figure)
    except Exception:  # a result can be shown without it
        logger.debug("a %s could not show its face", type(value).__name__, exc_info=True)
        return None


def _of_bearable_size(value: Any) -> Any:
    kind = type(value)
    if hasattr(kind, "thumbnail") and max(value.size) > _SIDE_SHOWN:  # a picture of Pillow's
        smaller = value.copy()
        smaller.thumbnail((_SIDE_SHOWN, _SIDE_SHOWN))
        return smaller
    if hasattr(kind, "to_frame") and not hasattr(kind, "_repr_html_"):  # a series of pandas', which has no face itself
        return value.to_frame()
    return value


def _chosen(bundle: Mapping[str, Any]) -> Face | None:
    for mime in ("image/png", "image/jpeg"):
        picture = _picture(mime, bundle.get(mime))
        if picture is not None:
            return picture
    page, drawn = bundle.get("text/html"), bundle.get("image/svg+xml")
    if isinstance(page, str) and page.strip():
        return _framed(page)
    return _drawing(drawn) if isinstance(drawn, str) else None


def faces_inside(value: Any) -> Iterator[tuple[str, Face]]:
    """The faces of what a dict or list holds, each with its key."""
    if isinstance(value, Mapping):
        items = [(str(key), item) for key, item in islice(value.items(), 1_000)]
    elif isinstance(value, list | tuple):
        items = [(f"[{at}]", item) for at, item in enumerate(value[:1_000])]
    else:
        return
    brought = ((key, item) for key, item in items if not isinstance(item, _BUILT_IN))
    found = ((key, face_of(item)) for key, item in brought)
    yield from islice(((key, face) for key, face in found if face is not None), _FACES_INSIDE)


def live_faces(value: Any) -> dict[str, Any]:
    """What only some front ends can show, such as plots that answer to the mouse, without secrets."""
    if isinstance(value, _BUILT_IN) or not hasattr(type(value), "_repr_mimebundle_"):
        return {}
    try:
        offered = {mime: data for mime, data in bundle_of(value).items() if mime.startswith("application/vnd.")}
    except Exception:
        return {}
    return {
        mime: redact_json(data)
        for mime, data in offered.items()
        if isinstance(data, dict) and len(encode_anything(data)) <= PICTURE_SHOWN
    }


def bundle_of(value: Any) -> Mapping[str, Any]:
    """All that IPython would send of a value."""
    formatter = _formatter()
    offered = formatter.mimebundle_formatter(value) or {}
    bundle = dict(offered[0] if isinstance(offered, tuple) else offered)
    for mime in ("text/html", "image/png", "image/jpeg", "image/svg+xml"):
        if mime not in bundle and mime in formatter.active_types:
            bundle[mime] = formatter.formatters[mime](value)
    return bundle


def _formatter() -> DisplayFormatter:
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    formatter = shell.display_formatter if shell is not None else None
    return formatter if formatter is not None else _own_formatter()


@cache
def _own_formatter() -> DisplayFormatter:
    from IPython.core.formatters import DisplayFormatter

    return DisplayFormatter()


# Pictures ---------------------------------------------------------------------------------------------------------


def _figure(figure: Any) -> Picture | None:
    """A figure as a picture. pyplot's inline backend would show it again when the cell ends, so it is closed there."""
    formatter = _formatter().formatters["image/png"]
    picture = _picture("image/png", formatter(figure))
    if picture is None:
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=min(figure.dpi, _SIDE_SHOWN / max(figure.get_size_inches())))
        picture = _picture("image/png", buffer.getvalue())
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None and "inline" in pyplot.get_backend():
        pyplot.close(figure)
    return picture


def _picture(mime: str, data: Any) -> Picture | None:
    data, metadata = data if isinstance(data, tuple) else (data, {})  # as IPython has it, for screens with many pixels
    encoded = base64.b64encode(data).decode() if isinstance(data, bytes) else data
    if not isinstance(encoded, str) or not 0 < len(encoded) <= PICTURE_SHOWN:
        return None
    return Picture(mime, "".join(encoded.split()), metadata.get("width"))


def _drawing(drawn: str) -> Picture | None:
    # As a picture it is inert: script in it does not run, and it reaches for nothing outside.
    clean = _clean(drawn)
    return None if clean is None else _picture("image/svg+xml", clean.encode())


# HTML -------------------------------------------------------------------------------------------------------------


def _framed(page: str) -> Html | None:
    """A face that stays where it is put: what would end our frame, or swallow it, is not taken."""
    clean = _clean(page) if len(page) <= HTML_SHOWN and _is_whole(page) else None
    if clean is None:
        return None
    style = "overflow:auto;max-height:32em;max-width:100%;margin-top:.35em"
    return markup.tag("div", Html(clean), style=style, class_=SORTABLE if "<table" in clean else "")


def _clean(page: str) -> str | None:
    clean = redact(page)
    spelled_out = unescape(clean)
    return clean if redact(spelled_out) == spelled_out else None  # a secret with an ampersand in it


def _is_whole(page: str) -> bool:
    elements = _Elements()
    elements.feed(page)
    return elements.are_whole


class _Elements(HTMLParser):
    """Whether every element of a page begins and ends in it."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        self._strays = 0

    @property
    def are_whole(self) -> bool:
        """Whether nothing is left open, and nothing was closed that the page did not open."""
        return not self._strays and "<" not in self.rawdata and _ENDS_BY_ITSELF.issuperset(self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not {"svg", "math"} & {tag, *self._open}:  # elsewhere the slash means nothing
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if tag not in self._open:
            self._strays += 1
            return
        while self._open.pop() != tag:
            pass
