"""Widgets without a front end: what they would send is kept, and what it would say is handed to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from hermes_nb import Registry, tool
from hermes_nb.approval.assessment import Assessment, Finding
from hermes_nb.approval.decision import Request
from hermes_nb.approval.view import ApprovalView

if TYPE_CHECKING:
    from hermes_nb.notebook.frontend.widget import HermesWidget

Outbox = Callable[["HermesWidget"], list[dict[str, Any]]]


@pytest.fixture
def outbox(monkeypatch: pytest.MonkeyPatch) -> Outbox:
    """Gives a widget an outbox, and returns the messages that it has put there."""

    def attach(widget: HermesWidget) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []

        def send(content: dict[str, Any], buffers: Sequence[bytes] = ()) -> None:
            messages.append({**content, **(json.loads(buffers[0]) if buffers else {})})

        monkeypatch.setattr(widget, "send", send)
        return messages

    return attach


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_NB_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def tools() -> Registry:
    """A few tools: plain, guarded, unavailable, core."""
    registry = Registry()

    def guard(args: Any, context: Any) -> Assessment:
        return Assessment((Finding("delete", "deletes an issue for good", args["title"]),))

    @tool(toolset="mcp-github", registry=registry)
    def create_issue(title: str, labels: list[str] | None = None) -> str:
        """Open a new issue in a repository."""
        return f"created {title}"

    @tool(toolset="mcp-github", registry=registry, guard=guard)
    def delete_issue(title: str) -> str:
        """Delete an issue."""
        return f"deleted {title}"

    @tool(toolset="mcp-mail", registry=registry)
    def send_mail(to: str) -> str:
        """Send an electronic message."""
        return "sent"

    @tool(toolset="weather", registry=registry, requires_env=["NOT_SET_ANYWHERE"])
    def forecast(city: str) -> str:
        """The weather of tomorrow."""
        return "rain"

    @tool(toolset="web", registry=registry)
    def web_search(query: str) -> str:
        """Search the web for pages on an issue."""
        return "found"

    return registry


@pytest.fixture
def asked() -> Callable[..., Request]:
    """Makes a request about a command."""

    def make(command: str = "cd build && rm -rf ./cache", text: str = "rm -rf ./cache", **changes: Any) -> Request:
        view = ApprovalView(text=command, edits="command", language="shell")
        given: dict[str, Any] = {
            "tool": "shell",
            "args": {"command": command},
            "findings": (Finding("recursive_delete", "deletes a folder", text),),
            "backend": "local",
            "cwd": "/home/me",
            "timeout": 60,
            "session_id": "s",
            "call_id": "c1",
            "view": view,
        }
        return Request(**{**given, **changes})

    return make
