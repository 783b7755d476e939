"""A session as one page: bounded, without secrets, asking nobody for anything."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from hermes_nb import Registry, Session, register_secret, tool
from hermes_nb.calls.journal import Record
from hermes_nb.cli import main
from hermes_nb.notebook.widgets.session_page import export

SECRET = "swordfish&<co>"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("HERMES_NB_HOME", str(tmp_path / "home"))
    registry = Registry()

    @tool(toolset="words", registry=registry)
    def speak(words: str) -> str:
        """Say it."""
        return f"</script><script>document.title = 'owned'</script>{words}"

    return Session(registry=registry)


def calls(page: str) -> list[dict[str, Any]]:
    """The calls that a page holds."""
    found = re.search(r'<script type="application/json" id="calls">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    listed: list[dict[str, Any]] = json.loads(found[1])
    return listed


def record(number: int, text: str = "") -> Record:
    return Record(f"c{number}", 1e9 + number, "s", "t", "speak", {"words": text}, "ok", 0.1, text)


def test_a_page_holds_every_call_and_the_budget(session: Session, tmp_path: Path) -> None:
    with session:
        session.call("speak", {"words": "hello"})
        session.call("nothing", {})
        written = export(session.journal, tmp_path, session.id, session)
    assert written.path == tmp_path / f"hermes-{session.id}.html"
    assert stat.S_IMODE(written.path.stat().st_mode) == 0o600
    page = written.path.read_text()
    assert [(call["tool"], call["outcome"]) for call in calls(page)] == [("speak", "ok"), ("nothing", "unknown")]
    assert calls(page)[0]["text"].startswith("</script>")
    assert "Schema tokens by toolset" in page
    assert page.count("<script") == 2  # what a tool returned did not become one


def test_a_page_fetches_nothing(session: Session, tmp_path: Path) -> None:
    with session:
        session.call("speak", {"words": "hello"})
        page = export(session.journal, tmp_path, session.id, session).path.read_text()
    assert "default-src 'none'" in page
    assert not re.search(r"<link|\bsrc=|\bimport\b.*from|url\(", page)
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) == {"http://www.w3.org/2000/svg"}


def test_a_secret_that_was_registered_later_is_not_in_the_page(session: Session, tmp_path: Path) -> None:
    with session:
        session.call("speak", {"words": SECRET})
        register_secret(SECRET)
        page = export(session.journal, tmp_path, session.id, session).path.read_text()
    assert "swordfish" not in page
    assert "[redacted]" in page


def test_a_page_is_bounded(tmp_path: Path) -> None:
    written = export((record(number, "<a&" * 7_000) for number in range(3_000)), tmp_path / "page.html", "long")
    assert written.size < 60_000_000
    assert calls(written.path.read_text())[0]["text"].endswith("more characters)")


def test_what_is_no_page_is_not_written_over(session: Session, tmp_path: Path) -> None:
    own = tmp_path / "notes.html"
    own.write_text("my notes")
    with pytest.raises(FileExistsError, match="is there already"):
        export([record(1)], own, "s")
    assert own.read_text() == "my notes"
    page = tmp_path / "page.html"
    for count in (1, 2):  # an older page of ours is
        assert export([record(number) for number in range(count)], page, "s").calls == count
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".html" and path.is_file()] == []


def test_an_empty_session_has_a_page(tmp_path: Path) -> None:
    assert calls(export([], tmp_path, "empty").path.read_text()) == []


def test_the_command_line_writes_a_past_session(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with session:
        session.call("speak", {"words": "hello"})
    assert main(["replay", session.id, "--html", str(tmp_path / "past.html")]) == 0
    assert "1 call, 0.0 MB" in capsys.readouterr().out
    assert [call["tool"] for call in calls((tmp_path / "past.html").read_text())] == ["speak"]
    assert main(["replay", session.id, "--html", str(tmp_path / "no" / "folder" / "past.html")]) == 1
    assert "past.html" in capsys.readouterr().err
