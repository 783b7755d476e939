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
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._last: Bundle = {}

    def show(self) -> None:
        """Display the widget where the running cell shows things."""
        self.is_shown = True
        self._last, metadata = (self._with_place(), {}) if self._has_place else self._live()
        self._publish(metadata, update=False)

    def take_place(self) -> None:
        """The page will put the living view before the snapshot: let that be the output from now on."""
        if not self._has_place:
            self._has_place = True
            self.renew()

    def changed(self) -> None:
        """The widget looks different now; before long, the snapshot will too."""
        if not self.is_shown or not self._has_place:
            return
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(_EVERY, self._on_time)
                self._timer.daemon = True
                self._timer.start()

    def renew(self) -> None:
        """Take a snapshot now, if there is an output that it is for."""
        if self.is_shown and self._has_place:
            self._replace(self._with_place())

    def settle(self) -> None:
        """Let the snapshot be all there is from now on, wherever it is shown."""
        if self.is_shown:
            text, html = self._clean()
            self._replace({"text/plain": text, "text/html": html})

    def _on_time(self) -> None:
        with self._lock:
            self._timer = None
        try:
            self.renew()
        except Exception:  # the widget itself is shown all the same
            logger.exception("a snapshot could not be taken")

    def _replace(self, bundle: Bundle) -> None:
        with self._lock:
            if bundle == self._last:
                return
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
        """The snapshot within its bounds, and once more without secrets: it goes to a file that is passed on."""
        text, html = self._snapshot()
        text, html = head_and_tail(redact(text), TEXT_KEPT), redact(html)
        spelled_out = unescape(html)
        if len(html) > HTML_KEPT or redact(spelled_out) != spelled_out:  # a secret may have an ampersand in it
            html = f"<pre>{escape(text)}</pre>"
        return text, html
