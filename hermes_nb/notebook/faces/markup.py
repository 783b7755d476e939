"""HTML in which text can't become markup: what is not an ``Html`` already is escaped when it is put in.

Styles are inline and few, so that a page that strips them (a repository's preview) still shows tables, code and folds.
Colours are the notebook's own variables, with fallbacks that can be read on white and on black.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from hermes_nb.common.text import ESCAPE_SEQUENCE, visible
from hermes_nb.notebook.faces import ansi

GREEN, RED, AMBER, BLUE, GREY, ORANGE = "#2f9356", "#d0434f", "#b07d10", "#3b7dd8", "#7b8494", "#cc5c14"
LINE = "var(--jp-border-color2, rgba(128,128,128,.3))"
FAINT = "rgba(128,128,128,.09)"
CODE_FONT = "var(--jp-code-font-family, ui-monospace, Menlo, Consolas, monospace)"
_LINES_WHOLE, _LINES_OPEN = 30, 18
_VOID = frozenset({"img", "br"})


class Html(str):
    """Markup that is known to be safe; IPython shows it as it is."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


Child = str | Html | None


def tag(name: str, *children: Child, style: str = "", **attributes: str | bool) -> Html:
    """An element; plain strings inside it are escaped, and what is invisible in them is shown."""
    given = {"style": style, **attributes}
    written = "".join(
        f" {key.rstrip('_')}" if value is True else f' {key.rstrip("_")}="{escape(visible(str(value)))}"'
        for key, value in given.items()
        if value
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[Child], separator: str = "") -> Html:
    """Pieces one after the other, the plain ones escaped."""
    return Html(separator.join(text(child) for child in children if child is not None))


def text(piece: str) -> Html:
    """A piece as markup: itself if it is, else escaped with everything visible."""
    return piece if isinstance(piece, Html) else Html(escape(visible(piece)))


def code(content: Child) -> Html:
    """A name or value in the code font."""
    return tag("code", content, style=f"font-family:{CODE_FONT};background:none;color:inherit;padding:0")


def dim(content: Child) -> Html:
    """What is there for whoever looks twice."""
    return tag("span", content, style="opacity:.65")


def chip(label: str, colour: str = GREY) -> Html:
    """A word in a coloured pill."""
    style = (
        f"{readable_colour(colour)};border:1px solid {colour}59;background:{colour}1f;border-radius:9px;"
        "padding:0 .55em;font-size:.85em;white-space:nowrap;font-weight:600"
    )
    return tag("span", label, style=style)


def readable_colour(colour: str) -> str:
    """The style of text in a colour, on a light page and on a dark one."""
    # Mixed with the text's own colour it gets lighter on a dark page and darker on a light one.
    return f"color:{colour};color:color-mix(in srgb,{colour} 72%,currentColor)"


def printed(output: str, *, edge: str = "", label: str = "") -> Html:
    """What a program printed: its colours, and nothing else of its making. Many lines are folded after the first."""
    lines = output.splitlines(keepends=True)
    if len(lines) <= _LINES_WHOLE:
        return block(Html(ansi.to_html(output)), edge=edge, label=label)
    head, rest = "".join(lines[:_LINES_OPEN]), "".join(lines[_LINES_OPEN:])
    going_on = "".join(found[0] for found in ESCAPE_SEQUENCE.finditer(head) if found["final"])
    first = block(Html(ansi.to_html(head.rstrip("\n"))), edge=edge, label=label)
    return join(
        [first, fold(dim(f"show all {len(lines):,} lines"), block(Html(ansi.to_html(going_on + rest)), edge=edge))]
    )


def block(content: Html, *, edge: str = "", label: str = "", element: str = "pre") -> Html:
    """Preformatted content that scrolls inside a narrow cell."""
    style = (
        f"margin:.35em 0 0;padding:.45em .7em;background:{FAINT};color:inherit;border-radius:4px;overflow:auto;"
        f"max-height:28em;white-space:pre-wrap;word-break:break-word;font-family:{CODE_FONT};font-size:.92em;"
        "line-height:1.4;text-align:left;unicode-bidi:isolate"
    )
    if edge:
        style += f";border-left:3px solid {edge}"
    shown = tag(element, content, style=style)
    if not label:
        return shown
    return join([tag("div", dim(label), style="font-size:.8em;margin-top:.4em"), shown])


def card(head: Sequence[Child], *body: Child, edge: str = LINE) -> Html:
    """A frame with a line of what it is, and the content below."""
    style = (
        f"border:1px solid {LINE};border-left:3px solid {edge};border-radius:6px;padding:.5em .8em;margin:.2em 0;"
        "max-width:100%;box-sizing:border-box;overflow-x:auto;color:inherit;font-size:.95em;line-height:1.45"
    )
    return tag("div", line(head), *body, style=style)


def line(pieces: Sequence[Child]) -> Html:
    """Pieces beside each other, wrapping where the cell is narrow."""
    return tag("div", join([piece for piece in pieces if piece is not None], "&ensp;"), style="line-height:1.7")


def fold(summary: Child, *content: Child, opened: bool = False, class_: str = "") -> Html:
    """Content that opens at a click; without script."""
    head = tag("summary", summary, style="cursor:pointer")
    return tag("details", head, *content, open=opened, class_=class_)


def grid(titles: Sequence[str], rows: Iterable[Sequence[Child]], *, numbers: frozenset[int] = frozenset()) -> Html:
    """A table; the columns named in ``numbers`` stand to the right."""
    cell = f"padding:.25em .7em;border:none;border-bottom:1px solid {LINE};vertical-align:top;background:none"

    def style(column: int) -> str:
        return f"{cell};text-align:{'right;white-space:nowrap' if column in numbers else 'left'}"

    head = tag("tr", *(tag("th", tag("small", dim(title)), style=style(at)) for at, title in enumerate(titles)))
    body = [tag("tr", *(tag("td", child, style=style(at)) for at, child in enumerate(row))) for row in rows]
    return tag(
        "div",
        tag(
            "table",
            tag("thead", head, style="border:none"),
            tag("tbody", *body),
            style="border-collapse:collapse;margin:.2em 0;color:inherit;font-size:.95em;border:none",
        ),
        style="overflow-x:auto;max-width:100%",
    )


def bar(share: float, colour: str = BLUE, width: str = "8em") -> Html:
    """A horizontal bar, filled in part."""
    inner = tag("span", "", style=f"display:block;height:100%;width:{_percent(share)};background:{colour}")
    outer = (
        f"display:inline-block;width:{width};max-width:100%;height:.6em;background:{FAINT};border-radius:3px;"
        "overflow:hidden;vertical-align:middle"
    )
    return tag("span", inner, style=outer)


def _percent(share: float) -> str:
    return f"{max(0.0, min(1.0, share)) * 100:.1f}%"
