"""Results: bounded, nothing lost, and no secret in text, value, error, journal or spilled file."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hermes_nb as hermes
from hermes_nb import Decision, Registry, Session, ToolError, ToolResult
from hermes_nb.approval.approvers import ScriptedApprover
from hermes_nb.common import redact

from .support import add, dangerous

Open = Callable[..., Session]
SECRET = "hunter2-correct-horse"


@pytest.fixture(autouse=True)
def forget_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that one test registers is none in the next."""
    monkeypatch.setattr(redact, "_registered", ())


# Bounds ----------------------------------------------------------------------------------------------------------


def test_a_text_within_the_limit_stays_as_it_is(registry: Registry, session: Session) -> None:
    add(registry, "t", lambda args: "x" * 100, max_result_size_chars=100)
    result = session.call("t")
    assert (result.text, result.spill) == ("x" * 100, None)


def test_a_longer_text_keeps_head_and_tail_and_names_the_file_with_all_of_it(
    registry: Registry, session: Session
) -> None:
    whole = "HEAD" + "x\r\n" * 5000 + "é" * 10 + "TAIL"
    add(registry, "t", lambda args: whole, max_result_size_chars=200)
    result = session.call("t")
    assert result.text.startswith("HEAD")
    assert result.text.endswith("TAIL")
    assert result.spill is not None
    assert str(result.spill) in result.text
    assert result.spill.read_bytes().decode() == whole
    assert len(result.text) < 200 + 200 + len(str(result.spill))


def test_the_tail_gets_more_room_than_the_head(registry: Registry, session: Session) -> None:
    add(registry, "t", lambda args: "h" * 1000 + "t" * 1000, max_result_size_chars=100)
    text = session.call("t").text
    assert (text[:40], text[-60:]) == ("h" * 40, "t" * 60)
    assert "1,900 of 2,000 characters omitted" in text


def test_the_value_stays_whole(registry: Registry, session: Session) -> None:
    value = list(range(1000))
    add(registry, "t", lambda args: value, max_result_size_chars=100)
    assert session.call("t").value is value


@pytest.mark.parametrize(("tool_limit", "effective"), [(None, 1000), (500, 500), (5000, 1000), (float("inf"), 1000)])
def test_the_smaller_of_the_tools_and_the_sessions_limit_holds(
    registry: Registry, open_session: Open, tool_limit: float | None, effective: int
) -> None:
    add(registry, "t", lambda args: "x" * 20_000, max_result_size_chars=tool_limit)
    text = open_session(config={"results": {"max_chars": 1000}}).call("t").text
    assert text.count("x") >= effective
    assert f"{20_000 - effective:,} of 20,000" in text


def test_the_spilled_file_is_for_its_user_only(registry: Registry, session: Session) -> None:
    add(registry, "t", lambda args: "x" * 1000, max_result_size_chars=100)
    spill = session.call("t").spill
    assert spill is not None
    assert stat.S_IMODE(spill.stat().st_mode) == 0o600
    assert stat.S_IMODE(spill.parent.stat().st_mode) == 0o700


def test_the_journal_names_the_spilled_file(registry: Registry, session: Session) -> None:
    add(registry, "t", lambda args: "x" * 1000, max_result_size_chars=100)
    result = session.call("t")
    assert next(iter(session.journal)).spill == str(result.spill)


def test_a_result_that_can_not_be_spilled_says_so(registry: Registry, session: Session, home: Path) -> None:
    (home / "spill").write_text("in the way")
    add(registry, "t", lambda args: "h" * 500 + "t" * 500, max_result_size_chars=100)
    result = session.call("t")
    assert result.ok
    assert result.spill is None
    assert "could not be kept" in result.text
    assert result.text.endswith("t" * 60)


def test_sessions_spill_into_folders_of_their_own(registry: Registry, open_session: Open) -> None:
    add(registry, "t", lambda args, session_id: session_id * 20, max_result_size_chars=100)
    for session in (open_session(), open_session()):
        spill = session.call("t").spill
        assert spill is not None
        assert spill.read_text() == session.id * 20


# Secrets ---------------------------------------------------------------------------------------------------------


def everything_kept(result: ToolResult, session: Session, home: Path) -> str:
    """All that a person or a file gets to see of a call."""
    files = [path.read_text(errors="replace") for path in home.rglob("*") if path.is_file()]
    return "\n".join([result.text, repr(result), repr(result.value), str(result.error), repr(result.decision), *files])


