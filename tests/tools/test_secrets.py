"""A registered secret is on no disk and in no heading, however long the output is that it stands in."""

from __future__ import annotations

import base64
import dataclasses
import json
import random
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pydantic
import pytest

import hermes_nb as hermes
from hermes_backends import Backend, open_backend
from hermes_backends.local import LocalBackend
from hermes_nb.common import redact
from hermes_nb.errors import CommandFailed
from hermes_nb.notebook.faces.command_run import CommandRun

SECRET = "correct-horse/battery=staple"
PHRASE = "a secret with spaces in it"


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redact, "_registered", ())
    hermes.register_secret(SECRET)
    hermes.register_secret(PHRASE)


@pytest.fixture
def session(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[hermes.Session]:
    monkeypatch.setenv("TMPDIR", str(folder))
    config = {"approval": {"mode": "off"}}
    with hermes.Session(config=config) as opened:
        yield opened


def on_disk(*folders: Path) -> str:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and path.name != "script.sh"]
    return "\n".join(path.read_bytes().decode("utf-8", "surrogateescape") for path in files)


def spelled(secret: str) -> set[str]:
    return {secret, json.dumps(secret)[1:-1], base64.b64encode(secret.encode()).decode()[:-4]}


def assert_nowhere(text: str) -> None:
    for secret in (SECRET, PHRASE):
        for spelling in spelled(secret):
            assert spelling not in text


def printing(folder: Path, *parts: str) -> str:
    """A command that prints this and nothing else, the parts in writes of their own; it does not name a secret."""
    script = folder / "script.sh"
    script.write_text("\n".join(f"printf %s {part!r}; sleep 0.02" for part in parts))
    return f"bash {script}"


@pytest.mark.parametrize("filler", [0, 60_000, 3_000_000])
@pytest.mark.parametrize("background", [False, True])
def test_a_secret_in_the_output_is_on_no_disk(
    session: hermes.Session, folder: Path, home: Path, filler: int, background: bool
) -> None:
    print_it = printing(folder, SECRET[:5], SECRET[5:] + "\n", PHRASE[:9], PHRASE[9:] + "\n")
    command = f"{print_it}; yes 'and so on' | head -c {filler}; {print_it}; {print_it} >&2"
    result = session.call("terminal", {"command": command, "background": background})
    if background:
        session.workspace.job(result.value["job"]).wait(60)
        result = session.call("process", {"action": "log", "job": result.value["job"]})
    assert result.ok
    assert_nowhere(on_disk(folder, home))
    assert_nowhere(f"{result.text}{result!r}{result._repr_mimebundle_()}")
    if filler > 50_000:
        assert result.spill is not None
        whole = result.spill.read_text()
        assert whole.count("[redacted]") == 6
        assert whole.count("and so on") >= filler // 11
        assert [str(result.spill)] == sorted(
            {word for word in result.text.replace('"', " ").split() if "spill/" in word}
        )


@pytest.mark.parametrize("place", ["end of the head", "start of the tail"])
def test_a_secret_where_a_long_output_is_cut_is_not_shown_by_half(
    session: hermes.Session, folder: Path, place: str
) -> None:
    half = len(SECRET) // 2
    before = 400_000 - half if place == "end of the head" else 3_000_000 - 600_000 - half
    output = f"{'x' * (before - 1)} {SECRET} {'y' * 3_000_000}"[:3_000_000]
    (folder / "script.sh").write_text(output)
    result = session.call("terminal", {"command": "cat script.sh"})
    shown = result.value.result.stdout
    assert len(shown) > 900_000
    assert SECRET[: half - 2] not in shown
    assert SECRET[half + 2 :] not in shown


@pytest.mark.parametrize("seed", range(20))
def test_no_way_to_cut_an_output_into_pieces_lets_a_secret_through(seed: int) -> None:
    chance = random.Random(seed)
    keys = [f"Bearer {'a1' * 20}", f"sk-{'b2' * 20}", "https://me:password@host"]
    words = ["plain", SECRET, PHRASE, PHRASE[:13], PHRASE[5:], *keys]
    text = "".join(chance.choice(words) + chance.choice([" ", "\n", ". "]) for _ in range(60))
    stream, shown, position = redact.SecretsHeldBack(), "", 0
    while position < len(text):
        size = chance.choice([1, 2, 3, 7, 20, 100])
        shown += stream.feed(text[position : position + size])
        position += size
    assert shown + stream.rest() == redact.redact(text)
    assert_nowhere(redact.redact(text))


def test_the_file_of_a_long_output_is_whole_also_where_it_is_no_text(session: hermes.Session, folder: Path) -> None:
    data = random.Random(1).randbytes(2_500_000)
    (folder / "data").write_bytes(data)
    result = session.call("terminal", {"command": "cat data"})
    assert result.spill is not None
    assert result.spill.read_bytes() == data


