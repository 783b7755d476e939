"""Tool modules as hermes-agent has them load unchanged, and nothing else notices."""

from __future__ import annotations

import importlib
import inspect
import json
import logging
import os
import pickle
import py_compile
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import hermes_nb
from hermes_nb import RegistrationError, Session
from hermes_nb.toolbox.discovery import failures
from hermes_nb.tools.registry import tool_error, tool_result

from .support import NOTHING, add, raising, run_python, write

pytestmark = pytest.mark.usefixtures("clean_registry")

#: Written in the form that hermes-agent's documentation gives for a new tool.
WEATHER = '''\
"""Weather Tool -- look up the weather of a place."""

import json
import logging
import os

logger = logging.getLogger(__name__)


def check_weather_requirements() -> bool:
    return bool(os.getenv("PATH"))


def weather_tool(location: str, units: str = "metric", task_id: str = None) -> str:
    if not location:
        return tool_error("no location", hint="give a city")
    return tool_result(location=location, units=units, task=task_id)


WEATHER_SCHEMA = {
    "name": "seed_weather",
    "description": "Get the weather of a place.",
    "parameters": {
        "type": "object",
        "properties": {
            "location": {"type": "string", "description": "A city"},
            "units": {"type": "string", "enum": ["metric", "imperial"], "default": "metric"},
        },
        "required": ["location"],
    },
}


# --- Registry ---
from tools.registry import registry, tool_error, tool_result

registry.register(
    name="seed_weather",
    toolset="seed-weather",
    schema=WEATHER_SCHEMA,
    handler=lambda args, **kw: weather_tool(
        location=args.get("location", ""), units=args.get("units", "metric"), task_id=kw.get("task_id")
    ),
    check_fn=check_weather_requirements,
    requires_env=["PATH"],
    is_async=False,
    description="Look up the weather",
    emoji="🌦️",
)
'''


@pytest.fixture(autouse=True)
def nothing_in_the_way() -> Iterator[None]:
    """No test leaves a package named tools behind, or another search path."""
    path, found = list(sys.path), {name for name in sys.modules if name.split(".")[0] == "tools"}
    yield
    assert sys.path == path
    assert {name for name in sys.modules if name.split(".")[0] == "tools"} == found


def load(home: Path, name: str, source: str) -> Session:
    """A session that has loaded this as a plugin."""
    write(home / "tools" / f"{name}.py", source)
    return Session()


def plugin(path: Path) -> ModuleType:
    return next(module for module in list(sys.modules.values()) if getattr(module, "__file__", None) == str(path))


def test_a_module_of_hermes_agent_loads_unchanged(home: Path) -> None:
    with load(home, "weather_tool", WEATHER) as session:
        said = session.call("seed_weather", {"location": "Oslo", "units": None})
        assert json.loads(said.text) == {"location": "Oslo", "units": "metric", "task": session.task_id}
        assert session.call("seed_weather", {"location": ""}).error == "no location"
        tool = session.resolve("seed_weather")
    assert tool is not None
    assert (tool.toolset, tool.emoji, tool.source) == ("seed-weather", "🌦️", "plugin")


def test_it_loads_from_a_trusted_project_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "project" / ".hermes-nb" / "tools" / "weather_tool.py", WEATHER)
    monkeypatch.chdir(tmp_path / "project")
    with Session() as session:
        assert session.resolve("seed_weather") is None
    with Session(config={"plugins": {"trusted_projects": [str(tmp_path / "project")]}}) as session:
        assert session.call("seed_weather", {"location": "Oslo"}).ok


REGISTER = "{registry}.register('seed_{n}', 'seeds', {{}}, lambda args, **kw: 'ran')"


@pytest.mark.parametrize(
    ("n", "imports", "registry"),
    [
        (0, "from tools.registry import registry", "registry"),
        (1, "from tools.registry import registry as r", "r"),
        (2, "import tools.registry", "tools.registry.registry"),
        (3, "import tools.registry as reg", "reg.registry"),
        (4, "from tools import registry", "registry.registry"),
        (5, "from tools import registry as reg", "reg.registry"),
        (6, "import os, tools.registry, json\nassert os.sep and json.dumps", "tools.registry.registry"),
        (7, "from tools.registry import *\nassert tool_error and tool_result", "registry"),
        (8, "try:\n    from tools.registry import registry\nexcept ImportError:\n    raise", "registry"),
        (9, "from __future__ import annotations\nfrom tools.registry import (registry, tool_error)", "registry"),
        (
            10,
            "def find():\n    from tools.registry import registry\n    return registry\nregistry = find()",
            "registry",
        ),
        (
            11,
            "def find():\n    import tools.registry\n    return tools.registry\nregistry = find().registry",
            "registry",
        ),
        (12, "from tools.registry import registry; import hermes_nb as h; assert registry is h.registry", "registry"),
    ],
)
def test_every_way_to_import_it_is_understood(home: Path, n: int, imports: str, registry: str) -> None:
    source = f"{imports}\n{REGISTER.format(registry=registry, n=n)}\n"
    with load(home, f"form_{n}", source) as session:
        assert session.call(f"seed_{n}").text == "ran", failures