def assert_gone(secret: str, result: ToolResult, session: Session, home: Path) -> None:
    seen = everything_kept(result, session, home)
    assert list(session.journal), "the record must be readable"
    for spelling in {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
    }:
        assert spelling not in seen


@pytest.fixture(params=["text", "dict", "error", "tool error", "argument", "nested", "reported", "key", "invalid"])
def leaking(request: pytest.FixtureRequest, registry: Registry) -> Callable[[Session, str], ToolResult]:
    """Calls a tool that lets a secret out in one of the ways there are."""

    def call(session: Session, secret: str) -> ToolResult:
        def raise_it(error: Exception) -> Any:
            raise error

        handlers: dict[str, Callable[[Any], Any]] = {
            "text": lambda args: f"The key:\n{secret}\nand more",
            "dict": lambda args: {"stdout": f"key:\n{secret}", "n": 1},
            "error": lambda args: raise_it(ValueError(f"bad key {secret}")),
            "tool error": lambda args: raise_it(ToolError(secret)),
            "argument": lambda args: "fine",
            "nested": lambda args: [{"a": [{"b": secret}]}],
            "reported": lambda args: {"error": f"refused {secret}"},
            "key": lambda args: {secret: 1},
            "invalid": lambda args: "fine",
        }
        add(registry, "t", handlers[request.param], schema={"properties": {"n": {"type": "integer"}}})
        if request.param == "invalid":
            return session.call("t", {"n": secret})
        return session.call("t", {"key": f"x {secret}"} if request.param == "argument" else {})

    return call


SECRETS = [SECRET, 'with "quotes" and \\slash', "two\nlines\tand a tab", "ünïcodé-sécret", '{"a":1,"b"']
LIKE_STRUCTURE = ["[redacted", "null", "redacted", '":"', "true"]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_registered_secret_is_nowhere(
    leaking: Callable[..., ToolResult], session: Session, home: Path, secret: str
) -> None:
    hermes.register_secret(secret)
    assert_gone(secret, leaking(session, secret), session, home)


@pytest.mark.parametrize("secret", [*SECRETS, *(text.ljust(4, '"') for text in LIKE_STRUCTURE)])
def test_whatever_a_secret_looks_like_the_result_and_the_record_stay_whole(
    leaking: Callable[..., ToolResult], session: Session, secret: str
) -> None:
    hermes.register_secret(secret)
    result = leaking(session, secret)
    (record,) = session.journal
    assert record.text == result.text
    assert isinstance(record.args, dict)


@pytest.mark.parametrize(
    "name", ["MY_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "SECRET_1", "NPM_AUTH"]
)
def test_values_of_credential_like_variables_are_nowhere(
    leaking: Callable[..., ToolResult], session: Session, home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, SECRET)
    assert_gone(SECRET, leaking(session, SECRET), session, home)


KEYS = [
    "sk-proj-" + "a1B2" * 8,
    "sk-ant-api03-" + "a1B2" * 8,
    "sk_live_" + "a1B2" * 6,
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2" * 9,
    "glpat-" + "a1B2" * 5,
    "xoxb-" + "1234-" * 5 + "abc",
    "AKIA" + "ABCD" * 4,
    "AIza" + "a1B2c" * 7,
    "hf_" + "a1B2" * 9,
    "npm_" + "a1B2" * 9,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLWhlcmU",
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:7])
def test_keys_of_well_known_formats_are_nowhere(
    leaking: Callable[..., ToolResult], session: Session, home: Path, key: str
) -> None:
    assert_gone(key, leaking(session, key), session, home)


@pytest.mark.parametrize("ending", ["\n-----END RSA PRIVATE KEY-----", ""])
def test_a_private_key_is_nowhere(
    leaking: Callable[..., ToolResult], session: Session, home: Path, ending: str
) -> None:
    body = "MIIEpAIBAAKCAQEA" * 4
    leaked = leaking(session, f"-----BEGIN RSA PRIVATE KEY-----\n{body}{ending}")
    assert_gone(body, leaked, session, home)


def test_a_password_in_an_address_is_nowhere(leaking: Callable[..., ToolResult], session: Session, home: Path) -> None:
    assert_gone("s3cr3tpw", leaking(session, "postgres://bob:s3cr3tpw@db/x"), session, home)


@pytest.mark.parametrize("before", ["\\n", "\\t", "=", '"', " "])
def test_a_key_is_seen_behind_whatever_stands_before_it(registry: Registry, session: Session, before: str) -> None:
    add(registry, "t", lambda args: f"log: {before}{KEYS[0]}")  # as in JSON inside of other text
    assert KEYS[0] not in session.call("t").text


