"""Opening: what the contract can't see of ours, and what holds for backends of others that know nothing of it."""

from __future__ import annotations

import pytest

from hermes_backends import (
    Backend,
    BackendClosed,
    BackendUnavailable,
    Capabilities,
    HostKeyRefused,
    make_backend,
    open_backend,
)
from hermes_backends.docker.daemon import labels
from hermes_backends.local import LocalBackend
from hermes_backends.local.cgroup import find_parents

from .conftest import eventually, missing
from .test_local import groups
from .test_ssh import gated, serving


def ours(dockerd):
    """The containers of this process."""
    client = dockerd.client()
    owner = f"hermes-nb.owner={labels()['hermes-nb.owner']}"
    found = {container.id for container in client.containers.list(all=True, filters={"label": owner})}
    client.close()
    return found


class OldStyle(Backend):
    """As backends were written before there was `open`: what it needs is there once it is made."""

    name = "old"
    where = "a place of old"
    capabilities = Capabilities()

    def __init__(self, **options):
        super().__init__(**options)
        self.released = 0
        self.inner = LocalBackend().open()

    def spawn(self, argv, **options):
        self.check_open()
        return self.inner.spawn(argv, **options)

    def _release(self):
        self.released += 1
        self.inner.close()


@pytest.mark.parametrize("opened", [False, True])
def test_a_backend_without_the_hook_needs_no_opening_and_is_released_once(opened):
    backend = OldStyle()
    assert backend.is_open
    if opened:
        assert backend.open() is backend.open() is backend
    assert backend.run("echo in").stdout == "in\n"
    backend.close()
    backend.close()
    assert backend.released == 1
    with pytest.raises(BackendClosed):
        backend.open()


class Clumsy(LocalBackend):
    def _open(self):
        super()._open()
        raise BackendUnavailable("no", "do this")

    def _release(self):
        super()._release()
        raise OSError("stuck")


def test_the_reason_why_it_does_not_open_is_told_also_if_letting_go_fails():
    with pytest.raises(BackendUnavailable, match="no") as caught:
        Clumsy().open()
    assert caught.value.fix == "do this"
    assert "stuck" in caught.value.__notes__[0]


def test_closing_from_within_what_opening_calls_leaves_it_closed(dockerd):
    backend = make_backend(f"docker://{dockerd.image}", base_url=dockerd.url)
    real = backend._have_image
    backend._have_image = lambda client: (backend.close(), real(client))  # as a progress callback may
    with pytest.raises(BackendClosed):
        backend.open()
    assert ours(dockerd) == set()


def test_a_docker_backend_says_what_it_is_without_a_daemon(tmp_path):
    nowhere = f"unix://{tmp_path}/nobody.sock"
    backend = make_backend("docker://debian:12", base_url=nowhere)
    assert backend.where == "container of debian:12, not open"
    assert backend.capabilities == Capabilities(isolated=True, snapshot=True, limits=True)
    assert not make_backend("docker://x", mounts=[f"{tmp_path}:/x"], base_url=nowhere).capabilities.isolated
    attached = make_backend("docker", container="mine", base_url=nowhere)
    assert attached.where == "container mine, not open"
    assert attached.capabilities == Capabilities(snapshot=True)
    with pytest.raises(BackendClosed, match="not open"):
        _ = backend.container_id
    with pytest.raises(BackendUnavailable, match="start the daemon"):
        backend.open()
    assert backend.where == "container of debian:12, not open"
    with pytest.raises(BackendUnavailable, match="needs an image"):
        make_backend("docker")


def test_a_docker_backend_that_fails_to_open_leaves_no_container_and_opens_later(dockerd):
    backend = make_backend(f"docker://{dockerd.image}", base_url=dockerd.url)
    real = backend._open

    def fail():
        real()
        raise KeyboardInterrupt

    backend._open = fail
    with pytest.raises(KeyboardInterrupt):
        backend.open()
    assert ours(dockerd) == set()
    assert backend.where.endswith("not open")
    backend._open = real
    with backend:
        assert ours(dockerd) == {backend.container_id}
        assert backend.container_id[:12] in backend.where
    assert ours(dockerd) == set()


def test_an_image_that_comes_later_can_be_opened_with_the_same_backend(dockerd):
    client = dockerd.client()
    backend = make_backend("docker://hermes-later", base_url=dockerd.url, pull=False)
    with pytest.raises(BackendUnavailable, match="hermes-later"):
        backend.open()
    client.images.get(dockerd.image).tag("hermes-later")
    try:
        with backend:
            assert backend.run("echo in").stdout == "in\n"
    finally:
        client.images.remove("hermes-later")
        client.close()


def test_an_ssh_backend_that_was_refused_opens_once_the_host_is_known(sshd, tmp_path):
    known = tmp_path / "known"
    known.touch()
    backend = make_backend(sshd.target, **{**sshd.options, "known_hosts": str(known)})
    assert backend.where == "root@127.0.0.1"
    with pytest.raises(HostKeyRefused):
        backend.open()
    known.write_text(sshd.known_hosts.read_text())
    with backend:
        assert backend.run("echo in").stdout == "in\n"


def test_a_jump_to_a_host_that_refuses_is_not_left_connected(sshd, tmp_path):
    with serving(tmp_path / "gate") as gate:
        options = gated(sshd, gate, tmp_path, "  ProxyJump gate\n")
        (tmp_path / "known").write_text(gate.known_hosts.read_text())
        backend = make_backend("ssh://inner", **options)
        with pytest.raises(HostKeyRefused):
            backend.open()
        assert eventually(lambda: not gate.sessions())


def test_a_cgroup_is_made_when_it_opens():
    try:
        parents = find_parents()
    except BackendUnavailable as error:
        missing(str(error))
    before = groups(parents)
    backend = make_backend("local", isolation="cgroup")
    assert groups(parents) == before
    backend._open = lambda: (LocalBackend._open(backend), 1 / 0)
    with pytest.raises(ZeroDivisionError):
        backend.open()
    assert groups(parents) == before
    del backend._open
    with backend:
        assert len(groups(parents)) == len(before) + len(parents)
    assert groups(parents) == before


def test_what_is_wrong_with_the_arguments_is_said_when_it_is_made(tmp_path):
    for spec, options in (("local", {"isolation": "magic"}), ("local", {"colour": "red"}), ("docker", {})):
        with pytest.raises(BackendUnavailable):
            make_backend(spec, **options)
    with open_backend("local") as backend:
        assert backend.is_open
    assert not backend.is_open
