"""What commands print, as far as it can be told from the command line, and where text comes from."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from hermes_nb.approval.shell.commands import UNKNOWN, Stream
from hermes_nb.approval.shell.words import unescape_ansi_c

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hermes_nb.approval.shell.commands import Command

DOWNLOADERS = frozenset(
    [
        "curl",
        "wget",
        "fetch",
        "aria2c",
        "http",
        "https",
        "httpie",
        "xh",
        "lynx",
        "links",
        "w3m",
        "elinks",
        "axel",
        "lwp-download",
        "GET",
        "ftp",
        "tftp",
        "lftp",
        "scp",
        "sftp",
    ]
)
_DECODING_OPTIONS = ("-d", "-D", "--decode", "--decompress", "-r", "-p")
_ALWAYS_DECODING = frozenset(
    ["rev", "uudecode", "gunzip", "zcat", "bzcat", "xzcat", "unxz", "bunzip2", "zstdcat", "uncompress", "tac"]
)


def is_download(command: Command) -> bool:
    """Whether the command brings data from the network."""
    if command.name in ("nc", "ncat", "netcat", "socat", "telnet"):
        return True
    if command.name in ("openssl",):
        return "s_client" in command.texts
    if command.name in ("aws", "gsutil", "gcloud", "az", "rclone", "mc"):
        return any(text in ("cp", "cat", "get", "download") for text in command.verbs[:3])
    return command.name in DOWNLOADERS or (
        command.code is not None
        and command.code.stream.text is not None
        and bool(_FETCHES.search(command.code.stream.text))
    )


_FETCHES = re.compile(
    r"urlopen|urlretrieve|requests\.get|httpx\.get|LWP::|Net::HTTP|open-uri|https?\.get"
    r"|file_get_contents\(.http"
)


def is_decoder(command: Command) -> bool:
    """Whether the command turns unreadable text into readable text."""
    name = command.name
    if name in ("base64", "base32", "basenc", "openssl", "gpg", "gzip", "xz", "bzip2", "zstd", "uuencode"):
        return command.has(*_DECODING_OPTIONS) or "-d" in command.texts
    if name == "xxd":
        return command.has("-r")
    if name == "tr":
        return not command.has("-d", "-s")
    return name in _ALWAYS_DECODING


def output(commands: Iterable[Command]) -> Stream:
    """What a list of commands, run one after the other, would print.

    All of it or nothing: if one command's output isn't known, the text isn't, and the sources say who had a hand in it.
    """
    sources = tuple(commands)
    # sudo prints nothing by itself, and what it runs is in the list as well.
    effective = [command for command in sources if not command.wraps]
    parts = [_printed(command) for command in effective]
    if not parts or any(part is None for part in parts):
        return Stream(None, sources)
    return Stream("".join(part for part in parts if part is not None), sources)


def _printed(command: Command) -> str | None:
    # echo x > file leaves nothing for a pipe; of another program it is not known what it would have printed.
    if any(redirect.writes for redirect in command.redirects):
        return "" if command.name in _PRINTERS else None
    printer = _PRINTERS.get(command.name)
    text = printer(command) if printer else None
    return text if text is not None and len(text) <= 200_000 else None


def _echo(command: Command) -> str:
    words = command.texts
    escapes, newline = False, "\n"
    while words and re.fullmatch(r"-[neE]+", words[0]):
        escapes = escapes or "e" in words[0]
        newline = "" if "n" in words[0] else newline
        words = words[1:]
    text = " ".join(words)
    # Whether a bare echo resolves escapes depends on the shell (dash's does, bash's doesn't); the readable form is the
    # one to judge.
    return (unescape_ansi_c(text) if escapes or "\\x" in text or "\\0" in text else text) + newline


_CONVERSION = re.compile(r"%%|%[-+ #0]*\d*(?:\.\d+)?([sdibqcxuofeg])")


def _printf(command: Command) -> str | None:
    words = command.texts
    if words[:1] == ["-v"]:
        return ""
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        return ""
    template = unescape_ansi_c(words[0])
    values = words[1:]
    # printf goes through its format again as long as there are arguments: printf '%s ' rm -rf x prints "rm -rf x ".
    conversions = sum(1 for match in _CONVERSION.finditer(template) if match[1])
    rounds = max(1, -(-len(values) // conversions)) if conversions else 1
    supply = iter(values)

    def one(match: re.Match[str]) -> str:
        if not match[1]:
            return "%"
        value = next(supply, "")
        return unescape_ansi_c(value) if match[1] == "b" else value

    return "".join(_CONVERSION.sub(one, template) for _ in range(rounds))


def _stdin(command: Command) -> str | None:
    return command.stdin.text if command.stdin else None


def _cat(command: Command) -> str | None:
    return None if command.operands else _stdin(command)


def _decoded(decode: Callable[[str], bytes]) -> Callable[[Command], str | None]:
    def printed(command: Command) -> str | None:
        text = _stdin(command)
        if text is None or UNKNOWN in text or not is_decoder(command):
            return None
        try:
            return decode("".join(text.split())).decode("utf-8", "replace")
        except (ValueError, binascii.Error):
            return None

    return printed


def _rev(command: Command) -> str | None:
    text = _stdin(command)
    return None if text is None else "\n".join(line[::-1] for line in text.split("\n"))


def _tr(command: Command) -> str | None:
    text = _stdin(command)
    sets = [_tr_set(word) for word in command.verbs]
    if text is None or not sets:
        return None
    if command.has("-d"):
        return text.translate(dict.fromkeys(map(ord, sets[0])))
    if len(sets) < 2 or not sets[1] or command.has("-c", "-C"):
        return None
    # tr abc xy makes a y of c as well.
    padded = sets[1] + sets[1][-1] * len(sets[0])
    return text.translate({ord(old): padded[index] for index, old in enumerate(sets[0])})


def _tr_set(text: str) -> str:
    text = text.replace("[:lower:]", "a-z").replace("[:upper:]", "A-Z").replace("[:digit:]", "0-9")
    text = unescape_ansi_c(text)
    return re.sub(
        r"(.)-(.)",
        lambda span: "".join(chr(code) for code in range(ord(span[1]), ord(span[2]) + 1)),
        text,
        flags=re.DOTALL,
    )


def _which(command: Command) -> str | None:
    # Of /usr/bin/rm a rule sees the name alone, so the name will do: $(which rm) is rm.
    operands = [text for text in command.verbs if text != "-v"]
    return operands[-1] if operands else None


_PRINTERS: dict[str, Callable[[Command], str | None]] = {
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "tee": _stdin,
    "base64": _decoded(lambda text: base64.b64decode(text + "=" * (-len(text) % 4))),
    "base32": _decoded(lambda text: base64.b32decode(text)),
    "xxd": _decoded(bytes.fromhex),
    "rev": _rev,
    "tr": _tr,
    "which": _which,
    "command": lambda command: _which(command) if command.has("-v") else None,
    "pwd": lambda command: command.cwd or ".",
    "true": lambda _command: "",
    "cd": lambda _command: "",
}
