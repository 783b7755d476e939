"""A result shown in a way that somebody chose: ``result.show("table", limit=50)``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hermes_nb.common.jsonable import is_json
from hermes_nb.common.redact import MASK
from hermes_nb.notebook.faces import documents, markup, media, records, values
from hermes_nb.notebook.faces.markup import Html
from hermes_nb.notebook.faces.results import result_bundle
from hermes_nb.notebook.faces.tree import tree
from hermes_nb.returned.described import table_in, text_of

if TYPE_CHECKING:
    from hermes_nb.calls.results import ToolResult

Face = tuple[Html, str]


class Shown:
    """What ``show`` displays: a page, and the same as text."""

    def __init__(self, bundle: dict[str, Any]) -> None:
        self._bundle = bundle

    @classmethod
    def of(cls, result: ToolResult, kind: str | None = None, limit: int | None = None) -> Shown:
        """A result as one of KINDS; by default as what suits it best.

        Raises:
            ValueError: There is no such kind, the limit is not positive, or the value can't be shown that way.
        """
        if kind is not None and kind not in KINDS:
            raise ValueError(f"there is no kind {kind!r}; there are {', '.join(KINDS)}")
        if limit is not None and limit < 1:
            raise ValueError(f"a limit has to be positive, not {limit}")
        if not result.ok:  # what went wrong is all there is
            return cls(result_bundle(result))
        value = _value(result)
        kind = kind or _suiting(value, limit)
        if kind is None:
            return cls(result_bundle(result))
        page, text = KINDS[kind](value, limit)
        return cls({"text/plain": text, "text/html": str(markup.tag("div", page, records.sorting(page)))})

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return self._bundle

    def __repr__(self) -> str:
        return str(self._bundle["text/plain"])


def _value(result: ToolResult) -> Any:
    """The value; where a secret was taken out of the text, what the model reads: half of one is not recognised."""
    return result.text if MASK in result.text and not isinstance(result.value, str) else result.value


def _suiting(value: Any, limit: int | None) -> str | None:
    """The kind that suits a value; None for what has a face of its own."""
    if table_in(value) is not None or records.records_in(_read(value)) is not None:
        return "table"
    if limit is None:
        return None
    return "text" if isinstance(_read(value), str) else "json"


def _as_table(value: Any, limit: int | None) -> Face:
    rows = records.rows_of(value, limit or records.ROWS_SHOWN)
    if rows is None:
        raise _unsuited(value, "a table: it has no rows")
    return rows.html(limit or records.ROWS_OPEN), rows.text()


def _as_json(value: Any, limit: int | None) -> Face:
    read = _read(value)
    if isinstance(read, str) and read is value:
        raise _unsuited(value, "JSON: it is another text")
    if not is_json(read):
        try:
            read = json.loads(text_of(read))
        except ValueError:
            raise _unsuited(value, "JSON: it is described in words") from None
    page = values.json_block(read) if limit is None else markup.block(tree(read, limit), element="div")
    return page, values.plain(read)


def _as_text(value: Any, limit: int | None) -> Face:
    text = value if isinstance(value, str) else values.plain(_read(value))
    lines = text.splitlines()
    if limit is not None and len(lines) > limit:
        text = "\n".join([*lines[:limit], f"… {len(lines) - limit:,} more lines"])
    return values.printed(text), values.plain(text)


def _as_markdown(value: Any, limit: int | None) -> Face:
    text = _document(value, "Markdown", limit)
    return documents.markdown(text), values.plain(text)


def _as_html(value: Any, _limit: int | None) -> Face:
    text = _document(value, "HTML", None)
    return documents.sandboxed(text), values.plain(text)


def _document(value: Any, kind: str, limit: int | None) -> str:
    found = documents.declared(value)
    text = value if found is None else found[1]
    if not isinstance(text, str):
        raise _unsuited(value, f"{kind}: it is no text")
    return text if limit is None else "\n".join(text.splitlines()[:limit])


def _as_medium(kind: type[media.Picture] | type[media.Sound], name: str) -> Callable[[Any, int | None], Face]:
    def show(value: Any, limit: int | None) -> Face:
        found = media.of_bytes(value) if isinstance(value, bytes) else None
        parts = [found] if found is not None else media.media_in(values.parts_of(value))
        shown = [medium for medium in parts if isinstance(medium, kind)][:limit]
        if not shown:
            raise _unsuited(value, f"{name}: there is none in it")
        return markup.join(medium.html() for medium in shown), "\n".join(map(str, shown))

    return show


def _read(value: Any) -> Any:
    """What a text of JSON says; all else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            pass
    return value


def _unsuited(value: Any, why: str) -> ValueError:
    return ValueError(f"a value of type {type(value).__name__} can't be shown as {why}")


KINDS: dict[str, Callable[[Any, int | None], Face]] = {
    "json": _as_json,
    "table": _as_table,
    "text": _as_text,
    "markdown": _as_markdown,
    "html": _as_html,
    "image": _as_medium(media.Picture, "a picture"),
    "audio": _as_medium(media.Sound, "a sound"),
}
