"""Texts made shorter and readable: never longer than allowed, honest about it, and nothing in them acts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_nb.common.text import beginning, cut, first_line, head_and_tail, one_line, readable, visible


def test_what_fits_stays_as_it_is() -> None:
    for shorten in (cut, beginning, one_line, head_and_tail):
        assert shorten("twelve chars", 12) == "twelve chars"


def test_what_is_cut_ends_in_an_ellipsis_and_not_in_a_blank() -> None:
    assert cut("one two three", 9) == "one two…"
    assert one_line(" one\n\ttwo\x0b three ", 100) == "one two three"
    assert one_line("one\n two three", 5) == "one…"


def test_what_is_left_out_is_counted() -> None:
    assert beginning("a" * 1500, 100) == f"{'a' * 100}… (1,400 more characters)"
    assert head_and_tail("a" * 40 + "b" * 2000 + "c" * 60, 100).split("\n") == [
        "a" * 40,
        "… 2,000 characters not shown …",
        "c" * 60,
    ]
    assert head_and_tail("abcdefghijkl", 5, "[{cut}]") == "ab\n[{cut}]\njkl"


@given(st.text(), st.integers(1, 50))
def test_no_limit_is_passed(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= limit
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


@given(st.text(alphabet="abc", min_size=1), st.integers(1, 20))
def test_head_and_tail_are_of_the_text(text: str, limit: int) -> None:
    lines = head_and_tail(text, limit, "-").split("\n")
    assert text.startswith(lines[0])
    assert text.endswith(lines[-1])
    assert sum(map(len, lines)) - (len(lines) > 1) == min(len(text), limit)


@given(st.text(alphabet="\x1b[]0123456789;:m\\PX^_ABab \n\r<>\x9b\x07\u202e\u200d"))
def test_nothing_in_a_readable_text_acts(text: str) -> None:
    assert not set(readable(text)) & set("\x1b\x9b\r\x07\u202e")


def test_what_would_hide_is_shown_by_its_code_and_living_scripts_are_left_alone() -> None:
    assert visible("a\x00b\u202ec\U000e0001") == "a\\x00b\\u202ec\\U000e0001"
    assert visible("می‌خواهم 👨‍👩‍👧\tशब्द\n") == "می‌خواهم 👨‍👩‍👧\tशब्द\n"


def test_the_lines_of_a_script_do_not_run_together() -> None:
    assert first_line("cd x\n\nmake\nmake install\n", 60) == "cd x … +2 lines"
    assert first_line("\ncd  x\nmake", 60) == "cd x … +1 line"
    assert first_line("one   line\n", 60) == "one line"
    assert len(first_line(f"{'x' * 100}\ny", 60)) == 60
