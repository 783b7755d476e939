"""What a notebook keeps of a widget: its snapshot in HTML and text, current as long as the widget lives.

A front end shows the output of a widget only while its model lives: of a saved notebook that is opened again,
JupyterLab says "Error displaying widget". So the output is no widget where the page can do without (``living.js`` tells
us): it is the snapshot, with an empty element in it that says which living view belongs before it. Elsewhere it is the
widget, as it always was.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Mapping
from html import escape, unescape
from typing import Any

from hermes_nb.common.redact import redact
from hermes_nb.common.text import head_and_tail

logger = logging.getLogger(__name__)

HTML_KEPT = 200_000
TEXT_KEPT = 20_000
Bundle = Mapping[str, Any]
_EVERY = 1.0  # seconds at least between two snapshots


class Kept:
    """The outputs of one widget in the notebook.

    Args:
        live: Every face of the widget by MIME type, the living one too, and what front ends must know of them.
        snapshot: Its text and its HTML as they should stay.

    Attributes:
        key: By which a place in the page and the widget know each other.
        is_shown: Whether the widget has been displayed on its own.
    """

    def __init__(self, live: Callable[[], tuple[Bundle, Bundle]], snapshot: Callable[[], tuple[str, str]]) -> None:
        self.key = secrets.token_hex(8)
        self.is_shown = False
        self._live, self._snapshot = live, snapshot
        self._has_place = False
        self._showing = threading.RLock()  # a front end may be heard before what it speaks of has been displayed
        self._timing = threading.Lock()
        self._timer: threading.Timer | None = None
        self._last: Bundle = {}

    def show(self) -> None:
        """Display the widget where the running cell shows things."""
        with self._showing:
            self.is_shown = True
            self._last, metadata = (self._with_place(), {}) if self._has_place else self._live()
            self._publish(metadata, update=False)

    def take_place(self) -> None:
        """The page will put the living view before the snapshot: let that be the output from now on."""
        with self._showing:
            if not self._has_place:
                self._has_place = True
                self.renew()

    def changed(self) -> None:
        """The widget looks different now; before long, the snapshot will too."""
        if not self.is_shown or not self._has_place:
            return
        with self._timing:
            if self._timer is None:
                self._timer = threading.Timer(_EVERY, self._on_time)
                self._timer.daemon = True
                self._timer.start()

    def renew(self) -> None:
        """Take a snapshot now, if there is an output that it is for."""
        with self._showing:
            if self.is_shown and self._has_place:
                self._replace(self._with_place())

    def settle(self) -> None:
        """Let the snapshot be all there is from now on, wherever it is shown."""
        with self._showing:
            if self.is_shown:
                text, html = self._clean()
                self._replace({"text/plain": text, "text/html": html})

    def _on_time(self) -> None:
        with self._timing:
            self._timer = None
        try:
            self.renew()
        except Exception:  # the widget itself is shown all the same
            logger.exception("a snapshot could not be taken")

    def _replace(self, bundle: Bundle) -> None:
        if bundle != self._last:
            self._last = bundle
            self._publish({}, update=True)

    def _publish(self, metadata: Bundle, *, update: bool) -> None:
        from IPython.display import publish_display_data

        transient = {"display_id": f"hermes-nb-{self.key}"}
        publish_display_data(  # type: ignore[no-untyped-call]
            dict(self._last), dict(metadata), transient=transient, update=update
        )

    def _with_place(self) -> dict[str, str]:
        text, html = self._clean()
        return {"text/plain": text, "text/html": f'<hermes-live data-key="{self.key}"></hermes-live>{html}'}

    def _clean(self) -> tuple[str, str]:
        text, html = self._snapshot()
        faces = clean({"text/plain": text, "text/html": html})
        return faces["text/plain"], faces.get("text/html") or f"<pre>{escape(faces['text/plain'])}</pre>"


def clean(faces: Mapping[str, str]) -> dict[str, str]:
    """Faces within their bounds and once more without secrets: they go to a file that is passed on.

    Markup that is too long, or out of which a secret can't be taken, is left out.
    """
    cleaned = {"text/plain": head_and_tail(redact(faces["text/plain"]), TEXT_KEPT)}
    for mime, face in faces.items():
        masked = redact(face)
        spelled_out = unescape(masked)  # a secret may have an ampersand in it
        if mime != "text/plain" and len(masked) <= HTML_KEPT and redact(spelled_out) == spelled_out:
            cleaned[mime] = masked
    return cleaned
