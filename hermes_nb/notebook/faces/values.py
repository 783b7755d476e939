"""How a value looks: JSON folds, records are a table, differences have colours, pictures are seen, all else is text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hermes_nb.common.jsonable import written
from hermes_nb.common.redact import redact
from hermes_nb.common.text import head_and_tail, readable
from hermes_nb.notebook.faces import documents, markup, media
from hermes_nb.notebook.faces.markup import GREEN, RED, Html
from hermes_nb.notebook.faces.records import records_in
from hermes_nb.notebook.faces.tree import tree

TEXT_SHOWN = 20_000
_JSON_READ = 200_000
_PARTS = ("text", "image", "audio", "resource")

_DIFF = re.compile(r"^(?:diff --git .*\n(?:.*\n){0,6}?)?--- .*\n\+\+\+ .*\n@@ ", re.MULTILINE)


def render(value: Any) -> Html:
    """A value as HTML, nothing in it taken for markup."""
    value = parts_of(value)
    pictures = media.media_in(value)
    if pictures or _is_parts(value):
        texts = [content for content in media.beside_media(value) if content]
        return markup.join([*(render(content) for content in texts), *(picture.html() for picture in pictures)])
    document = documents.declared(value)
    if document is not None:
        kind, text = document
        return documents.markdown(text) if kind == "markdown" else documents.sandboxed(text)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping) and isinstance(value.get("diff"), str):
        rest = {key: item for key, item in value.items() if key != "diff"}
        return markup.join([json_block(rest) if rest else None, difference(value["diff"])])
    if isinstance(value, Mapping | list | tuple):
        records = records_in(value)
        return json_block(value) if records is None else records.html()
    return markup.block(markup.text(redact(written(value))))


def parts_of(value: Any) -> Any:
    """The parts of a result in MCP's form; any other value as it is."""
    content = value.get("content") if isinstance(value, Mapping) else None
    return content if _is_parts(content) else value


def _is_parts(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(part, Mapping) and part.get("type") in _PARTS for part in value)
        and any({"text", "data", "resource"} & part.keys() for part in value)
    )


def plain(value: Any) -> str:
    """A value as text: strings as they are, all else as indented JSON."""
    pictures = media.media_in(value)
    if pictures:
        return "\n".join([*map(str, media.beside_media(value)), *map(str, pictures)])
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
    if value.lstrip()[:1] in ("{", "[") and len(value) < _JSON_READ:
        try:
            return render(json.loads(value))
        except (ValueError, RecursionError):
            pass
    if documents.is_markdown(value):
        return documents.markdown(value)
    return printed(value)


def printed(value: str) -> Html:
    """A text as it is."""
    return markup.printed(head_and_tail(redact(value), TEXT_SHOWN).rstrip("\n"))


def json_block(value: Any) -> Html:
    """A JSON value that folds, in a frame."""
    return markup.block(tree(value), element="div")
