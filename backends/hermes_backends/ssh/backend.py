"""Commands on another machine, by paramiko.

`~/.ssh/config`, the agent, keys, ProxyJump and ProxyCommand are honoured. A host that is not known, or whose
key has changed, is refused. Commands run as the user you log in as, with all that user's rights: nothing is
isolated *there*.

All shells and jobs share one connection, on which the host allows as many sessions at once as its MaxSessions
says (10 where nobody set it). Each shell and each job takes one. What is one too many is refused with
ConnectionLost before anything is run, and the others go on.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import paramiko

from ..base import Backend, Capabilities
from ..errors import BackendUnavailable, ConnectionLost
from ..supervise import MARK, new_mark
from .connection import Address, Connection
from .process import SSHProcess

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Not `exec`: sshd tells no exit code of a program that died by a signal, but sh does.
_RUN = """n='
'; [ -z "$1" ] || cd -- "$1" || exit 126; shift; [ "$1" = - ] || { IFS= read -r e && eval "$e"; }; shift;
"$@" """


class SSHBackend(Backend):
    """Runs commands on another machine.

    Args:
        target: `user@host:port`, or a name from `~/.ssh/config`.
        key_filename: A private key; otherwise those of the config file, the agent and `~/.ssh`.
        password: If there is no other way.
        passphrase: What decrypts the private keys; those in the agent need none.
        known_hosts: The file of accepted host keys.
        config: The config file.
        agent: Whether to ask the agent for keys.
        port: The port, if it is not in the target.
        heartbeat: Seconds between questions whether the host is there; 0 for none.
        options: `cwd`, `env`, `setup`, `max_output`, `spill_dir`: see `Backend`.

    Raises:
        HostKeyRefused: From `open`: the host is unknown or has another key than it had.
        AuthenticationFailed: From `open`: it knows none of the keys.
        BackendUnavailable: From `open`: it cannot be reached.
    """

    name = "ssh"

    def __init__(
        self,
        target: str,
        *,
        key_filename: str = "",
        password: str = "",
        passphrase: str = "",
        known_hosts: str = "",
        config: str = "~/.ssh/config",
        agent: bool = True,
        port: int = 0,
        heartbeat: float = 15.0,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        address = Address.parse(
            target,
            key_filename=str(key_filename),
            password=password,
            passphrase=passphrase,
            known_hosts=str(known_hosts),
            config=str(config),
            agent=agent,
            port=port,
        )
        self._connection = Connection(address, float(heartbeat))

    @property
    def capabilities(self) -> Capabilities:
        """Away from this machine, but with all the user's rights on the other: not isolated."""
        return Capabilities(isolated=False, pty=True)

    @property
    def where(self) -> str:
        """The host."""
        return self._connection.name

    def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
        stdin: bool = True,
    ) -> SSHProcess:
        """Start a program: see `Backend.spawn`. One that does not exist ends with 127.

        Variables travel over the program's input, where no other user of the host can see them; with a
        terminal they travel on the command line, where `ps` can.
        """
        self.check_open()
        mark = new_mark()
        variables = {**self.env, **(env or {})}
        words = ["env", f"{MARK}={mark}", *([f"{k}={v}" for k, v in variables.items()] if pty else [])]
        words += ["sh", "-c", _RUN, "sh", cwd or self.cwd or "", "-" if pty else "+", *argv]
        try:
            channel = self._connection.channel()
        except BackendUnavailable as error:
            raise ConnectionLost(str(error)) from error
        try:
            if pty:
                channel.get_pty("xterm-256color", 80, 24)
            channel.exec_command(shlex.join(words))
            if not pty:
                channel.sendall(_exports(variables))
                if not stdin:
                    channel.shutdown_write()
        except (paramiko.SSHException, OSError, EOFError) as error:
            channel.close()
            raise ConnectionLost(f"{self.where} does not answer: {error}") from error
        return SSHProcess(self._connection, channel, mark=mark, tty=pty)

    def _open(self) -> None:
        self._connection.channel().close()

    def reconnect(self) -> None:
        """See `Backend.reconnect`."""
        self._connection.channel().close()

    def _release(self) -> None:
        self._connection.close()


def _exports(variables: Mapping[str, str]) -> bytes:
    words = [f"{name}={shlex.quote(value)}".replace("\n", "'\"$n\"'") for name, value in variables.items()]
    return ("export " + " ".join(words) if words else ":").encode() + b"\n"
