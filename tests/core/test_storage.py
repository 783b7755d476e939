"""How long journals and spilled results are kept, and what doctor says of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_nb import Registry, Session, storage
from hermes_nb.config import Config
from hermes_nb.doctor import examine

from ..parts import eventually
from .support import add

DAY = 86_400


@pytest.fixture
def kept(registry: Registry, open_session: Callable[..., Session]) -> list[Path]:
    """The journal and the spill of a session."""
    add(registry, "long", lambda args: "x" * 200_000)
    session = open_session()
    result = session.call("long")
    assert result.spill is not None
    return [session.journal.path, result.spill]


def age(path: Path, days: float) -> None:
    past = time.time() - days * DAY
    os.utime(path, (past, past))


@pytest.mark.parametrize(("days", "left"), [(20, [True, True]), (40, [True, False]), (400, [False, False])])
def test_what_is_older_than_the_settings_want_goes(kept: list[Path], days: float, left: list[bool]) -> None:
    for path in kept:
        age(path, days)
    age(kept[1].parent, days)
    storage.sweep(Config())
    assert [path.exists() for path in kept] == left
    assert kept[1].parent.exists() is left[1]


def test_null_keeps_for_ever(kept: list[Path]) -> None:
    for path in kept:
        age(path, 30_000)
    storage.sweep(Config({"journal": {"keep_days": None}, "results": {"keep_days": None}}))
    assert all(path.exists() for path in kept)


def test_what_is_written_now_stays_even_if_nothing_is_kept(kept: list[Path], registry: Registry) -> None:
    storage.sweep(Config({"journal": {"keep_days": 1}, "results": {"keep_days": 1}}))
    assert all(path.exists() for path in kept)


def test_a_new_process_sweeps_by_itself(
    kept: list[Path], open_session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    age(kept[1], 40)
    monkeypatch.setattr(storage, "_swept", set())
    open_session()
    assert eventually(lambda: not kept[1].exists())
    assert kept[0].exists()


def test_a_link_leads_nowhere(kept: list[Path], tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("x")
    age(precious, 4000)
    (kept[0].parent / "linked.jsonl").symlink_to(precious)
    (kept[1].parent.parent / "folder").symlink_to(tmp_path)
    storage.sweep(Config())
    assert precious.exists()


def test_doctor_says_how_much_is_kept(kept: list[Path]) -> None:
    said = {check.name: check.detail for check in examine() if check.area == "config"}
    assert said["spill"].startswith("1 file, 0.2 MiB; kept for 30 days")
    assert "1 file" in said["journal"]
    assert "journal.keep_days" in said["journal"]