def test_a_secret_in_a_long_result_is_not_in_its_file(session: hermes.Session, home: Path) -> None:
    hermes.tool(toolset="test", name="long")(lambda: {"key": SECRET, "text": f"{SECRET} " * 20_000})
    try:
        result = session.call("long")
        assert result.spill is not None
        assert "[redacted]" in result.spill.read_text()
        assert json.loads(result.text)["key"] == "[redacted]", "what was cut is still JSON"
        assert_nowhere(on_disk(home))
    finally:
        hermes.registry.deregister("long")


class Named(NamedTuple):
    key: str


@dataclasses.dataclass(frozen=True)
class Held:
    key: str
    others: tuple[str, ...] = ()


class Struct(msgspec.Struct, frozen=True):
    key: str


class Model(pydantic.BaseModel):
    key: str


@pytest.mark.parametrize(
    "value",
    [
        f"key {SECRET}",
        f"key {SECRET}".encode(),
        {"data": b"\0\1" + SECRET.encode()},
        {"data": b"\0" + PHRASE.encode() + b"\0"},
        [SECRET, 1],
        (SECRET, 1),
        {SECRET},
        Named(SECRET),
        OrderedDict(a=SECRET),
        defaultdict(list, a=[SECRET]),
        Held(SECRET, (SECRET, "x")),
        Struct(SECRET),
        Model(key=SECRET),
        {"nested": [Held(SECRET)]},
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_keeps_its_type_and_loses_its_secret(session: hermes.Session, home: Path, value: Any) -> None:
    hermes.tool(toolset="test", name="give")(lambda: value)
    try:
        result = session.call("give").raise_for_error()
    finally:
        hermes.registry.deregister("give")
    assert type(result.value) is type(value)
    assert_nowhere(f"{result.text}{result.value!r}")
    assert_nowhere(on_disk(home))
    assert SECRET in repr(value) or PHRASE in repr(value), "the handler's own is as it was"


def test_without_a_secret_the_value_is_the_handler_s_own(session: hermes.Session) -> None:
    value = {"held": Held("x")}
    hermes.tool(toolset="test", name="give")(lambda: value)
    try:
        assert session.call("give").value is value
    finally:
        hermes.registry.deregister("give")


def test_headings_do_not_repeat_it(session: hermes.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    command = f"echo {SECRET}; exit 3"
    result = session.call("terminal", {"command": command})
    ran = CommandRun(command, result, "local", shown_in=1)
    monkeypatch.setattr(CommandRun, "_was_just_shown", lambda self: True)
    assert_nowhere(f"{ran!r}{ran._repr_html_()}")
    monkeypatch.setattr(CommandRun, "_was_just_shown", lambda self: False)
    assert_nowhere(f"{ran!r}{ran._repr_html_()}")
    assert_nowhere(str(CommandFailed(result, redact.redact(command), 3)))


class Remote(LocalBackend):
    """A place that has a file system of its own, as far as paths of ours go."""

    name = "remote"


@pytest.fixture
def remote(folder: Path) -> Iterator[Backend]:
    with Remote(cwd=str(folder)) as backend:
        yield backend


def test_read_file_opens_the_rest_from_any_backend(session: hermes.Session, remote: Backend) -> None:
    long = session.call("terminal", {"command": "seq 1 100000"}, backend=remote)
    assert long.spill is not None
    text = session.call("read_file", {"path": str(long.spill), "offset": 50_000, "limit": 2}, backend=remote)
    assert "50000|50000" in text.value["content"].replace(" ", "")
    assert (text.value["total_lines"], text.value["next_offset"]) == (100_000, 50_002)


def test_other_files_of_this_machine_stay_out_of_reach_that_way(session: hermes.Session, home: Path) -> None:
    """Of another session, by another way, or no spill at all."""
    with hermes.Session(config={"approval": {"mode": "off"}}) as stranger:
        long = stranger.call("terminal", {"command": "seq 1 100000"})
        assert long.spill is not None
        assert stranger.spills.holds(str(long.spill)) == long.spill
        assert session.spills.holds(str(long.spill)) is None
        assert stranger.spills.holds(str(long.spill.parent / ".." / long.spill.parent.name / long.spill.name)) is None
        (long.spill.parent / "link.txt").symlink_to("/etc/passwd")
        assert stranger.spills.holds(str(long.spill.parent / "link.txt")) is None
        assert stranger.spills.holds("config.yaml") is None


def test_making_a_text_of_a_value_writes_no_file(home: Path, tmp_path: Path) -> None:
    from hermes_nb.calls.results import CommandResult, to_text

    with open_backend("local", cwd=str(tmp_path)) as backend:
        value = CommandResult(backend.run("seq 1 50000"))
        assert len(to_text(value)) > 200_000
    assert not home.exists()
