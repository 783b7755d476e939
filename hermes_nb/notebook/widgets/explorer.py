"""The explorer: find a tool as a model would, see what it costs, call it from a form."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from hermes_nb.common.redact import redact
from hermes_nb.common.text import beginning, one_line, readable
from hermes_nb.notebook.asking.desk import Desk, asking_at
from hermes_nb.notebook.faces.markup import Html, card, dim, fold, grid, join, printed
from hermes_nb.notebook.faces.results import seconds, tool_name
from hermes_nb.notebook.frontend.assets import script, style
from hermes_nb.notebook.widgets.tool_table import STATES, Table
from hermes_nb.search.catalog import signature
from hermes_nb.toolbox.availability import missing_variables

if TYPE_CHECKING:
    from hermes_nb.calls.results import ToolResult
    from hermes_nb.notebook.frontend.widget import Message
    from hermes_nb.session import Session

logger = logging.getLogger(__name__)

_TEXT_SHOWN = 20_000
_IN_SNAPSHOT, _ABOUT_SHOWN, _TEXT_IN_SNAPSHOT = 100, 140, 4_000

#: What will be asked for soon is made while the front end still loads.
_ahead = ThreadPoolExecutor(1, thread_name_prefix="hermes-nb-ahead")


class Explorer(Desk):
    """A searchable list of a session's tools, with their schemas, costs, and a form to call each.

    What the form runs goes the same guarded way as every call; if a person has to decide, the question appears here.
    """

    _esm = script("dom", "living", "desk", "form", "virtual", "gauge", "detail", "explorer")
    _css = style("base", "approval", "explorer")
    answers: ClassVar[dict[str, str]] = {
        **Desk.answers,
        "search": "_search",
        "describe": "_describe",
        "run": "_run",
    }

    def __init__(self, session: Session) -> None:
        self.session = session
        self._table = Table.of(session)
        super().__init__()
        self._packed = _ahead.submit(self._table.packed)
        self._indexed: Future[None] | None = None
        self._called: dict[str, Any] | None = None

    def greet(self, message: Message) -> None:
        """Answer a front end that has just opened, with the tools."""
        self._refresh()
        self.send({"kind": "table"}, [self._packed.result()])
        super().greet(message)
        if self._indexed is None:
            self._indexed = _ahead.submit(self._build_index)

    def text_face(self) -> str:
        """The toolsets and what they cost."""
        gauge = self._table.gauge
        state = f"{gauge['deferred']:,} deferred" if gauge["active"] else "nothing deferred"
        count = len(self._table.tools)
        lines = [f"{count:,} tool{'' if count == 1 else 's'}, {gauge['deferrable']:,} deferrable tokens; {state}"]
        lines += [f"  {name}: {count:,}" for name, count in self._toolsets()]
        return "\n".join(lines)

    def html_face(self) -> str:
        """The same as a table."""
        head, *_ = self.text_face().partition("\n")
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td style='text-align:right'>{count:,}</td></tr>"
            for name, count in self._toolsets()
        )
        return (
            f"<p>{escape(head)}</p><table><thead><tr><th>toolset</th><th>tools</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )

    def snapshot_face(self) -> str:
        """The same, with the first of the tools, what was called from here and what was decided."""
        rows = [
            (
                tool_name(tool.name),
                one_line(redact(tool.description), _ABOUT_SHOWN),
                dim(tool.toolset),
                dim(STATES[state]),
            )
            for tool, state in zip(self._table.tools[:_IN_SNAPSHOT], self._table.states, strict=False)
        ]
        left_out = len(self._table.tools) - len(rows)
        called = self._called
        return join(
            [
                Html(self.html_face()),
                fold(
                    f"the tools{f', without {left_out:,} more' if left_out else ''}",
                    grid(("tool", "what it does", "toolset", "state"), rows),
                ),
                self.decided_face(),
                None
                if called is None
                else card([dim("called from here"), tool_name(called["tool"])], printed(_last(called))),
            ]
        )

    def _toolsets(self, limit: int = 20) -> list[tuple[str, int]]:
        sizes = Counter(tool.toolset for tool in self._table.tools).most_common()
        rest = sum(count for _, count in sizes[limit:])
        return [*sizes[:limit], *([(f"{len(sizes) - limit} more toolsets", rest)] if rest else [])]

    def _build_index(self) -> None:
        try:
            self.session.view.everything.found("tool", 1)  # so that the first key pressed doesn't wait for it
        except Exception:
            logger.exception("the search index could not be built ahead")

    def _refresh(self) -> bool:
        """Bring the table up to date; whether it had changed."""
        if self.session.view.visible() is self._table.visible:
            return False
        self._table = Table.of(self.session)
        self._packed = _ahead.submit(self._table.packed)
        self.kept.changed()
        return True

    def _search(self, message: Message) -> None:
        query = str(message.get("query") or "")
        if self._refresh():
            self.send({"kind": "table"}, [self._packed.result()])
        self.send({"kind": "found"}, [self._table.found(self.session, query)])

    def _describe(self, message: Message) -> None:
        name = str(message.get("name"))
        tool = self.session.resolve(name)
        if tool is None:
            self.send({"kind": "gone", "name": name, "text": f"Unknown tool: {name}"})
            return
        function = self.session.describe(name)["function"]
        self.send(
            {
                "kind": "tool",
                "name": name,
                "emoji": tool.emoji,
                "toolset": tool.toolset,
                "signature": signature(tool),
                "description": function["description"],
                "parameters": function["parameters"],
                "guarded": tool.guard is not None,
                "reason": self.session.view.availability.reason(tool),
                "lacks": missing_variables(tool),
            }
        )

    def _run(self, message: Message) -> None:
        # In a thread of its own: the call may wait for an approval, whose answer comes in where this message did.
        name, args, number = str(message.get("name")), message.get("args"), message.get("number")

        def work() -> None:
            with asking_at(self):
                result = self.session.call(name, args if isinstance(args, dict) else {})
            self._called = _shown(result)
            self.send({"kind": "result", "number": number, **self._called})
            self.kept.changed()

        threading.Thread(target=work, name="hermes-nb-explorer", daemon=True).start()


def _last(called: dict[str, Any]) -> str:
    return f"{called['outcome']} in {seconds(called['seconds'])}\n{beginning(called['text'], _TEXT_IN_SNAPSHOT)}"


def _shown(result: ToolResult) -> dict[str, Any]:
    decision = result.decision
    return {
        "tool": result.tool,
        "outcome": result.mark.text,
        "mark": str(result.mark),
        "tone": result.mark.tone,
        "edit": result.edit.lines() if result.edit is not None else [],
        "traceback": beginning(readable(result.traceback or ""), _TEXT_SHOWN),
        "text": beginning(readable(result.text), _TEXT_SHOWN),
        "seconds": result.duration,
        "decision": None if decision is None else f"{decision.choice} by {decision.by}",
        "notes": list(result.notes),
    }
