"""Where others import from: these paths stay, however the packages are arranged inside."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Groups of entry points, which are names and no modules.
ENTRY_POINTS = {"hermes_nb.tools", "hermes_nb.backends"}

#: What README, docs, notebooks and the reference show people to import, by module.
PROMISED = {
    "hermes_nb": "Session Registry registry tool Context Config Decision Approver ApprovalView ToolResult notebook",
    "hermes_nb.approval": "assess detect_dangerous_command DANGEROUS_PATTERNS Assessment Finding Verdict",
    "hermes_nb.approval.approvers": "ScriptedApprover CallbackApprover TerminalApprover NobodyApprover",
    "hermes_nb.approval.assessment": "Assessment Finding Verdict",
    "hermes_nb.approval.decision": "Approver Decision Request",
    "hermes_nb.approval.display": "highlight",
    "hermes_nb.approval.policy": "Policy",
    "hermes_nb.approval.view": "ApprovalView",
    "hermes_nb.cli": "main build_parser",
    "hermes_nb.config": "Config OPTIONS",
    "hermes_nb.context": "Context",
    "hermes_nb.doctor": "examine",
    "hermes_nb.errors": "HermesError ToolError ConfigError",
    "hermes_nb.home": "home",
    "hermes_nb.hooks": "Veto",
    "hermes_nb.model_tools": "get_tool_definitions handle_function_call",
    "hermes_nb.notebook": "current use explore feed budget jobs inbox",
    "hermes_nb.notebook.widgets": "inbox",
    "hermes_nb.registry": "Registry registry",
    "hermes_nb.search": "ToolSearchConfig BRIDGE_TOOLS",
    "hermes_nb.search.bridge": "unwrap",
    "hermes_nb.search.budget": "Budget",
    "hermes_nb.search.catalog": "SearchResult Hit",
    "hermes_nb.search.settings": "ToolSearchConfig",
    "hermes_nb.tools.registry": "registry tool_error tool_result",
    "hermes_backends": "open_backend make_backend Backend Capabilities ExecResult BackendError SpawnFailed",
    "hermes_backends.contract": "BackendContract ProcessContract",
    "hermes_backends.docker": "DockerBackend",
    "hermes_backends.local": "LocalBackend clean_environment",
    "hermes_backends.probe": "probe_all",
    "hermes_backends.pumped": "PumpedProcess",
    "hermes_backends.ssh": "SSHBackend",
    "hermes_backends.supervise": "MARK kill_marked new_mark",
}


@pytest.mark.parametrize("module", PROMISED)
def test_a_promised_path_stays(module: str) -> None:
    loaded = importlib.import_module(module)
    assert [name for name in PROMISED[module].split() if not hasattr(loaded, name)] == []


def test_the_registry_is_an_object_and_a_module_at_once() -> None:
    """``hermes_nb.registry`` was a module first: who imports it by that name must not replace the object."""
    import hermes_nb

    importlib.import_module("hermes_nb.registry")
    assert isinstance(hermes_nb.registry, hermes_nb.Registry)


def documents() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    yield from (ROOT / "docs").glob("*.md")
    yield from (ROOT / "docs" / "reference").glob("*.md")
    yield ROOT / "backends" / "README.md"
    yield from (ROOT / "notebooks").glob("*.ipynb")


def mentions(text: str) -> set[str]:
    """The dotted names of ours in a text."""
    found = re.findall(r"(?<![\w./-])(hermes_(?:nb|backends)(?:\.[A-Za-z_]\w*)+)(?![\w/])", text)
    return {name for name in found if not name.endswith(".md")} - ENTRY_POINTS


@pytest.mark.parametrize("document", [pytest.param(path, id=str(path.relative_to(ROOT))) for path in documents()])
def test_what_a_document_names_is_there(document: Path) -> None:
    assert [name for name in sorted(mentions(document.read_text("utf-8"))) if not is_there(name)] == []


def is_there(name: str) -> bool:
    package, *parts = name.split(".")
    value: object = importlib.import_module(package)
    path = package
    for part in parts:
        path = f"{path}.{part}"
        if not hasattr(value, part):
            try:
                importlib.import_module(path)
            except ModuleNotFoundError:
                return False
        value = getattr(value, part)
    return True
