"""``export``: a session as one HTML page, to read, send and keep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_nb.errors import MagicError
from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.faces import markup
from hermes_nb.notebook.faces.face import Shown
from hermes_nb.notebook.faces.markup import GREEN, Html, chip, code, dim

if TYPE_CHECKING:
    from hermes_nb.notebook.widgets.session_page import Exported


@dataclass(frozen=True, slots=True)
class ExportView(Shown):
    """A page that was written, with faces; ``page`` says where it is and what is in it."""

    page: Exported

    def __repr__(self) -> str:
        return str(self.page)

    def _html(self) -> Html:
        page = self.page
        facts = dim(f"{page.calls:,} call{'' if page.calls == 1 else 's'}, {page.size / 1e6:.1f} MB")
        hint = markup.tag("div", dim("open it in any browser: it needs no server and no network"))
        return markup.card([chip("✓ exported", GREEN), code(str(page.path)), facts], hint)


def _export(invocation: Invocation) -> ExportView:
    from hermes_nb.calls.journal import Journal
    from hermes_nb.notebook.widgets.session_page import export

    options, session = invocation.options, invocation.session
    try:
        journal = session.journal if options.session is None else Journal.open(options.session)
        own = session if options.session is None else None
        return ExportView(export(journal, Path(options.path), journal.path.stem, own))
    except OSError as error:
        raise MagicError(str(error)) from error


def _export_options(parser: Parser) -> None:
    parser.option("path", nargs="?", default=".", help="the file or folder to write to; this folder by default")
    parser.option("--session", completes="session", help="a past session's id or journal; this one by default")


EXPORT = Command(
    "export", "A session's calls as one HTML page that works anywhere.", _export, _export_options,
    order=52, example="%hermes export session.html",
)  # fmt: skip
