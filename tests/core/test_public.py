"""What others rely on: the public names, a cheap import, and the façade with the older function names."""

from __future__ import annotations

import gc
import inspect
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hermes_nb as hermes
from hermes_nb import UnknownToolsetError, default_sessions, errors
from hermes_nb.model_tools import get_tool_definitions, handle_function_call

from ..parts import missing
from .support import add, run_python

SECRET = "ghp_" + "a1B2" * 9


def test_the_public_names_are_these() -> None:
    assert sorted(hermes.__all__) == [
        *("ApprovalView", "Approver", "Config", "ConfigError", "Context", "Decision", "HermesError", "Journal"),
        *("RegistrationError", "Registry", "Session", "Tool", "ToolCallError", "ToolError", "ToolResult"),
        *("UnknownToolError", "UnknownToolsetError", "register_secret", "registry", "replay", "tool"),
    ]
    assert all(hasattr(hermes, name) for name in hermes.__all__)


def test_every_public_name_is_documented() -> None:
    for name in hermes.__all__:
        assert inspect.getdoc(getattr(hermes, name)), name


def test_every_error_is_a_hermes_error_and_drawn_in_the_tree() -> None:
    classes = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)]
    for error in classes:
        assert issubclass(error, hermes.HermesError)
        assert error.__name__ in (errors.__doc__ or "")


HEAVY = (
    "docker",
    "paramiko",
    "modal",
    "daytona",
    "mcp",
    "openai",
    "numpy",
    "IPython",
    "ipywidgets",
    "anywidget",
    "pydantic",
    "rank_bm25",
    "tree_sitter",
    "ruamel",
    "jupyter_client",
)


def test_importing_loads_no_sdk_and_no_widgets(home: Path) -> None:
    code = f"import sys, hermes_nb; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run_python(code, home).stdout.strip() == "[]"


