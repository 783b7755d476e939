"""What the probe says about a machine that lacks something: a subprocess on which it is really lacking."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import hermes_backends

from ..parts import PATIENCE, need_root

TELL = (
    "import dataclasses, json\n"
    "from hermes_backends.probe import probe_all\n"
    "print(json.dumps({probe.name: dataclasses.asdict(probe) for probe in probe_all()}))"
)


@pytest.fixture
def programs(tmp_path):
    """A folder to be the whole PATH, and a function that puts a program into it."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def install(name):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)

    install.folder = folder
    return install


def probed(path, *flags, code=TELL, **variables):
    done = subprocess.run(
        [sys.executable, *flags, "-c", code],
        env={"PATH": str(path), "HOME": str(path), "XDG_RUNTIME_DIR": str(path), **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    probes = json.loads(done.stdout)
    for probe in probes.values():
        assert "\n" not in probe["fix"]
        assert bool(probe["fix"]) != probe["usable"]
    return probes


def test_without_bash_it_says_to_install_bash(programs):
    local = probed(programs.folder)["local"]
    assert (local["detail"], local["fix"]) == ("bash is not installed", "apt-get install bash")
    programs("bash")
    assert probed(programs.folder)["local"]["usable"]


def test_without_the_packages_it_names_the_extras_that_open_backend_names_too(programs):
    source = str(Path(hermes_backends.__file__).parents[1])
    probes = probed(programs.folder, "-S", PYTHONPATH=source)  # no site-packages at all
    tell = (
        "import json\n"
        "from hermes_backends import MissingDependency, open_backend\n"
        "found = {}\n"
        "for name in ('docker', 'ssh'):\n"
        "    try: open_backend(name + '://x')\n"
        "    except MissingDependency as error: found[name] = {'fix': error.fix, 'usable': False}\n"
        "print(json.dumps(found))"
    )
    raised = probed(programs.folder, "-S", code=tell, PYTHONPATH=source)
    for name in ("docker", "ssh"):
        assert probes[name]["fix"] == raised[name]["fix"] == f"pip install 'hermes-nb[{name}]'"


# Where a daemon of the machine's own answers, nothing is lacking.
@pytest.mark.skipif(
    any(Path(path).exists() for path in ("/var/run/docker.sock", "/run/podman/podman.sock")),
    reason="this machine has a docker or podman of its own",
)
def test_with_no_daemon_it_says_how_to_start_the_one_that_is_installed(programs):
    assert "apt-get install docker.io" in probed(programs.folder)["docker"]["fix"]
    programs("podman")
    assert probed(programs.folder)["docker"]["fix"] == "podman system service --time=0 &"
    programs("dockerd")
    starts = "sudo systemctl start docker" if Path("/run/systemd/system").is_dir() else "sudo dockerd &"
    assert probed(programs.folder)["docker"]["fix"] == starts


def test_with_nobody_at_docker_host_it_names_the_address(programs, tmp_path):
    docker = probed(programs.folder, DOCKER_HOST=f"unix://{tmp_path}/nobody.sock")["docker"]
    assert f"start the daemon at unix://{tmp_path}/nobody.sock" in docker["fix"]
    assert "unset DOCKER_HOST" in docker["fix"]


def test_a_socket_that_we_may_not_open_is_not_called_a_missing_daemon(tmp_path):
    need_root("become somebody who may not")
    from hermes_backends import BackendUnavailable
    from hermes_backends.docker.daemon import Daemon

    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(path))
        daemon.listen()
        path.chmod(0o600)
        os.seteuid(65534)
        try:
            with pytest.raises(BackendUnavailable) as refused:
                Daemon.connect(f"unix://{path}")
        finally:
            os.seteuid(0)
    assert "usermod -aG docker" in refused.value.fix