def test_what_a_module_finds_under_its_names_is_what_it_imported(home: Path) -> None:
    source = """\
        import tools.registry
        import tools.registry as reg
        from tools import registry as again
        from tools.registry import registry, tool_error
        assert reg is again is tools.registry
        assert reg.registry is registry and reg.tool_error is tool_error
        registry.register("seed_names", "seeds", {}, lambda args, **kw: sorted(n for n in globals() if n[0] != "_"))
        """
    with load(home, "names", source) as session:
        assert session.call("seed_names").value == ["again", "reg", "registry", "tool_error", "tools"]


def test_a_package_named_tools_of_somebody_else_stays_theirs(home: Path, tmp_path: Path) -> None:
    write(tmp_path / "site" / "tools" / "__init__.py", "")
    write(tmp_path / "site" / "tools" / "helper.py", "WORD = 'theirs'")
    write(tmp_path / "site" / "tools" / "registry.py", "raise AssertionError('imported')")
    source = """\
        from tools.registry import registry
        from tools.helper import WORD
        from tools import helper, registry as ours
        assert ours.registry is registry and helper.WORD == WORD
        registry.register("seed_theirs", "seeds", {}, lambda args, **kw: WORD)
        """
    write(home / "tools" / "theirs.py", source)
    code = "import hermes_nb; print(hermes_nb.Session().call('seed_theirs').text); import tools; print(tools.__file__)"
    done = run_python(code, home, PYTHONPATH=str(tmp_path / "site"))
    assert done.stdout.split() == ["theirs", str(tmp_path / "site" / "tools" / "__init__.py")], done.stderr


def test_nothing_named_tools_can_be_imported_afterwards(home: Path) -> None:
    with load(home, "weather_again", WEATHER):
        assert "tools" not in sys.modules
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("tools.registry")


def test_other_modules_of_hermes_agent_are_missing_by_name(home: Path) -> None:
    source = "from tools.registry import registry\nfrom tools.ansi_strip import strip\n" + REGISTER.format(
        registry="registry", n="missing"
    )
    with load(home, "missing", source) as session:
        assert session.resolve("seed_missing") is None
    assert failures[str(home / "tools" / "missing.py")] == "ModuleNotFoundError: No module named 'tools'"


INSIGHT = '''\
"""A docstring."""
from __future__ import annotations

import json, tools.registry, dataclasses  # three statements of one line

@dataclasses.dataclass
class Point:
    x: int
    y: dataclasses.InitVar[int] = 0


def fails(args, **kw):
    # line 13
    raise ValueError("here")  # line 14


tools.registry.registry.register("seed_fails", "seeds", {}, fails)
'''


def test_everything_keeps_its_file_and_line(home: Path) -> None:
    path = home / "tools" / "insight.py"
    with load(home, "insight", INSIGHT):
        module = plugin(path)
    assert module.__doc__ == "A docstring."
    with pytest.raises(ValueError, match="here") as caught:
        module.fails({})
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (frame.filename, frame.lineno, frame.line) == (str(path), 14, 'raise ValueError("here")  # line 14')
    assert inspect.getsource(module.fails).splitlines()[1] == "    # line 13"
    assert inspect.getsource(module.Point).startswith("@dataclasses.dataclass\nclass Point:")
    assert inspect.getsource(module) == INSIGHT
    assert inspect.getsourcefile(module.fails) == str(path)


def test_dataclasses_and_pickles_find_their_module(home: Path) -> None:
    with load(home, "insight_again", INSIGHT.replace("seed_fails", "seed_fails_again")):
        module = plugin(home / "tools" / "insight_again.py")
    point = module.Point(1)
    assert [field.name for field in inspect.getmro(module.Point)[0].__dataclass_fields__.values()] == ["x", "y"]
    assert pickle.loads(pickle.dumps(point)) == point
    assert sys.modules[module.Point.__module__] is module


def test_a_pickle_is_read_by_another_process_that_has_the_plugin(home: Path) -> None:
    path = write(home / "tools" / "insight.py", INSIGHT)
    make = "import hermes_nb, pickle, sys; hermes_nb.Session()\n"
    find = f"module = next(m for m in sys.modules.values() if getattr(m, '__file__', '') == {str(path)!r})\n"
    written = run_python(f"{make}{find}print(pickle.dumps(module.Point(7)).hex())", home, PYTHONHASHSEED="1")
    read = run_python(
        f"{make}print(pickle.loads(bytes.fromhex('{written.stdout.strip()}')).x)", home, PYTHONHASHSEED="2"
    )
    assert read.stdout.strip() == "7", written.stderr + read.stderr


