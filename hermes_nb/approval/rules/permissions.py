"""Permissions and ownership."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval import paths
from hermes_nb.approval.rules.table import rule

if TYPE_CHECKING:
    from hermes_nb.approval.shell.commands import Command

_WORLD_WRITABLE = re.compile(r"[0-7]?[0-7]{2}[2367]\Z|(?:[ugo]*[oa][ugo]*[+=][rwxXst]*w|\+[rwx]*w)")
_SETUID = re.compile(r"[2467][0-7]{3}\Z|0[2467][0-7]{3}\Z|[ugoa]*[+=][rwx]*s")
_EXECUTABLE_ONLY = re.compile(r"[ugoa]*\+[xX]+\Z")


def _mode(command: Command) -> str:
    for word in command.arguments:
        if re.fullmatch(
            r"[0-7]{1,5}|[ugoa]*[-+=][rwxXstugo]*(?:,[ugoa]*[-+=][rwxXstugo]*)*", word.text
        ) and not re.fullmatch(r"-[Rfcv]+", word.text):
            return word.text
    return ""


def _gives(command: Command, right: re.Pattern[str]) -> bool:
    return any(right.match(part) for part in _mode(command).split(","))


@rule(
    "chmod-world-writable",
    "lets every user write to a file or folder",
    programs="chmod gchmod",
    dangerous=(
        "chmod 777 app", "chmod a+w data", "chmod 666 db.sqlite", "chmod o+w .", "chmod a+rwx x",
        "chmod 0777 x", "find . -exec chmod 777 {} +",
    ),
    benign=(
        "chmod +x run.sh", "chmod 755 run.sh", "chmod 644 a.txt", "chmod 600 ~/.ssh/id_rsa", "chmod u+w x",
        "chmod g+w x",
    ),
)  # fmt: skip
def _makes_world_writable(command: Command) -> bool:
    return _gives(command, _WORLD_WRITABLE)


@rule(
    "chmod-setuid",
    "lets a program run with its owner's rights",
    programs="chmod gchmod setcap install",
    dangerous=(
        "chmod u+s /bin/bash", "chmod 4755 x", "chmod +s x", "chmod 2755 x", "setcap cap_setuid+ep python3",
        "install -m 4755 a b", "chmod 6777 x",
    ),
    benign=("chmod 0644 x", "install -m 755 a b"),
)  # fmt: skip
def _sets_uid(command: Command) -> bool:
    if command.name == "setcap":
        return bool(command.operands)
    if command.name == "install":
        return any(_SETUID.match(value.text) for value in command.values("-m", "--mode"))
    return _gives(command, _SETUID)


@rule(
    "chmod-recursive",
    "changes the permissions of whole folders",
    programs="chmod gchmod setfacl chattr",
    dangerous=(
        "chmod -R 755 .", "chmod --recursive u+w src", "find . -type f -exec chmod 644 {} +",
        "setfacl -R -m u:x:rwx .", "chmod 644 *", "chmod -R 000 x",
    ),
    benign=("chmod 644 README.md", "find . -name '*.sh' -exec chmod +x {} +", "chmod +x scripts/*.sh"),
)  # fmt: skip
def _changes_modes_in_bulk(command: Command) -> bool:
    mode = _mode(command)
    return command.has("-R", "--recursive") or (
        any(word.glob for word in command.operands) and not _EXECUTABLE_ONLY.match(mode)
    )


@rule(
    "chmod-system",
    "changes the permissions or the owner of system, start-up or credential files",
    programs="chmod gchmod chown gchown chgrp chattr setfacl",
    dangerous=(
        "chmod 644 /etc/shadow", "chown me /etc/passwd", "chmod 755 /usr/bin/sudo", "chattr -i /etc/passwd",
        "chmod 644 ~/.ssh/id_rsa", "chmod o+r /root",
    ),
    benign=("chmod 600 ~/.ssh/id_ed25519", "chmod 700 ~/.ssh", "chown me notes.txt", "chmod 400 key.pem"),
)  # fmt: skip
def _changes_system_modes(command: Command) -> bool:
    mode = _mode(command)
    if re.fullmatch(r"0?[0-7]00|go-rwx|go=|u=rwx?,go=|og-rwx", mode):
        return any(paths.is_system_file(command.path(word)) for word in command.operands)
    return any(
        paths.is_system_file(path) or paths.is_credential(path) or paths.is_catastrophic_to_lose(path)
        for path in map(command.path, command.operands)
    )


@rule(
    "chmod-everything",
    "changes the permissions or the owner of the root, a home or a system folder with all its contents",
    programs="chmod gchmod chown gchown chgrp",
    verdict="block",
    dangerous=(
        "chmod -R 777 /", "chown -R me /", "chmod -R 000 /etc", "chown -R nobody ~", "chmod -R 777 /*",
    ),
    benign=("ls -R /",),
)  # fmt: skip
def _changes_everything(command: Command) -> bool:
    return command.has("-R", "--recursive") and any(
        paths.is_catastrophic_to_lose(command.path(word)) for word in command.operands
    )


@rule(
    "chown-recursive",
    "changes the owner of whole folders",
    programs="chown gchown chgrp",
    dangerous=("chown -R root:root .", "chgrp -R staff src", "chown --recursive me x", "chown me *"),
    benign=("chown me:me a.txt", "sudo chown $USER file.txt"),
)  # fmt: skip
def _changes_owner_in_bulk(command: Command) -> bool:
    return command.has("-R", "--recursive") or any(word.glob for word in command.operands)


@rule(
    "immutable-flag",
    "makes files unchangeable, or lifts that protection",
    programs="chattr chflags",
    dangerous=("chattr +i x", "chattr -i x", "chflags schg x", "sudo chattr -R -i /data"),
    benign=("lsattr x",),
)  # fmt: skip
def _changes_flags(command: Command) -> bool:
    return bool(command.texts)


@rule(
    "open-umask",
    "makes every new file writable for all",
    programs="umask",
    dangerous=("umask 000", "umask 0"),
    benign=("umask", "umask 022", "umask 077"),
)  # fmt: skip
def _opens_umask(command: Command) -> bool:
    return bool(command.verbs) and command.verbs[0].strip("0") == ""
