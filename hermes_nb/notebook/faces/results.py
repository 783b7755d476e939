"""The two faces of what hermes-nb gives back: HTML for a notebook, stable text for terminals, tests and git.

Nothing that a tool printed or a server wrote becomes markup. The text has no times and no addresses in it, so that a
notebook that is run again shows the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hermes_nb.common.jsonable import is_json, written
from hermes_nb.common.redact import MASK
from hermes_nb.common.text import head_and_tail, readable
from hermes_nb.notebook.faces import markup, own_face, values
from hermes_nb.notebook.faces.marks import colour_of, edit_html, mark_chip
from hermes_nb.notebook.faces.markup import AMBER, BLUE, GREEN, GREY, RED, Html, chip, code, dim
from hermes_nb.notebook.faces.media import Picture, lone_picture
from hermes_nb.notebook.faces.records import sorting
from hermes_nb.notebook.faces.streams import Streams, streams_of
from hermes_nb.notebook.faces.table import aligned, clipped

if TYPE_CHECKING:
    from hermes_nb.approval.decision import Decision
    from hermes_nb.approval.edit import Edit
    from hermes_nb.calls.journal import Journal, Record, Replay
    from hermes_nb.calls.results import ToolResult
    from hermes_nb.doctor import Report
    from hermes_nb.search.budget import Budget
    from hermes_nb.search.catalog import SearchResult

_CALLS_SHOWN = 100

Bundle = dict[str, Any]


def seconds(duration: float) -> str:
    """A duration as people say it; always a number, a space and ``ms``, ``s`` or ``min``."""
    if duration < 1:
        return f"{duration * 1000:.1f} ms" if duration < 0.01 else f"{duration * 1000:.0f} ms"
    return f"{duration:.1f} s" if duration < 120 else f"{duration / 60:.1f} min"


def took(call: ToolResult | Record) -> str:
    """How long a call took, and beside it how long somebody was asked, where that was long enough to matter."""
    asked = f" + asked for {seconds(call.waited)}" if call.waited >= 1 else ""
    return f"{seconds(call.duration)}{asked}"


# Results ----------------------------------------------------------------------------------------------------------


def result_bundle(result: ToolResult) -> Bundle:
    """The faces of a call's result; a lone picture is a picture, which every page can show."""
    text = result_text(result)
    face = own_face.face_of(result.value) if _may_show_itself(result) else None
    picture = face if isinstance(face, Picture) else lone_picture(result.value) if result.ok else None
    if picture is not None and picture.mime in ("image/png", "image/jpeg") and not picture.width:
        return {"text/plain": text, picture.mime: picture.data}
    live = own_face.live_faces(result.value) if _may_show_itself(result) else {}
    return {"text/plain": text, "text/html": str(_result_card(result, face)), **live}


def result_text(result: ToolResult) -> str:
    """A result as stable text."""
    lines = [f"{result.tool}: {result.mark.text}"]
    if not result.ok:
        lines[0] += f": {clipped(result.error or '', 500)}" if result.error else ""
    lines += [f"({clipped(note, 300)})" for note in result.notes]
    lines += edit_lines(result.edit)
    found = streams_of(result.value)
    if found is not None:
        return "\n".join([*lines, *_streams_text(found, result)])
    body = values.plain(_shown_value(result)) if result.ok else ""
    return "\n".join([*lines, body]).rstrip()


def result_html(result: ToolResult) -> Html:
    """A result as a card: how it went, how long it took, and what it gave."""
    return _result_card(result, own_face.face_of(result.value) if _may_show_itself(result) else None)


def edit_lines(edit: Edit | None) -> list[str]:
    """What an approver changed, as lines of text."""
    return [] if edit is None else [f"{sign} {clipped(text, 300)}" for sign, text in edit.lines()]


def _may_show_itself(result: ToolResult) -> bool:
    # A table cuts long cells, and half a secret is not recognised: where there was one, people see what the model does.
    return result.ok and MASK not in result.text


