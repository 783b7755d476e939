"""The notebook's current session: the one that ``%hermes`` speaks to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_nb.session import Session

_current: Session | None = None
_own = False


def current() -> Session:
    """The session that ``%hermes`` speaks to; a new one with its first use."""
    global _current, _own
    if _current is None:
        from hermes_nb.session import Session

        _current, _own = _with_bars(Session()), True
    return _current


def use(session: Session) -> Session:
    """Let ``%hermes`` speak to a session of yours from now on."""
    global _current, _own
    if session is not _current:
        forget()
        _current, _own = _with_bars(session), False
    return session


def _with_bars(session: Session) -> Session:
    """The session, its long work shown unless somebody else listens to it already."""
    if session.progress.listener is None:
        from hermes_nb.notebook.faces.progress import Bars, surface_here

        session.progress.listener = Bars(surface_here)
    return session


def forget() -> None:
    """Let go of the current session, and close it if it was made here."""
    global _current, _own
    session, own = _current, _own
    _current, _own = None, False
    if session is not None and own:
        session.close()