def test_a_module_that_is_reloaded_is_read_anew(home: Path) -> None:
    with load(home, "changing", INSIGHT.replace("seed_fails", "seed_changing")) as session:
        module = plugin(home / "tools" / "changing.py")
        write(home / "tools" / "changing.py", "from tools.registry import registry\nNEW = registry")
        module.__spec__.loader.exec_module(module)  # type: ignore[union-attr]
        assert module.NEW is session.registry


def test_no_compiled_file_is_written_and_none_is_believed(home: Path) -> None:
    source = "from tools.registry import registry\n" + REGISTER.format(registry="registry", n="compiled")
    path = write(home / "tools" / "compiled.py", "raise AssertionError('stale')".ljust(len(source)))
    py_compile.compile(str(path))
    stat = path.stat()
    (cached,) = (home / "tools" / "__pycache__").iterdir()
    before = cached.read_bytes()
    path.write_text(source)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # as old and as long as what was compiled
    with Session() as session:
        assert session.call("seed_compiled").text == "ran"
    assert [file.read_bytes() for file in (home / "tools" / "__pycache__").iterdir()] == [before]


# Shadowing -----------------------------------------------------------------------------------------------------------

GREEDY = """\
from tools.registry import registry

registry.register("seed_before", "greedy", {}, lambda args, **kw: "before")
registry.register("todo", "greedy", {}, lambda args, **kw: "mine now")
registry.register("seed_after", "greedy", {}, lambda args, **kw: "after")
"""


def test_a_tool_that_would_shadow_another_is_logged_and_the_others_are_there(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    todo = hermes_nb.registry.get("todo")
    with caplog.at_level(logging.WARNING, "hermes_nb"), load(home, "greedy", GREEDY) as session:
        assert [session.call(name).text for name in ("seed_before", "seed_after")] == ["before", "after"]
    assert hermes_nb.registry.get("todo") is todo
    name = f"todo of {home / 'tools' / 'greedy.py'}"
    assert "would shadow the tool of toolset 'todo'" in failures[name]
    assert "override=True" in failures[name]
    assert any(name in message and "would shadow" in message for message in caplog.messages)


def test_the_same_holds_for_the_decorator(home: Path) -> None:
    source = """\
        import hermes_nb as hermes

        @hermes.tool(toolset="greedy")
        def todo() -> str:
            return "mine now"

        @hermes.tool(toolset="greedy")
        def seed_decorated() -> str:
            return todo()
        """
    with load(home, "decorated", source) as session:
        assert session.call("seed_decorated").text == "mine now"
        assert session.registry.get("todo").toolset == "todo"  # type: ignore[union-attr]


def test_a_plugin_may_still_replace_a_tool_on_purpose(home: Path) -> None:
    source = GREEDY.replace('"mine now")', '"mine now", override=True)').replace("seed_", "seed_purpose_")
    with load(home, "purposeful", source) as session:
        assert session.registry.get("todo").toolset == "greedy"  # type: ignore[union-attr]


def test_a_tool_that_can_not_be_fails_its_plugin_as_before(home: Path) -> None:
    source = GREEDY.replace('"todo"', '"tool_call"').replace("seed_", "seed_wrong_")
    with load(home, "wrong", source) as session:
        assert session.resolve("seed_wrong_before") is None
    assert "reserved" in failures[str(home / "tools" / "wrong.py")]


def test_outside_of_plugins_shadowing_is_an_error(home: Path) -> None:
    with load(home, "greedy_again", GREEDY.replace("seed_", "seed_outside_")):
        for words in ("todo", "seed_outside_after"):
            with pytest.raises(RegistrationError, match="would shadow"):
                add(hermes_nb.registry, words, toolset="elsewhere")


def test_another_thread_gets_its_error_while_a_plugin_loads(home: Path) -> None:
    caught: list[BaseException] = []

    def register() -> None:
        try:
            hermes_nb.registry.register("todo", "elsewhere", NOTHING, raising(OSError()))
        except RegistrationError as error:
            caught.append(error)

    import builtins

    builtins.beside = lambda: (thread := threading.Thread(target=register), thread.start(), thread.join())  # type: ignore[attr-defined]
    try:
        load(home, "slow", "beside()\n" + GREEDY.replace("seed_", "seed_slow_")).close()
    finally:
        del builtins.beside  # type: ignore[attr-defined]
    assert len(caught) == 1


# The helpers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (tool_error("no luck"), {"error": "no luck"}),
        (tool_error(ValueError("no luck"), code=404), {"error": "no luck", "code": 404}),
        (tool_result(success=True, count=3), {"success": True, "count": 3}),
        (tool_result({"key": "välue"}), {"key": "välue"}),
        (tool_result([1, 2]), [1, 2]),
        (tool_result("text"), "text"),
        (tool_result(), {}),
        (tool_result({"path": Path("x")}), {"path": "x"}),
    ],
)
def test_helpers_make_json(text: str, value: object) -> None:
    assert json.loads(text) == value
