"""Programs with a way of their own to run another command: what they run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval.shell import multipliers
from hermes_nb.approval.shell.commands import SHELLS, Inner, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_nb.approval.shell.commands import Command

_CONTAINER_VALUED = frozenset(
    [
        "-e",
        "--env",
        "--env-file",
        "-u",
        "--user",
        "-w",
        "--workdir",
        "-v",
        "--volume",
        "--mount",
        "-p",
        "--publish",
        "--name",
        "--network",
        "--net",
        "--entrypoint",
        "-h",
        "--hostname",
        "-l",
        "--label",
        "--memory",
        "-m",
        "--cpus",
        "--gpus",
        "--platform",
        "--restart",
        "--cap-add",
        "--cap-drop",
        "--device",
        "--security-opt",
        "--tmpfs",
        "--ulimit",
        "--pid",
        "--ipc",
        "--add-host",
        "--dns",
        "--log-driver",
        "--log-opt",
        "--shm-size",
        "-c",
        "--container",
        "-n",
        "--namespace",
        "--context",
        "--kubeconfig",
        "-f",
        "--file",
        "--project-name",
        "--user",
        "--detach-keys",
        "--pull",
        "--volumes-from",
        "--index",
        "--uts",
        "--userns",
        "--image",
        "--overrides",
        "-it-e",
    ]
)


def is_clustered(flag: str, valued: frozenset[str]) -> bool:
    """Whether a cluster such as ``-nu`` ends in an option that takes the next word as its value.

    ``sudo -nu bob rm x`` is ``-n -u bob``; in ``sudo -ubob rm x`` the value is already there, so the first letter
    must not take one itself.
    """
    return (
        not flag.startswith("--")
        and len(flag) > 2
        and f"-{flag[-1]}" in valued
        and flag[1:].isalpha()
        and flag[:2] not in valued
    )


def _shell(command: Command) -> Iterator[Inner]:
    """``bash -c TEXT zero one two``; also ``su -c TEXT``."""
    words = command.words
    for position, word in enumerate(words[1:], 1):
        text = word.text
        if text == "--":
            continue
        is_c = text == "--command" or (text.startswith("-") and not text.startswith("--") and "c" in text[1:])
        # -c takes no value of its own: the text is the first word that isn't an option, so bash -c -e 'rm x' runs rm x.
        if is_c and position + 1 < len(words):
            body = position + 1
            while body < len(words) - 1 and re.fullmatch(r"[-+][a-zA-Z]+|--", words[body].text):
                body += 1
            yield Inner([words[body]], is_text=True, positional=tuple(words[body + 1 :]))
            return
        if text.startswith("--command="):
            yield Inner([Word(text.split("=", 1)[1])], is_text=True)
            return
        # bash s -c x runs the script s, to which -c is an argument; su bob -c x runs x.
        if not text.startswith(("-", "+")) and command.name in SHELLS:
            return


def _text_arguments(command: Command) -> Iterator[Inner]:
    words = [word for word in command.words[1:] if word.text != "--"]
    if words:
        yield Inner(words, is_text=True)


def _trap(command: Command) -> Iterator[Inner]:
    # What runs later, at a signal or as an alias, is asked about now: nobody will look at it then.
    if len(command.operands) > 1 and command.operands[0].text:
        yield Inner([command.operands[0]], is_text=True)


def _alias(command: Command) -> Iterator[Inner]:
    for word in command.operands:
        if "=" in word.text:
            yield Inner([Word(word.text.split("=", 1)[1])], is_text=True)


def _container(command: Command) -> Iterator[Inner]:
    """``docker exec``, ``docker run``, ``docker compose run``, ``kubectl exec -- …`` and their relatives."""
    words = command.words
    texts = [word.text for word in words]
    if "--" in texts[1:]:
        rest = words[texts.index("--", 1) + 1 :]
        if rest and any(text in ("exec", "run", "debug", "shell", "ssh") for text in texts[1:]):
            yield Inner(rest, elsewhere=True)
        return
    position = 1
    # The subcommand isn't always the second word: docker --context c compose -f x run web rm -rf y. After eight
    # others it is a word that only looks like it.
    while position < len(words) and texts[position] not in ("exec", "run", "ssh"):
        position += 1
    if position >= len(words) or position > 8:
        return
    entrypoint = [value for value in command.values("--entrypoint") if value.text]
    position += 1
    while position < len(words) and texts[position].startswith("-"):
        takes_next = "=" not in texts[position] and (
            texts[position] in _CONTAINER_VALUED or is_clustered(texts[position], _CONTAINER_VALUED)
        )
        position += 2 if takes_next else 1
    rest = words[position + 1 :]  # after the container's or the image's name
    if rest or entrypoint:
        yield Inner([*entrypoint[:1], *rest], elsewhere=True)


def _command_options(*options: str) -> Callable[[Command], Iterator[Inner]]:
    def peel(command: Command) -> Iterator[Inner]:
        for value in command.values(*options):
            yield Inner([value], is_text=True)

    return peel


def _su(command: Command) -> Iterator[Inner]:
    yield from _shell(command)
    texts = command.texts
    if command.name == "runuser" and "--" in texts:
        yield Inner(command.words[texts.index("--") + 2 :])
    elif command.name == "runuser" and command.has("-u") and "-c" not in texts:
        yield Inner(command.words[3:])


def _multiplexer(command: Command) -> Iterator[Inner]:
    """Tmux and screen: the last words are a command to run in a window of its own."""
    words = command.words[1:]
    texts = [word.text for word in words]
    if command.name == "screen":
        while words and words[0].text.startswith("-"):
            words = (
                words[2:]
                if words[0].text in ("-S", "-L", "-c", "-t", "-T") or words[0].text.endswith("S")
                else words[1:]
            )
        if words:
            yield Inner(words, is_text=len(words) == 1)
        return
    for index, text in enumerate(texts):
        if text in (
            "send-keys",
            "send",
            "new",
            "new-session",
            "neww",
            "new-window",
            "split-window",
            "splitw",
            "run-shell",
            "run",
            "respawn-pane",
        ):
            rest = words[index + 1 :]
            while rest and rest[0].text.startswith("-"):
                rest = rest[2:] if rest[0].text in ("-s", "-t", "-n", "-c", "-x", "-y", "-F", "-e") else rest[1:]
            while rest and rest[-1].text in ("Enter", "C-m", "ENTER"):
                rest = rest[:-1]
            if rest:
                yield Inner(rest, is_text=True)
            return


_VIM_SHELL = re.compile(r"(?:^|[:|])\s*(?:silent!?\s+)?!(.+)")


def _editor(command: Command) -> Iterator[Inner]:
    for word in command.words[1:]:
        text = word.text[1:] if word.text.startswith("+") else word.text
        escape = _VIM_SHELL.search(text)
        if escape:
            yield Inner([Word(escape[1])], is_text=True)
        system = re.search(r"system\(\s*(['\"])(.*?)\1", text)
        if system:
            yield Inner([Word(system[2])], is_text=True)


def _tar(command: Command) -> Iterator[Inner]:
    for value in command.values("--checkpoint-action", "--to-command", "--use-compress-program", "-I", "--rsh-command"):
        text = value.text.removeprefix("exec=")
        if text != value.text or " " in text:
            yield Inner([Word(text)], is_text=True)


def _git(command: Command) -> Iterator[Inner]:
    for value in command.values("-c"):
        key, _, text = value.text.partition("=")
        if key.lower().startswith("alias.") and text.startswith("!"):
            yield Inner([Word(text[1:])], is_text=True)
        elif key.lower() in (
            "core.sshcommand",
            "core.pager",
            "core.editor",
            "core.fsmonitor",
            "credential.helper",
        ):
            yield Inner([Word(text.removeprefix("!"))], is_text=True)
    texts = command.texts
    for value in command.values("--upload-pack", "--receive-pack", "--exec"):
        yield Inner([value], is_text=True)
    if "-x" in texts and "rebase" in texts:
        yield from (Inner([value], is_text=True) for value in command.values("-x"))
    for subcommand, marker in (("submodule", "foreach"), ("bisect", "run")):
        if subcommand in texts and marker in texts:
            rest = [
                w for w in command.words[texts.index(marker) + 2 :] if w.text not in ("--recursive", "-q", "--quiet")
            ]
            if rest:
                yield Inner(rest, is_text=len(rest) == 1)


def _npm(command: Command) -> Iterator[Inner]:
    texts = command.texts
    if texts[:1] in (["exec"], ["x"], ["dlx"]) and "--" in texts:
        yield Inner(command.words[texts.index("--") + 2 :])
    yield from _command_options("-c", "--call")(command)


def _npx(command: Command) -> Iterator[Inner]:
    rest = command.words[1:]
    while rest and rest[0].text.startswith("-"):
        if rest[0].text in ("-c", "--call") and len(rest) > 1:
            yield Inner([rest[1]], is_text=True)
            return
        rest = rest[2:] if rest[0].text in ("-p", "--package") else rest[1:]
    if rest:
        yield Inner(rest)


def _gdb(command: Command) -> Iterator[Inner]:
    for value in command.values("-ex", "--eval-command", "-iex"):
        if value.text.startswith(("!", "shell ")):
            yield Inner([Word(value.text.removeprefix("!").removeprefix("shell "))], is_text=True)
    texts = command.texts
    if "--args" in texts:
        yield Inner(command.words[texts.index("--args") + 2 :])


def _osascript(command: Command) -> Iterator[Inner]:
    for value in command.values("-e"):
        shell = re.search(r"do shell script\s+\"((?:[^\"\\]|\\.)*)\"", value.text)
        if shell:
            yield Inner([Word(shell[1].replace('\\"', '"'))], is_text=True)


def _ansible(command: Command) -> Iterator[Inner]:
    for value in command.values("-a", "--args"):
        yield Inner([value], is_text=True, elsewhere=True)


LAUNCHERS: dict[str, Callable[[Command], Iterator[Inner]]] = {
    **dict.fromkeys(SHELLS, _shell),
    "su": _su,
    "runuser": _su,
    "sg": _shell,
    "script": _shell,
    "eval": _text_arguments,
    "trap": _trap,
    "alias": _alias,
    "xargs": multipliers.xargs,
    "gxargs": multipliers.xargs,
    "parallel": multipliers.parallel,
    "rush": multipliers.parallel,
    "find": multipliers.find,
    "gfind": multipliers.find,
    "fd": multipliers.fd,
    "fdfind": multipliers.fd,
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc",
        "k3s", "microk8s.kubectl", "lxc", "incus", "crictl", "ctr", "fly", "flyctl", "heroku", "minikube",
        "apptainer", "singularity", "toolbox", "distrobox"), _container),
    "vagrant": _command_options("-c", "--command"),
    "gcloud": _command_options("--command"),
    "nix-shell": _command_options("--run", "--command"),
    "nix": _command_options("-c", "--command"),
    "expect": _command_options(),
    "rsync": _command_options("-e", "--rsh", "--rsync-path"),
    "tmux": _multiplexer,
    "screen": _multiplexer,
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "view", "vimdiff", "emacs", "less", "more", "man"), _editor),
    "tar": _tar,
    "bsdtar": _tar,
    "zip": _command_options("-TT", "--unzip-command"),
    "git": _git,
    **dict.fromkeys(("npm", "pnpm", "yarn"), _npm),
    **dict.fromkeys(("npx", "bunx", "pnpx"), _npx),
    "gdb": _gdb,
    "osascript": _osascript,
    "ansible": _ansible,
    "inotifywait": _command_options(),
    "nodemon": _command_options("--exec", "-x"),
    "concurrently": lambda command: (Inner([word], is_text=True) for word in command.operands),
    "mapfile": _command_options("-C"),
    "readarray": _command_options("-C"),
    "complete": _command_options("-C"),
    **dict.fromkeys(("xterm", "gnome-terminal", "konsole", "alacritty", "kitty"), lambda command: (
        Inner(command.words[index + 2 :], is_text=len(command.words) == index + 3)
        for index, text in enumerate(command.texts)
        if text in ("-e", "--", "-x")
    )),
}  # fmt: skip
