"""config.yaml: safe, checked key by key, saved whole and without losing a comment."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from hermes_nb import Config, ConfigError, Registry, Session
from hermes_nb.config import OPTIONS


def written(home: Path, text: str) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    path = home / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_the_defaults_are_in_force() -> None:
    config = Config.load()
    assert {key: config.get(key) for key in OPTIONS} == {key: option.default for key, option in OPTIONS.items()}
    assert config.problems == []


def test_the_file_below_home_is_read(home: Path, registry: Registry) -> None:
    written(home, "approval:\n  mode: off\nresults:\n  max_chars: 500\n")
    with Session(registry=registry) as session:
        assert session.config.get("approval.mode") == "off"
        assert session.config.get("results.max_chars") == 500


@pytest.mark.parametrize(
    ("values", "key", "accepted"),
    [
        ({"approval": {"mode": "sometimes"}}, "approval.mode", "one of manual, smart, off, policy"),
        ({"approval": {"timeout": 0}}, "approval.timeout", "a number from 1 to 86400"),
        ({"approval": {"timeout": "soon"}}, "approval.timeout", "a number from 1 to 86400"),
        ({"approval": {"timeout": True}}, "approval.timeout", "a number"),
        ({"approval": {"timeout": float("nan")}}, "approval.timeout", "a number"),
        ({"approval": {"skip_when_isolated": "yes"}}, "approval.skip_when_isolated", "true or false"),
        ({"command_allowlist": "rm"}, "command_allowlist", "a list of texts"),
        ({"command_allowlist": [1]}, "command_allowlist", "a list of texts"),
        ({"calls": {"parallel": 65}}, "calls.parallel", "a number from 1 to 64"),
        ({"results": {"max_chars": None}}, "results.max_chars", "a number from 100"),
        ({"tools": {"tool_search": 3}}, "tools.tool_search", "true, false, or a mapping"),
    ],
)
def test_a_bad_value_names_key_and_range_and_leaves_the_default(
    values: dict[str, Any], key: str, accepted: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        config = Config(values)
    (problem,) = config.problems
    assert problem.startswith(f"{key}: ")
    assert accepted in problem
    assert config.get(key) == OPTIONS[key].default
    assert problem in caplog.text


def test_one_bad_value_does_not_cost_the_good_ones() -> None:
    config = Config({"approval": {"mode": "never", "timeout": 5}, "calls": {"parallel": 2}})
    assert (config.get("approval.timeout"), config.get("calls.parallel")) == (5, 2)


def test_an_unknown_key_is_named_with_the_nearest() -> None:
    (problem,) = Config({"approval": {"mod": "off"}}).problems
    assert problem.startswith("approval.mod: ")
    assert "approval.mode" in problem


@pytest.mark.parametrize("key", [key for key, option in OPTIONS.items() if option.choices])
def test_every_choice_of_a_setting_is_accepted_and_named_to_who_chose_badly(key: str) -> None:
    config = Config({})
    for choice in OPTIONS[key].choices:
        config.set(key, {"true": True, "false": False}.get(choice, choice))
    with pytest.raises(ConfigError) as caught:
        config.set(key, "neither")
    assert all(choice in str(caught.value) for choice in OPTIONS[key].choices)


@pytest.mark.parametrize(
    "use", [lambda config: config.get("approval.mod"), lambda config: config.set("aproval.mode", 1)]
)
def test_asking_for_an_unknown_key_is_an_error_with_the_nearest(use: Any) -> None:
    with pytest.raises(ConfigError, match=r"approval\.mode"):
        use(Config())


def test_setting_a_bad_value_is_an_error_and_changes_nothing(home: Path) -> None:
    path = written(home, "approval:\n  timeout: 7\n")
    config = Config.load()
    with pytest.raises(ConfigError, match=r"approval\.timeout: -1 .* 1 to 86400"):
        config.set("approval.timeout", -1)
    assert config.get("approval.timeout") == 7
    assert path.read_text() == "approval:\n  timeout: 7\n"


def test_saving_keeps_comments_order_quotes_and_what_it_does_not_know(home: Path) -> None:
    path = written(
        home,
        "# mine\nplugins:   # which ones\n  trusted_projects: []  # none yet\n\nunknown: 'quoted'\n"
        'approval:\n  # ask me\n  mode: "manual" # always\n',
    )
    Config.load().set("approval.mode", "smart")
    Config.load().set("calls.parallel", 2)
    text = path.read_text()
    for kept in ("# mine", "# which ones", "# none yet", "unknown: 'quoted'", "# ask me", "# always"):
        assert kept in text
    assert text.index("plugins") < text.index("unknown") < text.index("approval")
    assert (Config.load().get("approval.mode"), Config.load().get("calls.parallel")) == ("smart", 2)


def test_saving_makes_the_file_and_its_folder_private(home: Path) -> None:
    Config.load().set("command_allowlist", ["rm"])
    assert (home / "config.yaml").stat().st_mode & 0o077 == 0
    assert Config.load().get("command_allowlist") == ["rm"]


def test_saving_keeps_the_files_permissions(home: Path) -> None:
    path = written(home, "{}\n")
    path.chmod(0o644)
    Config.load().set("calls.parallel", 2)
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_reader_never_sees_half_a_file(home: Path) -> None:
    path = written(home, "calls:\n  parallel: 1\n")
    config, done, bad = Config.load(), threading.Event(), []

    def read() -> None:
        while not done.is_set():
            if not path.read_text().strip().startswith("calls:"):
                bad.append(path.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(1, 30):
        config.set("calls.parallel", number)
    done.set()
    reader.join()
    assert bad == []
    assert [entry.name for entry in home.iterdir()] == ["config.yaml"]


def test_a_save_that_fails_leaves_the_old_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(home, "calls:\n  parallel: 1\n")
    config = Config.load()

    def fail(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        config.set("calls.parallel", 2)
    assert path.read_text() == "calls:\n  parallel: 1\n"
    assert [entry.name for entry in home.iterdir()] == ["config.yaml"]
    assert config.get("calls.parallel") == 1


def test_a_linked_config_stays_a_link(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    kept = tmp_path / "dotfiles.yaml"
    kept.write_text("calls:\n  parallel: 1\n")
    (home / "config.yaml").symlink_to(kept)
    Config.load().set("calls.parallel", 2)
    assert (home / "config.yaml").is_symlink()
    assert "parallel: 2" in kept.read_text()


BROKEN = ["approval: [", "a: b: c", "\tx: 1", "- a list", "just words", "a: 1\na: 2"]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_means_defaults_and_is_never_overwritten(home: Path, text: str, registry: Registry) -> None:
    path = written(home, text)
    config = Config.load()
    assert config.get("approval.mode") == "manual"
    assert str(path) in config.problems[0]
    with pytest.raises(ConfigError, match="not changed"):
        config.set("calls.parallel", 2)
    assert path.read_text() == text
    with Session(registry=registry) as session:
        assert session.config.problems


@pytest.mark.parametrize("text", BROKEN)
def test_a_file_broken_after_it_was_read_is_not_overwritten_either(home: Path, text: str) -> None:
    path = written(home, "calls:\n  parallel: 1\n")
    config = Config.load()
    path.write_text(text)
    with pytest.raises(ConfigError, match="not changed"):
        config.set("calls.parallel", 2)
    assert path.read_text() == text


def test_a_file_that_is_no_utf8_means_defaults(home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_bytes(b"\xff\xfe\xfa")
    assert Config.load().problems


@pytest.mark.parametrize(
    "text",
    [
        "approval: !!python/object/apply:os.system ['touch {flag}']\n",
        "approval:\n  mode: !!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{flag}']]\n",
        "!!python/object/new:subprocess.Popen [['touch', '{flag}']]\n",
    ],
)
def test_a_config_can_not_run_code(home: Path, tmp_path: Path, text: str) -> None:
    flag = tmp_path / "executed"
    written(home, text.replace("{flag}", str(flag)))
    config = Config.load()
    assert config.get("approval.mode") == "manual"
    assert config.problems
    assert not flag.exists()


def test_a_session_takes_a_mapping_a_file_or_a_config(registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text("calls:\n  parallel: 3\n")
    for given in ({"calls": {"parallel": 3}}, path, str(path), Config({"calls": {"parallel": 3}})):
        with Session(registry=registry, config=given) as session:
            assert session.config.get("calls.parallel") == 3


def test_a_change_is_in_force_at_once(registry: Registry) -> None:
    registry.register("t", "x", {}, lambda args: "y" * 1000)
    with Session(registry=registry, config={}) as session:
        assert session.call("t").spill is None
        session.config.set("results.max_chars", 100)
        assert session.call("t").spill is not None
