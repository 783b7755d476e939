"""Commands that run another command: what they run, with their own options peeled away.

Most are of one form and need only a line in ``_PREFIXES``; what has a way of its own has a function in ``launchers``.
``timeout -k 1 5 sudo -u bob rm x`` comes here twice: ``timeout`` has an option with a value and one value besides, so
that ``sudo -u bob rm x`` is what it runs, and of that ``rm x`` is what sudo runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hermes_nb.approval.shell.commands import Inner, Word
from hermes_nb.approval.shell.launchers import LAUNCHERS, is_clustered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_nb.approval.shell.commands import Command


@dataclass(frozen=True, slots=True)
class _Prefix:
    """A wrapper of the form ``wrapper [options] [values] command …``.

    Attributes:
        valued: The options that take the next word as their value.
        skip: How many words stand before the command: one for ``timeout 5 …``.
        text: Whether the rest is shell text, as it is to ``watch`` and ``ssh``: ``watch 'a; b'`` runs both.
        elsewhere: Whether it runs on another machine.
    """

    valued: frozenset[str] = frozenset()
    skip: int = 0
    text: bool = False
    elsewhere: bool = False


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


def _prefix(valued: str = "", skip: int = 0, *, text: bool = False, elsewhere: bool = False) -> _Prefix:
    return _Prefix(frozenset(valued.split()), skip, text, elsewhere)


_PREFIXES: dict[str, _Prefix] = {
    "sudo": _prefix(
        "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role"
        " --type --close-from"),
    "doas": _prefix("-u -C"),
    "pkexec": _prefix("--user"),
    "gosu": _prefix(skip=1),
    "su-exec": _prefix(skip=1),
    "setpriv": _prefix("--reuid --regid --groups"),
    "env": _prefix("-u --unset -C --chdir -S --split-string"),
    "timeout": _prefix("-s --signal -k --kill-after", skip=1),
    "gtimeout": _prefix("-s --signal -k --kill-after", skip=1),
    "nice": _prefix("-n --adjustment"),
    "ionice": _prefix("-c -n -p --class --classdata"),
    "chrt": _prefix("-T -P -D", skip=1),
    "taskset": _prefix(skip=1),
    "numactl": _prefix("-N -m -C -i"),
    "cpulimit": _prefix("-l -p -e"),
    "nohup": _prefix(),
    "setsid": _prefix(),
    "stdbuf": _prefix("-i -o -e"),
    "unbuffer": _prefix(),
    "time": _prefix("-f -o --format --output"),
    "command": _prefix(),
    "builtin": _prefix(),
    "exec": _prefix("-a"),
    "coproc": _prefix(),
    "noglob": _prefix(),
    "nocorrect": _prefix(),
    "caffeinate": _prefix("-t -w"),
    "chroot": _prefix("--userspec --groups", skip=1),
    "unshare": _prefix("-S -G -R -w --root"),
    "nsenter": _prefix("-t --target -S -G -r -w"),
    "strace": _prefix("-e -o -p -s -u -E -a -P -I -O -S"),
    "ltrace": _prefix("-e -o -p -s -u -n -a"),
    "valgrind": _prefix(),
    "perf": _prefix("-e -o -F -p", skip=1),
    "prlimit": _prefix("-p --pid"),
    "flock": _prefix("-w -E --timeout --wait", skip=1),
    "setarch": _prefix(skip=1),
    "linux32": _prefix(),
    "linux64": _prefix(),
    "fakeroot": _prefix("-l -s -i"),
    "proot": _prefix("-r -b -w"),
    "firejail": _prefix(),
    "bwrap": _prefix("--chdir --setenv"),
    "proxychains": _prefix("-f"),
    "proxychains4": _prefix("-f"),
    "torsocks": _prefix(),
    "torify": _prefix(),
    "dbus-run-session": _prefix(),
    "xvfb-run": _prefix("-n -s -e -f -w --server-num --server-args"),
    "faketime": _prefix("-f", skip=1),
    "rlwrap": _prefix("-H -f -s"),
    "winpty": _prefix(),
    "busybox": _prefix(),
    "toybox": _prefix(),
    "systemd-run": _prefix(
        "-u -p -H -M --unit --property --on-calendar --on-active --slice --uid --gid -E --setenv"
        " --working-directory"),
    "systemd-inhibit": _prefix(),
    "systemd-nspawn": _prefix("-D -M -b --directory"),
    "start-stop-daemon": _prefix("--exec --pidfile -x -p -n"),
    "daemonize": _prefix("-c -e -o -p -u -l"),
    "at-spi": _prefix(),
    "watch": _prefix("-n --interval -q", text=True),
    "watchexec": _prefix("-e -w -i --exts --watch", text=True),
    "wezterm": _prefix(skip=1),
    "hyperfine": _prefix("-w -r -m -M -p -c -S --warmup --runs --prepare --cleanup --export-json", text=True),
    "entr": _prefix(),
    "uv": _prefix("--with --python -p --project --directory --env-file", skip=1),
    "poetry": _prefix("-C --directory", skip=1),
    "pipenv": _prefix(skip=1),
    "hatch": _prefix("-e --env", skip=1),
    "pdm": _prefix(skip=1),
    "rye": _prefix(skip=1),
    "bundle": _prefix(skip=1),
    "conda": _prefix("-n --name -p --prefix --cwd", skip=1),
    "mamba": _prefix("-n --name -p --prefix", skip=1),
    "micromamba": _prefix("-n --name -p --prefix", skip=1),
    "direnv": _prefix(skip=2),
    "dotenv": _prefix("-f --file", skip=0),
    "op": _prefix("--env-file", skip=1),
    "aws-vault": _prefix(skip=2),
    "doppler": _prefix(skip=1),
    "ssh": _prefix("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B", skip=1, text=True,
    elsewhere=True),
    "autossh": _prefix("-M -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -R -S -W -w", skip=1, text=True,
    elsewhere=True),
    "sshpass": _prefix("-p -f -d -P"),
    "mosh": _prefix("--ssh -p", skip=1, elsewhere=True),
    "rsh": _prefix("-l", skip=1, text=True, elsewhere=True),
    "pdsh": _prefix("-w -x -l -u -t -f", text=True, elsewhere=True),
    "trickle": _prefix("-u -d"),
    "catchsegv": _prefix(),
    "ccache": _prefix(),
    "distcc": _prefix(),
    "cgexec": _prefix("-g"),
    "ssh-agent": _prefix("-t -a -E"),
    "dumb-init": _prefix(),
    "tini": _prefix(),
    "retry": _prefix("-t -d"),
    "chpst": _prefix("-u -e -/ -n -l -o -d"),
    # Where the grammar loses its way, it takes the shell's own words for programs.
    **dict.fromkeys(("{", "!", "then", "do", "else", "elif", "if", "while", "until"), _prefix()),
}  # fmt: skip
#: These run a command only under one of these subcommands.
_ONLY_UNDER = {
    "uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "hatch": {"run"}, "pdm": {"run"}, "rye": {"run"},
    "bundle": {"exec"},
    "conda": {"run"}, "mamba": {"run"}, "micromamba": {"run"}, "op": {"run"}, "doppler": {"run"},
    "aws-vault": {"exec"},
    "direnv": {"exec"}, "perf": {"stat", "record", "trace"}, "dotenv": {"run"},
}  # fmt: skip


def inner_commands(command: Command) -> Iterator[Inner]:
    """Everything that a command would have run by others."""
    name = command.name
    special = LAUNCHERS.get(name)
    if special:
        yield from special(command)
        return
    prefix = _PREFIXES.get(name)
    if prefix:
        yield from _peel(command, prefix)
    elif name.startswith(("ld-linux", "ld-musl")):
        yield from _peel(command, _Prefix())
    elif name not in _NOT_AFTER_DASHES:
        # A wrapper that nobody has told us of: "newtool run -- rm -rf x" in all likelihood runs what follows the
        # dashes. The programs in the table are known to take it for operands. What it runs may as well run elsewhere.
        texts = command.texts
        if "--" in texts[1:]:
            rest = command.words[texts.index("--", 1) + 2 :]
            if len(rest) > 1 and not rest[0].text.startswith("-"):
                yield Inner(rest, elsewhere=True)


_NOT_AFTER_DASHES = frozenset(
    [
        "git",
        "grep",
        "rg",
        "rm",
        "echo",
        "printf",
        "ls",
        "cat",
        "cp",
        "mv",
        "npm",
        "yarn",
        "pnpm",
        "cargo",
        "go",
        "pytest",
        "make",
        "test",
        "ack",
        "ag",
        "sed",
        "awk",
        "find",
        "chmod",
        "chown",
        "tar",
        "python",
        "node",
    ]
)


def _peel(command: Command, prefix: _Prefix) -> Iterator[Inner]:
    words = command.words
    only = _ONLY_UNDER.get(command.name)
    if only and not (len(words) > 1 and words[1].text in only):
        return
    position, skip = 1, prefix.skip
    texts_in_options: list[Word] = []
    while position < len(words):
        text = words[position].text
        if text == "--":
            # Ends the options; in "taskset -- 0x1 rm x" a value still comes before the command.
            position += 1
            if not skip:
                break
        elif text.startswith("-") and len(text) > 1:
            flag = text.split("=", 1)[0]
            # env -S 'rm -rf x' parts its value into words, for the first line of scripts.
            if flag in ("-S", "--split-string") and command.name == "env":
                yield Inner(words[position + 1 :] if "=" not in text else [Word(text.split("=", 1)[1])], is_text=True)
                return
            if command.name == "env" and text.startswith("-S"):
                yield Inner([Word(text[2:]), *words[position + 1 :]], is_text=True)
                return
            if flag == "-o" and command.name == "ssh" and position + 1 < len(words):
                texts_in_options.append(words[position + 1])
            takes_next = "=" not in text and (flag in prefix.valued or is_clustered(flag, prefix.valued))
            position += 2 if takes_next else 1
        elif _ASSIGNMENT.match(text) and command.name in ("env", "sudo", "doas"):
            command.environment[text.split("=", 1)[0].rstrip("+")] = Word(text.split("=", 1)[1])
            position += 1
        elif skip:
            skip -= 1
            position += 1
        else:
            break
    for value in texts_in_options:
        if value.text.lower().startswith(("proxycommand=", "localcommand=")):
            yield Inner([Word(value.text.split("=", 1)[1])], is_text=True)
    rest = words[position:]
    if rest:
        is_text = prefix.text or (command.name in ("flock", "nsenter") and rest[0].text == "-c")
        if rest[0].text == "-c":
            rest = rest[1:]
        # One word with a blank in it, sudo 'rm -rf x': most wrappers would look for a program of that name and fail.
        # Some give it to a shell, and a command that can't work does no harm when it's asked about.
        yield Inner(
            rest,
            is_text=is_text or (len(rest) == 1 and " " in rest[0].text.strip()),
            elsewhere=prefix.elsewhere,
        )
