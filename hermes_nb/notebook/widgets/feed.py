"""The feed: what a session's tools did and do, as it happens."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from hermes_nb.calls.marks import Mark, mark_of_job
from hermes_nb.common.text import beginning, cut
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.marks import changes_html, mark_chip
from hermes_nb.notebook.faces.markup import Html, code, dim
from hermes_nb.notebook.faces.results import seconds, tool_name
from hermes_nb.notebook.frontend.assets import script, style
from hermes_nb.notebook.frontend.kept import HTML_KEPT
from hermes_nb.notebook.frontend.widget import HermesWidget, Message

if TYPE_CHECKING:
    from hermes_nb.calls.journal import Record
    from hermes_nb.calls.running import RunningCall
    from hermes_nb.session import Session

logger = logging.getLogger(__name__)

_KEPT = 500
_ARGS_SHOWN = 2_000
_TEXT_SHOWN = 4_000
_LISTED = 10
_IN_SNAPSHOT = (100, 30, 10)
_ARGS_IN_SNAPSHOT = 80
_GATHER = 0.1  # seconds in which a burst of calls becomes one message

Row = dict[str, Any]


class Feed(HermesWidget):
    """The calls of a session: those there were, those that run, and each new one when it ends.

    Call ``close()`` to stop following the session.
    """

    _esm = script("dom", "living", "virtual", "timeline", "feed")
    _css = style("base", "feed")
    answers: ClassVar[dict[str, str]] = {"ready": "_greet"}

    def __init__(self, session: Session) -> None:
        self.session = session
        self._lock = threading.Lock()
        self._fresh: list[Row] = []
        self._rows: deque[Row] = deque(maxlen=_KEPT)
        super().__init__()
        self._is_gathering = False
        self._unsubscribe = session.journal.subscribe(self._follow)
        self._unwatch = session.running.watch(self._gather)
        with self._lock:
            known = {row["call"] for row in self._rows}
            past = [_row(record) for record in deque(session.journal, maxlen=_KEPT) if record.id not in known]
            self._rows.extendleft(reversed(past))

    def close(self) -> None:
        """Stop following the session, and take the widget away."""
        self._unsubscribe()
        self._unwatch()
        super().close()

    def text_face(self) -> str:
        """How the calls went, and the latest of them."""
        rows = list(self._rows)
        outcomes = ", ".join(f"{count} {outcome}" for outcome, count in Counter(r["outcome"] for r in rows).items())
        lines = [f"{len(rows)} call{'' if len(rows) == 1 else 's'}{f': {outcomes}' if outcomes else ''}"]
        return "\n".join([*lines, *(f"  {row['tool']}: {row['outcome']}" for row in rows[-_LISTED:])])

    def html_face(self) -> str:
        """The latest calls as a table."""
        head, *_ = self.text_face().partition("\n")
        rows = "".join(
            f"<tr><td><code>{escape(row['tool'])}</code></td><td>{escape(row['mark'])}</td>"
            f"<td>{escape(row['decision'])}</td><td style='text-align:right'>{row['seconds'] * 1000:.0f} ms</td></tr>"
            for row in list(self._rows)[-_LISTED:]
        )
        return (
            f"<p>{escape(head)}</p><table><thead><tr><th>tool</th><th>outcome</th><th>decision</th><th>time</th></tr>"
            f"</thead><tbody>{rows}</tbody></table>"
        )

    def snapshot_face(self) -> str:
        """The latest calls with their arguments and results, as many as fit."""
        rows = list(self._rows)
        running = [row["tool"] for row in self._not_ended(self._running())]
        note = markup.tag("p", f"running: {', '.join(running[:_LISTED])}") if running else None
        for count in _IN_SNAPSHOT:
            face = markup.join([note, _calls(rows, count)])
            if len(face) <= HTML_KEPT:
                return face
        return self.html_face()

    def _greet(self, _message: Message) -> None:
        running = self._running()
        with self._lock:
            rows = [*self._rows, *self._not_ended(running)]
        self.send({"kind": "calls", "rows": rows, "all": True})

    def _follow(self, record: Record) -> None:
        try:
            row = _row(record)
            with self._lock:
                self._rows.append(row)
                self._fresh.append(row)
            self._gather()
        except Exception:  # a widget must never break the call that it watches
            logger.exception("the feed could not show a call")

    def _gather(self) -> None:
        with self._lock:
            is_gathering, self._is_gathering = self._is_gathering, True
        if not is_gathering:
            timer = threading.Timer(_GATHER, self._tell)
            timer.daemon = True
            timer.start()

    def _tell(self) -> None:
        try:
            running = self._running()
            with self._lock:
                self._is_gathering = False
                fresh, self._fresh = self._fresh[-_KEPT:], []
                rows = [*fresh, *self._not_ended(running)]
            if rows:
                self.kept.changed()
                self.send({"kind": "calls", "rows": rows, "all": False})
        except Exception:
            logger.exception("the feed could not show calls")

    def _running(self) -> list[Row]:
        now = time.time()
        return [_running_row(call, now) for call in self.session.running]

    def _not_ended(self, running: list[Row]) -> list[Row]:
        """Those whose end is not known yet: a call is in the journal a moment before it stops being a running one."""
        ended = {row["call"] for row in self._rows}
        return [row for row in running if row["call"] not in ended]


def _calls(rows: list[Row], count: int) -> Html:
    """Calls as a table whose rows unfold, the newest first."""
    shown = rows[: -count - 1 : -1]
    head = f"{len(rows):,} call{'' if len(rows) == 1 else 's'}"
    marks = Counter(_mark(row) for row in rows)
    outcomes = [markup.join([mark_chip(mark), f" {number:,}"]) for mark, number in marks.items()]
    lines = [
        (
            dim(time.strftime("%H:%M:%S", time.localtime(row["time"]))),
            markup.fold(
                markup.join([tool_name(row["tool"]), " ", dim(code(cut(row["args"], _ARGS_IN_SNAPSHOT)))]),
                changes_html(row["edit"]) if row["edit"] else None,
                markup.block(markup.text(row["args"])),
                markup.printed(row["text"]),
                dim(f"on {row['backend']}"),
                markup.tag("div", dim(row["reason"])) if row["reason"] else None,
            ),
            mark_chip(_mark(row)),
            dim(row["decision"]),
            dim(seconds(row["seconds"])),
        )
        for row in shown
    ]
    left_out = dim(f"the last {len(shown)}") if len(shown) < len(rows) else None
    titles = ("began", "call", "outcome", "decision", "took")
    return markup.card([markup.tag("b", head), *outcomes, left_out], markup.grid(titles, lines) if lines else None)


def _running_row(call: RunningCall, now: float) -> Row:
    empty: Row = {"decision": "", "reason": "", "text": "", "written": "", "spill": "", "waited": 0.0}
    return {
        **empty,
        **_marked(mark_of_job("running", None)),
        "notes": [],
        "edit": [],
        "call": call.id,
        "time": call.time,
        "tool": call.tool,
        "toolset": call.toolset,
        "seconds": max(0.0, now - call.time),
        "args": _arguments(call.args),
        "backend": call.backend,
    }


def _row(record: Record) -> Row:
    decision = record.decision or {}
    return {
        **_marked(record.mark),
        "call": record.id,
        "time": record.time,
        "tool": record.tool,
        "toolset": record.toolset,
        "seconds": record.duration,
        "waited": record.waited,
        "decision": _decision(decision, edited=record.edit is not None) if decision else "",
        "reason": str(decision.get("reason", "")),
        "args": _arguments(record.args),
        "text": beginning(record.text, _TEXT_SHOWN),
        "written": str((record.written or {}).get("name", "")),
        "notes": list(record.notes),
        "edit": record.edit.lines() if record.edit is not None else [],
        "backend": record.backend,
        "spill": record.spill or "",
    }


def _decision(decision: Mapping[str, Any], *, edited: bool) -> str:
    return f"{decision['choice']} by {decision['by']}{', edited' if edited else ''}"


def _marked(mark: Mark) -> Row:
    return {"outcome": mark.text, "mark": str(mark), "tone": mark.tone}


def _mark(row: Row) -> Mark:
    symbol, _, word = row["mark"].partition(" ")
    return Mark(symbol, word, row["tone"])


def _arguments(args: Any) -> str:
    return beginning(msgspec.json.encode(args).decode(), _ARGS_SHOWN)