def test_a_session_and_a_call_load_none_either(home: Path) -> None:
    code = (
        "import sys, hermes_nb; r = hermes_nb.Registry(); r.register('t', 'x', {}, lambda args: 1);"
        "s = hermes_nb.Session(registry=r); assert s.call('t').ok; s.definitions(assembled=False);"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = run_python(code, home)
    assert done.stdout.strip() == "[]", done.stderr


def test_importing_writes_nothing(home: Path) -> None:
    run_python("import hermes_nb; hermes_nb.registry.get('todo')", home)
    assert not home.exists()


@pytest.fixture
def facade_tools() -> Iterator[None]:
    """Two tools in the process's registry."""
    add(hermes.registry, "facade_echo", toolset="facade")
    add(
        hermes.registry,
        "facade_context",
        lambda args, **context: {k: str(v) for k, v in context.items()},
        toolset="facade",
    )
    yield
    hermes.registry.deregister("facade_echo")
    hermes.registry.deregister("facade_context")


def test_the_facade_has_the_older_signatures() -> None:
    assert list(inspect.signature(get_tool_definitions).parameters)[:3] == [
        *("enabled_toolsets", "disabled_toolsets", "quiet_mode"),
    ]
    assert list(inspect.signature(handle_function_call).parameters)[:4] == [
        *("function_name", "function_args", "task_id", "user_task"),
    ]


def test_the_facade_shows_definitions(facade_tools: None) -> None:
    shown = get_tool_definitions(["facade"], skip_tool_search_assembly=True)
    assert [entry["function"]["name"] for entry in shown] == ["facade_context", "facade_echo"]
    assert get_tool_definitions(["facade"], ["facade"]) == []


def test_the_facade_prints_only_when_asked(facade_tools: None, capsys: pytest.CaptureFixture[str]) -> None:
    get_tool_definitions(["facade"])
    assert capsys.readouterr().out == ""
    get_tool_definitions(["facade"], quiet_mode=False)
    assert "facade_echo" in capsys.readouterr().out


def test_the_facade_always_returns_a_text(facade_tools: None) -> None:
    assert handle_function_call("facade_echo", {"a": 1}) == '{"a":1}'
    assert json.loads(handle_function_call("no_such_tool_at_all"))["error"].startswith(
        "Unknown tool: no_such_tool_at_all"
    )


def test_the_facade_passes_the_task_on(facade_tools: None) -> None:
    seen = json.loads(handle_function_call("facade_context", {}, "task-7", "find it", tool_call_id="id"))
    assert (seen["task_id"], seen["user_task"], seen["tool_call_id"]) == ("task-7", "find it", "id")


def test_a_toolset_that_never_was_is_skipped_with_a_warning(
    facade_tools: None, caplog: pytest.LogCaptureFixture
) -> None:
    shown = get_tool_definitions(["facade", "terminl"], skip_tool_search_assembly=True)
    assert [entry["function"]["name"] for entry in shown] == ["facade_context", "facade_echo"]
    assert json.loads(handle_function_call("facade_echo", {}, enabled_toolsets=["facade", "terminl"])) == {}
    assert "'terminl'" in caplog.text
    assert "Did you mean terminal?" in caplog.text
    with pytest.raises(UnknownToolsetError):
        hermes.Session(enabled_toolsets=["facade", "terminl"])


def test_a_warning_of_a_missing_toolset_comes_once(facade_tools: None, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        get_tool_definitions(["facade", "gone-once"])
    assert caplog.text.count("'gone-once'") == 1


@pytest.mark.parametrize("enabled", [["gone"], ("gone", "never-was"), "gone", [], {"gone"}, [""]])
def test_nothing_is_enabled_where_no_toolset_is_left(facade_tools: None, enabled: Any) -> None:
    assert get_tool_definitions(enabled) == []
    assert "Unknown tool" in json.loads(handle_function_call("facade_echo", {}, enabled_toolsets=enabled))["error"]
    assert (
        "Unknown tool"
        in json.loads(handle_function_call("terminal", {"command": "true"}, enabled_toolsets=enabled))["error"]
    )


def test_a_toolset_that_goes_enables_nothing_and_is_enabled_again_when_it_comes_back() -> None:
    for _ in range(2):
        assert get_tool_definitions(["facade-server"]) == []
        add(hermes.registry, "facade_come_and_go", toolset="facade-server")
        try:
            assert len(get_tool_definitions(["facade-server"])) == 1
            assert handle_function_call("facade_come_and_go", {}, enabled_toolsets=["facade-server"]) == "{}"
        finally:
            hermes.registry.deregister("facade_come_and_go")


def test_a_toolset_that_was_disabled_before_it_came_is_disabled() -> None:
    def call() -> str:
        return handle_function_call("facade_late", {}, disabled_toolsets=["facade-late"])

    assert "Unknown tool" in call()
    kept = hermes.registry.default_sessions.get(disabled=["facade-late"])
    add(hermes.registry, "facade_late", toolset="facade-late")
    try:
        assert kept.resolve("facade_late") is None
        assert "Unknown tool" in call()
        assert all(e["function"]["name"] != "facade_late" for e in get_tool_definitions(None, ["facade-late"]))
    finally:
        hermes.registry.deregister("facade_late")


@pytest.mark.parametrize("toolsets", [5, [["nested"]], [None], object()])
def test_the_facade_never_raises_and_never_shows_more_for_it(
    facade_tools: None, toolsets: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert get_tool_definitions(toolsets) == []
    assert json.loads(handle_function_call("facade_echo", {}, enabled_toolsets=toolsets))["error"]
    assert json.loads(handle_function_call("facade_echo", {}, disabled_toolsets=[["nested"]]))["error"]
    assert caplog.text


@pytest.mark.parametrize(
    ("name", "args"), [(None, {}), (5, {}), ("facade_echo", [1]), ("facade_echo", "{"), ("", None)]
)
def test_the_facade_answers_whatever_it_is_asked(facade_tools: None, name: Any, args: Any) -> None:
    assert json.loads(handle_function_call(name, args))["error"]


def test_the_facade_answers_where_no_session_can_be_made(
    facade_tools: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: Any, **options: Any) -> None:
        raise OSError(f"no room for {SECRET}")

    monkeypatch.setattr("hermes_nb.default_sessions.Session", broken)
    assert get_tool_definitions(["facade"], ["broken"]) == []
    error = json.loads(handle_function_call("facade_echo", {}, "a-new-task"))["error"]
    assert error.startswith("Error executing facade_echo: no room for ")
    assert SECRET not in error
    assert "no room" in caplog.text


def test_the_facade_has_its_definitions_where_it_can_not_print(
    facade_tools: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stdout", closed)
    assert len(get_tool_definitions(["facade"], quiet_mode=False)) == 2


def test_one_toolset_may_be_given_as_a_text(facade_tools: None) -> None:
    assert get_tool_definitions("facade") == get_tool_definitions(["facade"])


def test_ever_new_tasks_do_not_pile_up_open_files(facade_tools: None, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/proc/self/fd").exists():
        missing("there is no /proc here")
    monkeypatch.setattr(default_sessions, "KEPT", 5)
    for number in range(10):
        handle_function_call("facade_echo", {}, f"pile-{number}")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(20):
        handle_function_call("facade_echo", {}, f"more-{number}")
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_ever_new_tasks_do_not_pile_up_anything_else(
    registry: hermes.Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(default_sessions, "KEPT", 20)

    def journals() -> int:
        gc.collect()
        return sum(isinstance(found, hermes.Journal) for found in gc.get_objects())

    add(registry, "t")
    for number in range(20):
        registry.dispatch("t", {}, task_id=f"pile-{number}")
    before = journals()
    for number in range(30):
        registry.dispatch("t", {}, task_id=f"more-{number}", enabled_toolsets=["test", "gone"])
    assert journals() <= before
