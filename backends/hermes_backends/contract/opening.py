"""The contract of `open`."""

# ruff: noqa: D102  (the names are the promises)
from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..errors import BackendClosed, BackendUnavailable
from .common import PATIENCE, Fixtures, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..base import Backend


class OpeningContract(Fixtures):
    """`open` is where things begin, and a constructor does nothing but remember."""

    @pytest.fixture
    def unopened(self) -> Iterator[Backend]:
        """A backend that was only made."""
        backend = self._made()
        yield backend
        backend.close()

    def _made(self) -> Backend:
        backend = self.open()
        if backend.is_open:
            backend.close()
            pytest.skip("this backend needs no opening, or the suite was given an open one")
        return backend

    def test_making_one_does_nothing_and_says_where_it_would_be(self) -> None:
        before = _held()
        backend = self._made()
        assert eventually(lambda: _held() <= before)
        assert backend.where
        assert backend.where in repr(backend)
        promised = backend.capabilities
        with backend:
            assert backend.is_open
            assert backend.capabilities == promised

    def test_used_before_it_is_open_it_says_what_to_do(self, unopened: Backend, tmp_path: Path) -> None:
        before = _held()
        (tmp_path / "file").touch()
        for use in (
            lambda: unopened.run("true"),
            lambda: unopened.spawn(["true"]),
            lambda: unopened.jobs.start("true"),
            lambda: unopened.put(tmp_path / "file", "/tmp/file"),  # noqa: S108  (the other side's)
            lambda: unopened.get("/etc", tmp_path / "etc"),
        ):
            with pytest.raises(BackendClosed, match=r"open\(\)"):
                use()
        assert eventually(lambda: _held() <= before)
        with unopened:
            assert unopened.run("echo in").stdout == "in\n"

    def test_opening_twice_is_opening_once_from_any_thread(self, unopened: Backend) -> None:
        opened: list[bool] = []
        real = unopened._open

        def count() -> None:
            opened.append(True)
            real()

        unopened._open = count  # type: ignore[method-assign]
        threads = [threading.Thread(target=unopened.open) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert unopened.open() is unopened
        assert opened == [True]
        assert unopened.run("echo in").stdout == "in\n"

    def test_after_a_failure_it_can_be_opened_again(self, unopened: Backend) -> None:
        before, real = _held(), unopened._open

        def fail() -> None:
            real()
            raise BackendUnavailable("on purpose")

        unopened._open = fail  # type: ignore[method-assign]
        with pytest.raises(BackendUnavailable, match="on purpose") as caught:
            unopened.open()
        assert not hasattr(caught.value, "__notes__")
        assert not unopened.is_open
        assert eventually(lambda: _held() <= before)
        with pytest.raises(BackendClosed):
            unopened.run("true")
        unopened._open = real  # type: ignore[method-assign]
        with unopened:
            assert unopened.run("echo in").stdout == "in\n"

    def test_closing_one_that_was_never_opened_is_fine_and_final(self, unopened: Backend) -> None:
        unopened.close()
        unopened.close()
        assert "closed" in repr(unopened)
        for use in (unopened.open, unopened.__enter__, lambda: unopened.run("true")):
            with pytest.raises(BackendClosed):
                use()

    def test_closing_one_while_it_opens_leaves_it_closed(self, unopened: Backend) -> None:
        opening, real = threading.Event(), unopened._open

        def tell() -> None:
            opening.set()
            real()
            while not unopened._closed:
                opening.wait(0.01)

        unopened._open = tell  # type: ignore[method-assign]
        errors: list[BaseException] = []
        thread = threading.Thread(target=_record, args=(unopened, errors))
        thread.start()
        assert opening.wait(PATIENCE)
        unopened.close()
        thread.join(PATIENCE)
        assert [type(error) for error in errors] == [BackendClosed]
        assert not unopened.is_open


def _record(backend: Backend, errors: list[BaseException]) -> None:
    try:
        backend.open()
    except BackendClosed as error:
        errors.append(error)


def _held() -> set[str]:
    """What this process has open and running: sockets and files, threads, children."""
    found = {f"thread {thread.name} {thread.ident}" for thread in threading.enumerate()}
    for fd in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the one that lists them
            found.add(f"file {fd.name} {fd.readlink()}")
    for child in Path(f"/proc/{os.getpid()}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found |= {f"child {pid}" for pid in child.read_text().split()}
    return found
