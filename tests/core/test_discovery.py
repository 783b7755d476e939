"""Finding tools: what is read, what is imported, and what a broken plugin can not do."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import hermes_nb
from hermes_nb import Session
from hermes_nb.toolbox.discovery import discover_builtin_tools, failures, registers_tools

from .support import run_python, write

TOOL = """
import hermes_nb as hermes

@hermes.tool(toolset="mine")
def {name}() -> str:
    return "{name}"
"""


pytestmark = pytest.mark.usefixtures("clean_registry")


@pytest.mark.parametrize(
    "source",
    [
        "registry.register(name='x')",
        "hermes.registry.register(name='x')",
        "import a\nx = 1\nregistry.register(\n  name='x')",
        "@tool\ndef f(): ...",
        "@tool(toolset='x')\ndef f(): ...",
        "@hermes.tool(toolset='x')\nasync def f(): ...",
        "@other\n@hermes.tool\ndef f(): ...",
        "from tools.registry import registry as r\nr.register(name='x')",
        "from hermes_nb import registry as r\nr.register(name='x')",
        "try:\n    from tools.registry import registry as r\nexcept ImportError: pass\nr.register(name='x')",
        "import tools.registry as reg\nreg.registry.register(name='x')",
        "import tools.registry\ntools.registry.registry.register(name='x')",
    ],
)
def test_a_top_level_registration_is_seen(tmp_path: Path, source: str) -> None:
    assert registers_tools(write(tmp_path / "m.py", source))


@pytest.mark.parametrize(
    "source",
    [
        "",
        "def f():\n    registry.register(name='x')",
        "class C:\n    registry.register(name='x')",
        "def f():\n    @tool\n    def g(): ...",
        "lambda: registry.register(name='x')",
        "'''registry.register(name=1)'''",
        "# registry.register(name=1)",
        "atexit.register(f)",
        "other.register(name='x')",
        "from elsewhere import registry as r\nr.register(name='x')",
        "from tools.registry import registry as r\nother.register(name='x')",
        "registry.register",
        "@toolbox\ndef f(): ...",
        "from x import tool",
    ],
)
def test_anything_else_is_not(tmp_path: Path, source: str) -> None:
    assert not registers_tools(write(tmp_path / "m.py", source))


def test_a_file_is_read_by_its_own_encoding(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_bytes("# -*- coding: latin-1 -*-\nx = 'é'\n@tool\ndef f(): ...".encode("latin-1"))
    assert registers_tools(path)


@pytest.mark.parametrize("source", [b"def broken(", b"\xff\xfe\x00", b"x = 1\0", b"(" * 10_000])
def test_a_file_that_is_no_python_is_named_and_stops_nothing(tmp_path: Path, source: bytes) -> None:
    path = tmp_path / "m.py"
    path.write_bytes(source)
    assert not registers_tools(path)
    assert str(path) in failures


def test_the_built_in_tools_are_found_by_the_scan() -> None:
    assert "hermes_nb.tools.agent" in discover_builtin_tools()
    assert hermes_nb.registry.get("todo") is not None


def test_tools_of_the_users_folder_are_there(home: Path) -> None:
    write(home / "tools" / "one.py", TOOL.format(name="from_user_folder"))
    with Session() as session:
        assert session.call("from_user_folder").value == "from_user_folder"


def test_helpers_in_the_folder_are_not_imported(home: Path) -> None:
    write(home / "tools" / "helper.py", "raise AssertionError('imported')")
    with Session():
        assert not any("helper" in name for name in failures)


def test_a_broken_plugin_is_named_and_stops_no_other(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    broken = write(home / "tools" / "a_broken.py", TOOL.format(name="half_done") + "\nraise OSError('no luck')")
    leaving = write(home / "tools" / "b_leaving.py", TOOL.format(name="left") + "\nimport sys; sys.exit(3)")
    write(home / "tools" / "c_fine.py", TOOL.format(name="still_fine"))
    with caplog.at_level(logging.WARNING, "hermes_nb"), Session() as session:
        assert session.call("still_fine").ok
        assert failures[str(broken)] == "OSError: no luck"
        assert failures[str(leaving)] == "SystemExit: 3"
        assert any(str(broken) in message for message in caplog.messages)
        assert session.call("half_done").outcome == "unknown", "a broken plugin leaves no tool behind"


def test_a_broken_plugin_gives_back_what_it_had_replaced(home: Path) -> None:
    before = hermes_nb.registry.get("todo")
    source = TOOL.format(name="todo").replace('"mine"', '"mine", override=True') + "\nraise OSError"
    write(home / "tools" / "greedy.py", source)
    with Session():
        assert hermes_nb.registry.get("todo") is before


def test_a_plugin_is_loaded_once(home: Path) -> None:
    write(
        home / "tools" / "counting.py",
        "import builtins\nbuiltins.loads = getattr(builtins, 'loads', 0) + 1\n" + TOOL.format(name="counted"),
    )
    with Session(), Session():
        import builtins

        assert builtins.loads == 1  # type: ignore[attr-defined]
        del builtins.loads  # type: ignore[attr-defined]


def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> Path:
    folder = tmp_path / "project"
    write(folder / ".hermes-nb" / "tools" / "mine.py", TOOL.format(name=name))
    monkeypatch.chdir(folder)
    return folder


def test_a_projects_folder_is_not_loaded_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, monkeypatch, "untrusted_tool")
    with Session() as session:
        assert session.call("untrusted_tool").outcome == "unknown"


def test_a_projects_folder_is_loaded_once_the_user_trusts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project(tmp_path, monkeypatch, "trusted_tool")
    with Session(config={"plugins": {"trusted_projects": [str(folder)]}}) as session:
        assert session.call("trusted_tool").ok


def test_trusting_one_project_trusts_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, monkeypatch, "other_tool")
    with Session(config={"plugins": {"trusted_projects": [str(tmp_path), str(tmp_path / "project2")]}}) as session:
        assert session.call("other_tool").outcome == "unknown"


def test_a_config_of_the_project_itself_can_not_trust_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project(tmp_path, monkeypatch, "self_trusting")
    write(folder / ".hermes-nb" / "config.yaml", f"plugins:\n  trusted_projects: ['{folder}']\n")
    with Session() as session:
        assert session.call("self_trusting").outcome == "unknown"


def test_a_session_of_another_registry_loads_no_plugins(home: Path) -> None:
    write(home / "tools" / "one.py", "raise AssertionError\n" + TOOL.format(name="never"))
    with Session(registry=hermes_nb.Registry()):
        assert str(home / "tools" / "one.py") not in failures


def test_installed_plugins_are_found_by_their_entry_point(tmp_path: Path, home: Path) -> None:
    write(tmp_path / "site" / "good_plugin.py", TOOL.format(name="from_entry_point"))
    write(
        tmp_path / "site" / "plugins-1.0.dist-info" / "entry_points.txt",
        """\
        [hermes_nb.tools]
        bad = no_such_module
        good = good_plugin
        """,
    )
    write(
        tmp_path / "site" / "plugins-1.0.dist-info" / "METADATA", "Metadata-Version: 2.1\nName: plugins\nVersion: 1\n"
    )
    code = (
        "import hermes_nb; from hermes_nb.toolbox.discovery import failures; s = hermes_nb.Session();"
        "print(s.call('from_entry_point').text, [name for name in failures if 'bad' in name])"
    )
    done = run_python(code, home, PYTHONPATH=str(tmp_path / "site"))
    assert done.stdout.strip() == "from_entry_point ['plugin bad (no_such_module)']", done.stderr


def test_threads_that_come_first_wait_for_the_built_in_tools(home: Path) -> None:
    code = """
import threading, hermes_nb
barrier, seen = threading.Barrier(8), []
def look():
    barrier.wait()
    seen.append(hermes_nb.registry.get("todo") is not None)
threads = [threading.Thread(target=look) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(all(seen))
"""
    assert run_python(code, home).stdout.strip() == "True"
