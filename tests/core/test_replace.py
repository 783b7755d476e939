"""Replacing all tools of a toolset at once, as when a server's list has changed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest

from hermes_nb import RegistrationError, Registry, Session, Tool
from hermes_nb.toolbox.registry import Changes

from .support import NOTHING, add, shown


def handle(args: Any) -> str:
    return "handled"


def server_tool(name: str, toolset: str = "mcp-s", description: str = "Does things", **fields: Any) -> Tool:
    options = {"parameters": NOTHING, "handler": handle, **fields}
    return Tool(name=name, toolset=toolset, description=description, **options)


def server_tools(names: Iterable[str], **fields: Any) -> list[Tool]:
    return [server_tool(name, **fields) for name in names]


def test_unknown_ones_go_new_ones_come_and_others_stay(registry: Registry) -> None:
    mine = add(registry, "mine")
    assert registry.replace("mcp-s", server_tools("abc")) == Changes(("a", "b", "c"), (), ())
    kept = registry.get("b")
    changes = registry.replace("mcp-s", [server_tool("b"), server_tool("c", description="New"), server_tool("d")])
    assert changes == (("d",), ("a",), ("c",))
    assert set(registry.snapshot.tools) == {"mine", "b", "c", "d"}
    assert registry.get("b") is kept
    assert registry.get("mine") is mine
    assert registry.get("c").description == "New"  # type: ignore[union-attr]


def test_it_is_one_change(registry: Registry) -> None:
    registry.replace("mcp-s", server_tools("abc"))
    before = registry.generation
    registry.replace("mcp-s", server_tools("cde"))
    assert registry.generation == before + 1


def test_the_same_tools_again_change_nothing(registry: Registry) -> None:
    registry.replace("mcp-s", server_tools("abc"))
    before = registry.snapshot
    assert registry.replace("mcp-s", server_tools("cab")) == Changes((), (), ())
    assert registry.snapshot is before


@pytest.mark.parametrize(
    "fields",
    [
        {"description": "Other"},
        {"parameters": {"type": "object", "properties": {"n": {"default": True}}}},
        {"handler": partial(handle)},
        {"emoji": "🐙"},
        {"parallel": True},
        {"deferrable": False},
        {"requires_env": ("X",)},
        {"check_fn": bool},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_whatever_is_declared_differently_makes_it_another_tool(registry: Registry, fields: dict[str, Any]) -> None:
    one = {"type": "object", "properties": {"n": {"default": 1}}}
    registry.replace("mcp-s", [server_tool("a", parameters=one)])
    new = server_tool("a", **{"parameters": one, **fields})
    assert registry.replace("mcp-s", [new]).changed == ("a",)
    assert registry.get("a") is new


def test_no_tools_empty_the_toolset(registry: Registry) -> None:
    registry.replace("mcp-s", server_tools("ab"))
    assert registry.replace("mcp-s", []).removed == ("a", "b")
    assert "mcp-s" not in registry.toolset_names()
    assert registry.replace("mcp-s", []) == Changes((), (), ())


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([server_tool("fine"), server_tool("mine")], "shadow"),
        ([server_tool("fine"), server_tool("tool_call")], "reserved"),
        ([server_tool("fine"), server_tool("not a name")], "64 letters"),
        ([server_tool("fine"), server_tool("fine")], "twice"),
        ([server_tool("fine"), server_tool("x", toolset="mcp-other")], "belongs to 'mcp-other'"),
        ([server_tool("fine"), server_tool("x", parameters={"type": "nonsense"})], "JSON schema"),
    ],
)
def test_one_that_can_not_be_leaves_all_as_it_was(
    registry: Registry, tools: list[Tool], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    add(registry, "mine")
    registry.replace("mcp-s", server_tools("ab"))
    before = registry.snapshot
    with caplog.at_level(logging.DEBUG, "hermes_nb"), pytest.raises(RegistrationError, match=words):
        registry.replace("mcp-s", tools)
    assert registry.snapshot is before
    assert not caplog.messages


def test_tools_that_can_not_be_read_to_the_end_change_nothing(registry: Registry) -> None:
    def broken() -> Iterable[Tool]:
        yield server_tool("new")
        raise ConnectionError("lost")

    registry.replace("mcp-s", server_tools("ab"))
    with pytest.raises(ConnectionError):
        registry.replace("mcp-s", broken())
    assert set(registry.snapshot.tools) == {"a", "b"}


def test_another_toolsets_tool_is_replaced_on_purpose_or_between_servers(registry: Registry) -> None:
    add(registry, "mine")
    registry.replace("mcp-t", server_tools("ab", toolset="mcp-t"))
    assert registry.replace("mcp-s", server_tools("bc")) == (("c",), (), ("b",))
    assert registry.replace("mcp-s", server_tools(["b", "c", "mine"]), override=True).changed == ("mine",)
    assert {tool.toolset for tool in registry.snapshot.ordered} == {"mcp-t", "mcp-s"}


def test_a_dropped_check_is_asked_anew_when_it_comes_back(registry: Registry, session: Session) -> None:
    asked: list[str] = []

    def slow() -> bool:
        asked.append("slow")
        return sum(range(2_000_000)) > 0  # long enough for its answer to be kept

    registry.replace("mcp-s", [server_tool("a", check_fn=slow), server_tool("b", check_fn=slow)])
    assert shown(session) == {"a", "b"}
    registry.replace("mcp-s", [server_tool("b", check_fn=slow)])
    shown(session)
    assert len(asked) == 1, "a check that another tool shares is still known"
    registry.replace("mcp-s", [])
    registry.replace("mcp-s", [server_tool("a", check_fn=slow)])
    shown(session)
    assert len(asked) == 2


def test_a_session_sees_the_new_tools_and_finds_them(registry: Registry, open_session: Callable[..., Session]) -> None:
    session = open_session(enabled_toolsets=None, config={"tools": {"tool_search": {"enabled": "on"}}})
    registry.replace("mcp-s", [server_tool("mcp_s_send", description="Send a letter")])
    assert session.search("letter").matches[0].name == "mcp_s_send"
    registry.replace("mcp-s", [server_tool("mcp_s_post", description="Post a parcel")])
    assert session.search("parcel").matches[0].name == "mcp_s_post"
    assert not session.search("letter").matches
    assert session.call("mcp_s_send").outcome == "unknown"


def test_readers_never_see_half_of_it_and_no_writer_is_lost(registry: Registry) -> None:
    def server(number: int) -> None:
        toolset = f"mcp-{number}"
        for turn in range(60):
            names = [f"t{number}_{turn}_{each}" for each in range(8)]
            registry.replace(toolset, server_tools(names, toolset=toolset))
            add(registry, f"extra_{number}_{turn}")

    def look() -> None:
        while not over.is_set():
            turns: dict[str, list[str]] = {}
            for tool in registry.snapshot.ordered:
                if tool.toolset.startswith("mcp-"):
                    turns.setdefault(tool.toolset, []).append(tool.name.split("_")[1])
            torn.extend(names for names in turns.values() if len(set(names)) != 1 or len(names) != 8)

    over, torn = threading.Event(), []  # type: ignore[var-annotated]
    readers = [threading.Thread(target=look) for _ in range(2)]
    writers = [threading.Thread(target=server, args=(number,)) for number in range(3)]
    for thread in [*readers, *writers]:
        thread.start()
    for thread in writers:
        thread.join()
    over.set()
    for thread in readers:
        thread.join()
    assert not torn
    assert sum(tool.name.startswith("extra_") for tool in registry.snapshot.ordered) == 180
    assert {tool.name for tool in registry.snapshot.ordered if tool.toolset == "mcp-1"} == {
        f"t1_59_{each}" for each in range(8)
    }
