"""Documents that a tool wrote: Markdown in a subset that can neither act nor load, HTML in a frame that is locked."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from typing import TYPE_CHECKING, Any

from hermes_nb.common.redact import redact
from hermes_nb.common.text import head_and_tail, visible
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.markup import Html

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

TEXT_SHOWN = 20_000
PAGE_SHOWN = 500_000
#: What could act when it is clicked, load from elsewhere, or say one thing and mean another stays as it was written.
_LEFT_AS_WRITTEN = ("image", "link", "autolink", "reference", "html_block", "html_inline", "entity")
_KINDS_OF_MARK = (r"^#{1,6} \S", r"^(?:```|~~~)", r"^[-*] \S", r"^\|?[ :|-]*-{3,}[ :|-]*\|", r"\*\*\S", r"^\d+\. \S")
_TAG = re.compile(r"<[^>]*>")
#: Nothing runs, nothing is fetched: the page has its own styles, and pictures that are in it.
_RULES = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:"


def declared(value: Any) -> tuple[str, str] | None:
    """The kind and the text of a document that says what it is, such as an embedded resource of MCP's."""
    if not isinstance(value, dict):
        return None
    inner = value.get("resource")
    held = inner if isinstance(inner, dict) else value
    mime, text = held.get("mimeType", held.get("mime_type")), held.get("text")
    kinds = {"text/markdown": "markdown", "text/html": "html"}
    if not isinstance(mime, str) or not isinstance(text, str):
        return None
    kind = kinds.get(mime.partition(";")[0].strip().lower())
    return (kind, text) if kind else None


def is_markdown(text: str) -> bool:
    """Whether a text is plainly Markdown: with headings or fences, and something else of it."""
    kinds = [bool(re.search(kind, text, re.MULTILINE)) for kind in _KINDS_OF_MARK]
    return any(kinds[:2]) and sum(kinds) > 1 and not text.startswith("#!")


def markdown(text: str) -> Html:
    """Markdown as a page shows it; links and pictures stay text, with the address that they would go to."""
    source = visible(head_and_tail(redact(text), TEXT_SHOWN))
    parser = _parser()
    tokens = parser.parse(source)
    for token in tokens:
        token.info = ""  # a class that is named in the text
        if token.type in ("heading_open", "heading_close"):  # no entry in the notebook's table of contents
            size = 1.5 - 0.1 * int(token.tag[1:])
            token.tag = "div"
            if token.nesting == 1:
                token.attrs["style"] = f"font-weight:600;font-size:{size:.1f}em;margin:.5em 0 .2em"
    rendered = visible(parser.renderer.render(tokens, parser.options, {}))
    said = unescape(_TAG.sub("", rendered))
    if redact(said) != said:  # a secret that its marks had taken apart
        return markup.printed(redact(said))
    page = markup.tag("div", Html(rendered), style="overflow:auto;max-height:32em;margin-top:.35em")
    return markup.join([page, markup.fold(markup.dim("as it was written"), markup.printed(source))])


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False})
    return parser.enable(["table", "strikethrough"]).disable(list(_LEFT_AS_WRITTEN))


def sandboxed(page: str) -> Html:
    """HTML in a frame without scripts, forms, an origin, or a way to the network."""
    source = redact(page)
    spelled_out = unescape(source)
    if len(source) > PAGE_SHOWN or redact(spelled_out) != spelled_out:
        return markup.printed(head_and_tail(redact(spelled_out), TEXT_SHOWN))
    rules = f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_RULES}">'
    frame = markup.tag(
        "iframe",
        sandbox=True,
        srcdoc=rules + source,
        referrerpolicy="no-referrer",
        loading="lazy",
        title="a page that the tool wrote",
        style=(
            f"width:100%;height:24em;resize:vertical;overflow:auto;border:1px solid {markup.LINE};border-radius:4px;"
            "background:#fff;color-scheme:light;margin-top:.35em"
        ),
    )
    return markup.join(
        [frame, markup.fold(markup.dim("its source"), markup.printed(head_and_tail(source, TEXT_SHOWN)))]
    )
