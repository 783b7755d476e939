"""Paths as text: normalised without touching the disk, and sorted into what must not be lost or leaked."""

from __future__ import annotations

import re
from functools import lru_cache

_OWN_HOME = re.compile(r"/(?:home|Users)/[^/*?\ue000]+\Z|/root\Z")
_IN_OWN_HOME = re.compile(r"/(?:home|Users)/[^/]+/|/root/")
_OTHER_HOME = re.compile(r"~[A-Za-z0-9_-]+")


@lru_cache(maxsize=4096)
def normalise(path: str, cwd: str | None = None) -> str:
    """Resolve ``.``, ``..``, doubled slashes and the home folder textually; home is spelt ``~``.

    ``/home/me/x``, ``/root/x`` and ``~me/x`` are all ``~/x``: whose home it is makes no difference to what is in it,
    and whose account a command will run under isn't known. A relative path stays relative when the working directory
    is unknown. Links are not followed: nothing here touches the disk, which may be that of another machine.
    """
    if path.startswith("file://"):
        path = path[7:]
    home = _OTHER_HOME.match(path)
    if home:
        path = "~" + path[home.end() :]
    if not path.startswith(("/", "~")) and cwd:
        path = f"{cwd}/{path}"
    path = _IN_OWN_HOME.sub("~/", path, count=1) if path.startswith("/") else path
    rooted = path[:1] if path[:1] in ("/", "~") else ""
    parts: list[str] = []
    for part in path[len(rooted) :].split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if parts and parts[-1] != "..":
                parts.pop()
                continue
            if rooted == "~":
                # Above the home folder are other people's homes; above those, the root.
                rooted, parts = "/", ["home"]
                continue
            if rooted:
                continue  # /.. is /
        parts.append(part)
    joined = "/".join(parts)
    if rooted == "~":
        return f"~/{joined}" if joined else "~"
    return _OWN_HOME.sub("~", f"/{joined}") if rooted else joined or "."


#: Endings that mean all that is in a folder: /*, /.*, /{a,b}, /.[!.]*, /.??*, one after the other if need be.
_EVERYTHING = re.compile(r"(?:/?\*+|/?\.\*|/?\{[^}]*\}|/?\.\[[^\]]*\]\*?|/?\.\?\?\*|/?\?\*)+\Z")
_SYSTEM_FOLDER = re.compile(
    r"/(?:etc|usr|bin|sbin|lib|lib32|lib64|libx32|boot|var|dev|proc|sys|opt|srv|home|root|run|mnt"
    r"|media|snap|Users"
    r"|System|Library|Applications|Volumes|private|cores|nix)\Z"
    r"|/usr/(?:bin|sbin|lib|lib64|libexec|local|share|include)\Z"
    r"|/var/(?:lib|log|mail|spool|db)\Z|/var/lib/(?:dpkg|docker|postgresql|mysql|apt|rpm)\Z"
    r"|/etc/(?:ssh|ssl|systemd|pam\.d|sudoers\.d|init\.d|cron\.d|security)\Z"
    r"|/(?:home|Users)\Z|/System/Library\Z|/Library/\w+\Z"
)
_HOME_FOLDERS = re.compile(r"~/(?:Documents|Desktop|Pictures|Library|Music|Videos|Movies)\Z")


def is_catastrophic_to_lose(path: str) -> bool:
    """Whether this normalised path is the root, a home, a system folder, or everything in one of them."""
    # rm -rf /etc/* loses as much as rm -rf /etc, so the ending is taken off and the folder judged.
    folder = _EVERYTHING.sub("", path)
    if path.startswith("/"):
        folder = folder.rstrip("/") or "/"
    return folder in ("/", "~") or bool(_SYSTEM_FOLDER.match(folder) or _HOME_FOLDERS.match(folder))


