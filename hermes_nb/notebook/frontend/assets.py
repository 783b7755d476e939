"""The scripts and style sheets of ``static``, put together: what is shown fetches nothing and needs no build."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=function|const|class)", re.MULTILINE)


@cache
def script(*names: str) -> str:
    """The modules of ``static`` as one, in this order: a widget's module can't import others from the kernel."""
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", _asset(f"{name}.js"))) for name in names)


@cache
def style(*names: str) -> str:
    """The style sheets of ``static`` as one."""
    return "\n".join(_asset(f"{name}.css") for name in names)


def _asset(name: str) -> str:
    return (files(__package__) / "static" / name).read_text(encoding="utf-8")
