from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_nb.errors import MagicError
from hermes_nb.notebook.line.expansion import expand, spots
from hermes_nb.notebook.line.words import for_document, for_shell, meaning, split

NAMES = {"name": "world", "n": 3, "items": ["a b", "c"], "d": {"k}": "v"}, "path": "my file; rm -rf ~"}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(st.text(), json_values, max_size=5)


def plainly(text: str, **names: Any) -> str:
    return expand(text, {**NAMES, **names}, lambda value, _: str(value))


@given(json_objects, st.booleans())
def test_a_json_object_survives_expansion_untouched(document: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only)
    assert plainly(text) == text


@given(json_objects)
def test_a_json_object_is_one_word_and_reads_back_as_itself(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    words = split(f"args={text} b=2")
    assert [word.raw for word in words] == [f"args={text}", "b=2"]
    assert json.loads(meaning(text, NAMES).text) == document


@given(st.text(alphabet=st.characters(exclude_characters="{")))
def test_a_text_without_opening_braces_is_left_alone(text: str) -> None:
    assert plainly(text) == text


@given(st.text())
@example("\\\r0")
@example("'a b' {c d} \\ e")
def test_any_text_can_be_looked_at_without_failing(text: str) -> None:
    assert all(text[spot.start] == "{" for spot in spots(text))
    assert "".join("".join(word.raw for word in split(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("space", [" ", "\t", "\r", "\u2003"])
def test_a_space_of_any_kind_after_a_backslash_is_part_of_the_word(space: str) -> None:
    (word,) = split(f"a\\{space}b")
    assert meaning(word.raw, {}).text == f"a{space}b"
    assert meaning(f'"a\\{space}b"', {}).text == f"a\\{space}b"  # in double quotes it needs no backslash


@given(st.text())
def test_a_value_reaches_a_word_exactly_as_it_is(value: str) -> None:
    assert meaning("{value}", {"value": value}).text == value
    assert meaning("pre-{value}.csv", {"value": value}).text == f"pre-{value}.csv"


@given(json_objects)
def test_a_value_reaches_a_document_exactly_as_it_is(value: dict[str, Any]) -> None:
    text = expand('{"inner": {value}, "also": [{value}]}', {"value": value}, for_document)
    assert json.loads(text) == {"inner": value, "also": [value]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello {name}", "hello world"),
        ("{n + 1}", "4"),
        ("{len(items)} and {name.upper()}", "2 and WORLD"),
        ('{d["k}"]}', "v"),
        ("{[x for x in items if n]}", "['a b', 'c']"),
        ('"{name}"', '"world"'),
    ],
)
def test_an_expression_becomes_its_value(text: str, expected: str) -> None:
    assert plainly(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{12}",
        "a{1,2}",
        "{name,n}",
        "{{name}}",
        "${name}",
        "@{n}",
        "'{name}'",
        "{ echo hi; }",
        '{"a": unquoted}',
        "{print $1}",
        "{name",
        "name}",
        "{.ID}",
        "{name: 1}",
    ],
)
def test_what_is_no_expression_stays_as_typed(text: str) -> None:
    assert plainly(text) == text


def test_an_apostrophe_in_prose_hides_nothing() -> None:
    assert plainly("what's {name} and what's {n}") == "what's world and what's 3"


@pytest.mark.parametrize("text", ["{nmae}", "{n / 0}", "{d['missing']}", "{len}"])
def test_an_expression_that_gives_no_value_says_how_to_keep_the_braces(text: str) -> None:
    with pytest.raises(MagicError, match="single quotes keep braces"):
        plainly(text)


def test_a_value_in_a_command_is_one_word_whatever_is_in_it() -> None:
    assert expand("ls {path}", NAMES, for_shell, "shell") == "ls 'my file; rm -rf ~'"
    assert expand('ls "{path}/$HOME"', {"path": 'a"$b`'}, for_shell, "shell") == r'ls "a\"\$b\`/$HOME"'


def test_a_list_in_a_command_is_several_words() -> None:
    assert expand("ls {items}", NAMES, for_shell, "shell") == "ls 'a b' c"
