"""Privilege: root shells, accounts, the kernel, the firewall, and what loads code into other programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval.rules.table import rule
from hermes_nb.approval.shell.commands import SHELLS

if TYPE_CHECKING:
    from hermes_nb.approval.shell.commands import Command


@rule(
    "root-shell",
    "opens a shell with the rights of root or of another user",
    programs="sudo su doas pkexec runuser gosu setpriv machinectl login newgrp sg",
    dangerous=(
        "sudo -i", "sudo su", "su -", "sudo bash", "su root", "sudo -s", "doas -s", "pkexec bash",
        "sudo su - postgres", "su", "sudo -u root sh", "sudo /bin/bash -p",
    ),
    benign=(
        "sudo apt-get install jq", "sudo -u postgres psql -c 'select 1'", "sudo ls /root",
        "sudo bash install.sh", "sudo -l", "sudo -v", "sudo sh -c 'ls /root'",
    ),
)  # fmt: skip
def _opens_root_shell(command: Command) -> bool:
    if command.name in ("su", "runuser", "sg", "newgrp", "login"):
        return not command.has("-c", "--command", "-u") and command.name != "newgrp"
    if command.name == "machinectl":
        return command.verbs[:1] in (["shell"], ["login"])
    words = command.words[1:]
    position = 0
    while position < len(words) and words[position].text.startswith("-"):
        text = words[position].text
        if command.name == "sudo" and (
            text in ("--login", "--shell") or re.fullmatch(r"-[A-Zabdeikns]*[is][A-Zabdeikns]*", text)
        ):
            return (
                len(words) == position + 1
                or words[position + 1].text.startswith("-")
                or (text == "-i" and len(words) == position + 1)
            )
        if command.name == "doas" and text == "-s":
            return True
        position += 2 if text in ("-u", "-g", "-p", "-C", "-h", "-D", "-U", "--user", "--group") else 1
    rest = [word.text for word in words[position:] if "=" not in word.text]
    return (
        bool(rest)
        and rest[0].rsplit("/", 1)[-1] in SHELLS
        and all(text.startswith("-") and "c" not in text for text in rest[1:])
        and command.stdin is None
    )


@rule(
    "sudo-password",
    "hands a password to sudo on the command line",
    programs="sudo su sshpass",
    dangerous=("echo secret | sudo -S rm x", "sudo -S ls <<< pw", "sudo --stdin whoami", "sudo -kS id"),
    benign=("sudo whoami", "sudo systemctl status x"),
)  # fmt: skip
def _feeds_password(command: Command) -> bool:
    if command.name == "sudo":
        for word in command.words[1:]:
            if not word.text.startswith("-"):
                return False
            if word.text == "--stdin" or (re.fullmatch(r"-[A-Za-z]+", word.text) and "S" in word.text):
                return True
    return command.name == "su" and command.stdin is not None


@rule(
    "account-change",
    "changes users, groups or passwords",
    programs=(
        "useradd adduser userdel deluser usermod groupadd addgroup groupdel groupmod gpasswd passwd"
        " chpasswd visudo vipw vigr chsh chfn newusers dscl faillock chage pwconv sysadminctl"
    ),
    dangerous=(
        "useradd -o -u 0 evil", "passwd root", "echo root:x | chpasswd", "usermod -aG sudo me", "visudo",
        "userdel -r bob", "chsh -s /bin/zsh", "passwd",
    ),
    benign=("passwd -S", "getent passwd", "id bob", "visudo -c", "chage -l me"),
)  # fmt: skip
def _changes_account(command: Command) -> bool:
    if command.name in ("passwd", "visudo", "chage"):
        return not command.has("-S", "--status", "-c", "--check", "-l") or (
            command.name == "passwd" and command.has("-l", "-d")
        )
    return not (command.name == "dscl" and "read" in " ".join(command.texts).lower())


@rule(
    "kernel-change",
    "changes the running kernel or its security settings",
    programs=(
        "insmod modprobe rmmod sysctl setenforce aa-disable aa-teardown apparmor_parser semanage"
        " bpftool kmod dkms setsebool csrutil spctl"
    ),
    dangerous=(
        "insmod evil.ko", "modprobe -r kvm", "rmmod x", "sysctl -w kernel.randomize_va_space=0",
        "setenforce 0", "sysctl -p", "sysctl vm.drop_caches=3",
    ),
    benign=(
        "sysctl -a", "sysctl kernel.hostname", "lsmod", "modprobe -n x", "getenforce",
        "sysctl -n vm.swappiness",
    ),
)  # fmt: skip
def _changes_kernel(command: Command) -> bool:
    if command.name == "sysctl":
        return command.has("-w", "-p", "--write", "--load", "--system") or any("=" in text for text in command.verbs)
    if command.name == "modprobe":
        return not command.has("-n", "--dry-run", "-D", "-c", "--show-depends")
    if command.name in ("csrutil", "spctl"):
        return any("disable" in text for text in command.texts)
    return bool(command.texts) and command.verbs[:1] not in (
        ["list"],
        ["show"],
        ["status"],
        ["prog"],
        ["boolean"],
    )


@rule(
    "firewall-change",
    "changes the firewall or the network",
    programs=(
        "iptables ip6tables nft ufw firewall-cmd ip ifconfig route nmcli ifdown ifup tc ebtables"
        " pfctl networksetup iptables-restore arp wg-quick resolvectl scutil hostnamectl timedatectl"
        " date hwclock rfkill"
    ),
    dangerous=(
        "iptables -F", "iptables -A INPUT -j DROP", "ufw disable", "nft flush ruleset",
        "ip link set eth0 down", "ifconfig eth0 down", "ip route del default", "iptables -P INPUT ACCEPT",
        "firewall-cmd --remove-service=ssh", "nmcli con down x", "ufw allow 22",
        "hostnamectl set-hostname x", "date -s '2020-01-01'", "pfctl -d",
    ),
    benign=(
        "iptables -L", "iptables -nvL", "ufw status", "ip addr", "ip route show", "ifconfig",
        "ip link show", "nft list ruleset", "nmcli device status", "date +%s", "date -d yesterday",
        "route -n", "ip a", "timedatectl", "date",
    ),
)  # fmt: skip
def _changes_network(command: Command) -> bool:
    verbs, texts = command.verbs, command.texts
    match command.name:
        case "iptables" | "ip6tables" | "ebtables":
            return command.has(
                "-F",
                "-A",
                "-I",
                "-D",
                "-P",
                "-X",
                "-R",
                "-Z",
                "-N",
                "--flush",
                "--append",
                "--insert",
                "--delete",
                "--policy",
                "--delete-chain",
            )
        case "nft":
            return verbs[:1] not in ([], ["list"])
        case "ufw":
            return verbs[:1] not in ([], ["status"], ["version"], ["show"], ["app"])
        case "firewall-cmd":
            return any(re.match(r"--(?:add|remove|set|panic-on|reload|complete|change)", text) for text in texts)
        case "ip":
            return any(verb in ("set", "del", "delete", "flush", "add", "replace", "change") for verb in verbs[1:3])
        case "ifconfig":
            return len(verbs) > 1
        case "route" | "arp":
            return any(verb in ("add", "del", "delete", "flush", "change") for verb in verbs) or (
                command.name == "arp" and command.has("-d", "-s")
            )
        case "nmcli":
            return any(verb in ("down", "delete", "modify", "off", "disconnect", "add", "up") for verb in verbs)
        case "hostnamectl" | "timedatectl" | "resolvectl":
            return any(verb.startswith("set-") for verb in verbs) or (
                command.name == "hostnamectl" and verbs[:1] == ["hostname"] and len(verbs) > 1
            )
        case "date":
            return command.has("-s", "--set") and not any(t.startswith("+") for t in verbs)
        case "hwclock":
            return command.has("-w", "-s", "--set", "--systohc", "--hctosys")
        case "networksetup" | "scutil":
            return any(text.startswith(("-set", "--set", "-remove", "-create")) for text in texts)
        case "pfctl":
            return command.has("-d", "-F", "-f")
        case "tc":
            return any(verb in ("add", "del", "replace", "change") for verb in verbs)
    return True


_LOADERS = frozenset(
    (
        "LD_PRELOAD",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "PROMPT_COMMAND",
        "PERL5OPT",
        "PYTHONSTARTUP",
        "RUBYOPT",
        "NODE_OPTIONS",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "LD_LIBRARY_PATH",
        "PERL5LIB",
        "PYTHONPATH",
        "GIT_PROXY_COMMAND",
    )
)
_SUSPICIOUS_VALUE = re.compile(
    r"/tmp|/dev/shm|/var/tmp|--require|-r\s|--import|-e\s|ProxyCommand|\bsh\s+-c"  # noqa: S108
)
_ONLY_IF_SUSPICIOUS = frozenset(
    ("LD_LIBRARY_PATH", "PYTHONPATH", "PERL5LIB", "NODE_OPTIONS", "RUBYOPT", "GIT_SSH_COMMAND")
)


@rule(
    "load-code",
    "makes other programs load code of its choice",
    everywhere=True,
    dangerous=(
        "LD_PRELOAD=/tmp/x.so ls", "export LD_PRELOAD=./evil.so", "PROMPT_COMMAND='curl h' bash",
        "export BASH_ENV=/tmp/x", "sudo LD_PRELOAD=x.so find", "env LD_PRELOAD=/tmp/a.so id",
        "export PATH=/tmp/bin:$PATH", "LD_LIBRARY_PATH=/tmp sudo ls",
        "NODE_OPTIONS='--require /tmp/x.js' npm start",
    ),
    benign=(
        "PYTHONPATH=src pytest", "LD_LIBRARY_PATH=/usr/local/cuda/lib64 python x.py",
        "export PATH=$HOME/bin:$PATH", "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
        "unset LD_PRELOAD", "export PATH=\"$PATH:/usr/local/go/bin\"",
    ),
)  # fmt: skip
def _loads_code(command: Command) -> bool:
    for name, value in command.environment.items():
        suspicious = bool(_SUSPICIOUS_VALUE.search(value.text))
        if name in _LOADERS and value.text and (name not in _ONLY_IF_SUSPICIOUS or suspicious):
            return True
        if name == "PATH" and re.match(r"(?:\.|/tmp|/dev/shm|/var/tmp)[^:]*:", value.text):
            return True
    return False


@rule(
    "escape-container",
    "reaches out of a container, or into another process",
    programs="nsenter unshare gcore gdb ptrace capsh chroot debugfs",
    dangerous=(
        "nsenter -t 1 -m -u -i -n sh", "chroot /host", "gdb -p 1234", "gcore 1234",
        "nsenter --target 1 --mount bash", "chroot /mnt /bin/bash",
    ),
    benign=("gdb ./a.out", "unshare --help", "gdb -batch -ex bt ./a.out core"),
)  # fmt: skip
def _escapes_container(command: Command) -> bool:
    if command.name == "gdb":
        return command.has("-p", "--pid") and any(
            value.text.isdigit() or value.unknown for value in command.values("-p", "--pid")
        )
    return command.name in ("nsenter", "gcore", "chroot", "capsh", "ptrace") and bool(command.texts)
