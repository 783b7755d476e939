"""Losing files: recursive, forced and bulk deletion, and what amounts to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval import paths
from hermes_nb.approval.rules.table import has_operands, rule

if TYPE_CHECKING:
    from hermes_nb.approval.shell.commands import Command, Word

_REMOVERS = "rm grm srm trash rimraf del-cli"
#: More named files than this are a bulk removal.
_FEW = 3


def _is_temporary(word: Word) -> bool:
    return any(source.name in ("mktemp", "tempfile") for source in word.sources)


@rule(
    "delete-system",
    "deletes the root, a home or a system folder",
    programs=_REMOVERS + " shred unlink rmdir",
    verdict="block",
    dangerous=(
        "rm -rf /", "rm -rf /*", "rm -rf ~", "rm -rf $HOME", "/bin/rm -rf /usr/",
        "rm -r --no-preserve-root /", "cd / && rm -rf *", "rm -rf ~/*", "rm -fr /etc", "sudo rm -rf /var",
        "rm -rf /home/alice", "rm -rf /./", "rm -rf ${HOME:?}/", "rm -rf -- /", "rm -rf ~/Documents",
        "rm -r -f /usr/../", "rm --recursive --force /boot",
    ),
    benign=("rm notes.txt", "ls -la /", "rm ~/notes.txt"),
)  # fmt: skip
def _deletes_system(command: Command) -> bool:
    recursive = command.has("-r", "-R", "--recursive", "--no-preserve-root") or command.name in (
        "rimraf",
        "trash",
    )
    return any(
        paths.is_catastrophic_to_lose(path) and (recursive or word.glob)
        for word in command.operands
        if (path := command.path(word))
    )


@rule(
    "delete-recursive",
    "deletes whole folders",
    programs=_REMOVERS,
    dangerous=(
        "rm -rf build", "rm -r src/", "rm -fr ./dist", "rm --recursive old", "rm -rf $DIR",
        "find . -exec rm -rf {} +", "ls | xargs rm -rf", "bash -c 'rm -rf x'", "npx rimraf dist",
        "rm -Rf node_modules",
    ),
    benign=("rm old.txt", "echo rm -rf build", "git rm -r --cached build", "grep -- '-rf' x"),
)  # fmt: skip
def _deletes_recursively(command: Command) -> bool:
    return command.name in ("rimraf", "del-cli") or command.has("-r", "-R", "--recursive", "-d", "--dir")


@rule(
    "delete-forced",
    "deletes files without asking, even those that are protected",
    programs=_REMOVERS,
    dangerous=("rm -f data.db", "rm --force a.txt", "ls | xargs rm -f"),
    benign=("rm data.tmp", "rm -i data.db", "rm -v a.txt"),
)  # fmt: skip
def _deletes_by_force(command: Command) -> bool:
    return command.has("-f", "--force") and not all(_is_temporary(word) for word in command.operands)


@rule(
    "delete-bulk",
    "deletes many files at once, or files that are not spelt out",
    programs=_REMOVERS + " unlink",
    dangerous=(
        "rm *.log", "rm ./*", "rm a b c d e f", "rm $(git ls-files)", "find . -name '*.o' | xargs rm",
        "for f in *.txt; do rm \"$f\"; done", "while read f; do rm \"$f\"; done < list", "rm \"$1\"",
    ),
    benign=("rm one.txt", "rm one.txt two.txt", "t=$(mktemp); rm \"$t\"", "f=out.txt; rm $f"),
)  # fmt: skip
def _deletes_in_bulk(command: Command) -> bool:
    words = [word for word in command.operands if not _is_temporary(word)]
    return len(words) > _FEW or any(word.glob or word.unknown for word in words)


@rule(
    "delete-system-file",
    "deletes a file that belongs to the system, to the account's start-up or to its credentials",
    programs=_REMOVERS + " unlink rmdir",
    dangerous=(
        "rm /etc/passwd", "sudo rm /usr/bin/python3", "rm ~/.ssh/id_rsa", "unlink /etc/hosts",
        "rm ~/.bashrc", "rm .git/config",
    ),
    benign=("rm ./etc/passwd.bak", "rm /tmp/x"),
)  # fmt: skip
def _deletes_system_file(command: Command) -> bool:
    return any(
        paths.is_system_file(path)
        or paths.is_startup_file(path)
        or paths.is_credential(path)
        or path.startswith(".git/")
        for path in map(command.path, command.operands)
    )


@rule(
    "find-delete",
    "deletes every file that a search finds",
    programs="find gfind",
    dangerous=("find . -name '*.pyc' -delete", "find /tmp -mtime +3 -delete", "find . -type f -delete"),
    benign=("find . -name '*.pyc' -print", "find . -name delete", "find . -exec grep -l rm {} +"),
)  # fmt: skip
def _find_deletes(command: Command) -> bool:
    return "-delete" in command.texts


@rule(
    "find-delete-system",
    "deletes everything below the root, a home or a system folder",
    programs="find gfind",
    verdict="block",
    dangerous=(
        "find / -delete", "find ~ -type f -delete", "cd / && find . -delete", "find /etc -delete",
        "find / -exec rm -rf {} \\;",
    ),
    benign=("find / -name x", "find /etc -name '*.conf'"),
)  # fmt: skip
def _find_deletes_system(command: Command) -> bool:
    texts = command.texts
    removes = "-delete" in texts or ("-exec" in texts and "rm" in (text.rsplit("/", 1)[-1] for text in texts))
    narrowed = any(
        text in ("-name", "-iname", "-mtime", "-path", "-regex", "-mmin", "-size", "-user") for text in texts
    )
    if not removes or narrowed:
        return False
    for word in command.arguments:
        if word.text.startswith(("-", "(", "!")):
            break
        if paths.is_catastrophic_to_lose(command.path(word)):
            return True
    return False


rule(
    "overwrite-file",
    "destroys the contents of files beyond recovery",
    programs="shred wipe srm scrub",
    dangerous=("shred -u secrets.txt", "wipe -rf dir", "shred -n 3 x.db"),
    benign=("shred --help", "man shred"),
)(has_operands)  # fmt: skip


@rule(
    "truncate-file",
    "empties a file",
    programs="truncate dd cp",
    dangerous=(
        "truncate -s 0 app.db", "dd if=/dev/null of=important.db", "cp /dev/null app.log",
        "truncate --size=0 *.log", "truncate -s0 x",
    ),
    benign=("truncate -s 10M disk.img", "truncate --help"),
)  # fmt: skip
def _truncates(command: Command) -> bool:
    if command.name == "dd":
        return "if=/dev/null" in command.texts and any(text.startswith("of=") for text in command.texts)
    if command.name == "cp":
        return command.verbs[:1] == ["/dev/null"] and command.verbs[1:] != ["/dev/null"]
    return any(value.text.lstrip("=<") in ("0", "0K", "0M") for value in command.values("-s", "--size"))


@rule(
    "move-away",
    "moves files to where they are lost, or moves a home or system folder",
    programs="mv gmv",
    dangerous=(
        "mv important.db /dev/null", "mv ~ /tmp/x", "mv /etc /etc.bak", "mv /* /dev/null",
        "sudo mv /usr/bin /tmp",
    ),
    benign=("mv a.txt b.txt", "mv build/out.bin /tmp/"),
)  # fmt: skip
def _moves_away(command: Command) -> bool:
    moved = [command.path(word) for word in command.operands]
    return len(moved) > 1 and (
        moved[-1] == "/dev/null"
        or any(paths.is_catastrophic_to_lose(path) or paths.is_system_file(path) for path in moved[:-1])
    )


@rule(
    "sync-delete",
    "deletes at the destination whatever the source does not have",
    programs="rsync rclone robocopy lftp unison",
    dangerous=(
        "rsync -a --delete src/ dst/", "rsync -av --delete-after a b", "rclone sync a remote:b",
        "rclone purge remote:x", "rsync -a --remove-source-files a b", "rclone delete remote:b",
    ),
    benign=(
        "rsync -av src/ dst/", "rsync -avn --delete a b", "rclone copy a remote:b", "rclone ls remote:",
    ),
)  # fmt: skip
def _syncs_with_deletion(command: Command) -> bool:
    if command.has("-n", "--dry-run"):
        return False
    if command.name == "rclone":
        return command.verbs[:1] in (
            ["sync"],
            ["purge"],
            ["delete"],
            ["deletefile"],
            ["rmdirs"],
            ["move"],
            ["cleanup"],
        )
    if command.name == "lftp":
        return any(re.search(r"mirror.*(?:--delete|-e\b)|\brm\b|\bmrm\b", text) for text in command.texts)
    return any(text.startswith(("--delete", "--del", "--remove-source-files")) for text in command.texts)


@rule(
    "bulk-cleanup",
    "deletes a tool's data, environments or caches as a whole",
    programs="conda mamba micromamba tmutil timeshift snapper borg restic pass",
    dangerous=(
        "conda env remove -n ml", "conda remove --all -n x", "borg delete repo::a", "restic forget --prune",
        "tmutil delete /x",
    ),
    benign=("conda env list", "conda remove numpy", "restic snapshots", "borg list repo"),
)  # fmt: skip
def _cleans_up_in_bulk(command: Command) -> bool:
    verbs = command.verbs
    if command.name in ("conda", "mamba", "micromamba"):
        return ("env" in verbs[:1] and "remove" in verbs) or ("remove" in verbs and command.has("--all"))
    return any(
        verb in ("delete", "forget", "prune", "--delete", "rm", "deletelocalsnapshots") for verb in verbs
    ) or command.has("--delete", "--delete-all")
