"""The budget: what schemas cost, and what would change if a toolset were not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hermes_nb.notebook.faces.markup import join, tag
from hermes_nb.notebook.faces.results import budget_html
from hermes_nb.notebook.frontend.assets import script, style
from hermes_nb.notebook.frontend.widget import HermesWidget, Message
from hermes_nb.notebook.widgets.costs import Costs, compared
from hermes_nb.notebook.widgets.figure import colours, svg

if TYPE_CHECKING:
    from hermes_nb.session import Session


class BudgetView(HermesWidget):
    """A picture of a session's schema costs; switch toolsets off to see what that would change.

    Nothing is changed in the session: it is a calculation.
    """

    _esm = script("dom", "living", "budget")
    _css = style("base", "budget")
    answers: ClassVar[dict[str, str]] = {"ready": "_greet", "without": "_without"}

    def __init__(self, session: Session) -> None:
        self.session = session
        self._measure()
        self._sentence = compared(self._costs, self._costs, frozenset())
        super().__init__()

    def svg(self) -> str:
        """The picture alone, to save or to show elsewhere."""
        return svg(self._costs)

    def text_face(self) -> str:
        """The budget in words."""
        return str(self._budget)

    def html_face(self) -> str:
        """The words and bars that need no picture, and what was last tried out."""
        return join([tag("p", self._sentence), budget_html(self._budget)])

    def static_faces(self) -> dict[str, str]:
        """The picture and the words: viewers prefer HTML to SVG, so there is no HTML."""
        return {"text/plain": self.text_face(), "image/svg+xml": self.svg()}

    def _measure(self) -> None:
        self._budget = self.session.budget()
        self._costs = Costs.of(self.session, self._budget)

    def _greet(self, _message: Message) -> None:
        self._measure()
        self._show(frozenset())

    def _without(self, message: Message) -> None:
        self._show(frozenset(map(str, message.get("toolsets") or ())))

    def _show(self, removed: frozenset[str]) -> None:
        before = self._costs
        after = before.without(removed)
        colour = colours(before)
        self._sentence = compared(before, after, removed)
        self.kept.changed()
        self.send(
            {
                "kind": "figure",
                "svg": svg(after, colour, with_legend=False),
                "about": before.about,
                "sentence": self._sentence,
                "toolsets": [
                    {
                        "name": part.toolset,
                        "tokens": part.tokens,
                        "tools": part.tools,
                        "colour": colour[part.toolset],
                        "share": part.tokens / max(1, before.total),
                        "present": part.toolset not in removed,
                    }
                    for part in before.slices
                ],
            }
        )
