"""Containers are removed for owners that surely are no more, and for no others."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_backends import open_backend
from hermes_backends.docker.daemon import labels, reap_orphans
from hermes_backends.owners import Owner
from hermes_backends.supervise import started_at

from ..parts import eventually, find, need_root

FIRST = "4026531836"
PREFIX = "hermes-nb"
HOLD = (
    "import sys; from hermes_backends import open_backend\n"
    "b = open_backend(f'docker://{sys.argv[1]}', base_url=sys.argv[2])\n"
    "print(b.container_id, flush=True)\n"
    "sys.stdin.read()\n"
)
LOOK = (
    "import sys; from hermes_backends import open_backend\n"
    "print('here', flush=True); sys.stdin.readline()\n"
    "open_backend(f'docker://{sys.argv[1]}', base_url=sys.argv[2]).close()\n"
)


@pytest.fixture
def client(dockerd):
    client = dockerd.client()
    yield client
    client.close()


def living(client):
    return {container.id for container in client.containers.list(all=True)}


def command(dockerd, code, *enter):
    return [*enter, sys.executable, "-c", code, dockerd.image, dockerd.url]


def namespace(*more):
    """Enters a pid namespace of its own, as a container has; the host name stays."""
    need_root("do this")
    return [find("unshare"), "--pid", "--fork", "--kill-child", *more]


@contextlib.contextmanager
def holding(dockerd, *enter):
    """Another Python with a container; gives the container's id, and what ends that Python."""
    argv = command(dockerd, HOLD, *enter)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        try:
            container = other.stdout.readline().strip()

            def end():
                other.send_signal(signal.SIGKILL)  # unshare takes its child with it
                other.wait(60)

            yield container, end
        finally:
            other.kill()


@contextlib.contextmanager
def looking(dockerd, *enter):
    """Another Python that opens a backend, and so looks for orphans, when what is given is called."""
    argv = command(dockerd, LOOK, *enter)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "here\n"

        def look():
            other.communicate("now\n", timeout=60)
            assert other.returncode == 0

        yield look


def look_from(dockerd, *enter):
    with looking(dockerd, *enter) as look:
        look()


@contextlib.contextmanager
def written_down(client, image, **given):
    """A container that carries the labels of some owner; gives its id."""
    carried = {name: value for name, value in given.items() if value is not None}
    carried = {PREFIX if not name else f"{PREFIX}.{name}": value for name, value in carried.items()}
    container = client.containers.create(image, ["true"], labels={PREFIX: "1", **carried})
    try:
        yield container.id
    finally:
        with contextlib.suppress(Exception):
            container.remove(force=True)


def fields(**changes):
    """The labels of this process, some of them changed."""
    own = {name.removeprefix(f"{PREFIX}."): value for name, value in labels().items() if name != PREFIX}
    return {**own, **changes}


def test_two_pythons_of_one_host_name_in_two_pid_namespaces_leave_each_other_alone(dockerd, client):
    with (
        holding(dockerd, *namespace("--mount-proc")) as (one, _),
        holding(dockerd, *namespace("--mount-proc")) as (two, _),
        open_backend(f"docker://{dockerd.image}", base_url=dockerd.url) as here,
    ):
        look_from(dockerd, *namespace("--mount-proc"))
        look_from(dockerd)
        assert {one, two, here.container_id} <= living(client)


def test_one_that_sees_the_proc_of_another_namespace_judges_nobody_and_is_judged_by_nobody(dockerd, client):
    with (
        holding(dockerd, *namespace("--mount-proc")) as (right, _),
        holding(dockerd, *namespace()) as (wrong, _),  # its pids mean others in the /proc that it has
        open_backend(f"docker://{dockerd.image}", base_url=dockerd.url) as here,
    ):
        look_from(dockerd, *namespace())
        look_from(dockerd)
        assert {right, wrong, here.container_id} <= living(client)


def test_a_namespace_that_is_gone_is_noticed_by_who_sees_all_processes_and_by_nobody_else(dockerd, client):
    with (
        holding(dockerd, *namespace("--mount-proc")) as (orphan, end),
        looking(dockerd, *namespace("--mount-proc")) as look_from_a_third,
    ):
        look_from(dockerd)
        assert orphan in living(client)
        owner = Owner.from_labels(client.containers.get(orphan).labels, PREFIX)
        end()
        assert eventually(lambda: (owner.namespace, owner.started) not in seen())
        look_from_a_third()
        assert orphan in living(client)
        if Owner.current().namespace != FIRST:
            pytest.skip("these tests run in a pid namespace of their own")
        look_from(dockerd)
        assert orphan not in living(client)


