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
_BAR, _TOP, _GAP = 34, 74, 30
_SECOND = _TOP + _BAR + _GAP
_BELOW = _SECOND + _BAR
_COLUMNS = 3
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
    height = _BELOW + 42 + (14 + 20 * -(-len(legend) // _COLUMNS) if legend else 0)
    drawn = [
        _text(0, 16, "Schema tokens by toolset", "title strong"),
        _text(_WIDTH, 16, f"counted by {costs.tokenizer}{context}", "dim", "end"),
        *_bar("Without search", plain, costs, _TOP, scale, now=not costs.active),
        *_bar("With search", [*direct, ("bridge tools", bridge, BRIDGE)], costs, _SECOND, scale, now=costs.active),
        *_threshold(costs, scale),
        *_share(costs, _BELOW + 22),
        *legend,
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
    x = _LEFT + costs.threshold * scale
    late = x > _WIDTH / 2
    words = f"tools are deferred from an estimate of {costs.threshold:,} tokens on"
    return [
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 36}" y2="{_BELOW + 6}" class="line"/>',
        _text(x + (-6 if late else 6), _TOP - 28, words, "dim", "end" if late else "start"),
    ]


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


def _text(x: float, y: float, words: str, classes: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y}" class="{classes}" text-anchor="{anchor}">{escape(words)}</text>'


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
