"""What all widgets share: messages by kind, what the notebook keeps of them, and faces for where no widget can live."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from html import escape
from typing import Any, ClassVar

import anywidget

from hermes_nb.notebook.frontend.kept import Kept, clean
from hermes_nb.notebook.frontend.listening import pin, running_kernel, someone_is_there

logger = logging.getLogger(__name__)

Message = Mapping[str, Any]


class HermesWidget(anywidget.AnyWidget):
    """A widget whose data travel in messages: its saved state is its code, so it holds no secret and stays small.

    A message from the front end has a ``kind``, and the method of ``answers`` under that kind takes it.

    Attributes:
        kept: What the notebook keeps of it.
    """

    answers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, **traits: Any) -> None:
        self.kept = Kept(self._repr_mimebundle_, lambda: (self.text_face(), self.snapshot_face()))
        super().__init__(**traits)
        self.on_msg(self._receive)

    def receive(self, message: Message) -> None:
        """Take a message of the front end; one that makes no sense is dropped."""
        method = {"here": "_keep", **self.answers}.get(str(message.get("kind")))
        if method is None:
            logger.debug("%s: a message of unknown kind was dropped", type(self).__name__)
            return
        answer: Callable[[Message], None] = getattr(self, method)
        answer(message)

    def text_face(self) -> str:
        """What terminals, diffs and nbval see: the same for the same content."""
        raise NotImplementedError

    def html_face(self) -> str:
        """What a saved notebook shows where widgets don't live, such as on GitHub: the words, if there is no more."""
        return f"<pre>{escape(self.text_face())}</pre>"

    def snapshot_face(self) -> str:
        """What a notebook that was shown live keeps, as HTML: what it looked like at the last."""
        return self.html_face()

    def static_faces(self) -> dict[str, str]:
        """Every face but the live one, by MIME type."""
        return {"text/plain": self.text_face(), "text/html": str(self.html_face())}

    def close(self) -> None:
        """Take the living view away; its last snapshot stays."""
        if self.comm is not None:
            self.kept.renew()
        super().close()

    def open(self) -> None:
        """Open the way to the front end."""
        super().open()
        self._pin()

    def _receive(self, _widget: object, content: Any, _buffers: object) -> None:
        if isinstance(content, Mapping):
            self.receive(content)

    def _send(self, msg: Any, buffers: Any = None) -> None:
        # Everything a widget says goes through here, and ipykernel takes each word as the wish to be answered in the
        # shell that said it: that may be the one that waits for the answer.
        super()._send(msg, buffers)
        self._pin()

    def _pin(self) -> None:
        if self.comm is not None:
            pin(self.comm)

    def _keep(self, _message: Message) -> None:
        # A page has opened that puts the living view before its snapshot.
        self.send({"kind": "place", "key": self.kept.key, "kept": self.kept.is_shown})
        self.kept.take_place()

    def _ipython_display_(self) -> None:
        kernel = running_kernel()
        if kernel is None or not someone_is_there(kernel):
            raise NotImplementedError  # to IPython: show it as you show other objects
        self.kept.show()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**(data or {}), **clean(self.static_faces())}, metadata or {}

    def __repr__(self) -> str:
        return self.text_face()
