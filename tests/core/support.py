"""Small parts that several of the core's tests use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hermes_nb import Registry, Session, Tool, ToolResult
from hermes_nb.approval.assessment import Assessment, Finding

from ..parts import run

NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
INTEGER: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}


def add(registry: Registry, name: str, handler: Callable[..., Any] | None = None, **options: Any) -> Tool:
    """Register a tool of the toolset ``test`` that takes anything and, unless told otherwise, returns its arguments."""
    options = {"toolset": "test", "schema": NOTHING, **options}
    return registry.register(name=name, handler=handler or (lambda args: args), **options)


def raising(error: BaseException) -> Callable[..., Any]:
    """A function that raises, whatever it is given."""

    def function(*args: Any, **keywords: Any) -> Any:
        raise error

    return function


def shown(session: Session) -> set[str]:
    """The names that a model would see."""
    return {entry["function"]["name"] for entry in session.definitions(assembled=False)}


def error_of(result: ToolResult) -> str:
    """The error as the model reads it."""
    message = json.loads(result.text)["error"]
    assert isinstance(message, str)
    return message


def dangerous(rule: str = "danger", **flags: str) -> Callable[..., Assessment]:
    """A guard that finds ``rule`` in every call whose ``command`` holds the word rm."""

    def guard(args: Any, context: Any) -> Assessment:
        if "rm" in args.get("command", "rm"):
            return Assessment((Finding(rule, "it deletes", str(args), **flags),))  # type: ignore[arg-type]
        return Assessment()

    return guard


def run_python(code: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a fresh process."""
    return run(sys.executable, "-c", code, env={**os.environ, "HERMES_NB_HOME": str(home), **environment})


def write(path: Path, text: str) -> Path:
    """Write a file, with the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path