_SYSTEM_FILE = re.compile(
    r"/(?:etc|usr|bin|sbin|lib|lib32|lib64|boot|sys|proc|System|Library/Launch\w+)(?:/|\Z)"
    r"|/var/(?:spool/cron|lib|log|mail|run|backups|db)(?:/|\Z)|/run/systemd/|/nix/store/"
    r"|/opt/homebrew/bin/|/root(?:/|\Z)"
)
_SYSTEM_EXCEPTIONS = re.compile(
    r"/usr/(?:src|local/(?:src|share|etc|var|lib/(?:python|node_modules)))/|/var/lib/(?:jenkins|app|data)/"
    r"|/proc/self/fd/|/usr/share/doc/"
)
_DEVICE = re.compile(
    r"/dev/(?:[shv]d[a-z*?\[]|xvd[a-z*]|nvme\d|mmcblk\d|disk\d|rdisk\d|md\d|dm-\d|mapper/|loop\d|sr\d"
    r"|vg|mem\b|kmem\b|port\b"
    r"|disk/by-|ram\d|sg\d|st\d|fd\d\Z)"
)
_HARMLESS_DEVICES = re.compile(
    r"/dev/(?:null|zero|stdout|stderr|stdin|tty\w*|full|fd/\d+|shm/|pts/|random|urandom|ptmx)"
)


def is_raw_device(path: str) -> bool:
    """Whether this is a disk, a partition or the machine's memory."""
    return bool(_DEVICE.match(path))


def is_system_file(path: str) -> bool:
    """Whether this path belongs to the operating system rather than to the task."""
    # To write to /dev/null or a terminal changes nothing; anything else in /dev is the machine's.
    if path.startswith("/dev/"):
        return not _HARMLESS_DEVICES.match(path)
    return bool(_SYSTEM_FILE.match(path)) and not _SYSTEM_EXCEPTIONS.match(path)


_STARTUP = re.compile(
    r"(?:.*/)?\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv"
    r"|zprofile|zlogin|zlogout"
    r"|kshrc|cshrc|tcshrc|login|xinitrc|xprofile|xsession|xsessionrc|inputrc|pam_environment|pythonrc"
    r"|Rprofile)\Z"
    r"|~/\.config/(?:fish/|autostart/|systemd/|environment\.d/|plasma-workspace/env/)"
    r"|~/Library/Launch(?:Agents|Daemons)/"
    r"|(?:~/)?\.ssh/(?:authorized_keys2?|rc|config|environment)\Z|.*/authorized_keys2?\Z|authorized_keys\Z"
    r"|/etc/(?:profile|rc\.local|crontab|cron\.\w+/|profile\.d/|init\.d/|systemd/|ld\.so\.preload"
    r"|environment)"
    r"|/var/spool/cron|(?:.*/)?\.git/hooks/[^/]+\Z|~/\.gitconfig\Z|~/\.config/git/config\Z"
    r"|.*/(?:site|user)customize\.py\Z|.*site-packages/[^/]+\.pth\Z|~/\.(?:pip/pip\.conf"
    r"|config/pip/pip\.conf|npmrc|pypirc)\Z"
    r"|~/\.local/share/(?:applications|systemd)/|~/\.config/nvim/init|~/\.vimrc\Z|~/\.emacs\Z"
    r"|~/\.ipython/profile_\w+/startup/"
)


def is_startup_file(path: str) -> bool:
    """Whether what is written here runs later by itself, or lets somebody in."""
    return bool(_STARTUP.match(path))


