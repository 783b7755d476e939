"""Commands in a container, by the docker SDK: docker's daemon, or podman's socket, which speaks the same.

The container is made when the backend opens and removed when it closes. It has no network, no capability beyond a
few, no way to gain more, bounded memory, processors and processes, and nothing of this machine's file system unless
you ask for it.

If it was stopped meanwhile, as by a restart of the daemon, it is started again: its files are there, what ran in it
and what was in a tmpfs is not. If somebody removed it, that is an error, and no new one takes its place unseen.
"""

from __future__ import annotations

import contextlib
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import docker.errors

from ..base import Backend, Capabilities
from ..errors import BackendClosed, BackendUnavailable, ConnectionLost, ContainerGone, ImageMissing
from ..supervise import MARK, new_mark
from .daemon import GONE, Daemon, labels, reap_orphans
from .process import DockerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
        BackendUnavailable: No image was named; from `open`, if no daemon answers, or it refuses.
        ImageMissing: From `open`: no such image here, and it could not be pulled.
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
        self._attach_to = container
        self._base_url = base_url
        self._mounts = [mounts] if isinstance(mounts, str) else list(mounts)
        self._user = user
        self._pull = pull
        self._tell = on_progress or (lambda _: None)
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
        }
        self._daemon: Daemon | None = None
        self._container: Container | None = None

    @property
    def capabilities(self) -> Capabilities:
        """Bounded, and isolated as far as this kernel's containers are; not with a host folder, not as a guest."""
        owned = not self._attach_to
        return Capabilities(isolated=owned and not self._mounts, pty=True, snapshot=True, limits=owned)

    @property
    def where(self) -> str:
        """The container and its image."""
        if self._container is None or not self._ready:
            return (f"container {self._attach_to}" if self._attach_to else f"container of {self.image}") + ", not open"
        return f"container {self._container.short_id}" + (f" of {self.image}" if self.image else "")

    @property
    def container_id(self) -> str:
        """The container's full id.

        Raises:
            BackendClosed: Before `open`.
        """
        if self._container is None or not self._ready:
            raise BackendClosed("this docker backend has no container yet: it is not open")
        return str(self._container.id)

    def _open(self) -> None:
        self._daemon = Daemon.connect(self._base_url)
        client = self._daemon.client
        try:
            reap_orphans(client)
            if self._attach_to:
                self._container = client.containers.get(self._attach_to)
            else:
                self._have_image(client)
                self._container = self._create(client)
        except docker.errors.APIError as error:
            raise BackendUnavailable(f"docker refused: {error.explanation or error}") from error
        except GONE as error:
            raise BackendUnavailable(f"docker does not answer: {error}") from error

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
        with self._asking() as daemon:
            made = self._create_exec(
                daemon,
                list(argv),
                environment=variables,
                workdir=cwd or self.cwd,
                stdin=stdin,
                tty=pty,
                user=self._user,
            )
            return DockerProcess(daemon, self.container_id, made["Id"], mark=mark, user=self._user, tty=pty)

    def snapshot(self, repository: str, tag: str = "latest") -> str:
        """Save the file system as an image, without tmpfs and mounts, and return the image's name.

        Raises:
            ContainerGone: There is nothing left to save.
            ConnectionLost: Docker does not answer, or refuses.
        """
        self.check_open()
        with self._asking() as daemon:
            daemon.client.api.commit(self.container_id, repository=repository, tag=tag)
        return f"{repository}:{tag}"

    @contextlib.contextmanager
    def _asking(self) -> Iterator[Daemon]:
        """Ask the daemon something about the container; what goes wrong is told in our own errors."""
        daemon = self._daemon
        if daemon is None:
            raise BackendClosed("this docker backend was closed meanwhile")
        daemon.check()
        try:
            yield daemon
        except docker.errors.NotFound as error:
            if not self._is_gone(daemon):
                raise ConnectionLost(f"docker refused: {error.explanation or error}") from error
            new = f'open_backend("docker://{self.image}")' if self.image else "open_backend(…) with another container"
            raise ContainerGone(
                f"{self.where} is gone: somebody removed it, with its files and all that ran in it; nothing was run\n"
                f"  fix: make a new one with {new}; a session takes it by use_backend()"
            ) from error
        except docker.errors.APIError as error:
            raise ConnectionLost(f"docker refused: {error.explanation or error}") from error
        except GONE as error:
            raise ConnectionLost(f"docker does not answer: {error}") from error

    def _is_gone(self, daemon: Daemon) -> bool:
        try:
            daemon.client.api.inspect_container(self.container_id)
        except docker.errors.NotFound:
            return True
        except (docker.errors.APIError, *GONE):
            pass  # nobody can tell
        return False

    def _create_exec(self, daemon: Daemon, argv: list[str], **settings: Any) -> dict[str, Any]:
        """Create an exec. A container of ours that was stopped, as by the daemon's restart, is started again."""
        api = daemon.client.api
        try:
            made: dict[str, Any] = api.exec_create(self.container_id, argv, **settings)
        except docker.errors.APIError as error:
            if self._attach_to or error.status_code not in (409, 500):
                raise
            api.start(self.container_id)
            made = api.exec_create(self.container_id, argv, **settings)
        return made

    def _create(self, client: docker.DockerClient) -> Container:
        volumes = [_checked_mount(mount) for mount in self._mounts]
        made = client.containers.create(self.image, volumes=volumes, labels=labels(), **self._settings)
        try:
            made.start()
        except BaseException:
            with contextlib.suppress(docker.errors.APIError, *GONE):
                made.remove(force=True)  # a container that failed to start stays behind as "Created"
            raise
        return made

    def _have_image(self, client: docker.DockerClient) -> None:
        try:
            client.images.get(self.image)
        except docker.errors.ImageNotFound:
            fix = f"docker pull {self.image}"
            if not self._pull:
                raise ImageMissing(f"the image {self.image} is not on this machine", fix) from None
            try:
                for line in client.api.pull(self.image, stream=True, decode=True, tag=_default_tag(self.image)):
                    self._tell(" ".join(str(line[key]) for key in ("id", "status", "progress") if line.get(key)))
                client.images.get(self.image)
            except docker.errors.APIError as error:
                why = error.explanation or error
                raise ImageMissing(f"the image {self.image} is not here and could not be pulled: {why}", fix) from error

    def _release(self) -> None:
        daemon, self._daemon = self._daemon, None
        if daemon is None:
            return
        try:
            if self._container is not None and not self._attach_to:
                # What cannot be removed now is reaped by the next one that opens.
                with contextlib.suppress(docker.errors.APIError, ConnectionLost, *GONE):
                    daemon.check()
                    self._container.remove(force=True, v=True)
        finally:
            daemon.client.close()


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
