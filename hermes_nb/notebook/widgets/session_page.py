"""A session as one HTML page that needs nothing else: no server, no network, no kernel.

It is made of the journal, and shows the calls in their order, what was decided on them, a timeline and, where the
session still lives, what its schemas cost. It is bounded, and secrets that are known now are taken out once more.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_nb.common.redact import redact, redact_json
from hermes_nb.common.text import beginning, readable
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.marks import mark_chip
from hermes_nb.notebook.faces.markup import Html, dim
from hermes_nb.notebook.frontend.assets import script, style

if TYPE_CHECKING:
    from hermes_nb.calls.journal import Record
    from hermes_nb.session import Session

CALLS_SHOWN = 50_000
#: Characters of results, and again half as many of arguments, in a whole page; shared among its calls.
_TEXT_SHOWN = 24_000_000
_SHORTEST, _LONGEST = 400, 8_000
#: What closes a script element, or changes how its content is read: nothing else in it is markup.
_MARKUP = re.compile(r"<(?=[/!sS])")
_GENERATOR = '<meta name="generator" content="hermes-nb">'
#: The page asks nobody for anything, whatever a tool wrote into it.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True, slots=True)
class Exported:
    """A page that was written.

    Attributes:
        path: Where it is.
        calls: How many calls it shows.
        size: Its size in bytes.
    """

    path: Path
    calls: int
    size: int

    def __str__(self) -> str:
        return f"{self.path}: {self.calls:,} call{'' if self.calls == 1 else 's'}, {self.size / 1e6:.1f} MB"

    __repr__ = __str__


def export(records: Iterable[Record], path: Path, name: str, session: Session | None = None) -> Exported:
    """Write the page of a session.

    Args:
        records: Its calls; of very many, the last ones are shown.
        path: The file, or the folder for a file of the session's name.
        name: What the session is called.
        session: The session itself where it still lives, for its budget.

    Raises:
        FileExistsError: There is a file of that name which is no such page.
        OSError: It can't be written.
    """
    path = path.expanduser()
    path = path / f"hermes-{name}.html" if path.is_dir() else path
    if path.exists() and not _is_page(path):
        raise FileExistsError(f"{path} is there already, and no exported session; choose another name")
    kept = deque(records, maxlen=CALLS_SHOWN)
    with _replacing(path) as file:
        for piece in page(kept, name, session):
            file.write(piece.encode("utf-8", "backslashreplace"))
    return Exported(path, len(kept), path.stat().st_size)


def page(records: deque[Record], name: str, session: Session | None = None) -> Iterator[str]:
    """The page in pieces."""
    title = escape(f"Session {redact(name)}")
    yield (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>{_GENERATOR}'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style('base', 'feed', 'session')}</style></head>\n"
        f'<body><main class="hermes hermes-session" id="session"><header><h1>{title}</h1>{_summary(records)}'
        '<button type="button" class="hermes-button" id="theme">Dark</button></header>'
        "<noscript>The calls are shown by a script in this page. <code>hermes-nb replay</code> prints them.</noscript>"
        f'{_budget(session)}</main>\n<script type="application/json" id="calls">['
    )
    longest = max(_SHORTEST, min(_LONGEST, _TEXT_SHOWN // max(1, len(records))))
    for number, record in enumerate(records):
        line = _MARKUP.sub(r"\\u003c", msgspec.json.encode(_entry(record, longest)).decode())
        yield f"{',' if number else ''}\n{line}"
    yield f"]</script>\n<script type='module'>{script('dom', 'timeline', 'session')}</script></body></html>\n"


def _summary(records: deque[Record]) -> Html:
    if not records:
        return dim("no calls")
    began, ended = (datetime.fromtimestamp(record.time).astimezone() for record in (records[0], records[-1]))
    until = f"{ended:%H:%M:%S}" if began.date() == ended.date() else f"{ended:%Y-%m-%d %H:%M:%S}"
    note = f"the last {CALLS_SHOWN:,} calls" if len(records) == CALLS_SHOWN else None
    outcomes = [
        markup.join([mark_chip(mark), f" {number:,}"])
        for mark, number in Counter(record.mark for record in records).most_common()
    ]
    times = dim(f"{began:%Y-%m-%d %H:%M:%S} to {until} ({began:%Z})")
    return markup.line([times, *outcomes, dim(note) if note else None])


def _budget(session: Session | None) -> str:
    if session is None:
        return ""
    from hermes_nb.notebook.widgets.costs import Costs
    from hermes_nb.notebook.widgets.figure import svg

    picture = redact(svg(Costs.of(session)))
    return f'<details class="hermes-part" open><summary><h2>Budget</h2></summary>{picture}</details>'


def _entry(record: Record, longest: int) -> dict[str, Any]:
    decision = record.decision or {}
    args = msgspec.json.encode(redact_json(record.args)).decode()
    return {
        "time": record.time,
        "tool": _shown(record.tool, 200),
        "toolset": record.toolset,
        "outcome": record.mark.text,
        "mark": str(record.mark),
        "tone": record.mark.tone,
        "seconds": record.duration,
        "waited": record.waited,
        "decision": f"{decision.get('choice')} by {decision.get('by')}" if decision else "",
        "reason": _shown(str(decision.get("reason", "")), 1_000),
        "rules": ", ".join(map(str, decision.get("rules", ()))),
        "edit": [(sign, _shown(text, longest // 2)) for sign, text in record.edit.lines()] if record.edit else [],
        "args": _shown(args, longest // 2),
        "text": _shown(record.text, longest),
        "written": _shown(str((record.written or {}).get("name", "")), 200),
        "notes": [_shown(note, 500) for note in record.notes[:20]],
        "backend": _shown(record.backend, 200),
        "cwd": _shown(record.cwd, 500),
        "parent": record.parent or "",
        "spill": Path(record.spill).name if record.spill else "",
    }


def _shown(text: str, limit: int) -> str:
    return beginning(readable(redact(text)), limit)


def _is_page(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return _GENERATOR.encode() in file.read(1_000)
    return False


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[Any]:
    """A file for this user alone that takes its name when it is whole."""
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        Path(unfinished).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(unfinished).unlink()
        raise
