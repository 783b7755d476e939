"""The author's frames: where a tool of one's own failed, without the frames that led there."""

from __future__ import annotations

import asyncio
import concurrent.futures
import re
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

from hermes_nb.common.text import head_and_tail

_SHOWN = 20_000
_FILE = re.compile(r'^  File "(?P<name>[^"\n]+)"', re.MULTILINE)
_OURS = f"{Path(__file__).parents[1]}/"
#: What carries a handler to its thread or loop, and its error back.
_CARRIERS = (
    *(f"{Path(module.__file__ or '').parent}/" for module in (asyncio, concurrent.futures)),
    str(threading.__file__),
)


def authors_traceback(error: BaseException) -> str | None:
    """An error's traceback from where the author's own code begins; None if none of that was reached.

    What it was caused by is in it, too. It has no values of variables, but lines of code and the error's own words:
    secrets are still to be taken out.
    """
    told = traceback.TracebackException.from_exception(error, compact=True)
    are_theirs = [_without_ours(each) for each in _all(told)]
    if not any(are_theirs):
        return None
    return head_and_tail(_FILE.sub(_named, "".join(told.format()).rstrip("\n")), _SHOWN)


def _named(found: re.Match[str]) -> str:
    """A cell by its number, as IPython itself names it, instead of a file that nobody can find."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    named = shell.compile.format_code_name(found["name"]) if shell is not None else None
    return found[0] if named is None else "  " + " ".join(named)


def _all(told: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    """It, and what led to it: causes, contexts, members of a group."""
    waiting = [told]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += [linked for linked in (each.__cause__, each.__context__) if linked is not None]
        waiting += each.exceptions or ()


def _without_ours(told: traceback.TracebackException) -> bool:
    """Take out our own frames, and what carried the call up to the first that is not; whether any are left."""
    frames = [frame for frame in told.stack if not frame.filename.startswith(_OURS)]
    first = next((at for at, frame in enumerate(frames) if not frame.filename.startswith(_CARRIERS)), len(frames))
    told.stack = traceback.StackSummary.from_list(frames[first:])
    return bool(told.stack)
