from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hermes_nb.errors import MagicError
from hermes_nb.notebook.line.arguments import from_cell, from_words
from hermes_nb.notebook.line.words import split

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "limit": {"type": "integer"},
        "labels": {"anyOf": [{"type": "array"}, {"type": "null"}]},
        "options": {"type": "object"},
        "verbose": {"type": "boolean"},
    },
}
NAMES: dict[str, Any] = {"p": "/tmp/my file", "opts": {"a": [1, 2]}, "where": Path("/data"), "n": 7, "five": "5"}


def read(line: str, schema: dict[str, Any] = SCHEMA) -> dict[str, Any]:
    return from_words([word.raw for word in split(line)], NAMES, schema, "tool")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("path=/etc/hosts limit=20", {"path": "/etc/hosts", "limit": 20}),
        ("path=7", {"path": "7"}),
        ("path='a b' verbose=true", {"path": "a b", "verbose": True}),
        ('path="say \\"hi\\""', {"path": 'say "hi"'}),
        (r"path=C:\new\table", {"path": r"C:\new\table"}),
        (r'path="\bword\d+"', {"path": r"\bword\d+"}),
        ("path=it's", {"path": "it's"}),
        ("path=a=b", {"path": "a=b"}),
        ("path=", {"path": ""}),
        ("labels=bug labels=urgent", {"labels": ["bug", "urgent"]}),
        ('labels=["a b", "c"]', {"labels": ["a b", "c"]}),
        ('options={"x": {"y": 1}}', {"options": {"x": {"y": 1}}}),
        ('{"path": "/x y", "limit": 3}', {"path": "/x y", "limit": 3}),
        ('{"path": "/x"} limit=3', {"path": "/x", "limit": 3}),
        ("path={p}", {"path": "/tmp/my file"}),
        ("path={p}/{n}.csv", {"path": "/tmp/my file/7.csv"}),
        ('path="{p}/x y"', {"path": "/tmp/my file/x y"}),
        ("path='{p}'", {"path": "{p}"}),
        ("options={opts} limit={n}", {"options": {"a": [1, 2]}, "limit": 7}),
        ("options={five}", {"options": "5"}),
        ("path={where}", {"path": "/data"}),
        ("{dict(path=p, limit=n)}", {"path": "/tmp/my file", "limit": 7}),
        ('{"path": {p}, "limit": {n}}', {"path": "/tmp/my file", "limit": 7}),
        ("other=1.5", {"other": 1.5}),
    ],
)
def test_arguments_mean_what_people_type(line: str, expected: dict[str, Any]) -> None:
    assert read(line) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/etc/hosts", "path=/etc/hosts"),
        ('{"path": oops}', "not JSON"),
        ("path=a path=b", "given twice"),
    ],
)
def test_what_cannot_be_read_says_what_to_write(line: str, message: str) -> None:
    with pytest.raises(MagicError, match=message):
        read(line)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ('{"path": "/x", "options": {"a": {"b": 1}}}', {"path": "/x", "options": {"a": {"b": 1}}}),
        ("path: /x\nlimit: 3\nlabels:\n  - a\n  - b\n", {"path": "/x", "limit": 3, "labels": ["a", "b"]}),
        ("path: {p}\nlimit: {n}\noptions: {opts}\n", {"path": "/tmp/my file", "limit": 7, "options": {"a": [1, 2]}}),
        ('path: "{p}/x"\n', {"path": "/tmp/my file/x"}),
        ("path: '{p}'\n", {"path": "{p}"}),
        ("options: {a: 1}\n", {"options": {"a": 1}}),
        ('{"path": {p}, "limit": {n}}', {"path": "/tmp/my file", "limit": 7}),
        ("", {}),
    ],
)
def test_a_cell_holds_json_or_yaml(cell: str, expected: dict[str, Any]) -> None:
    assert from_cell(cell, NAMES) == expected


@pytest.mark.parametrize("cell", ["- a\n- b\n", "just words", '{"a": ', "a: [1"])
def test_a_cell_that_holds_no_object_is_refused(cell: str) -> None:
    with pytest.raises(MagicError, match="the cell"):
        from_cell(cell, NAMES)
