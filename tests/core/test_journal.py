"""The journal: one record for every call, readable while it grows, intact after kill -9."""

from __future__ import annotations

import json
import logging
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hermes_nb as hermes
from hermes_nb import Decision, Journal, Registry, Session, replay
from hermes_nb.approval.approvers import ScriptedApprover

from ..parts import PATIENCE, eventually, missing
from .support import add, dangerous


def test_a_record_says_what_happened(registry: Registry, open_session: Callable[..., Session]) -> None:
    add(registry, "t", lambda args: "done")
    session = open_session(task_id="my-task")
    result = session.call("t", {"a": [1]})
    (record,) = session.journal
    assert (record.tool, record.args, record.outcome, record.text) == ("t", {"a": [1]}, "ok", "done")
    assert (record.session, record.task, record.id) == (session.id, "my-task", result.call_id)
    assert (record.toolset, record.backend, record.duration, record.ok) == ("test", "local", result.duration, True)
    assert record.time > 1.6e9


def test_every_call_leaves_exactly_one_record(registry: Registry, open_session: Callable[..., Session]) -> None:
    def fail(args: Any) -> None:
        raise ValueError

    add(registry, "fine")
    add(registry, "failing", fail)
    add(registry, "absent", check_fn=lambda: False)
    add(registry, "picky", schema={"type": "object", "required": ["x"]})
    add(registry, "vetoed")
    hermes.tool(registry=registry, name="guarded", guard=dangerous())(lambda: None)
    veto = {"pre_tool_call": lambda tool_name: {"action": "block"} if tool_name == "vetoed" else None}
    session = open_session(hooks=[veto], approver=ScriptedApprover([Decision.deny]))
    names = ["fine", "failing", "absent", "picky", "vetoed", "guarded", "nothing"]
    for name in names:
        session.call(name)
    assert [(record.tool, record.outcome) for record in session.journal] == list(
        zip(names, ["ok", "error", "unavailable", "invalid", "vetoed", "denied", "unknown"], strict=True)
    )
    assert len({record.id for record in session.journal}) == len(names)


def test_the_journal_can_be_read_while_it_grows(registry: Registry, session: Session) -> None:
    add(registry, "t")
    for count in range(1, 4):
        session.call("t")
        assert len(session.journal) == count
    reader = iter(Journal.open(session.id))
    assert next(reader).tool == "t"
    session.call("t")
    assert len(list(reader)) == 3


def test_a_session_without_calls_has_an_empty_journal(session: Session) -> None:
    assert list(session.journal) == []


def test_sessions_do_not_see_each_others_records(registry: Registry, open_session: Callable[..., Session]) -> None:
    add(registry, "t")
    first, second = open_session(), open_session()
    first.call("t")
    assert (len(first.journal), len(second.journal)) == (1, 0)


def test_records_of_parallel_calls_do_not_mix(registry: Registry, session: Session) -> None:
    add(registry, "t", lambda args: "x" * 20_000)
    threads = [threading.Thread(target=lambda: [session.call("t") for _ in range(25)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = session.journal.path.read_bytes().splitlines()
    assert len(lines) == 200
    assert all(len(json.loads(line)["text"]) == 20_000 for line in lines)


def test_the_journal_is_for_its_user_only(registry: Registry, session: Session) -> None:
    add(registry, "t")
    session.call("t")
    assert stat.S_IMODE(session.journal.path.stat().st_mode) == 0o600


KILLED = """
import sys, threading, hermes_nb
registry = hermes_nb.Registry()
registry.register("t", "x", {}, lambda args: "y" * 5000)
session = hermes_nb.Session(registry=registry)
print(session.journal.path, flush=True)
def work():
    while True:
        session.call("t", {"n": "z" * 500})
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
work()
"""


def test_a_killed_process_leaves_whole_records(home: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        env={**os.environ, "HERMES_NB_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        path = Path(process.stdout.readline().strip())
        assert eventually(lambda: path.exists() and path.stat().st_size > 1_000_000)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    content = path.read_bytes()
    assert content.endswith(b"\n")
    assert all(json.loads(line)["outcome"] == "ok" for line in content.splitlines())
    assert len(Journal.open(path)) == content.count(b"\n")


@pytest.mark.parametrize("torn", [b'{"id":"c00', b"\0\0\0", b'{"id":"c9"}\n', b"\xff\xfe\n"])
def test_a_torn_line_is_passed_over(
    registry: Registry, session: Session, torn: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    add(registry, "t")
    session.call("t")
    with session.journal.path.open("ab") as file:
        file.write(torn)
    assert len(list(session.journal)) == 1
    assert "damaged" in caplog.text


def test_a_record_after_a_torn_line_is_not_lost_with_it(registry: Registry, session: Session) -> None:
    add(registry, "t")
    session.call("t")
    session.journal.close()
    with session.journal.path.open("ab") as file:
        file.write(b'{"id":"c00')
    session.call("t", {"after": 1})
    assert [record.args for record in session.journal] == [{}, {"after": 1}]


def test_a_full_disk_does_not_fail_the_call(
    registry: Registry, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    if not Path("/dev/full").exists():
        missing("there is no /dev/full here")
    session.journal.path = Path("/dev/full")
    add(registry, "t", lambda args: "done")
    assert session.call("t").text == "done"
    assert "can't take a record" in caplog.text


def test_a_home_that_can_not_be_written_moves_the_journal(
    registry: Registry, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home.write_text("a file where the folder should be")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    add(registry, "t")
    with Session(registry=registry) as session:
        assert session.call("t").ok
        assert len(session.journal) == 1
        assert session.journal.path.parent == tmp_path
    assert "HERMES_NB_HOME" in caplog.text


def test_a_closed_journal_opens_itself_again(registry: Registry, session: Session) -> None:
    add(registry, "t")
    session.call("t")
    session.close()
    session.call("t")
    assert len(session.journal) == 2


def test_subscribers_see_every_record_until_they_leave(registry: Registry, session: Session) -> None:
    add(registry, "t")
    seen: list[str] = []
    leave = session.journal.subscribe(lambda record: seen.append(record.id))
    first = session.call("t")
    leave()
    session.call("t")
    assert seen == [first.call_id]


def test_a_subscriber_that_raises_harms_nobody(
    registry: Registry, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    add(registry, "t")
    seen: list[str] = []
    session.journal.subscribe(lambda record: 1 / 0)
    session.journal.subscribe(lambda record: seen.append(record.tool))
    with caplog.at_level(logging.CRITICAL):
        assert session.call("t").ok
    assert seen == ["t"]


def test_replay_shows_a_past_run_without_running_anything(registry: Registry, session: Session) -> None:
    ran: list[int] = []
    add(registry, "t", lambda args: ran.append(1) or "the result")
    session.call("t", {"path": "x.txt"})
    session.call("nothing")
    session.close()
    shown = replay(session.id)
    assert [record.tool for record in shown] == ["t", "nothing"]
    for words in ("t", "x.txt", "the result", "unknown"):
        assert words in str(shown)
    assert ran == [1]


def test_replay_takes_the_file_too(registry: Registry, session: Session) -> None:
    add(registry, "t")
    session.call("t")
    assert len(replay(session.journal.path)) == 1


def test_replay_of_nothing_says_where_it_looked(home: Path) -> None:
    with pytest.raises(FileNotFoundError, match="journal"):
        replay("20200101-000000-abcdef")