def seen():
    """The processes that there are, by the number of their pid namespace and their start."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found.add((str((folder / "ns/pid").stat().st_ino), started_at(int(folder.name))))
    return found


def test_an_owner_in_another_namespace_is_told_by_number_and_start_too(dockerd, client):
    """Somebody who lives in a namespace of that number says nothing: the number of one that is gone is given again."""
    if Owner.current().namespace != FIRST:
        pytest.skip("these tests run in a pid namespace of their own")
    with holding(dockerd, *namespace("--mount-proc")) as (held, _):
        owner = Owner.from_labels(client.containers.get(held).labels, PREFIX)
        there = fields(namespace=owner.namespace)
        with (
            written_down(client, dockerd.image, **there | {"owner": f"{owner.pid}-{owner.started}"}) as alive,
            written_down(client, dockerd.image, **there | {"owner": f"{owner.pid}-1"}) as came_again,
            written_down(client, dockerd.image, **there | {"owner": f"999999-{owner.started}"}) as gone,
        ):
            assert {gone, came_again} <= set(reap_orphans(client))
            assert {held, alive} <= living(client)


def test_an_owner_with_a_clock_of_its_own_is_not_taken_for_gone(dockerd, client):
    """The start that it wrote down is by that clock, and another by ours."""
    with holding(dockerd, *namespace("--mount-proc", "--time", "--boottime", "100000")) as (held, _):
        look_from(dockerd)
        assert held in living(client)


def test_an_owner_of_the_same_namespace_is_told_by_number_and_start(dockerd, client):
    dead = subprocess.Popen(["true"])
    dead.wait(60)
    own = Owner.current()
    with (
        written_down(client, dockerd.image, **fields()) as alive,
        written_down(client, dockerd.image, **fields(owner=f"{dead.pid}-{own.started}")) as gone,
        written_down(client, dockerd.image, **fields(owner=f"{own.pid}-1")) as came_again,
    ):
        assert {gone, came_again} <= set(reap_orphans(client))
        assert alive in living(client)


def test_what_an_earlier_boot_of_this_machine_left_is_removed(dockerd, client):
    own = Owner.current()
    if own.namespace != FIRST or not own.machine:
        pytest.skip("these tests do not run on a machine of their own")
    with (
        written_down(client, dockerd.image, **fields(boot="an-earlier-one", owner="1-1")) as earlier,
        written_down(client, dockerd.image, **fields(boot="x", machine="another", owner="1-1")) as of_another,
        written_down(client, dockerd.image, **fields(boot="x", machine="", owner="1-1")) as of_who_knows,
        written_down(client, dockerd.image, **fields(boot="x", namespace="4026532000", owner="1-1")) as in_a_container,
    ):
        assert earlier in reap_orphans(client)
        assert {of_another, of_who_knows, in_a_container} <= living(client)


@pytest.mark.parametrize(
    "unknown",
    [
        {"boot": None, "namespace": None, "machine": None},  # as older versions wrote it
        {"boot": ""},
        {"namespace": ""},
        {"owner": "999999999-"},
        {"owner": "x"},
        {"owner": "-1-1"},
        {"owner": "0-1"},
        {"owner": "²-1"},
        {"owner": None},
    ],
)
def test_who_cannot_be_told_is_left_alone(dockerd, client, unknown):
    given = {"owner": "999999999-1", **unknown}
    with written_down(client, dockerd.image, **fields(**given)) as container:
        reap_orphans(client)
        assert container in living(client)


def test_an_owner_that_proc_hides_is_not_taken_for_gone(tmp_path):
    """As another user where /proc is mounted with hidepid=2: there one sees only processes of one's own."""
    need_root("do this")
    own = Owner.current()
    code = (
        "import os, sys; from hermes_backends.owners import Owner\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        f"assert not os.path.exists('/proc/{own.pid}/stat')\n"
        f"live = Owner(*{dataclasses.astuple(own)!r})\n"
        "print(live.is_gone())\n"
    )
    script = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'
    hidden = [find("unshare"), "--mount", "sh", "-c", script, "sh", sys.executable, "-c", code]
    done = subprocess.run(hidden, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False\n", "")
