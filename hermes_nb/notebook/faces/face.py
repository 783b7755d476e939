"""What is shown in two ways: as text, and as HTML where the front end can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_nb.notebook.faces.markup import Html


class Shown:
    """The faces of an object whose text is its ``repr``, and whose HTML is ``_html()``.

    They are plain strings: a front end that encodes what it sends by exact type, as marimo does, knows no other.
    """

    __slots__ = ()

    def _html(self) -> Html:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return str(self._html())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
