"""The contract of `put` and `get`."""

# ruff: noqa: D102, S108  (the names are the promises; /tmp is the other side's)
from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..errors import TransferFailed, UnsafePath
from .common import Fixtures, number

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..base import Backend


class FileContract(Fixtures):
    """`put` and `get`."""

    @pytest.fixture
    def there(self, backend: Backend) -> Iterator[str]:
        """A path on the other side where nothing is yet, and nothing will be afterwards."""
        path = f"/tmp/contract-{os.getpid()}-{number()}"
        yield path
        backend.run(f"rm -rf {path}")

    def test_folders_of_every_shape_go_and_come_back(self, backend: Backend, tmp_path: Path, there: str) -> None:
        source = tmp_path / "source"
        (source / "empty").mkdir(parents=True)
        (source / "deep/er").mkdir(parents=True)
        (source / "deep/er/binary").write_bytes(os.urandom(300_000))
        (source / "é 'name' $x\n").write_text("odd")
        (source / "-dash").write_text("")
        (source / "run").write_text("#!/bin/sh\n")
        (source / "run").chmod(0o755)
        (source / "link").symlink_to("deep/er/binary")
        (source / ("long-" * 40)).write_text("long")
        seen: list[int] = []
        there += "/made/on/the way"
        backend.put(source, there, progress=seen.append)
        backend.get(there, tmp_path / "back", progress=seen.append)
        assert _tree(tmp_path / "back") == _tree(source)
        assert max(seen) >= 300_000

    def test_a_file_goes_and_comes_back_under_another_name(self, backend: Backend, tmp_path: Path, there: str) -> None:
        (tmp_path / "a").write_bytes(b"\0\1\2")
        backend.put(tmp_path / "a", there)
        backend.get(there, tmp_path / "b")
        assert (tmp_path / "b").read_bytes() == b"\0\1\2"

    def test_what_is_missing_is_named(self, backend: Backend, tmp_path: Path) -> None:
        with pytest.raises(TransferFailed, match="/no/such/file"):
            backend.get("/no/such/file", tmp_path / "x")
        with pytest.raises(FileNotFoundError):
            backend.put(tmp_path / "nothing", "/tmp/x")
        with pytest.raises(TransferFailed):
            backend.put(tmp_path, "/proc/no/such/place")

    def test_links_out_of_the_folder_are_refused_both_ways(self, backend: Backend, tmp_path: Path, there: str) -> None:
        backend.run(f"mkdir {there} && ln -s /etc {there}/out && : > {there}/file")
        with pytest.raises(UnsafePath):
            backend.get(there, tmp_path / "got")
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "src").mkdir()
        (tmp_path / "src/out").symlink_to("../../etc/passwd")
        with pytest.raises(UnsafePath):
            backend.put(tmp_path / "src", f"{there}/in")

    def test_a_link_in_the_way_here_is_replaced_and_not_followed(
        self, backend: Backend, tmp_path: Path, there: str
    ) -> None:
        backend.run(f"mkdir -p {there}/sub && echo theirs > {there}/sub/file")
        (tmp_path / "precious").mkdir()
        (tmp_path / "precious/file").write_text("ours")
        (tmp_path / "got").mkdir()
        (tmp_path / "got/sub").symlink_to(tmp_path / "precious")
        backend.get(there, tmp_path / "got")
        assert (tmp_path / "precious/file").read_text() == "ours"
        assert (tmp_path / "got/sub/file").read_text() == "theirs\n"


def _tree(root: Path) -> dict[str, Any]:
    def content(path: Path) -> Any:
        if path.is_symlink():
            return ("link", path.readlink())
        return "folder" if path.is_dir() else (path.stat().st_mode & 0o777, path.read_bytes())

    return {str(path.relative_to(root)): content(path) for path in sorted(root.rglob("*"))}