_CREDENTIAL = re.compile(
    r"(?:.*/)?\.ssh(?:/(?:id_[^/]*|identity|\*.*|[^/]*_rsa|[^/]*\.pem|[^/]*key))?\Z|(?:.*/)?id_(?:rsa"
    r"|dsa|ecdsa|ed25519)(?:_\w+)?\Z"
    r"|(?:.*/)?\.aws(?:/(?:credentials|config|\*|sso/.*|cli/.*))?\Z|(?:.*/)?\.(?:netrc|pgpass|my\.cnf"
    r"|git-credentials|vault-token|npmrc|pypirc|htpasswd"
    r"|dockercfg|s3cfg|boto|password-store|smbcredentials|rhosts|erlang\.cookie)(?:/.*)?\Z"
    r"|(?:.*/)?\.gnupg(?:/.*)?\Z|(?:.*/)?\.kube(?:/config|/\*)?\Z|/etc/kubernetes/(?:admin\.conf"
    r"|pki/.*)|(?:.*/)?\.docker/config\.json\Z"
    r"|(?:.*/)?\.config/(?:gcloud|gh/hosts\.yml|op|rclone/rclone\.conf|hub|doctl|google-chrome"
    r"|chromium|1Password|Bitwarden|solana)(?:/.*)?\Z"
    r"|(?:.*/)?\.azure(?:/.*)?\Z|(?:.*/)?\.env(?:\.(?:local|prod|production|staging|dev|development"
    r"|secret|secrets))?\Z"
    r"|/etc/(?:g?shadow-?|sudoers(?:\.d/.*)?|master\.passwd|security/opasswd|krb5\.keytab"
    r"|ssl/private/.*|ssh/ssh_host_\w+_key|ppp/\w+-secrets)\Z"
    r"|/proc/(?:\w+|\*|self)/(?:environ|mem)\Z|/(?:var/)?run/secrets/.*"
    r"|.*[./_-]?private[_-]?key[^/]*\Z|.*\.(?:key|p12|pfx|jks|keystore|kdbx|ppk|keytab|ovpn"
    r"|asc\.key)\Z"
    r"|(?:.*/)?(?:\.?credentials(?:\.(?:json|ya?ml|csv|db|ini|txt))?|secrets?\.(?:json|ya?ml|toml|env"
    r"|txt|tfvars)|service[_-]account[^/]*\.json|wallet\.dat"
    r"|client_secret[^/]*\.json|passwords?\.(?:txt|csv|json|kdbx?)|terraform\.tfstate|master\.key"
    r"|token\.json|auth\.json|database\.yml)\Z"
    r"|.*/(?:Login Data|Cookies|logins\.json|key[34]\.db|cookies\.sqlite)\Z"
    r"|~/Library/Keychains(?:/.*)?\Z|(?:.*/)?\.mozilla(?:/.*)?\Z"
    r"|~/\.(?:bash_history|zsh_history|python_history|psql_history|mysql_history)\Z|~/\.(?:ethereum"
    r"|bitcoin|electrum|config/solana)(?:/.*)?\Z"
    r"|/var/lib/(?:docker|kubelet)/.*secret.*|~/\.local/share/keyrings(?:/.*)?\Z"
    r"|~/\.cargo/credentials(?:\.toml)?\Z|~/\.hermes/\.env\Z"
    r"|~/\.terraform\.d/credentials.*|/etc/(?:passwd|group)-\Z|/var/backups/shadow.*"
)
_PUBLIC = re.compile(
    r".*\.(?:pub|example|sample|template|dist)\Z|.*public[_-]?key[^/]*\Z|.*/(?:tests?|fixtures|docs"
    r"|examples?)/.*"
)


def is_credential(path: str) -> bool:
    """Whether reading this file would give away a secret."""
    return bool(_CREDENTIAL.match(path)) and not _PUBLIC.match(path)


def is_sensitive_to_send(path: str) -> bool:
    """Whether this should not leave the machine unasked: secrets, accounts, homes, system files."""
    return (
        is_credential(path)
        or path in ("/", "~", "~/.", "~/*")
        or path.startswith(("/etc/", "/var/log/", "/root", "/proc/", "/home", "~/."))
        or bool(re.match(r"(?:/etc|~/(?:Documents|Desktop|Pictures))\Z", path))
        or bool(
            re.search(
                r"\.(?:sql|dump|db|sqlite3?|bak|pem)(?:\.gz)?\Z|history\Z|id_rsa|secret|password"
                r"|passwd|credential",
                path,
            )
        )
    )
