"""An ssh server on this machine that only this user can enter, for people who have no other machine at hand."""

from __future__ import annotations

import getpass
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

WHERE = "/usr/sbin:/sbin:/usr/bin:/bin"


class Loopback:
    """A server with keys of its own. ``address`` and ``options`` are for ``open_backend``; ``close`` ends it.

    Raises:
        RuntimeError: It can't be started here; the message says why.
    """

    def __init__(self) -> None:
        sshd, keygen = (shutil.which(program, path=WHERE) for program in ("sshd", "ssh-keygen"))
        if sshd is None or keygen is None:
            raise RuntimeError("no ssh server is installed here\n  fix: apt-get install openssh-server")
        self._folder = Path(tempfile.mkdtemp(prefix="hermes-course-"))
        for name in ("host", "user"):
            subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", self._folder / name], check=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        public = " ".join((self._folder / "host.pub").read_text().split()[:2])
        (self._folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}\n")
        config = {"Port": port, "ListenAddress": "127.0.0.1", "UsePAM": "no", "StrictModes": "no", "PidFile": "none"}
        config |= {"HostKey": self._folder / "host", "AuthorizedKeysFile": self._folder / "user.pub"}
        (self._folder / "config").write_text("".join(f"{name} {value}\n" for name, value in config.items()))
        if getpass.getuser() == "root":
            Path("/run/sshd").mkdir(exist_ok=True)  # sshd wants it
        self._server = subprocess.Popen(
            [sshd, "-D", "-e", "-f", self._folder / "config"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        self.address = f"ssh://{getpass.getuser()}@127.0.0.1:{port}"
        self.options = {
            "key_filename": str(self._folder / "user"),
            "known_hosts": str(self._folder / "known_hosts"),
            "config": "/dev/null",
            "agent": False,
        }
        self._wait(port)

    def _wait(self, port: int) -> None:
        for _ in range(200):
            if self._server.poll() is not None:
                break
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.02)
        self.close()
        assert self._server.stderr is not None
        raise RuntimeError(f"the ssh server does not start here: {self._server.stderr.read().decode().strip()}")

    def close(self) -> None:
        """End the server, and forget its keys."""
        self._server.terminate()
        self._server.wait(10)
        shutil.rmtree(self._folder, ignore_errors=True)
