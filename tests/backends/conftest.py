"""Real servers for the tests: an sshd and a dockerd of our own, started once and ended with the session."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest

from hermes_backends import BackendUnavailable, open_backend

from ..parts import PATH, PATIENCE, eventually, find, free_port, missing, need_root, run


class Server:
    """A daemon that a test can stop, kill and start again."""

    def __init__(self, argv: list[str], ready, log: Path) -> None:
        self._argv = argv
        self._ready = ready
        self._log = log
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self._argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "PATH": PATH},  # for the helpers of daemons
                start_new_session=True,
            )
        if not eventually(lambda: self._ready() or self.process.poll() is not None) or self.process.poll() is not None:
            text = self._log.read_text(errors="replace")[-2000:]
            self.end()
            missing(f"{Path(self._argv[0]).name} does not start here: {text}")

    def kill(self) -> None:
        """Die at once, as if the power failed."""
        self.process.kill()
        self.process.wait(PATIENCE)
        for name in ("pid", "docker.sock"):
            (self._log.parent / name).unlink(missing_ok=True)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()


def answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=PATIENCE) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


class Network:
    """A network namespace with one cable to this machine, which a test can pull and plug in again."""

    def __init__(self) -> None:
        need_root("make a network namespace")
        self._ip = find("ip")
        number = secrets.randbelow(1 << 15)  # others may be testing here too: names and addresses of our own
        self._name, self._near, self._far = f"hermes-{number}", f"hn{number}", f"hf{number}"
        # The range for tests of networks (RFC 2544): nobody's, and not seen outside of this machine.
        ours, self.address = (str(ipaddress.IPv4Address("198.18.0.0") + 4 * number + end) for end in (1, 2))
        self.enter = [self._ip, "netns", "exec", self._name]
        try:
            self._do("netns", "add", self._name)
            self._do("link", "add", self._near, "type", "veth", "peer", "name", self._far, "netns", self._name)
            self._do("addr", "add", f"{ours}/30", "dev", self._near)
            self._do("link", "set", self._near, "up")
            self._do("-n", self._name, "addr", "add", f"{self.address}/30", "dev", self._far)
            self.plug()
        except AssertionError as error:
            self.end()
            missing(f"no network namespace can be made here: {error}")

    def pull(self) -> None:
        """Packets are lost from now on, and neither side is told."""
        self._do("-n", self._name, "link", "set", self._far, "down")

    def plug(self) -> None:
        self._do("-n", self._name, "link", "set", self._far, "up")

    def end(self) -> None:
        with contextlib.suppress(AssertionError):
            self._do("link", "del", self._near)  # at once: the namespace lives as long as a process in it
        with contextlib.suppress(AssertionError):
            self._do("netns", "del", self._name)

    def _do(self, *words: str) -> None:
        run(self._ip, *words)


class SSHServer(Server):
    """An sshd of our own.

    Args:
        folder: For its keys, settings and log.
        network: The network it lives in; this machine's own otherwise.
        settings: Lines of its config on top of ours.
    """

    def __init__(self, folder: Path, network: Network | None = None, **settings: object) -> None:
        need_root("run an sshd that logs in others")
        self.folder = folder
        self.host = network.address if network else "127.0.0.1"
        self.port = free_port()
        self.key = folder / "id"
        self.known_hosts = folder / "known_hosts"
        keygen = find("ssh-keygen")
        for name in ("host", "id"):
            run(keygen, "-q", "-t", "ed25519", "-N", "", "-f", folder / name)
        self.trust()
        Path("/run/sshd").mkdir(exist_ok=True)
        lines = {
            "Port": self.port,
            "ListenAddress": self.host,
            "UsePAM": "no",
            "StrictModes": "no",
            "PermitRootLogin": "yes",
            "HostKey": folder / "host",
            "AuthorizedKeysFile": folder / "id.pub",
            "PidFile": folder / "pid",
            "SetEnv": f"HOME={folder}",  # without a .bashrc, which sshd's bash would read for every command
            **settings,
        }
        config = folder / "sshd_config"
        config.write_text("".join(f"{name} {value}\n" for name, value in lines.items()))
        argv = [*(network.enter if network else []), find("sshd"), "-D", "-e", "-f", str(config)]
        super().__init__(argv, lambda: answers(self.host, self.port), folder / "log")

    def trust(self) -> None:
        kind, key, *_ = (self.folder / "host.pub").read_text().split()
        self.known_hosts.write_text(f"[{self.host}]:{self.port} {kind} {key}\n")

    @property
    def target(self) -> str:
        return f"ssh://root@{self.host}:{self.port}"

    @property
    def options(self) -> dict[str, str]:
        return {
            "key_filename": str(self.key),
            "known_hosts": str(self.known_hosts),
            "agent": False,
            "config": "/dev/null",
        }

    def start(self) -> None:
        super().start()
        assert eventually(lambda: not self.sessions())  # the one that only asked whether it is up

    def sessions(self) -> list[int]:
        """The processes that serve one connection each."""
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split()]

    def signal_sessions(self, number: int) -> None:
        for pid in self.sessions():
            with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(pid, number)

    def cut(self) -> None:
        """Kill the server and every connection, as a crash of the host would."""
        self.process.send_signal(signal.SIGSTOP)  # or it takes one more while we look
        self.signal_sessions(signal.SIGKILL)
        self.kill()

    def end(self) -> None:
        if self.process.poll() is None:
            self.cut()


class DockerSpeaker(Server):
    """A daemon with docker's API and our images in it, in a folder of its own."""

    image = "hermes-test:latest"
    folder: Path
    url: str

    @property
    def target(self) -> str:
        return f"docker://{self.image}"

    @property
    def options(self) -> dict[str, str]:
        return {"base_url": self.url}

    def serve(self, argv: list[str], images: dict[str, list[str]]) -> None:
        """Start the daemon, and give it images: each by its name, with what it has besides busybox."""
        try:
            super().__init__(argv, self.ping, self.folder / "log")
            for name, extra in images.items():
                self.import_image(name, *extra)
        except BaseException:
            self.end()
            raise

    def kill_helpers(self) -> None:
        """End what the daemon left running: its helpers have our folder on their command line."""
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if str(self.folder).encode() in path.read_bytes() and path.parent.name != str(os.getpid()):
                    os.kill(int(path.parent.name), signal.SIGKILL)

    def client(self):
        import docker

        return docker.DockerClient(base_url=self.url, timeout=PATIENCE)

    def ping(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(PATIENCE)
            try:
                probe.connect(self.url.removeprefix("unix://"))
                probe.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
                return b"200 OK" in probe.recv(100)
            except OSError:
                return False

    def import_image(self, name: str, *extra: str) -> None:
        archive = build_root(self.folder, *extra)
        client = self.client()
        repository, _, tag = name.partition(":")
        client.api.import_image_from_file(str(archive), repository=repository, tag=tag)
        client.close()

    def end(self) -> None:
        super().end()
        self.kill_helpers()
        for line in reversed(Path("/proc/mounts").read_text().splitlines()):
            if (place := line.split()[1]).startswith(str(self.folder)):
                subprocess.run(["umount", "-l", place], check=False, capture_output=True, timeout=PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)


class DockerServer(DockerSpeaker):
    def __init__(self) -> None:
        need_root("run dockerd")
        # Not pytest's folder: what is mounted in this one must be gone before it is deleted.
        self.folder = folder = Path(tempfile.mkdtemp(prefix="hermes-docker-"))
        self.url = f"unix://{folder}/docker.sock"
        # A containerd of its own: one that dockerd starts dies with it, and its successor may find it undead.
        sock = folder / "containerd.sock"
        argv = [
            find("containerd"),
            "--address",
            str(sock),
            "--root",
            f"{folder}/c-root",
            "--state",
            f"{folder}/c-state",
        ]
        self.containerd = Server(argv, sock.exists, folder / "containerd.log")
        argv = [
            find("dockerd"),
            "-H",
            self.url,
            "--data-root",
            f"{folder}/data",
            "--exec-root",
            f"{folder}/exec",
        ]
        argv += ["--containerd", str(sock), "--pidfile", f"{folder}/pid"]
        argv += ["--bridge", "none", "--iptables=false", "--ip6tables=false"]
        self.serve(argv, {self.image: ["bash"], "hermes-bare:latest": []})

    def end(self) -> None:
        super().end()
        self.containerd.end()


class PodmanServer(DockerSpeaker):
    def __init__(self) -> None:
        need_root("run podman's service as the tests need it")
        self.folder = folder = Path(tempfile.mkdtemp(prefix="hermes-podman-"))
        self.url = f"unix://{folder}/podman.sock"
        # Limits that it may set even where root may not raise any, and the runtime that knows all cgroups.
        settings = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n'
        settings += '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nruntime = "runc"\n'
        config = folder / "containers.conf"
        config.write_text(settings)
        argv = ["env", f"CONTAINERS_CONF={config}", find("podman"), "--root", f"{folder}/root"]
        argv += ["--runroot", f"{folder}/run", "system", "service", "--time=0", self.url]
        self.serve(argv, {self.image: ["bash"]})


def build_root(folder: Path, *extra: str) -> Path:
    """A small root file system from Debian's static busybox and bash."""
    busybox, bash = find("busybox"), find("bash-static")
    root = folder / f"root-{'-'.join(extra) or 'bare'}"
    for name in ("bin", "etc", "root", "tmp", "usr", "proc", "dev"):
        (root / name).mkdir(parents=True, exist_ok=True)
    shutil.copy(busybox, root / "bin/busybox")
    for applet in run(busybox, "--list").stdout.split():
        if not (root / "bin" / applet).exists():
            (root / "bin" / applet).symlink_to("busybox")
    if "bash" in extra:
        shutil.copy(bash, root / "bin/bash")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n")
    archive = folder / f"{root.name}.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(root, arcname=".")
    return archive


@pytest.fixture(scope="session")
def sshd(tmp_path_factory):
    server = SSHServer(tmp_path_factory.mktemp("sshd"))
    yield server
    server.end()


@pytest.fixture(scope="session")
def dockerd():
    server = DockerServer()
    yield server
    server.end()


@pytest.fixture(scope="session")
def podman():
    server = PodmanServer()
    try:
        try:
            open_backend(f"docker://{server.image}", base_url=server.url).close()
        except BackendUnavailable as error:
            missing(f"podman runs no containers here: {error}")
        yield server
    finally:
        server.end()
