"""One connection to a host: made as `~/.ssh/config` says, watched by a heartbeat, made again when lost."""

from __future__ import annotations

import base64
import contextlib
import getpass
import hashlib
import socket
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paramiko

from ..errors import AuthenticationFailed, BackendUnavailable, ConnectionLost, HostKeyRefused

_CONNECT_TIMEOUT = 15.0
_WINDOW = 1 << 24


@dataclass(frozen=True, slots=True)
class Address:
    """Where and how to log in. What is empty is filled in from the config file."""

    host: str
    port: int = 0
    user: str = ""
    key_filename: str = ""
    password: str = ""
    passphrase: str = ""
    known_hosts: str = ""
    config: str = "~/.ssh/config"
    agent: bool = True

    @classmethod
    def parse(cls, target: str, **given: Any) -> Address:
        """Read `user@host:port`; `[::1]:22` too."""
        user, at, rest = target.rpartition("@")
        host, colon, port = rest.rpartition(":")
        if not colon or not port.isdigit() or (host.count(":") and not host.endswith("]")):
            host, port = rest, ""
        return cls(host.strip("[]"), int(given.pop("port", 0) or port or 0), user if at else "", **given)


class _Refuse(paramiko.MissingHostKeyPolicy):  # type: ignore[misc]
    """Unknown hosts are refused, with all that is needed to decide."""

    def __init__(self, file: str) -> None:
        self._file = file

    def missing_host_key(self, _client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        host, port = _host_and_port(hostname)
        raise HostKeyRefused(
            f"{hostname} is not a known host; its {key.get_name()} key is {fingerprint(key)}",
            f"if that is the key you expect: ssh-keyscan -p {port} -t {_kind(key)} {host} >> {self._file}",
        )


def fingerprint(key: paramiko.PKey) -> str:
    """A key's fingerprint as OpenSSH shows it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")


def _kind(key: paramiko.PKey) -> str:
    return str(key.get_name()).removeprefix("ssh-").split("-")[0]


def _host_and_port(hostname: str) -> tuple[str, str]:
    host, _, port = hostname.partition("]:")
    return host.strip("[]"), port or "22"


class _ProxySocket(socket.socket):
    """A ProxyCommand as a socket, which is at its end when the command is.

    paramiko has one too, but it spins for ever on the output of a command that died, and never reaps it.
    """

    def __init__(self, command: str) -> None:
        ours, theirs = socket.socketpair()
        super().__init__(fileno=ours.detach())
        with theirs:
            self._command = subprocess.Popen(  # noqa: S602  (the user's own config says to)
                f"exec {command}",
                shell=True,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the notebook, not for the connection
            )

    def close(self) -> None:
        super().close()
        self._command.kill()
        self._command.wait()


class Connection:
    """A connection that heals: `channel` makes it anew if it was lost.

    Args:
        address: Where to.
        heartbeat: Seconds between questions whether the other side is there; unanswered for as long again,
            it is
            taken for dead. TCP alone would notice in hours.
    """

    def __init__(self, address: Address, heartbeat: float) -> None:
        self._address = address
        self._heartbeat = heartbeat
        self._lock = threading.Lock()
        self._client: paramiko.SSHClient | None = None
        self._jumps: list[paramiko.SSHClient] = []
        self._stop = threading.Event()
        self.name = f"{address.user}@{address.host}" if address.user else address.host

    @property
    def alive(self) -> bool:
        """Whether the other side is thought to be there."""
        transport = self._client.get_transport() if self._client else None
        return transport is not None and transport.is_active()

    def channel(self) -> paramiko.Channel:
        """A new session, on a new connection if need be.

        Raises:
            ConnectionLost: It cannot be reached any more.
            BackendUnavailable: It cannot be logged in to.
        """
        with self._lock:
            if not self.alive:
                self._connect()
            assert self._client is not None
            transport = self._client.get_transport()
        assert transport is not None
        try:
            return transport.open_session(window_size=_WINDOW, timeout=_CONNECT_TIMEOUT)
        except paramiko.ChannelException as error:
            raise ConnectionLost(
                f"{self.name} allows no more sessions at once ({error}): end a job, close the shell of a task, "
                "or raise MaxSessions in its sshd_config"
            ) from error
        except (paramiko.SSHException, OSError, EOFError) as error:
            raise ConnectionLost(f"{self.name} does not answer: {error}") from error

    def execute(self, command: str, timeout: float = 20.0) -> int:
        """Run a short command and return its exit code, on a connection of its own if this one is full."""
        try:
            channel = self.channel()
        except ConnectionLost:
            if not self.alive:
                raise
            spare = Connection(self._address, 0)
            try:
                return spare.execute(command, timeout)
            finally:
                spare.close()
        with channel:
            channel.exec_command(command)
            if not channel.status_event.wait(timeout):
                raise ConnectionLost(f"{self.name} does not answer")
            return int(channel.exit_status)

    def close(self) -> None:
        """End the connection."""
        with self._lock:
            self._disconnect()

    def _disconnect(self) -> None:
        self._stop.set()
        for client in (self._client, *reversed(self._jumps)):
            if client is not None:
                client.close()
        self._client = None
        self._jumps = []

    def _connect(self) -> None:
        self._disconnect()
        self._client = self._login(self._address, None)
        if self._heartbeat > 0:
            transport = self._client.get_transport()
            assert transport is not None
            self._stop = threading.Event()
            beat = threading.Thread(
                target=_watch,
                args=(transport, self._heartbeat, self._stop),
                name="hermes-ssh-heartbeat",
                daemon=True,
            )
            beat.start()

    def _login(self, address: Address, via: paramiko.SSHClient | None) -> paramiko.SSHClient:
        settings = _settings(address)
        host, port = settings.get("hostname", address.host), address.port or int(settings.get("port", 22))
        for jump in filter(None, settings.get("proxyjump", "none").split(",")):
            if jump != "none":
                via = self._login(_on_the_way(jump, address), via)
                self._jumps.append(via)
        known = address.known_hosts or settings.get("userknownhostsfile", "~/.ssh/known_hosts").split()[0]
        client = paramiko.SSHClient()
        client.set_missing_host_key_policy(_Refuse(known))
        sock: Any = None
        try:
            client.load_system_host_keys(str(Path(known).expanduser()))
            sock = _socket(host, port, settings.get("proxycommand"), via)
            client.connect(
                host,
                port=port,
                username=address.user or settings.get("user") or getpass.getuser(),
                password=address.password or None,
                passphrase=address.passphrase or None,
                key_filename=address.key_filename or _existing(settings.get("identityfile", [])),
                sock=sock,
                allow_agent=address.agent,
                look_for_keys=not address.key_filename,
                timeout=_CONNECT_TIMEOUT,
                banner_timeout=_CONNECT_TIMEOUT,
                auth_timeout=_CONNECT_TIMEOUT,
            )
        except BaseException as error:
            transport = client.get_transport()
            greeted = transport is not None and transport.initial_kex_done and transport.is_active()
            client.close()
            if sock is not None:
                sock.close()
            raise _explained(error, address.host, port, known, greeted=greeted) from error
        return client


def _on_the_way(jump: str, address: Address) -> Address:
    """A host of a ProxyJump: the same keys may open it, but the password is for the last host alone."""
    return Address.parse(
        jump,
        passphrase=address.passphrase,
        known_hosts=address.known_hosts,
        config=address.config,
        agent=address.agent,
    )


def _settings(address: Address) -> dict[str, Any]:
    path = Path(address.config).expanduser()
    config = paramiko.SSHConfig.from_path(str(path)) if path.is_file() else paramiko.SSHConfig()
    return dict(config.lookup(address.host))


def _existing(files: list[str]) -> list[str] | None:
    return [name for name in files if Path(name).expanduser().is_file()] or None


def _socket(host: str, port: int, command: str | None, via: paramiko.SSHClient | None) -> Any:
    if via is not None:
        transport = via.get_transport()
        assert transport is not None
        return transport.open_channel("direct-tcpip", (host, port), ("127.0.0.1", 0), timeout=_CONNECT_TIMEOUT)
    if command and command != "none":
        return _ProxySocket(command)
    sock = socket.create_connection((host, port), timeout=_CONNECT_TIMEOUT)
    # Commands are small packets that wait for small answers: without this each costs 40 ms.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return sock


def _explained(error: BaseException, host: str, port: int, known: str, *, greeted: bool) -> BaseException:
    if isinstance(error, paramiko.BadHostKeyException):
        name = host if port == 22 else f"[{host}]:{port}"
        return HostKeyRefused(
            f"the key of {host} has CHANGED: expected {fingerprint(error.expected_key)}, "
            f"got {fingerprint(error.key)}; someone may be listening in, or the host was set up anew",
            f"only if you know why it changed: ssh-keygen -f {known} -R '{name}'",
        )
    if isinstance(error, paramiko.PasswordRequiredException):
        return AuthenticationFailed(
            f"the private key for {host} is encrypted", "give passphrase=, or hand the key to the agent with ssh-add"
        )
    if isinstance(error, paramiko.AuthenticationException):
        return AuthenticationFailed(f"{host} refused to log in: {error}", f"check that `ssh -p {port} {host}` works")
    if greeted and isinstance(error, paramiko.SSHException):
        # Each key is tried as one of every kind, and the last attempt speaks: of the file, not of the host.
        return AuthenticationFailed(
            f"no key could be used to log in to {host}: {error}",
            f"check that `ssh -p {port} {host}` works, and passphrase= if the key is encrypted",
        )
    if isinstance(error, (paramiko.SSHException, OSError, EOFError)):
        return BackendUnavailable(
            f"cannot connect to {host}:{port}: {error}", f"check that `ssh -p {port} {host}` works"
        )
    return error


def _watch(transport: paramiko.Transport, interval: float, stop: threading.Event) -> None:
    """Ask whether the other side is there, and end the connection when it does not answer."""
    while not stop.wait(interval) and transport.is_active():
        answered = threading.Event()
        threading.Thread(target=_ask, args=(transport, answered), name="hermes-ssh-beat", daemon=True).start()
        if not answered.wait(interval):
            transport.close()  # every channel now ends, and everyone who waits on one is told


def _ask(transport: paramiko.Transport, answered: threading.Event) -> None:
    with contextlib.suppress(paramiko.SSHException, OSError, EOFError):
        transport.global_request("keepalive@openssh.com", wait=True)
        if transport.is_active():
            answered.set()
