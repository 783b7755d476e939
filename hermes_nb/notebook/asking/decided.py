"""What stays of a question: what was asked and found, what was decided and by whom, and what may run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hermes_nb.approval.approvers import heading
from hermes_nb.approval.display import inert
from hermes_nb.common.redact import redact
from hermes_nb.common.text import beginning, one_line
from hermes_nb.notebook.asking.question import marked, record_text
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.marks import changes_html
from hermes_nb.notebook.faces.markup import GREEN, RED, Html, chip, code, dim

if TYPE_CHECKING:
    from hermes_nb.approval.decision import Decision
    from hermes_nb.notebook.asking.question import Part, Question

_TEXT_SHOWN = 4_000
_LINE_SHOWN = 300
_ROWS_SHOWN = _FINDINGS_SHOWN = 20
_MARK = f"color:inherit;background:{RED}38;border-bottom:2px solid {RED};font-weight:600"


def decided_text(question: Question) -> str:
    """A decided question in words: a line of record, and what it rests on."""
    request = question.request
    where = f"on {request.backend}{f' in {inert(request.cwd)}' if request.cwd else ''}"
    lines = [f"found: {what}{f': {place}' if place else ''}" for what, place in _findings(question)]
    lines += [f"to run {where}; decided by {question.decided_by}"]
    return "\n  ".join([record_text(question.record()), *lines, _consequence(question)])


def decided_html(question: Question) -> Html:
    """The same as a card; nothing in it needs a script, a style sheet or a kernel."""
    request, record = question.request, question.record()
    colour = GREEN if record["allowed"] else RED
    mark = "✔" if record["allowed"] else "✘"
    state = chip(f"{mark} {record['what']}", colour)
    found = [
        markup.tag("li", inert(what), " " if place else None, code(place) if place else None)
        for what, place in _findings(question)
    ]
    where = [dim("asked to run on "), code(request.backend)]
    where += [dim(" in "), code(inert(request.cwd))] if request.cwd else []
    where += [dim(time.strftime(", decided on %Y-%m-%d at %H:%M:%S", time.localtime(question.decided_at)))]
    return markup.tag(
        "div",
        markup.card(
            [state, markup.tag("b", heading(request)), dim(f"by {question.decided_by}")],
            _asked(question),
            markup.tag("ul", *found, style="margin:.4em 0;padding-left:1.4em") if found else None,
            markup.tag("div", *where),
            markup.tag("div", dim("reason: "), record["reason"]) if record["reason"] else None,
            markup.tag("div", markup.tag("b", _consequence(question))),
            changes_html(record["edit"]) if record["edit"] else None,
            edge=colour,
        ),
        class_="hermes-decided",
    )


def _asked(question: Question) -> Html:
    view, findings = question.request.view, question.request.findings
    rows = [(code(inert(redact(name))), _marked(marked(redact(value), findings))) for name, value in view.rows]
    return markup.join(
        [
            markup.block(_marked(marked(redact(view.text), findings))) if view.text else None,
            markup.grid(("", ""), rows[:_ROWS_SHOWN]) if rows else None,
            dim(f"and {len(rows) - _ROWS_SHOWN} more") if len(rows) > _ROWS_SHOWN else None,
        ]
    )


def _marked(parts: list[Part]) -> Html:
    left, shown = _TEXT_SHOWN, []
    for content, finding in parts:
        piece = beginning(content, left) if left > 0 else ""
        shown.append(piece if finding is None else markup.tag("mark", piece, style=_MARK))
        left -= len(content)
        if left <= 0:
            break
    return markup.join(shown)


def _findings(question: Question) -> list[tuple[str, str]]:
    found = question.request.findings[:_FINDINGS_SHOWN]
    return [(inert(redact(each.description)), one_line(inert(redact(each.text)), _LINE_SHOWN)) for each in found]


def _consequence(question: Question) -> str:
    decision: Decision | None = question.decision
    if decision is None or not decision.allowed:
        return "Nothing ran."
    if decision.args is not None:
        return "Allowed as it was changed; that is checked again before it may run"
    return "Allowed to run as it was asked"
