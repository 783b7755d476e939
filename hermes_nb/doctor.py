"""What is installed, what can run here, and for each thing that can't the one line that fixes it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from hermes_nb.config import Config
from hermes_nb.home import home
from hermes_nb.storage import KEPT, Holding, holdings
from hermes_nb.toolbox.availability import missing_variables

State = Literal["ok", "missing", "off", "broken"]

#: extra -> the package that it brings, and what that is for; None: nothing in this version uses it yet
EXTRAS = {
    "docker": ("docker", "run commands in containers"),
    "ssh": ("paramiko", "run commands on other machines"),
    "modal": ("modal", None),
    "daytona": ("daytona", None),
    "mcp": ("mcp", None),
    "agent": ("openai", None),
    "tokens": ("bpe-openai", "count tokens exactly"),
    "demo": ("jupyterlab", "open the tour in JupyterLab"),
    "semantic": ("wordllama", "search tools by meaning"),
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        area: python, extra, backend, config, plugin or toolset.
        name: What was looked at.
        state: ok, missing (not installed), off (installed, can't be used now) or broken.
        detail: What was found.
        fix: The one line that makes it work; empty where nothing is wrong.
    """

    area: str
    name: str
    state: State
    detail: str
    fix: str = ""


class Report(tuple[Check, ...]):
    """Everything that was looked at; printing it shows a table."""

    __slots__ = ()

    @property
    def problems(self) -> tuple[Check, ...]:
        """What is broken; something optional that is missing doesn't count."""
        return tuple(check for check in self if check.state == "broken")

    def __str__(self) -> str:
        marks = {"ok": "✓", "missing": "–", "off": "–", "broken": "✗"}
        width = max(len(check.name) for check in self)
        lines: list[str] = []
        for area in dict.fromkeys(check.area for check in self):
            lines.append(f"{area}")
            for check in (entry for entry in self if entry.area == area):
                lines.append(f"  {marks[check.state]} {check.name:{width}}  {check.detail}")
                if check.fix:
                    lines.append(f"    {'':{width}}  → {check.fix}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from hermes_nb.notebook.faces.results import report_html

        return str(report_html(self))


def examine() -> Report:
    """Look at everything; takes about a second, changes nothing."""
    return Report((*_python(), *_extras(), *_backends(), *_config(), *_plugins(), *_toolsets()))


def _python() -> list[Check]:
    found = [Check("python", "python", "ok", f"{platform.python_version()} at {sys.executable}")]
    for package in ("hermes-nb", "ipywidgets", "jupyter-client", "rank-bm25", "ipython"):
        installed = _version(package)
        fix = "" if installed else f"pip install {package}"
        found.append(Check("python", package, "ok" if installed else "broken", installed or "not installed", fix))
    return found


def _extras() -> list[Check]:
    from hermes_backends.registry import PLANNED

    found = []
    for extra, (package, purpose) in EXTRAS.items():
        if purpose is None:
            if extra not in PLANNED:  # of those the backends speak
                found.append(Check("extra", extra, "off", "nothing in this version uses it"))
            continue
        installed = _version(package)
        fix = "" if installed else f'pip install "hermes-nb[{extra}]"'
        detail = f"{package} {installed}" if installed else f"not installed; needed to {purpose}"
        found.append(Check("extra", extra, "ok" if installed else "missing", detail, fix))
    return found


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _backends() -> list[Check]:
    from hermes_backends.probe import probe_all

    return [
        Check("backend", probe.name, "ok" if probe.usable else "off", probe.detail, "" if probe.usable else probe.fix)
        for probe in probe_all()
    ]


def _config() -> list[Check]:
    folder = home()
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(nearest, os.W_OK):
        fix = "export HERMES_NB_HOME=a folder that you can write to"
        return [Check("config", "home", "broken", f"{folder} can't be written", fix)]
    free = shutil.disk_usage(nearest).free / 2**30
    config = Config.load()
    problems = [Check("config", "config.yaml", "broken", problem, f"edit {config.path}") for problem in config.problems]
    kept = [_kept(holding, config) for holding in holdings()]
    return [Check("config", "home", "ok", f"{folder}, {free:.1f} GiB free"), *kept, *problems]


def _kept(holding: Holding, config: Config) -> Check:
    setting = KEPT[holding.name]
    days = config.get(setting)
    how_long = "for ever" if days is None else f"for {days:g} days"
    files = f"{holding.files} file{'s' if holding.files != 1 else ''}, {holding.size / 2**20:.1f} MiB"
    return Check("config", holding.name, "ok", f"{files}; kept {how_long} ({setting})")


def _plugins() -> list[Check]:
    from hermes_nb.toolbox import discovery
    from hermes_nb.toolbox.registry import registry

    discovery.discover_plugins(Config.load())
    count = len(registry.snapshot.tools)
    broken = [
        Check("plugin", name, "broken", reason, "correct the plugin, or remove it")
        for name, reason in discovery.failures.items()
    ]
    return [Check("plugin", "tools", "ok", f"{count} registered"), *broken]


def _toolsets() -> list[Check]:
    from hermes_nb.toolbox.registry import registry

    tools = registry.snapshot.ordered
    unavailable = registry.availability.under(Config.load()).unavailable(tools)
    found = []
    for toolset in sorted({tool.toolset for tool in tools}):
        mine = [tool for tool in tools if tool.toolset == toolset]
        problems = {tool.name: unavailable.get(tool.name) or missing_variables(tool) for tool in mine}
        reasons = "; ".join(f"{name}: {problem}" for name, problem in problems.items() if problem)
        detail = reasons or f"{len(mine)} tool{'s' if len(mine) != 1 else ''}"
        found.append(Check("toolset", toolset, "off" if problems.keys() & unavailable.keys() else "ok", detail))
    return found
