"""Reading, writing, patching and searching files on the session's backend."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hermes_nb as hermes


def call(session: hermes.Session, tool: str, **args: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(session.call(tool, args).text)
    return answer


class TestReading:
    def test_lines_are_numbered(self, session: hermes.Session, folder: Path) -> None:
        (folder / "a.txt").write_text("one\ntwo\n")
        answer = call(session, "read_file", path="a.txt")
        assert answer == {"path": "a.txt", "content": "     1|one\n     2|two", "total_lines": 2, "size": 8}

    def test_a_long_file_comes_in_pages(self, session: hermes.Session, folder: Path) -> None:
        (folder / "a.txt").write_text("".join(f"{number}\n" for number in range(1, 1001)))
        seen: list[str] = []
        offset: int | None = 1
        while offset is not None:
            page = call(session, "read_file", path="a.txt", offset=offset, limit=300)
            seen += [line.partition("|")[2] for line in page["content"].split("\n")]
            offset = page.get("next_offset")
        assert seen == [str(number) for number in range(1, 1001)]

    def test_a_last_line_without_an_end_is_there(self, session: hermes.Session, folder: Path) -> None:
        (folder / "a.txt").write_text("one\ntwo")
        answer = call(session, "read_file", path="a.txt")
        assert answer["content"].endswith("     2|two")
        assert answer["total_lines"] == 2

    def test_an_empty_file_is_empty(self, session: hermes.Session, folder: Path) -> None:
        (folder / "a.txt").touch()
        assert call(session, "read_file", path="a.txt")["content"] == ""

    @pytest.mark.parametrize(
        ("data", "kind"), [(b"\x89PNG\r\n\x1a\n\0\0", "PNG image"), (bytes(range(256)) * 9, "binary data")]
    )
    def test_binary_is_refused_kindly(self, session: hermes.Session, folder: Path, data: bytes, kind: str) -> None:
        (folder / "a").write_bytes(data)
        assert kind in call(session, "read_file", path="a")["error"]

    def test_text_of_another_encoding_is_shown_as_well_as_it_can_be(
        self, session: hermes.Session, folder: Path
    ) -> None:
        (folder / "a.txt").write_bytes("naïve café\n".encode("latin-1"))
        assert "caf" in call(session, "read_file", path="a.txt")["content"]

    def test_what_is_not_there_is_an_error(self, session: hermes.Session, folder: Path) -> None:
        assert "no such file" in call(session, "read_file", path="none.txt")["error"]
        assert "directory" in call(session, "read_file", path=".")["error"]
        (folder / "a.txt").write_text("one\n")
        assert "only 1 lines" in call(session, "read_file", path="a.txt", offset=5)["error"]

    def test_relative_paths_start_where_the_terminal_is(self, session: hermes.Session, folder: Path) -> None:
        (folder / "sub").mkdir()
        (folder / "sub" / "a.txt").write_text("here\n")
        session.call("terminal", {"command": "cd sub"})
        assert "here" in call(session, "read_file", path="a.txt")["content"]

    @pytest.mark.parametrize(
        "name", ["with space", "qu'ote", 'dou"ble', "$HOME", "-n", "new\nline", "ünï", "*", "`id`"]
    )
    def test_no_name_is_special(self, session: hermes.Session, folder: Path, name: str) -> None:
        assert call(session, "write_file", path=name, content="safe\n")["created"] is True
        assert (folder / name).read_text() == "safe\n"
        assert "safe" in call(session, "read_file", path=name)["content"]


class TestWriting:
    def test_folders_are_made(self, session: hermes.Session, folder: Path) -> None:
        answer = call(session, "write_file", path="deep/er/a.txt", content="héllo")
        assert answer == {"path": "deep/er/a.txt", "bytes": 6, "created": True}
        assert (folder / "deep/er/a.txt").read_text() == "héllo"

    def test_permissions_stay_and_links_are_followed(self, session: hermes.Session, folder: Path) -> None:
        script = folder / "run.sh"
        script.write_text("old")
        script.chmod(0o751)
        (folder / "link").symlink_to("run.sh")
        assert call(session, "write_file", path="link", content="new")["created"] is False
        assert (folder / "link").is_symlink()
        assert (script.read_text(), script.stat().st_mode & 0o777) == ("new", 0o751)

    def test_nothing_is_left_behind(self, session: hermes.Session, folder: Path) -> None:
        call(session, "write_file", path="a.txt", content="x")
        call(session, "write_file", path="a.txt", content="y")
        assert [entry.name for entry in folder.iterdir()] == ["a.txt"]

    def test_a_shell_that_was_bent_changes_nothing(self, session: hermes.Session, folder: Path) -> None:
        session.call(
            "terminal", {"command": "cat() { echo gotcha; }; mv() { true; }; set -o noclobber; alias sed=false"}
        )
        call(session, "write_file", path="a.txt", content="straight")
        assert (folder / "a.txt").read_text() == "straight"

    def test_a_folder_is_not_overwritten(self, session: hermes.Session, folder: Path) -> None:
        (folder / "sub").mkdir()
        assert "directory" in call(session, "write_file", path="sub", content="x")["error"]


class TestPatching:
    def test_the_difference_is_shown(self, session: hermes.Session, folder: Path) -> None:
        (folder / "a.py").write_text("def f():\n    return 1\n")
        answer = call(session, "patch", path="a.py", old_string="return 1", new_string="return 2")
        assert (folder / "a.py").read_text() == "def f():\n    return 2\n"
        assert "-    return 1\n+    return 2" in answer["diff"]
        assert "note" not in answer

    def test_indentation_may_be_off_and_comes_out_right(self, session: hermes.Session, folder: Path) -> None:
        (folder / "a.py").write_text("class A:\n    def f(self):\n        return 1\n")
        old, new = "def f(self):\n    return 1", "def f(self):\n    x = 2\n    return x"
        assert "indentation" in call(session, "patch", path="a.py", old_string=old, new_string=new)["note"]
        expected = "class A:\n    def f(self):\n        x = 2\n        return x\n"
        assert (folder / "a.py").read_text() == expected

    def test_typography_and_trailing_space_may_be_off(self, session: hermes.Session, folder: Path) -> None:
        (folder / "a.txt").write_text('say "hi"  \nbye\n')
        assert "note" in call(session, "patch", path="a.txt", old_string="say “hi”\nbye", new_string="quiet\nbye")
        assert (folder / "a.txt").read_text() == "quiet\nbye\n"

    def test_what_is_there_twice_needs_more_context_or_replace_all(self, session: hermes.Session, folder: Path) -> None:
        (folder / "a.txt").write_text("x\ny\nx\n")
        error = call(session, "patch", path="a.txt", old_string="x", new_string="z")["error"]
        assert "2 times (lines 1, 3)" in error
        assert call(session, "patch", path="a.txt", old_string="x", new_string="z", replace_all=True)["replaced"] == 2
        assert (folder / "a.txt").read_text() == "z\ny\nz\n"

    def test_what_is_not_there_leaves_the_file_alone_and_names_the_nearest_line(
        self, session: hermes.Session, folder: Path
    ) -> None:
        (folder / "a.txt").write_text("the quick brown fox\n")
        error = call(session, "patch", path="a.txt", old_string="the quick brown dog", new_string="x")["error"]
        assert "the quick brown fox" in error
        assert (folder / "a.txt").read_text() == "the quick brown fox\n"

    def test_windows_line_ends_stay(self, session: hermes.Session, folder: Path) -> None:
        (folder / "a.txt").write_bytes(b"one\r\ntwo\r\n")
        call(session, "patch", path="a.txt", old_string="one\ntwo", new_string="1\n2")
        assert (folder / "a.txt").read_bytes() == b"1\r\n2\r\n"

    @pytest.mark.parametrize(("old", "new"), [("", "x"), ("one", "one")])
    def test_an_edit_that_means_nothing_is_refused(
        self, session: hermes.Session, folder: Path, old: str, new: str
    ) -> None:
        (folder / "a.txt").write_text("one\n")
        assert "error" in call(session, "patch", path="a.txt", old_string=old, new_string=new)


class TestSearching:
    @pytest.fixture(autouse=True)
    def tree(self, folder: Path) -> None:
        (folder / "src").mkdir()
        (folder / "src" / "a.py").write_text("import os\nneedle = 1\n")
        (folder / "src" / "b.txt").write_text("a needle too\n")

    def test_content(self, session: hermes.Session) -> None:
        assert call(session, "search_files", pattern="needle")["matches"] == [
            "src/a.py:2:needle = 1",
            "src/b.txt:1:a needle too",
        ]

    def test_content_of_some_files(self, session: hermes.Session) -> None:
        answer = call(session, "search_files", pattern="need.e", file_glob="*.py")
        assert answer["matches"] == ["src/a.py:2:needle = 1"]

    def test_names(self, session: hermes.Session) -> None:
        assert call(session, "search_files", pattern="*.py", target="files")["matches"] == ["src/a.py"]

    def test_pages(self, session: hermes.Session) -> None:
        first = call(session, "search_files", pattern="needle", limit=1)
        assert first["next_offset"] == 1
        second = call(session, "search_files", pattern="needle", limit=1, offset=1)
        assert second["matches"] == ["src/b.txt:1:a needle too"]
        assert "next_offset" not in second

    def test_nothing_found_is_no_error(self, session: hermes.Session) -> None:
        assert call(session, "search_files", pattern="unfindable") == {"matches": []}

    def test_a_wrong_expression_is_an_error(self, session: hermes.Session) -> None:
        assert "error" in call(session, "search_files", pattern="(")
