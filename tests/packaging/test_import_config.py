"""``hermes-nb import-config``: what is carried over from hermes-agent, what isn't, and that nothing of ours is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

import hermes_nb as hermes
from hermes_nb.approval import assess
from hermes_nb.approval.approvers import NobodyApprover
from hermes_nb.cli import main
from hermes_nb.import_config import COUNTERPARTS, UNASKED, WIDER, plan_import

#: What a user of hermes-agent approved with these words, as commands.
APPROVED_WITH = {
    "recursive delete": ["rm -rf build", "rm -r build"],
    "xargs with rm": ["ls | xargs rm"],
    "find -exec/-execdir rm": ["find . -name '*.o' -exec rm {} +"],
    "find -delete": ["find . -name '*.o' -delete"],
    "world/other-writable permissions": ["chmod 777 app"],
    "recursive world/other-writable (long flag)": ["chmod --recursive 777 app"],
    "SQL DROP": ["psql -c 'DROP TABLE t'"],
    "SQL DELETE without WHERE": ["psql -c 'DELETE FROM t'"],
    "SQL TRUNCATE": ["psql -c 'TRUNCATE t'"],
    "stop/restart system service": ["systemctl restart nginx"],
    "format filesystem": ["mkfs.ext4 disk.img"],
    "force kill processes": ["pkill -9 worker"],
    "kill processes by regex (killall -r)": ["killall -r 'work.*'"],
    "git force push (rewrites remote history)": ["git push --force"],
    "git reset --hard (destroys uncommitted changes)": ["git reset --hard"],
    "git clean with force (deletes untracked files)": ["git clean -fd"],
    "sudo with privilege flag (stdin/askpass/shell/list)": ["sudo -S ls"],
    "sudo with combined-flag privilege escalation": [],
    "overwrite system config": ["echo x > /etc/hosts"],
    "overwrite system file via redirection": [],
    "overwrite system file via tee": ["echo x | tee /etc/hosts"],
    "copy/move file into system config path": ["cp x /etc/hosts"],
    "in-place edit of system config": ["sed -i s/a/b/ /etc/hosts"],
    "copy/move file into sensitive credential/SSH/shell-rc path": ["cp c ~/.aws/credentials"],
    "in-place edit of sensitive credential/SSH/shell-rc path": ["sed -i s/a/b/ ~/.bashrc"],
}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    return tmp_path / "hermes" / "config.yaml"


def left_out(source: Path) -> str:
    return "\n".join(plan_import(source, hermes.Config.load()).left_out)


def test_tool_search_settings_are_in_force_after_an_import(theirs: Path) -> None:
    write(theirs, "tools:\n  tool_search: {enabled: 'on', threshold_pct: 5, search_default_limit: 8}\n")
    assert main(["import-config", str(theirs)]) == 0
    with hermes.Session() as session:
        settings = session.search_config
    assert (settings.enabled, settings.threshold_pct, settings.search_default_limit) == ("on", 5, 8)


@pytest.mark.parametrize(("raw", "mode"), [("true", "auto"), ("false", "off")])
def test_a_boolean_for_tool_search_keeps_its_meaning(theirs: Path, raw: str, mode: str) -> None:
    write(theirs, f"tools:\n  tool_search: {raw}\n")
    main(["import-config", str(theirs)])
    with hermes.Session() as session:
        assert session.search_config.enabled == mode


def test_our_own_search_settings_stay_where_theirs_say_nothing(theirs: Path, home: Path) -> None:
    write(home / "config.yaml", "tools:\n  tool_search:\n    search_default_limit: 9\n")
    write(theirs, "tools:\n  tool_search: {enabled: 'off'}\n")
    main(["import-config", str(theirs)])
    assert hermes.Config.load().get("tools.tool_search") == {"search_default_limit": 9, "enabled": "off"}


def test_a_search_setting_out_of_range_is_carried_over_as_it_is_in_force_and_named(theirs: Path) -> None:
    write(theirs, "tools:\n  tool_search: {max_search_limit: 99, colour: red}\n")
    assert "max_search_limit: 99 is outside" in left_out(theirs)
    assert "colour" in left_out(theirs)
    main(["import-config", str(theirs)])
    assert hermes.Config.load().get("tools.tool_search") == {"max_search_limit": 50}


@pytest.mark.parametrize("counterpart", COUNTERPARTS, ids=lambda part: "+".join(part.rules))
def test_what_was_approved_there_runs_without_a_question_here(counterpart, theirs: Path) -> None:
    granted = [next(name for name in sorted(group) if name in APPROVED_WITH) for group in counterpart.needs]
    write(theirs, "command_allowlist:\n" + "".join(f"- '{name}'\n" for name in granted))
    plan = plan_import(theirs, hermes.Config.load())
    carried = set(plan.settings["command_allowlist"])
    assert carried == set(counterpart.rules)
    commands = [command for name in granted for command in APPROVED_WITH[name]]
    assert commands
    unanswered = {command: assess(command).rules - carried for command in commands}
    assert not any(unanswered.values()), unanswered


@pytest.mark.parametrize(
    "counterpart", [part for part in COUNTERPARTS if len(part.needs) > 1], ids=lambda part: part.rules[0]
)
def test_half_of_what_a_rule_asks_about_approves_nothing(counterpart, theirs: Path) -> None:
    first = min(counterpart.needs[-1])
    write(theirs, f"command_allowlist: ['{first}']\n")
    plan = plan_import(theirs, hermes.Config.load())
    assert not plan.settings
    assert "which would also approve" in plan.left_out[0]


def test_every_rule_that_the_table_names_exists() -> None:
    from hermes_nb.approval.rules import RULES

    named = {rule for part in COUNTERPARTS for rule in part.rules} | set(WIDER.values())
    assert named <= RULES.keys()
    assert all(RULES[rule].verdict == "ask" for rule in named)


@pytest.mark.parametrize(
    "command",
    [
        "rm /srv/old.txt",
        "dd if=a.img of=b.img",
        "echo A=1 > .env",
        "docker stop web",
        "bash <<E\nls\nE",
        "chmod +x a && ./a",
    ],
)
def test_nothing_here_asks_about_what_is_called_unasked(command: str) -> None:
    assert UNASKED
    assert assess(command).verdict == "allow"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("fork bomb", "never allowed"),
        ("pipe remote content to shell", "covers much more"),
        ("disk copy", "nothing to approve"),
        ("plugin_rule:deploy", "plugins"),
        (r"rm\s+--recursive", "older versions"),
        ("kill hermes/gateway process (self-termination)", "own processes"),
        ("make a; make b", "more than one command"),
        ("podman *", "a pattern"),
    ],
)
def test_an_approval_that_cannot_be_carried_over_is_named_with_its_reason(
    entry: str, reason: str, theirs: Path
) -> None:
    write(theirs, f"command_allowlist: ['{entry}']\n")
    plan = plan_import(theirs, hermes.Config.load())
    assert not plan.settings
    assert entry in plan.left_out[0].replace("\\\\", "\\")
    assert reason in plan.left_out[0]


def test_a_command_that_was_approved_by_its_text_runs_and_no_other(theirs: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    write(theirs, f"command_allowlist: ['rm -rf {victim}']\n")
    main(["import-config", str(theirs)])
    with hermes.Session(approver=NobodyApprover()) as session:
        denied = session.call("terminal", {"command": f"rm -rf {victim}; rm -rf {tmp_path}/x"})
        assert denied.outcome == "denied"
        assert session.call("terminal", {"command": f"rm -rf {victim}"}).ok
    assert not victim.exists()


def test_mcp_servers_are_named_without_their_secrets(theirs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(theirs, "mcp_servers:\n  github: {command: npx, env: {TOKEN: very-secret-value}}\n")
    assert main(["import-config", str(theirs)]) == 0
    shown = capsys.readouterr().out
    assert "mcp_servers, github: this version attaches no MCP servers" in shown
    assert "very-secret-value" not in shown


def test_the_comments_of_our_file_survive(theirs: Path, home: Path) -> None:
    comments = ["# mine", "# how many", "# tidy up", "# last"]
    ours = (
        "{0}\ntools:\n  tool_search:\n    search_default_limit: 7  {1}\ncommand_allowlist:\n- find-delete  {2}\n{3}\n"
    )
    write(home / "config.yaml", ours.format(*comments))
    write(theirs, "tools: {tool_search: {enabled: 'on'}}\ncommand_allowlist: [recursive delete]\n")
    main(["import-config", str(theirs)])
    text = (home / "config.yaml").read_text()
    assert [comment for comment in comments if comment not in text] == []
    assert hermes.Config.load().get("command_allowlist") == ["find-delete", "delete-recursive", "delete-forced"]


def test_a_dry_run_shows_the_changes_and_writes_nothing(
    theirs: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(theirs, "command_allowlist: [recursive delete]\n")
    assert main(["import-config", "--dry-run", str(theirs)]) == 0
    assert "command_allowlist: + delete-recursive" in capsys.readouterr().out
    assert not (home / "config.yaml").exists()


def test_a_second_import_changes_nothing(theirs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(theirs, "tools: {tool_search: {threshold_pct: 5}}\ncommand_allowlist: [recursive delete, make x]\n")
    main(["import-config", str(theirs)])
    capsys.readouterr()
    main(["import-config", str(theirs)])
    assert "nothing to change" in capsys.readouterr().out


@pytest.mark.parametrize("variable", ["HERMES_HOME", "HOME"])
def test_the_file_is_found_where_hermes_agent_keeps_it(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.delenv("HERMES_HOME", raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    write(
        tmp_path / ("" if variable == "HERMES_HOME" else ".hermes") / "config.yaml",
        "command_allowlist: [find -delete]\n",
    )
    assert main(["import-config"]) == 0
    assert hermes.Config.load(home / "config.yaml").get("command_allowlist") == ["find-delete"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "can't be read"),
        ("- a\n- b\n", "no mapping"),
        ("a: [", "not valid YAML"),
        ("a: !!python/object/apply:os.system ['touch pwned']", "not valid YAML"),
    ],
)
def test_a_file_that_cannot_be_used_is_a_message_and_changes_nothing(
    text: str | None, complaint: str, theirs: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        write(theirs, text)
    assert main(["import-config", str(theirs)]) == 1
    assert complaint in capsys.readouterr().err
    assert not (home / "config.yaml").exists()
    assert not Path("pwned").exists()


def test_a_broken_config_of_ours_is_left_as_it_is(theirs: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(home / "config.yaml", "a: [")
    write(theirs, "command_allowlist: [find -delete]\n")
    assert main(["import-config", str(theirs)]) == 1
    assert "correct it first" in capsys.readouterr().err
    assert (home / "config.yaml").read_text() == "a: ["
