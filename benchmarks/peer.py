"""The peer, hermes-agent, in an environment of its own: it is measured beside us and never a dependency."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

VERSION = "0.19.0"


def peer_python(given: str | None = None) -> str:
    """The Python that has the peer: the one given, that of HERMES_NB_PEER, or one made below the temporary folder."""
    given = given or os.environ.get("HERMES_NB_PEER")
    if given:
        return given
    folder = Path(tempfile.gettempdir()) / f"hermes-nb-peer-{VERSION}"
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        print(f"installing hermes-agent {VERSION} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"hermes-agent=={VERSION}"], check=True)
        (folder / "installed").touch()
    return str(python)