def _result_card(result: ToolResult, face: own_face.Face | None) -> Html:
    found = streams_of(result.value)
    colour = colour_of(result.mark)
    where = dim(found.where) if found is not None and found.where else None
    head = [tool_name(result.tool), mark_chip(result.mark), dim(took(result)), where]
    body: list[Html | None] = [_decision_line(result.decision), edit_html(result.edit) if result.edit else None]
    body += [markup.tag("div", dim(note)) for note in result.notes]
    if result.error:
        body.append(markup.printed(head_and_tail(result.error, values.TEXT_SHOWN), edge=colour))
    if result.traceback:
        body.append(markup.fold(dim("where it was raised"), markup.printed(result.traceback)))
    if found is not None:
        body.append(streams_html(found))
    elif face is not None:
        body += [_as_html(face), markup.fold(dim("what the model reads"), values.render(result.text))]
    elif result.ok:
        body.append(values.render(_shown_value(result)))
        if _may_show_itself(result):
            body += [_labelled(key, inner) for key, inner in own_face.faces_inside(result.value)]
    if result.spill is not None:
        body.append(markup.tag("div", dim("the whole result: "), code(str(result.spill))))
    return markup.card(head, *body, sorting(*body), edge=colour)


def _shown_value(result: ToolResult) -> Any:
    value = result.value
    if isinstance(value, str | int | float):
        return value
    return value if isinstance(value, Mapping | list | tuple) and is_json(value) else result.text


def _as_html(face: own_face.Face) -> Html:
    return face if isinstance(face, Html) else face.html()


def _labelled(key: str, face: own_face.Face) -> Html:
    return markup.join([markup.tag("div", dim(code(key)), style="margin-top:.6em"), _as_html(face)])


def tool_name(name: str) -> Html:
    """A tool's name, as every face writes it."""
    return tag_bold(code(name))


def tag_bold(content: str) -> Html:
    """Content that is looked at first."""
    return markup.tag("b", content)


def state_chip(state: str) -> Html:
    """What becomes of a tool: the model sees it, finds it by search, or can't have it for the reason given."""
    if state in ("shown", "deferred"):
        return chip(state, GREEN if state == "shown" else BLUE)
    return markup.join([chip("unavailable", AMBER), " ", dim(state)])


def _decision_line(decision: Decision | None) -> Html | None:
    if decision is None:
        return None
    word = "denied" if not decision.allowed else f"approved ({decision.choice})"
    reason = f": {decision.reason}" if decision.reason else ""
    return markup.tag("div", dim(f"{word} by {decision.by}{reason}"))


def streams_html(found: Streams) -> Html:
    """Output and errors, each in its own block."""
    both = [
        markup.printed(head_and_tail(found.stdout, values.TEXT_SHOWN).rstrip("\n")) if found.stdout.strip() else None,
        markup.printed(head_and_tail(found.stderr, values.TEXT_SHOWN).rstrip("\n"), edge=RED, label="stderr")
        if found.stderr.strip()
        else None,
    ]
    return markup.join(both) if any(both) else markup.tag("div", dim("no output"))


def _streams_text(found: Streams, result: ToolResult) -> list[str]:
    is_said = result.mark.tone == "failed" or (result.ok and found.exit_code is None)  # a job that is still running
    exit_line = "outcome unknown" if found.exit_code is None else f"exit code {found.exit_code}"
    lines = ["" if is_said else exit_line, head_and_tail(readable(found.stdout), values.TEXT_SHOWN).rstrip("\n")]
    if found.stderr.strip():
        lines += ["stderr:", head_and_tail(readable(found.stderr), values.TEXT_SHOWN).rstrip("\n")]
    return [line for line in lines if line]


# Search, budget, doctor -------------------------------------------------------------------------------------------


def search_html(result: SearchResult) -> Html:
    """What a search found, with how well it fits."""
    head = [
        dim("search"),
        tag_bold(result.query),
        dim(
            f"{len(result.matches)} of {result.total_available:,} tools{', by plain words' if result.by_words else ''}"
        ),
    ]
    if not result.matches:
        return markup.card(head, markup.tag("div", result.hint or "nothing fits"))
    best = max(hit.score for hit in result.matches) or 1.0
    rows = [
        (
            markup.join([tool_name(hit.name), markup.tag("div", dim(code(hit.signature.removeprefix(hit.name))))]),
            hit.description,
            markup.join([dim(hit.toolset), *([" ", chip(hit.state)] if hit.is_remarkable else [])]),
            markup.bar(hit.score / best, width="4em"),
        )
        for hit in result.matches
    ]
    return markup.card(head, markup.grid(("tool", "what it does", "toolset", "fit"), rows))


