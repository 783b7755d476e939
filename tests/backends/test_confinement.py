"""What `landlock` and `bubblewrap` promise, attacked: as whoever runs the tests, and as a plain user."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import hermes_backends
from hermes_backends import BackendClosed, BackendError, BackendUnavailable, make_backend
from hermes_backends.local.landlock import abi

from ..parts import eventually, find, missing, need_root

SERVE = Path(__file__).with_name("serve.py")
BOTH = ("landlock", "bubblewrap")


class User:
    """Somebody to be: with a folder to work in, one to leave alone, one for temporary files, and a Python."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.settings, self.python = {}, sys.executable
        if name != "us":
            need_root("do this")
            entry = pwd.getpwnam(name)
            self.settings = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
            self.python = self.reachable_python()
        # Not pytest's folder, which is for one user alone, and not /tmp, which is another one inside.
        self.folder = Path(tempfile.mkdtemp(prefix="hermes-test-", dir="/var/tmp"))
        self.folder.chmod(0o755)
        package = shutil.copytree(Path(hermes_backends.__file__).parent, self.folder / "package/hermes_backends").parent
        self.serve = shutil.copy(SERVE, self.folder)
        self.work, self.outside, self.temporary = (self.make(self.folder / n) for n in ("work", "outside", "temporary"))
        (self.outside / "file").write_text("kept")
        self.own(self.outside / "file")
        self.variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(package),
            "TMPDIR": str(self.temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def reachable_python(self) -> str:
        """One that this user can run too: ours may be in root's own folder."""
        test = "import sys; sys.exit(sys.version_info < (3, 11))"
        for python in (os.path.realpath(sys.executable), "/usr/bin/python3", "/usr/local/bin/python3"):
            with contextlib.suppress(OSError):
                if (
                    subprocess.run([python, "-c", test], capture_output=True, check=False, **self.settings).returncode
                    == 0
                ):
                    return python
        missing(f"{self.name} can run no Python that is new enough")
        raise AssertionError

    def make(self, folder: Path) -> Path:
        folder.mkdir(parents=True)
        self.own(folder)
        return folder

    def own(self, path: Path) -> None:
        if self.settings:
            os.chown(path, self.settings["user"], self.settings["group"])

    def start(self, isolation, *, enter=(), variables=None, **options):
        options = {"isolation": isolation, "cwd": str(self.work), **options}
        return subprocess.Popen(
            [*enter, self.python, str(self.serve), json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            text=True,
            env={**self.variables, **(variables or {})},
            **self.settings,
        )

    @contextlib.contextmanager
    def confined(self, isolation, **options):
        """A backend of this user's: functions `run`, `job` and `spawn`, and the `pid` of its Python."""
        with self.start(isolation, **options) as server:
            try:
                first = json.loads(server.stdout.readline())
                assert "refused" not in first, first

                def ask(what):
                    def asked(argument, **given):
                        server.stdin.write(json.dumps([what, argument, given]) + "\n")
                        server.stdin.flush()
                        said = json.loads(server.stdout.readline())
                        assert "raised" not in said, said
                        return SimpleNamespace(**said)

                    return asked

                yield SimpleNamespace(**first, server=server, **{what: ask(what) for what in ("run", "job", "spawn")})
                if server.poll() is None:
                    server.stdin.close()
                    assert json.loads(server.stdout.readline()) == {"closed": True}
                    assert server.wait(60) == 0
            finally:
                server.kill()

    def refused(self, isolation, **options):
        with self.start(isolation, **options) as server:
            return SimpleNamespace(**json.loads(server.stdout.readline()))

    def close(self) -> None:
        subprocess.run(["chmod", "-R", "u+rwx", self.folder], check=False)
        shutil.rmtree(self.folder)


@pytest.fixture(params=["us", "nobody"])
def user(request):
    user = User(request.param)
    yield user
    user.close()


@pytest.fixture
def us():
    user = User("us")
    yield user
    user.close()


@pytest.fixture(autouse=True)
def parts():
    find("bwrap")
    if abi() < 1:
        missing("this kernel has no Landlock")


def state(folder: Path):
    """All that can be changed about a folder and what is in it."""
    found = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        seen = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(seen.st_mode) else b""
        found[str(path)] = (seen.st_mode, seen.st_uid, seen.st_gid, seen.st_mtime_ns, content)
    return found


WRITES = (
    "echo x > {}/new",
    "echo x >> {}/file",
    "rm -f {}/file",
    "truncate -s 0 {}/file",
    "mv here {}/",
    "mv {}/file .",
    "ln here {}/link",
    "ln -s here {}/link",
    "mkdir {}/d",
    "mkfifo {}/pipe",
)
#: what Landlock lets pass
CHANGES = (
    "chmod 777 {}/file",
    "touch {}/file",
    "chgrp $(id -g) {}/file && touch {}",
    "setfattr -n user.x -v y {}/file",
)


@pytest.mark.parametrize("isolation", BOTH)
def test_nothing_is_written_elsewhere(user, isolation):
    before = state(user.outside)
    with user.confined(isolation) as inside:
        assert inside.run("echo x > here && cat here").stdout == "x\n"
        for attack in (*WRITES, *(CHANGES if isolation == "bubblewrap" else ())):
            assert inside.run(attack.format(user.outside, user.outside)).exit_code != 0, attack
        assert inside.run(f"cat {user.outside}/file").stdout == "kept"
    assert state(user.outside) == before
    assert (user.work / "here").read_text() == "x\n"


REMOUNTS = (
    "mount -o remount,rw,bind /",
    "mount -o remount,rw,bind {}",
    "umount -l /proc/sys; umount -l {}",
    "mount --bind / /mnt; mount -t tmpfs x /mnt; mount -t proc x /mnt",
    # In namespaces of one's own one has all capabilities, but not over what came from outside.
    "unshare -Urm mount -o remount,rw,bind /",
    "unshare -Urm mount -o remount,rw,bind {}",
    "unshare -Um --map-current-user mount -o remount,rw,bind /",
    "unshare -Urm umount -l /proc/sys",
    "unshare -Urm mount --bind / /mnt",
    "unshare -Urpf --mount-proc sh -c 'exec 3<>/proc/sys/kernel/core_pattern' && echo hole",
    "chroot / echo hole",
    "nsenter -t 1 -m echo hole",
)


def test_bubblewrap_cannot_be_undone_from_inside(user):
    before = state(user.outside)
    with user.confined("bubblewrap") as inside:
        for attack in REMOUNTS:
            result = inside.run(f"{attack.format(user.outside)}; touch {user.outside}/new /etc/hermes-test")
            assert "hole" not in result.stdout, attack
        capabilities = inside.run("grep '^Cap' /proc/self/status").stdout.split()[1::2]
        assert {int(shown, 16) for shown in capabilities} == {0}
        assert inside.run("grep NoNewPrivs /proc/self/status").stdout.split()[1] == "1"
    assert state(user.outside) == before
    assert not Path("/etc/hermes-test").exists()


def test_bubblewrap_leaves_nothing_of_the_kernel_writable(user):
    # Opened only, never written to: it is this machine's.
    tries = (
        "find /proc /sys -path '/proc/[0-9]*' -prune -o -path '/proc/*self' -prune -o -type f -perm /222 -print "
        '2>/dev/null | while read -r file; do ( : 3<>"$file" ) 2>/dev/null && echo "$file"; done'
    )
    with user.confined("bubblewrap") as inside:
        assert inside.run("( : 3<>/proc/sys/kernel/core_pattern )").exit_code != 0
        assert inside.run(tries).stdout == ""


#: made for each program or each backend, whatever this machine has there
OWN = ("/dev", "/dev/shm", "/run", "/tmp")


def test_bubblewrap_has_no_mount_that_can_be_written_but_its_own(user):
    places = "cut -d' ' -f5 /proc/self/mountinfo | sort -u"
    with user.confined("bubblewrap") as inside:
        write = '(: > "$p/hermes-test") 2>/dev/null && echo "$p"'
        tried = f'(echo /dev/shm; {places}) | while read -r p; do [ -d "$p" ] && {write}; done'
        assert set(inside.run(tried).stdout.split()) == {*OWN, str(user.work)}
    for place in OWN:
        assert not Path(place, "hermes-test").exists()


def test_bubblewrap_has_its_own_processes_devices_and_run(user):
    with user.confined("bubblewrap") as inside:
        assert inside.run(f"kill -0 {inside.pid}").exit_code != 0
        assert int(inside.run("ls -d /proc/[0-9]* | wc -l").stdout) < 20
        nodes = inside.run("find /dev \\( -type b -o -type c \\) -printf '%f\\n'").stdout.split()
        assert set(nodes) <= {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}
        assert inside.run("mknod sda b 8 0; mknod mem c 1 1").exit_code != 0
        assert inside.run("find /run -type s").stdout == ""
        assert inside.run("grep -c : /proc/net/dev").stdout == "1\n"
    with user.confined("bubblewrap", network=True) as inside:
        assert inside.run("grep -c : /proc/net/dev").stdout == f"{len(socket.if_nameindex())}\n"


def test_a_socket_in_run_is_out_of_reach():
    need_root("do this")
    user = User("us")
    path = Path(tempfile.mkdtemp(prefix="hermes-test-", dir="/run")) / "socket"
    connect = f"python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{path}\")'"
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            server.listen()
            subprocess.run(connect, shell=True, check=True)
            for options in ({}, {"network": True}):
                with user.confined("bubblewrap", **options) as inside:
                    assert "No such file" in inside.run(connect).stderr
    finally:
        shutil.rmtree(path.parent)
        user.close()


def test_as_root_files_of_other_owners_cannot_be_changed(us):
    need_root("do this")
    file = us.work / "of-nobody"
    file.write_text("kept")
    os.chown(file, 65534, 65534)
    with us.confined("bubblewrap") as inside:
        for attack in ("echo x > {}", "chmod 777 {}", "chown 0 {}"):
            assert inside.run(attack.format(file.name)).exit_code != 0
        assert inside.run("id -u; stat -c %u of-nobody").stdout == "0\n65534\n"
    assert file.read_text() == "kept"


# --- the private /tmp


def private(user):
    return [path for path in user.temporary.iterdir() if path.name.startswith("hermes-")]


def test_shells_and_jobs_of_a_backend_share_one_tmp_and_the_shells_state(user):
    with user.confined("bubblewrap") as inside:
        inside.run("X=5; f() { echo f $1; }; echo shared > /tmp/hermes-test-file; mkdir /tmp/d; cd /tmp/d")
        job = inside.job("echo X=$X; f 1; cat /tmp/hermes-test-file; pwd")
        assert (job.exit_code, job.stdout) == (0, "X=5\nf 1\nshared\n/tmp/d\n")
        assert inside.run("cat /tmp/hermes-test-file", task="other").stdout == "shared\n"
        assert inside.spawn(["pwd"], cwd="/tmp/d").stdout == "/tmp/d\n"
        assert inside.run("mktemp").stdout.startswith("/tmp/")
        assert not Path("/tmp/hermes-test-file").exists()
        (folder,) = private(user)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.stat().st_uid == user.work.stat().st_uid
        with user.confined("bubblewrap") as other:
            assert other.run("ls -A /tmp").stdout == ""
            assert len(private(user)) == 2
        assert private(user) == [folder]
    assert private(user) == []


def test_the_private_tmp_goes_whatever_is_in_it_and_takes_nothing_along(user):
    before = state(user.outside)
    with user.confined("bubblewrap") as inside:
        inside.run(
            f"mkdir -p /tmp/a/b/c /tmp/locked; ln -s {user.outside} /tmp/a/out; ln -s {user.outside}/file /tmp/locked/"
        )
        inside.run("touch /tmp/a/b/c/file; chmod 000 /tmp/a/b /tmp/locked; chmod 500 /tmp/a; chmod 000 /tmp")
    assert private(user) == []
    assert state(user.outside) == before


def test_what_is_mounted_in_tmp_cannot_be_swapped_for_the_next_program(user):
    base = Path(tempfile.mkdtemp(prefix="hermes-test-", dir="/tmp"))
    base.chmod(0o755)
    user.own(base)
    try:
        deep, direct = user.make(base / "way/to/work"), base
        for work in (deep, direct):
            top = f"/tmp/{base.name}"
            with user.confined("bubblewrap", cwd=str(work)) as inside:
                for attack in (
                    f"mv {top} /tmp/elsewhere",
                    f"mv {top}/way {top}/elsewhere" if work is deep else "false",
                    f"rm -rf {top}; ln -s {user.outside} {top}",
                    f"rmdir {top}",
                    f"unshare -Urm sh -c 'umount -l {top}; mv {top} /tmp/elsewhere'",
                    f"unshare -Urm sh -c 'mount --bind /tmp /mnt && mv /mnt/{base.name} /mnt/elsewhere'",
                ):
                    if not (attack.startswith("rm -rf") and work is direct):  # its contents are its own
                        assert inside.run(attack).exit_code != 0, attack
                assert inside.run("echo x > made; pwd", task=f"next {work}").stdout == f"{work}\n"
            assert (work / "made").read_text() == "x\n"
    finally:
        shutil.rmtree(base)
    assert sorted(path.name for path in user.outside.iterdir()) == ["file"]


def test_the_private_tmp_is_never_in_a_folder_that_is_writable_inside(user):
    inner = user.make(user.work / "tmp")
    with user.confined("bubblewrap", variables={"TMPDIR": str(inner)}) as inside:
        assert inside.run("touch /tmp/mine; find . -name mine").stdout == ""
        assert list(inner.iterdir()) == []
        assert inside.run("mktemp").stdout.startswith("/tmp/")
    link = user.work / "link"
    link.symlink_to(user.temporary)
    with user.confined("bubblewrap", variables={"TMPDIR": str(link)}) as inside:
        assert len(private(user)) == 1
        assert inside.run(f"rm {link} && ln -s {user.outside} {link}").exit_code == 0
        inside.run("touch /tmp/x; echo x > /tmp/file", task="next")
    assert (private(user), sorted(path.name for path in user.outside.iterdir())) == ([], ["file"])
    # Who works in /tmp itself has the real one.
    with user.confined("bubblewrap", cwd="/tmp") as inside:
        name = f"hermes-test-{time.time_ns()}"
        assert inside.run(f"touch {name}").exit_code == 0
        assert Path("/tmp", name).exists()
        assert inside.run(f"rm {name}").exit_code == 0


# --- what confines must be out of reach of what is confined


@pytest.mark.parametrize("isolation", BOTH)
def test_variables_that_steer_the_loader_are_for_the_program_alone(user, isolation):
    # The loader of whatever starts with these writes a file, also that of a launcher that is not confined yet.
    steering = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": f"{user.outside}/trace"}
    with user.confined(isolation, env=steering) as inside:
        assert inside.run("echo $LD_DEBUG").stdout == "libs\n"
        assert inside.spawn(["sh", "-c", "echo $LD_DEBUG"], pty=True).stdout.split()[-1] == "libs"
    assert [path.name for path in user.outside.iterdir()] == ["file"]


def test_a_bubblewrap_that_could_be_overwritten_is_not_used(user):
    planted = user.make(user.work / "bin") / "bwrap"
    planted.write_text("#!/bin/sh\nexit 0\n")
    planted.chmod(0o755)
    said = user.refused("bubblewrap", variables={"PATH": f"{planted.parent}:{os.environ['PATH']}"})
    assert "may overwrite it" in said.refused
    # One that is only led to by a link there is used by its own name, whatever becomes of the link.
    planted.unlink()
    planted.symlink_to(find("bwrap"))
    with user.confined("bubblewrap", variables={"PATH": f"{planted.parent}:{os.environ['PATH']}"}) as inside:
        inside.run(f"rm bin/bwrap; printf '#!/bin/sh\\ntouch {user.outside}/new\\n' > bin/bwrap; chmod 755 bin/bwrap")
        assert inside.run("echo held", task="next").stdout == "held\n"
    assert [path.name for path in user.outside.iterdir()] == ["file"]


def test_a_python_that_could_be_overwritten_does_not_confine(user):
    python = user.work / "python"
    shutil.copy(os.path.realpath(user.python), python)
    prefix = subprocess.run(
        [user.python, "-c", "import sys; print(sys.base_prefix)"],
        capture_output=True,
        text=True,
        check=True,
        **user.settings,
    ).stdout.strip()
    user.python = str(python)
    assert "may overwrite it" in user.refused("landlock", variables={"PYTHONHOME": prefix}).refused


@pytest.mark.parametrize("isolation", BOTH)
def test_a_folder_that_would_undo_it_all_is_refused(us, isolation):
    (us.work / "root").symlink_to("/")
    for options in (
        {"cwd": "/"},
        {"cwd": "/dev"},
        {"cwd": "/proc/self"},
        {"cwd": "/sys"},
        {"cwd": str(us.work / "root")},
        {"writable": ["/"]},
        {"writable": ["/../"]},
    ):
        assert "nothing would be confined" in us.refused(isolation, **options).refused
    gone = us.refused(isolation, cwd=str(us.work / "none"))
    assert "is not there" in gone.refused
    assert gone.fix == f"mkdir -p {us.work}/none"


def test_folders_within_each_other_and_by_links_are_as_writable_as_was_asked(user):
    (inner := user.make(user.work / "a/b"))
    more = user.make(user.folder / "more")
    (user.work / "link").symlink_to(more)
    with user.confined("bubblewrap", writable=[str(inner), str(user.work / "link")]) as inside:
        assert inside.run(f"touch {inner}/x {more}/x").exit_code == 0
        assert inside.run(f"mv {user.work}/a {user.work}/c && ln -s {user.outside} {user.work}/a").exit_code == 0
        assert inside.run(f"touch {user.outside}/x", task="next").exit_code != 0


# --- where it cannot be had


def test_where_the_kernel_refuses_opening_fails_and_says_what_to_do(user):
    # In a user namespace of our own we may set how many more there can be.
    none = [find("unshare"), "-Ur", "sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"', "sh"]
    said = user.refused("bubblewrap", enter=none)
    assert "bubblewrap cannot be used here" in said.refused
    assert "namespace" in said.refused
    assert "user.max_user_namespaces" in said.fix
    assert private(user) == []


def test_a_late_refusal_is_told_with_its_words(user):
    """As AppArmor's, which lets bwrap begin and then refuses."""
    programs = user.make(user.folder / "programs")
    (programs / "bwrap").write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n")
    (programs / "bwrap").chmod(0o755)
    said = user.refused("bubblewrap", variables={"PATH": f"{programs}:{os.environ['PATH']}"})
    assert "setting up uid map: Permission denied" in said.refused
    assert "isolation='landlock'" in said.fix
    assert private(user) == []


def test_without_bubblewrap_it_says_what_to_install(us):
    assert us.refused("bubblewrap", variables={"PATH": str(us.work)}).fix == "apt-get install bubblewrap"


def test_the_probe_names_bubblewrap_only_where_it_works(monkeypatch, tmp_path):
    from hermes_backends.probe import probe_all

    def levels():
        return probe_all()[0].detail

    assert "bubblewrap" in levels()
    (tmp_path / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert "bubblewrap" not in levels()


# --- from start to end


def test_a_shell_outlives_the_thread_that_started_it(user):
    with user.confined("bubblewrap") as inside:  # each command comes from another thread, see serve.py
        inside.run("x=1")
        again = inside.run("echo $x")
        assert (again.stdout, again.restarted) == ("1\n", False)


def test_all_of_it_dies_with_our_python(user):
    peculiar = f"sleep {time.time_ns()}"

    def lives():
        return subprocess.run(["pgrep", "-f", peculiar], check=False, capture_output=True).returncode == 0

    with user.confined("bubblewrap") as inside:
        inside.run(f"env -i setsid {peculiar} >/dev/null 2>&1 &")
        assert eventually(lives)
        inside.server.send_signal(signal.SIGKILL)
        inside.server.wait(60)
        assert eventually(lambda: not lives())


def test_closing_while_programs_are_started_is_told_as_closing_and_leaves_none(tmp_path):
    peculiar = f"sleep {time.time_ns()}"
    backend = make_backend("local", isolation="bubblewrap", cwd=str(tmp_path)).open()
    errors, processes = [], []

    def start_many():
        while not errors:
            try:
                processes.append(backend.spawn(peculiar.split(), stdin=False))
            except BackendError as error:
                errors.append(error)

    thread = threading.Thread(target=start_many)
    thread.start()
    assert eventually(lambda: len(processes) > 2)
    backend.close()
    thread.join(60)
    assert [type(error) for error in errors] == [BackendClosed]
    search = ["pgrep", "-f", peculiar]
    assert eventually(lambda: subprocess.run(search, check=False, capture_output=True).returncode == 1)
    for process in processes:
        process.close()


def test_closing_ends_what_has_not_got_as_far_as_bubblewrap(tmp_path):
    peculiar = f"sleep {time.time_ns()}"
    backend = make_backend("local", isolation="bubblewrap", cwd=str(tmp_path)).open()
    # As on a busy machine: the thread that starts programs is over before bwrap can ask to die with it.
    backend._bubblewrap.words[:0] = ["sh", "-c", 'sleep 2; exec "$@"', "sh"]
    process = backend.spawn(peculiar.split(), stdin=False)
    backend.close()
    assert process.wait(60) == 128 + signal.SIGKILL
    process.close()
    assert subprocess.run(["pgrep", "-f", peculiar], check=False, capture_output=True).returncode == 1


def test_a_directory_that_is_not_there_ends_with_126(user):
    with user.confined("bubblewrap") as inside:
        assert inside.spawn(["pwd"], cwd="/run/none").exit_code == 126
        assert inside.spawn(["pwd"]).stdout == f"{user.work}\n"


def test_as_root_what_is_mounted_later_is_not_seen(us):
    need_root("do this")
    # As on most machines: mounts are shared, so that they are seen in namespaces too. Here in one of our own.
    share = 'mount --make-rshared / && exec "$@"'
    later = us.make(us.folder / "later")
    with us.confined("bubblewrap", enter=[find("unshare"), "-m", "sh", "-c", share, "sh"]) as inside:
        inside.run("true")
        enter = [find("nsenter"), "-t", str(inside.pid), "-m"]
        subprocess.run([*enter, "mount", "-t", "tmpfs", "tmpfs", later], check=True)
        subprocess.run([*enter, "grep", "-q", str(later), "/proc/self/mountinfo"], check=True)
        assert inside.run(f"grep {later} /proc/self/mountinfo").stdout == ""
        assert inside.run(f"touch {later}/x").exit_code != 0


# --- Landlock's /dev


def test_landlock_leaves_only_harmless_devices_writable(user):
    need_root("do this")  # to make a device that is not harmless by its name alone
    device = Path(f"/dev/hermes-test-{time.time_ns()}")
    os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    device.chmod(0o666)
    try:
        with user.confined("landlock") as inside:
            for name in ("null", "zero", "full", "random", "urandom"):
                assert inside.run(f"( : 3>>/dev/{name} )").exit_code == 0, name
            shared = f"/dev/shm/hermes-test-{time.time_ns()}"
            assert inside.run(f"echo x > {shared} && rm {shared}").exit_code == 0
            assert inside.spawn(["sh", "-c", "echo there > /dev/tty"], pty=True).stdout.strip() == "there"
            assert "None" not in inside.spawn([user.python, "-c", "import os; print(os.openpty())"]).stdout
            for attack in (f"( : 3>>{device} )", f"( : 3<>{device} )", f"rm {device}", "touch /dev/hermes-test"):
                assert inside.run(attack).exit_code != 0, attack
            # A device of one's own would be as good as that of /dev.
            for node in ("c 1 3", "b 7 0"):
                assert inside.run(f"mknod node {node}").exit_code != 0
            assert inside.run("mkfifo pipe && mkdir folder && ln -s pipe link").exit_code == 0
        assert device.exists()
    finally:
        device.unlink()


def test_making_a_confined_backend_leaves_nothing_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "work").mkdir()
    backend = make_backend("local", isolation="bubblewrap", cwd=str(tmp_path / "work"))
    assert list((tmp_path / "temporary").iterdir()) == []
    with backend:
        assert len(list((tmp_path / "temporary").iterdir())) == 1
    assert list((tmp_path / "temporary").iterdir()) == []
    with pytest.raises(BackendUnavailable, match="choose one of"):
        make_backend("local", isolation="magic")
