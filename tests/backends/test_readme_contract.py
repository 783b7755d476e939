"""The backend that the README shows, taken from there, passes the suite."""

from __future__ import annotations

import re
from pathlib import Path

from hermes_backends.contract import BackendContract

TEXT = (Path(__file__).parents[2] / "backends/README.md").read_text()
EXAMPLE = next(block for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) if "class NiceBackend" in block)
SPACE: dict = {}
exec(compile(EXAMPLE, "README.md", "exec"), SPACE)


class TestReadme(BackendContract):
    huge = 64 << 20

    def open(self, **options):
        return SPACE["NiceBackend"](**options)


def test_a_pty_is_asked_for_only_where_there_is_one():
    with SPACE["NiceBackend"]() as backend:
        assert not backend.capabilities.pty
