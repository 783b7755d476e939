from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from ..parts import PATIENCE, missing, run

ROOT = Path(__file__).parents[2]


class Environment:
    """A venv with nothing of ours but what is installed into it, used from outside the repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, with_pip=False, symlinks=True)
        self.bin = folder / "bin"

    def install(self, *requirements: str) -> None:
        constraints = ["--constraint", str(ROOT / "constraints.txt")]
        command = [sys.executable, "-m", "uv", "pip", "install", "--python", str(self.bin / "python"), *constraints]
        limits = {"check": False, "cwd": ROOT, "timeout": 2 * PATIENCE}
        done = subprocess.run([*command, *requirements], capture_output=True, text=True, **limits)
        if done.returncode and ("error sending request" in done.stderr or "dns error" in done.stderr):
            missing("no package index can be reached from here")
        assert done.returncode == 0, done.stderr

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
        variables["PATH"] = f"{self.bin}{os.pathsep}{variables['PATH']}"
        words = [str(self.bin / program), *arguments]
        return subprocess.run(
            words, capture_output=True, text=True, check=False, cwd=self.folder, env=variables, timeout=PATIENCE
        )

    def python(self, code: str) -> str:
        done = self.run("python", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of this repository, and the wheel that was built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    return next(distributions.glob("*.whl"))