def test_what_looks_a_little_like_a_key_stays(registry: Registry, session: Session) -> None:
    text = "ask-me-anything-about-this-long-topic, task-force, disk-usage-of-the-whole-machine, https://host:8080/x@y"
    add(registry, "t", lambda args: text)
    assert session.call("t").text == text


def test_a_secret_that_begins_with_another_leaves_no_rest(registry: Registry, session: Session) -> None:
    for secret in ("abcd", "abcdefgh", "abcdef", "abcdefghijkl"):
        hermes.register_secret(secret)
    add(registry, "t", lambda args: "abcdefghijkl abcdefgh abcdef")
    assert session.call("t").text == "[redacted] [redacted] [redacted]"


def test_a_secret_number_is_nowhere(registry: Registry, session: Session, home: Path) -> None:
    hermes.register_secret("8461937250")
    add(registry, "t")
    assert_gone("8461937250", session.call("t", {"pin": 8461937250}), session, home)


def test_a_secret_is_not_in_the_spilled_file(registry: Registry, session: Session, home: Path) -> None:
    hermes.register_secret(SECRET)
    add(registry, "t", lambda args: f"x{SECRET}y" * 1000, max_result_size_chars=100)
    result = session.call("t")
    assert result.spill is not None
    assert_gone(SECRET, result, session, home)


def test_a_secret_that_a_post_hook_hides_is_not_in_the_value_either(
    registry: Registry, open_session: Open, home: Path
) -> None:
    hermes.register_secret(SECRET)
    add(registry, "t", lambda args: {"key": SECRET})
    session = open_session(hooks=[{"post_tool_call": lambda: "hidden"}])
    assert_gone(SECRET, session.call("t"), session, home)


def test_a_secret_that_a_post_hook_adds_is_nowhere(registry: Registry, open_session: Open, home: Path) -> None:
    hermes.register_secret(SECRET)
    add(registry, "t", lambda args: "x")
    session = open_session(hooks=[{"post_tool_call": lambda result: f"{result} {SECRET}"}])
    assert_gone(SECRET, session.call("t"), session, home)


@pytest.mark.parametrize("decision", [Decision.once(f"ok {SECRET}"), Decision.deny(f"no {SECRET}")])
def test_a_secret_in_a_decision_is_nowhere(
    registry: Registry, open_session: Open, home: Path, decision: Decision
) -> None:
    hermes.register_secret(SECRET)
    hermes.tool(registry=registry, name="t", guard=dangerous())(lambda command: "ran")
    session = open_session(approver=ScriptedApprover([decision]))
    assert_gone(SECRET, session.call("t", {"command": f"rm {SECRET}"}), session, home)


def test_a_secret_in_the_name_of_a_tool_that_is_none_is_nowhere(session: Session, home: Path) -> None:
    hermes.register_secret(SECRET)
    assert_gone(SECRET, session.call(SECRET), session, home)


def test_the_handler_itself_gets_the_secret(registry: Registry, session: Session) -> None:
    hermes.register_secret(SECRET)
    add(registry, "t", lambda args: args["key"] == SECRET)
    assert session.call("t", {"key": SECRET}).value is True


def test_a_value_keeps_its_kind_when_a_secret_is_taken_out(registry: Registry, session: Session) -> None:
    hermes.register_secret(SECRET)
    add(registry, "text", lambda args: json.dumps({"key": SECRET}))
    add(registry, "dict", lambda args: {"key": SECRET, "n": 1})
    assert session.call("text").value == '{"key":"[redacted]"}'
    assert session.call("dict").value == {"key": "[redacted]", "n": 1}


@pytest.mark.parametrize("name", ["TOKENIZERS_PARALLELISM", "EDITOR", "KEYBOARD_LAYOUT", "SSH_AUTH_SOCK"])
def test_ordinary_variables_are_no_secrets(
    registry: Registry, session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    value = str(tmp_path) if name == "SSH_AUTH_SOCK" else "an-ordinary-value"
    monkeypatch.setenv(name, value)
    add(registry, "t", lambda args: value)
    assert session.call("t").text == value


def test_a_variable_set_later_counts_from_then_on(
    registry: Registry, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(registry, "t", lambda args: SECRET)
    assert session.call("t").text == SECRET
    monkeypatch.setenv("LATE_API_KEY", SECRET)
    assert session.call("t").text == "[redacted]"
    monkeypatch.delenv("LATE_API_KEY")
    assert session.call("t").text == SECRET


def test_a_secret_too_short_to_tell_from_words_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 4"):
        hermes.register_secret("abc")
