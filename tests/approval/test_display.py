"""What a person is shown is inert, and the dangerous part stands out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_nb.approval import Finding, assess
from hermes_nb.approval.display import highlight, inert


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls -la", "ls -la"), ("a\nb\tc", "a\nb\tc"), ("\x1b[2Jls", "␛[2Jls"), ("rm x\rls  ", "rm x␍ls  "),
        ("a\x00b\x07c\x7f", "a␀b␇c␡"), ("\x9b31m", "⟨U+009B⟩31m"), ("a\u202eb", "a⟨U+202E⟩b"), ("r\u200bm",
        "r⟨U+200B⟩m"),
        ("r\u043c -rf", "r⟨U+043C⟩ -rf"), ("rm\u00a0x", "rm⟨U+00A0⟩x"), ("rm \u2013rf", "rm ⟨U+2013⟩rf"),
        ("echo привет", "echo привет"), ("echo 你好 café", "echo 你好 café"), ("\u2028", "⟨U+2028⟩"),
        ("r\u0301", "r⟨U+0301⟩"), ("\U000e0041", "⟨U+E0041⟩"),
    ],
)  # fmt: skip
def test_text_is_made_inert(text, shown):
    assert inert(text) == shown


@given(st.text())
def test_inert_text_holds_nothing_that_acts(text):
    shown = inert(text)
    assert all(character.isprintable() or character in "\n\t" for character in shown)
    assert not set(shown) & set("\u202e\u2066\u200b\u200f\ufeff")


def test_the_dangerous_part_is_highlighted():
    command = "ls && git push --force && echo ok"
    assert highlight(command, assess(command).findings) == [
        ("ls && ", False),
        ("git push --force", True),
        (" && echo ok", False),
    ]


def test_findings_that_are_not_in_the_text_mark_all_of_it():
    assert highlight("echo x | sh", [Finding("r", "d", "rm -rf /")]) == [("echo x | sh", True)]


def test_without_findings_nothing_is_highlighted():
    assert highlight("ls", []) == [("ls", False)]


def test_an_empty_command_has_no_spans():
    assert highlight("", []) == []


@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=4))
def test_the_spans_together_are_the_inert_command(command, texts):
    spans = highlight(command, [Finding("r", "d", text) for text in texts])
    assert "".join(text for text, _ in spans) == inert(command)
