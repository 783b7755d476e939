"""Commands in a container, by the docker SDK: docker's daemon, or podman's socket, which speaks the same.

The container is made for the backend and removed with it. It has no network, no capability beyond a few, no
way to gain more, bounded memory, processors and processes, and nothing of this machine's file system unless
you ask for it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import docker.errors

from .base import Backend, Capabilities
from .docker_daemon import GONE, LABEL, Daemon, owner_of, reap_orphans
from .docker_process import DockerProcess
from .errors import BackendUnavailable, ConnectionLost, ImageMissing
from .supervise import MARK, new_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from docker.models.containers import Container

#: what programs that install or switch users need, and no more
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID")


class DockerBackend(Backend):
    """Runs commands in a container.

    Args:
        target: The image.
        container: Attach to this running container instead; it is then neither hardened nor removed by us.
        base_url: The daemon's address; otherwise DOCKER_HOST, docker's socket, or podman's.
        memory: Most it may use, as docker writes it.
        cpus: How many processors' time.
        pids: How many processes at once.
        network: Let it reach the network.
        read_only: Make all but tmpfs and mounts read-only.
        tmpfs: Folders in memory.
        mounts: Host folders, as `/host/path:/path[:ro]`. The daemon's socket is always refused.
        user: Who commands run as.
        pull: Fetch the image if it is missing.
        on_progress: Called with lines about the pull.
        options: `cwd`, `env`, `setup`, `max_output`, `spill_dir`: see `Backend`.

    Raises:
        BackendUnavailable: No daemon answers, or it refuses.
        ImageMissing: No such image here, and it could not be pulled.
    """

    name = "docker"

    def __init__(
        self,
        target: str = "",
        *,
        container: str = "",
        base_url: str = "",
        memory: str = "2g",
        cpus: float = 2,
        pids: int = 512,
        network: bool = False,
        read_only: bool = False,
        tmpfs: Sequence[str] = ("/tmp",),  # noqa: S108  (in the container)
        mounts: Sequence[str] = (),
        user: str = "",
        pull: bool = True,
        on_progress: Callable[[str], None] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if not target and not container:
            raise BackendUnavailable("docker needs an image", 'open_backend("docker://debian:12")')
        self.image = target
        self._user = user
        self._owned = not container
        self._settings: dict[str, Any] = {
            "entrypoint": ["tail", "-f", "/dev/null"],
            "command": [],
            "init": True,
            "mem_limit": memory,
            "memswap_limit": memory,
            "nano_cpus": int(float(cpus) * 1e9),
            "pids_limit": int(pids),
            "cap_drop": ["ALL"],
            "cap_add": list(CAPABILITIES),
            "security_opt": ["no-new-privileges:true"],
            "network_mode": None if network else "none",
            "read_only": read_only,
            "tmpfs": dict.fromkeys([tmpfs] if isinstance(tmpfs, str) else tmpfs, "rw,exec,nosuid,nodev,mode=1777"),
            "volumes": [_checked_mount(mount) for mount in mounts],
            "labels": {
                LABEL: "1",
                f"{LABEL}.host": socket.gethostname(),
                f"{LABEL}.owner": owner_of(os.getpid()),
            },
        }
        self._daemon = Daemon.connect(base_url)
        self._client = self._daemon.client
        try:
            reap_orphans(self._client)
            if container:
                self._container = self._client.containers.get(container)
            else:
                self._have_image(pull=pull, tell=on_progress or (lambda _: None))
                self._container = self._create()
        except docker.errors.APIError as error:
            self._client.close()
            raise BackendUnavailable(f"docker refused: {error.explanation or error}") from error
        except BaseException:
            self._client.close()
            raise

    @property
    def capabilities(self) -> Capabilities:
        """Bounded, and isolated as far as this kernel's containers are; not with a host folder, not as a guest."""
        isolated = self._owned and not self._settings["volumes"]
        return Capabilities(isolated=isolated, pty=True, snapshot=True, limits=self._owned)

    @property
    def where(self) -> str:
        """The container and its image."""
        return f"container {self._container.short_id}" + (f" of {self.image}" if self.image else "")

    @property
    def container_id(self) -> str:
        """The container's full id."""
        return str(self._container.id)

    def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pty: bool = False,
        stdin: bool = True,
    ) -> DockerProcess:
        """Start a program: see `Backend.spawn`. One that does not exist ends with 126 or 127."""
        self.check_open()
        mark = new_mark()
        variables = {"LANG": "C.UTF-8", **self.env, **(env or {}), MARK: mark}
        self._daemon.check()
        try:
            made = self._create_exec(
                list(argv),
                environment=variables,
                workdir=cwd or self.cwd,
                stdin=stdin,
                tty=pty,
                user=self._user,
            )
            return DockerProcess(self._daemon, self.container_id, made["Id"], mark=mark, user=self._user, tty=pty)
        except GONE as error:
            raise ConnectionLost(f"docker does not answer: {error}") from error
        except docker.errors.APIError as error:
            raise ConnectionLost(f"docker refused: {error.explanation or error}") from error

    def snapshot(self, repository: str, tag: str = "latest") -> str:
        """Save the file system as an image, without tmpfs and mounts, and return the image's name."""
        self.check_open()
        self._container.commit(repository=repository, tag=tag)
        return f"{repository}:{tag}"

    def _create_exec(self, argv: list[str], **settings: Any) -> dict[str, Any]:
        """Create an exec; a container that the daemon's restart stopped is started, a lost one replaced."""
        api = self._client.api
        try:
            made: dict[str, Any] = api.exec_create(self.container_id, argv, **settings)
        except docker.errors.APIError as error:
            if not self._owned or error.status_code not in (404, 409, 500):
                raise
            self._revive()
            made = api.exec_create(self.container_id, argv, **settings)
        return made

    def _revive(self) -> None:
        try:
            self._container.start()
        except docker.errors.NotFound:
            self._container = self._create()

    def _create(self) -> Container:
        made = self._client.containers.create(self.image, **self._settings)
        try:
            made.start()
        except BaseException:
            with contextlib.suppress(docker.errors.APIError, *GONE):
                made.remove(force=True)  # a container that failed to start stays behind as "Created"
            raise
        return made

    def _have_image(self, *, pull: bool, tell: Callable[[str], None]) -> None:
        try:
            self._client.images.get(self.image)
        except docker.errors.ImageNotFound:
            fix = f"docker pull {self.image}"
            if not pull:
                raise ImageMissing(f"the image {self.image} is not on this machine", fix) from None
            try:
                for line in self._client.api.pull(self.image, stream=True, decode=True, tag=_default_tag(self.image)):
                    tell(" ".join(str(line[key]) for key in ("id", "status", "progress") if line.get(key)))
                self._client.images.get(self.image)
            except docker.errors.APIError as error:
                why = error.explanation or error
                raise ImageMissing(f"the image {self.image} is not here and could not be pulled: {why}", fix) from error

    def _release(self) -> None:
        try:
            if self._owned:
                # What cannot be removed now is reaped by the next one that opens.
                with contextlib.suppress(docker.errors.APIError, ConnectionLost, *GONE):
                    self._daemon.check()
                    self._container.remove(force=True, v=True)
        finally:
            self._client.close()


def _checked_mount(mount: str) -> str:
    source = Path(mount.split(":")[0])
    if source.exists() and stat.S_ISSOCK(source.resolve().stat().st_mode):
        raise BackendUnavailable(f"{source} is a socket: who has docker's socket has this machine", "mount a folder")
    for folder in ("/var/run", "/run"):
        if source.resolve() in (Path(folder).resolve(), Path("/")):
            raise BackendUnavailable(f"{source} would hand over this machine's sockets", "mount a folder of your own")
    return mount


def _default_tag(image: str) -> str | None:
    return None if ":" in image.rpartition("/")[2] or "@" in image else "latest"
