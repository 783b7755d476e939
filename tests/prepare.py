"""Install the system packages that the tests use: only as root, and only what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

#: program that shows a package is there -> Debian package that brings it
PACKAGES: dict[str, str] = {
    "bash-static": "bash-static",
    "busybox": "busybox-static",
    "bwrap": "bubblewrap",
    "chromium": "chromium",
    "catatonit": "catatonit",
    "dockerd": "docker.io",
    "ip": "iproute2",
    "podman": "podman",
    "ssh": "openssh-client",
    "sshd": "openssh-server",
}
#: daemons live where a user's PATH does not look
_PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def main() -> int:
    """Install what is missing, or say what the tests that need it will skip."""
    missing = sorted({package for program, package in PACKAGES.items() if shutil.which(program, path=_PATH) is None})
    if not missing:
        return 0
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        fate = "fail" if os.environ.get("CI") == "true" else "be skipped"
        print(f"tests that need these Debian packages will {fate}: {' '.join(missing)}")
        return 0
    quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
    subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)
    done = subprocess.run(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], check=False, **quiet
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
