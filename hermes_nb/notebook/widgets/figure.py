"""The picture of a budget, as SVG that reads well on light and dark pages, live or in a saved notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from hermes_nb.common.text import cut

if TYPE_CHECKING:
    from hermes_nb.notebook.widgets.costs import Costs

PALETTE = ("#4c8bf5", "#e8833a", "#35a273", "#d4567b", "#8f6be0", "#c9a227", "#2fa3b7", "#a0674b")
OTHERS = "#8a929c"
BRIDGE = "#5f6b7a"

_WIDTH, _LEFT, _RIGHT = 760, 128, 12
_BAR, _TOP, _GAP = 34, 56, 30
_SECOND = _TOP + _BAR + _GAP
_BELOW = _SECOND + _BAR + 24  # with room for what the line says
_COLUMNS = 3
_LETTER = 6.2  # about how wide one is
_SCHEMA = "A tool's schema is what a model reads of it with every request: its name, what it does, its arguments"
_COUNTED = {
    "chars/4": "an estimate: a quarter of the characters",
    "o200k_base": "the tokenizer of OpenAI's newer models",
}
#: What somebody may stumble over who sees this for the first time.
_WORDS = (
    ("deferred tools", "not sent with a request; the model finds them by search when it needs them"),
    ("bridge tools", "tool_search, tool_describe and tool_call: sent in place of the deferred ones"),
)
_STYLE = """
.hbf text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;fill:var(--jp-ui-font-color1,#1f2328)}
.hbf .dim{fill:var(--jp-ui-font-color2,#59636e)} .hbf .strong{font-weight:600} .hbf .title{font-size:14px}
.hbf .line{stroke:var(--jp-ui-font-color2,#59636e);stroke-dasharray:4 3}
.hbf .track{fill:var(--jp-layout-color2,#e9ecef)}
@media (prefers-color-scheme:dark){.hbf text{fill:var(--jp-ui-font-color1,#e6edf3)}
.hbf .dim{fill:var(--jp-ui-font-color2,#9198a1)} .hbf .line{stroke:var(--jp-ui-font-color2,#9198a1)}
.hbf .track{fill:var(--jp-layout-color2,#2a3038)}}
"""


def colours(costs: Costs) -> dict[str, str]:
    """A colour for each toolset: the largest have their own."""
    return {part.toolset: PALETTE[place] if place < len(PALETTE) else OTHERS for place, part in enumerate(costs.slices)}


def svg(costs: Costs, colour: dict[str, str] | None = None, *, with_legend: bool = True) -> str:
    """The bars with and without search against the threshold, the share of the context, and a legend."""
    colour = colour or colours(costs)
    scale = (_WIDTH - _LEFT - _RIGHT) / max(costs.total, costs.threshold * 1.05, costs.searched, 1)
    plain = [(part.toolset, part.tokens, colour[part.toolset]) for part in costs.slices]
    direct = [(part.toolset, part.direct, colour[part.toolset]) for part in costs.slices]
    bridge = costs.searched - sum(tokens for _, tokens, _ in direct)
    context = f" · context {costs.context:,}" if costs.context else ""
    legend = _legend(costs, colour, _BELOW + 66) if with_legend else []
    explained = _BELOW + 62 + (24 + 20 * (-(-len(legend) // _COLUMNS) - 1) if legend else 0)
    height = explained + 18 * len(_WORDS) - 8
    counted = f"counted by {costs.tokenizer}{context}"
    drawn = [
        _text(0, 16, "Schema tokens by toolset", "title strong", title=_SCHEMA),
        _text(_WIDTH, 16, counted, "dim", "end", title=_COUNTED.get(costs.tokenizer, "")),
        *_bar("Without search", plain, costs, _TOP, scale, now=not costs.active),
        *_bar("With search", [*direct, ("bridge tools", bridge, BRIDGE)], costs, _SECOND, scale, now=costs.active),
        *_threshold(costs, scale),
        *_share(costs, _BELOW + 22),
        *legend,
        *(_explained(*entry, explained + 18 * line) for line, entry in enumerate(_WORDS)),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hbf" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'role="img" aria-label="{escape(_spoken(costs))}"><style>{_STYLE}</style>{"".join(drawn)}</svg>'
    )


def _bar(label: str, parts: list[tuple[str, int, str]], costs: Costs, y: int, scale: float, *, now: bool) -> list[str]:
    total = sum(tokens for _, tokens, _ in parts)
    share = f" · {costs.share(total)} of the context" if costs.context else ""
    drawn = [
        _text(0, y + 15, label, "strong"),
        _text(0, y + 30, "in force" if now else "if it were so", "dim"),
        _text(_LEFT, y - 6, f"{costs.about}{total:,} tokens{share}", "strong" if now else ""),
    ]
    x = float(_LEFT)
    for name, tokens, fill in parts:
        width = tokens * scale
        if width > 0:
            drawn.append(
                _rect(x, y, max(width - 0.6, 0.6), _BAR, f'fill="{fill}"', f"{name}: {costs.about}{tokens:,} tokens")
            )
        x += width
    return drawn


def _threshold(costs: Costs, scale: float) -> list[str]:
    """A line through both bars, and below it, where it crosses nothing, what it means."""
    x = _LEFT + costs.threshold * scale
    words = f"tools are deferred from an estimate of {costs.threshold:,} tokens on"
    half = len(words) * _LETTER / 2
    through = ((_TOP, _TOP + _BAR), (_SECOND, _SECOND + _BAR + 8))
    lines = [f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" class="line"/>' for top, bottom in through]
    return [*lines, _text(min(max(x, half), _WIDTH - half), _SECOND + _BAR + 23, words, "dim", "middle")]


def _share(costs: Costs, y: int) -> list[str]:
    if not costs.context:
        return []
    width = _WIDTH - _LEFT - _RIGHT
    filled = max(3.0, min(1.0, costs.now / costs.context) * width)
    return [
        _text(0, y + 10, "in the context", "dim"),
        _rect(_LEFT, y, width, 12, 'class="track"', f"{costs.context:,} tokens of context"),
        _rect(_LEFT, y, filled, 12, f'fill="{PALETTE[0]}"', f"{costs.about}{costs.now:,} of {costs.context:,} tokens"),
    ]


def _legend(costs: Costs, colour: dict[str, str], y: int) -> list[str]:
    shown = costs.slices[: len(PALETTE)]
    entries = [(part.toolset, part.tokens, part.tools, colour[part.toolset]) for part in shown]
    rest = costs.slices[len(PALETTE) :]
    if rest:
        name = f"{len(rest)} more toolsets"
        entries.append((name, sum(part.tokens for part in rest), sum(part.tools for part in rest), OTHERS))
    return [_legend_entry(costs.about, *entry, place, y) for place, entry in enumerate(entries)]


def _legend_entry(about: str, name: str, tokens: int, tools: int, fill: str, place: int, y: int) -> str:
    x, line = (place % _COLUMNS) * (_WIDTH / _COLUMNS), y + (place // _COLUMNS) * 20
    counted = f"{about}{tokens:,} · {tools} tool{'' if tools == 1 else 's'}"
    words = f'{escape(cut(name, 18))} <tspan class="dim">{counted}</tspan>'
    return _rect(x, line - 10, 11, 11, f'fill="{fill}"', name) + f'<text x="{x + 17:.0f}" y="{line}">{words}</text>'


def _explained(word: str, meaning: str, y: int) -> str:
    fill = BRIDGE if word == "bridge tools" else "none"
    swatch = f'fill="{fill}" stroke="{BRIDGE}" stroke-width="1.2"'
    words = f'{escape(word)} <tspan class="dim">{escape(meaning)}</tspan>'
    return _rect(0, y - 10, 11, 11, swatch, word) + f'<text x="17" y="{y}">{words}</text>'


def _text(x: float, y: float, words: str, classes: str = "", anchor: str = "start", title: str = "") -> str:
    said = f"<title>{escape(title)}</title>" if title else ""
    return f'<text x="{x:.1f}" y="{y}" class="{classes}" text-anchor="{anchor}">{said}{escape(words)}</text>'


def _rect(x: float, y: float, width: float, height: float, paint: str, title: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" rx="{min(6, height / 12):.1f}"'
    return f"<rect {place} {paint}><title>{escape(title)}</title></rect>"


def _spoken(costs: Costs) -> str:
    now = "active" if costs.active else "not active"
    return (
        f"Tool schemas cost {costs.about}{costs.total:,} tokens without search "
        f"and {costs.about}{costs.searched:,} with search; "
        f"the threshold is {costs.threshold:,}; tool search is {now}"
    )