def budget_html(budget: Budget) -> Html:
    """What the tools' schemas cost, as bars."""
    total = budget.total_tokens
    head = [
        tag_bold(f"{budget.about}{budget.visible_tokens:,} tokens"),
        dim(f"of {budget.about}{total:,} are shown to the model ({budget.tokenizer})"),
        chip(f"{len(budget.deferred)} tools deferred", BLUE) if budget.active else chip("nothing deferred"),
        chip(f"saves {budget.about}{budget.saving:,} a turn", GREEN) if budget.saving > 0 else None,
    ]
    bars = [
        ("without search", budget.about, total, GREY),
        ("shown now", budget.about, budget.visible_tokens, BLUE),
        ("deferrable, by the estimate that decides", "≈ ", budget.deferrable_tokens, GREEN if budget.active else GREY),
        ("threshold", "", budget.threshold_tokens, AMBER),
    ]
    widest = max([tokens for _, _, tokens, _ in bars] + [1])
    overview = [
        (label, f"{about}{tokens:,}", markup.bar(tokens / widest, colour, "16em"))
        for label, about, tokens, colour in bars
    ]
    ordered = sorted(budget.per_toolset.items(), key=lambda entry: (-entry[1], entry[0]))
    most = max((tokens for _, tokens in ordered), default=1) or 1
    toolsets = [
        (code(name), f"{budget.about}{tokens:,}", markup.bar(tokens / most, BLUE, "16em")) for name, tokens in ordered
    ]
    return markup.card(
        head,
        markup.grid(("", "tokens", ""), overview, numbers=frozenset({1})),
        markup.fold(
            f"{len(ordered)} toolsets", markup.grid(("toolset", "tokens", ""), toolsets, numbers=frozenset({1}))
        ),
    )


def report_html(report: Report) -> Html:
    """What the doctor found, area by area, each problem with its remedy."""
    marks = {"ok": ("✓", GREEN), "missing": ("–", GREY), "off": ("–", GREY), "broken": ("✗", RED)}
    rows = []
    area = ""
    for check in report:
        mark, colour = marks[check.state]
        fix = markup.join([markup.tag("div", dim("→ "), code(check.fix))]) if check.fix else None
        rows.append(
            (
                dim(check.area) if check.area != area else "",
                markup.tag("span", mark, style=f"color:{colour};font-weight:700"),
                code(check.name),
                markup.join([check.detail, fix]),
            )
        )
        area = check.area
    problems = len(report.problems)
    word = chip("✓ nothing is broken", GREEN) if not problems else chip(f"✗ {problems} broken", RED)
    return markup.card([tag_bold("doctor"), word], markup.grid(("", "", "", ""), rows), edge=RED if problems else GREEN)


# Calls ------------------------------------------------------------------------------------------------------------


def calls_html(records: Sequence[Record], title: str) -> Html:
    """Past calls: what was called, how it went, what it gave; details fold."""
    shown = records[-_CALLS_SHOWN:]
    rows = [
        (
            dim(record.id),
            markup.fold(
                markup.join([tool_name(record.tool), " ", dim(code(clipped(_arguments(record), 60)))]),
                edit_html(record.edit) if record.edit else None,
                values.render(record.args if isinstance(record.args, dict) else {"arguments": record.args}),
                values.render(record.text),
            ),
            mark_chip(record.mark),
            dim(took(record)),
        )
        for record in shown
    ]
    failed = sum(record.mark.tone != "good" for record in records)
    head = [
        tag_bold(title),
        dim(f"{len(records):,} call{'s' if len(records) != 1 else ''}"),
        chip(f"{failed} not ok", RED) if failed else None,
        dim(f"the last {len(shown)}") if len(shown) < len(records) else None,
    ]
    body = markup.grid(("", "call", "outcome", "took"), rows) if rows else dim("no calls yet")
    return markup.card(head, body, sorting(body))


def calls_text(records: Sequence[Record]) -> str:
    """Past calls as stable text, one line a call."""
    if not records:
        return "no calls yet"
    shown = records[-_CALLS_SHOWN:]
    return aligned(
        [(record.tool, record.mark.text, clipped(_arguments(record), 40), clipped(record.text, 50)) for record in shown]
    )


def journal_bundle(journal: Journal) -> Bundle:
    """The faces of a session's journal."""
    records = tuple(journal)
    return {"text/plain": calls_text(records), "text/html": str(calls_html(records, "journal"))}


def replay_html(replay: Replay) -> Html:
    """A past session's calls."""
    return calls_html(replay, "replay")


def _arguments(record: Record) -> str:
    return written(record.args)
