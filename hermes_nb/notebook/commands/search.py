"""``search``: tools by what they do, all of them, as the explorer does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_nb.errors import MagicError
from hermes_nb.notebook.commands.base import Command, Invocation, Parser
from hermes_nb.notebook.line.expansion import expand

if TYPE_CHECKING:
    from hermes_nb.search.catalog import SearchResult


def _search(invocation: Invocation) -> SearchResult:
    query = expand(invocation.rest, invocation.namespace, lambda value, _: str(value))
    if not query:
        raise MagicError("search for what? %hermes search open an issue")
    return invocation.session.search(query, invocation.options.limit, all=True)


def _search_options(parser: Parser) -> None:
    parser.option("--limit", "-n", also=["--top", "--max"], type=int, metavar="N", help="at most this many")


SEARCH = Command(
    "search", "Find tools by what they do.", _search, _search_options,
    order=12, example="%hermes search open an issue",
    more=("hits = %hermes search -n 3 {question}",), rest="QUERY",
)  # fmt: skip
