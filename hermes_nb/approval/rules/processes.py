"""Processes, services and the machine itself: killing, stopping, shutting down."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval.rules.table import rule

if TYPE_CHECKING:
    from hermes_nb.approval.shell.commands import Command

_FORCED = re.compile(r"-(?:9|KILL|SIGKILL|kill)\Z")
_HARMLESS = ("-0", "-l", "-L", "--list", "--table")


def _targets(command: Command) -> list[str]:
    """The processes a kill is for, without the signal."""
    texts = command.texts
    if texts and texts[0] in ("-s", "-n", "--signal"):
        texts = texts[2:]
    elif (texts and re.match(r"-(?:\d+|[A-Z]+\d*)\Z", texts[0]) and len(texts) > 1) or (
        texts and texts[0].startswith("--signal=")
    ):
        texts = texts[1:]
    return [text for text in texts if text != "--"]


def _is_forced(command: Command) -> bool:
    signals = [value.text for value in command.values("-s", "-n", "--signal")]
    return any(_FORCED.match(text) for text in command.texts[:2]) or any(s in ("9", "KILL", "SIGKILL") for s in signals)


@rule(
    "kill-everything",
    "kills every process there is",
    programs="kill killall5 pkill killall skill",
    verdict="block",
    dangerous=(
        "kill -9 -1", "kill -- -1", "kill -KILL -1", "kill -s KILL -1", "kill -s 9 -- -1", "killall5",
        "kill -9 1", "kill -TERM -1", "pkill -9 .", "kill -9 $(ps -ef | awk '{print $2}')",
        "pkill -9 -u root", "kill -1 -1",
    ),
    benign=("kill 1234", "rg 'kill -9 -1'", "kill -1 1234", "kill %1", "kill -l"),
)  # fmt: skip
def _kills_everything(command: Command) -> bool:
    if command.name == "killall5":
        return True
    if command.name in ("pkill", "killall", "skill"):
        users = [value.text for value in command.values("-u", "-U", "--user", "--euid")]
        return any(text in (".", ".*", "") for text in command.verbs) or ("root" in users and len(command.verbs) < 2)
    return any(target in ("-1", "1") for target in _targets(command)) or (
        _is_forced(command) and any(_lists_all(word.sources) for word in command.arguments)
    )


def _lists_all(sources: tuple[Command, ...]) -> bool:
    return any(source.name == "ps" for source in sources) and all(
        source.name in ("ps", "awk", "tail", "cut", "tr", "xargs") for source in sources
    )


@rule(
    "kill-forced",
    "kills a process without letting it clean up",
    programs="kill",
    dangerous=("kill -9 1234", "kill -KILL 1234", "kill -s SIGKILL 99", "kill -9 $PID"),
    benign=("kill 1234", "kill -TERM 1234", "kill -15 $!", "kill -0 1234", "kill -HUP 99"),
)  # fmt: skip
def _kills_by_force(command: Command) -> bool:
    return _is_forced(command) and bool(_targets(command))


@rule(
    "kill-bulk",
    "stops processes by name or in numbers, perhaps not only one's own",
    programs="kill pkill killall skill fuser xkill slay",
    dangerous=(
        "pkill -f python", "killall node", "pgrep x | xargs kill", "kill $(pgrep node)",
        "kill -15 $(ps aux | grep x)", "fuser -k 80/tcp", "kill -TERM -5000",
    ),
    benign=(
        "kill $(cat server.pid)", "kill $PID", "kill $!", "fuser 80/tcp", "pkill -0 node",
        "kill $(lsof -t -i:3000)",
    ),
)  # fmt: skip
def _kills_in_bulk(command: Command) -> bool:
    if any(text in _HARMLESS for text in command.texts[:1]):
        return False
    if command.name == "fuser":
        return command.has("-k", "--kill")
    if command.name != "kill":
        return bool(command.texts) or command.name == "xkill"
    if any(text.startswith("-") and text[1:].isdigit() for text in _targets(command)):
        return True
    return any(
        word.glob or any(source.name in ("pgrep", "ps", "pidof", "jobs") for source in word.sources)
        for word in command.arguments
    )


_POWER = (
    "poweroff",
    "reboot",
    "halt",
    "kexec",
    "suspend",
    "hibernate",
    "hybrid-sleep",
    "rescue",
    "emergency",
    "exit",
    "soft-reboot",
)


@rule(
    "shutdown",
    "shuts the machine down or restarts it",
    programs=(
        "shutdown reboot halt poweroff init telinit systemctl loginctl pm-suspend kexec osascript"
        " dbus-send "
    ),
    verdict="block",
    dangerous=(
        "shutdown -h now", "reboot", "sudo halt", "poweroff", "init 0", "telinit 6", "systemctl poweroff",
        "systemctl -f reboot", "shutdown -r +5", "sudo systemctl isolate rescue.target", "kexec -e",
    ),
    benign=(
        "shutdown -c", "man reboot", "systemctl status nginx", "who -b", "last reboot", "shutdown --help",
    ),
)  # fmt: skip
def _shuts_down(command: Command) -> bool:
    verbs = command.verbs
    match command.name:
        case "shutdown":
            return not command.has("-c", "-k", "--show")
        case "reboot" | "halt" | "poweroff":
            return not command.has("-w", "--wtmp-only")
        case "init" | "telinit":
            return verbs[:1] in (["0"], ["6"], ["1"], ["s"], ["S"])
        case "systemctl":
            return verbs[:1] in [[verb] for verb in _POWER] or (
                verbs[:1] in (["isolate"], ["start"])
                and any(re.match(r"(?:poweroff|reboot|halt|rescue|emergency)\.target", v) for v in verbs)
            )
        case "loginctl":
            return verbs[:1] in [[verb] for verb in _POWER]
        case "kexec":
            return command.has("-e", "--exec")
        case "osascript" | "dbus-send":
            return any(re.search(r"(?i)shut ?down|restart|PowerOff|Reboot", text) for text in command.texts)
    return True


@rule(
    "sysrq",
    "gives orders to the kernel itself",
    programs="tee",
    everywhere=True,
    verdict="block",
    dangerous=("echo b > /proc/sysrq-trigger", "echo c | sudo tee /proc/sysrq-trigger"),
    benign=("cat /proc/cpuinfo",),
)  # fmt: skip
def _triggers_sysrq(command: Command) -> bool:
    if command.name == "tee":
        return "/proc/sysrq-trigger" in command.texts
    return any(one.writes and one.target.text.endswith("/sysrq-trigger") for one in command.redirects)


_STOPPING = frozenset(
    [
        "stop",
        "restart",
        "disable",
        "mask",
        "kill",
        "isolate",
        "set-default",
        "try-restart",
        "edit",
        "revert",
        "link",
        "enable",
        "reenable",
        "unmask",
        "set-property",
        "daemon-reexec",
        "condrestart",
        "force-reload",
    ]
)


@rule(
    "service-change",
    "stops, restarts or reconfigures a service",
    programs=(
        "systemctl service rc-service rc-update launchctl chkconfig update-rc.d sv svc supervisorctl"
        " initctl stop invoke-rc.d brew pm2"
    ),
    dangerous=(
        "systemctl stop nginx", "sudo systemctl restart sshd", "systemctl disable --now ufw",
        "service mysql stop", "launchctl unload x.plist", "systemctl mask firewalld",
        "systemctl enable evil.service", "supervisorctl stop all", "pm2 delete all",
    ),
    benign=(
        "systemctl status nginx", "systemctl list-units", "service nginx status", "systemctl is-active x",
        "systemctl daemon-reload", "pm2 list", "systemctl cat sshd", "brew install jq",
    ),
)  # fmt: skip
def _changes_service(command: Command) -> bool:
    verbs = command.verbs
    match command.name:
        case "systemctl":
            return bool(verbs) and verbs[0] in _STOPPING
        case "service" | "rc-service" | "invoke-rc.d" | "sv" | "svc":
            return any(verb in ("stop", "restart", "force-reload", "down", "zap", "exit") for verb in verbs)
        case "launchctl":
            return verbs[:1] not in ([], ["list"], ["print"], ["getenv"], ["version"])
        case "chkconfig" | "update-rc.d" | "rc-update":
            return len(verbs) > 1
        case "supervisorctl" | "initctl" | "pm2":
            return any(verb in ("stop", "restart", "delete", "kill", "shutdown", "remove") for verb in verbs[:1])
        case "brew":
            return verbs[:1] == ["services"] and verbs[1:2] != ["list"] and len(verbs) > 1
    return False


@rule(
    "init-script",
    "stops or restarts a service",
    everywhere=True,
    dangerous=("/etc/init.d/ssh stop", "sudo /etc/init.d/nginx restart"),
    benign=("/etc/init.d/nginx status",),
)  # fmt: skip
def _runs_init_script(command: Command) -> bool:
    return (
        bool(command.words)
        and command.words[0].text.startswith("/etc/init.d/")
        and any(text in ("stop", "restart", "force-reload") for text in command.texts)
    )


@rule(
    "fork-bomb",
    "starts copies of itself until the machine stands still",
    programs="bash",
    everywhere=True,
    verdict="block",
    dangerous=(
        ":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb", "f(){ f & f & }; f", "bash -c ':(){ :|:& };:'",
        "perl -e 'fork while fork'", "python3 -c 'import os\nwhile True: os.fork()'",
        "ruby -e 'loop { fork }'", "function x { x | x & }; x", "$0 | $0 &", "b(){ b|b& };b",
    ),
    benign=("f() { echo hi; }; f", "git fork_", "walk() { ls | head; }; walk", "f() { g | h & }; f"),
)  # fmt: skip
def _forks_without_end(command: Command) -> bool:
    text = command.code.stream.text if command.code else None
    if text and re.search(r"\bfork\b", text):
        return bool(
            re.search(
                r"(?:while|loop|for\s*\(;;|until)[^;]*\bfork\b|\bfork\b[^;]*while|while\s*(?:True"
                r"|1)[\s\S]*\bfork\b",
                text,
            )
        )
    return (
        command.background
        and command.text.count("$0") > 0
        and command.name == "bash"
        and len(command.words) == 1
        and not command.via
    )


@rule(
    "heavy-load",
    "puts the machine under heavy load",
    programs="stress stress-ng",
    dangerous=("stress-ng --vm 8 --vm-bytes 100%", "stress --cpu 64"),
    benign=("stress --help",),
)  # fmt: skip
def _stresses(command: Command) -> bool:
    return bool(command.texts)
