"""Secrets are replaced before anything is stored or shown.

Three kinds are known: values of environment variables whose names look like credentials, values that the user
registers, and texts in the format of well-known keys. The first two are also known in base64, as bytes travel in JSON.
It is a safety net, not a guarantee: a secret that was encoded otherwise or cut into pieces passes through.
"""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
import os
import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

MASK = "[redacted]"

_CREDENTIAL_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|CREDENTIALS?|AUTH|PAT|PWD|DSN)(?:_|$|\d)|PASSWORD|PASSWD|PASSPHRASE",
    re.IGNORECASE,
)
_SHORTEST = 8  # shorter values are words: replacing "dev" everywhere would ruin every text
_DEEPEST = 20

# Each alternative starts with plain characters, so that the search can skip through a text; that a key does not start
# in the middle of a word is looked at afterwards.
_KEY_FORMATS = re.compile(
    r"sk-[A-Za-z0-9_-]{20,}"  # OpenAI, Anthropic and those who followed
    r"|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"  # Stripe
    r"|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}"
    r"|glpat-[A-Za-z0-9_-]{20,}"
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"  # AWS
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}"  # Google
    r"|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{40,}|dop_v1_[a-f0-9]{64}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"  # a JSON web token
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|://[^/\s:@\"']{1,100}:[^/\s@\"']{3,100}(?=@)"  # a password in an address
    r"|[Bb]earer [A-Za-z0-9._~+/-]{20,}=*",
    re.DOTALL,
)

#: One of these is in every key that the formats above match: looking for them is much faster than matching.
_MARKERS = (
    *("sk-", "sk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "AKIA", "ASIA"),
    *("AIza", "ya29.", "hf_", "npm_", "pypi-", "dop_v1_", "eyJ", "PRIVATE", "://", "earer "),
)

_lock = threading.Lock()
_registered: tuple[str, ...] = ()
_environment: tuple[int, tuple[str, ...]] = (0, ())


def register_secret(value: str) -> None:
    """Replace this value wherever results, errors and the journal would show it.

    Raises:
        ValueError: The value is so short that it would be replaced inside ordinary words.
    """
    global _registered  # replaced as a whole, so that readers need no lock
    if len(value) < 4:
        raise ValueError("a secret must have at least 4 characters, or ordinary text would be redacted with it")
    with _lock:
        _registered = _longest_first({*_registered, *_spellings(value)})


def register_variables(variables: Mapping[str, str]) -> None:
    """Treat variables that a command gets like those of the environment: what looks like a credential is a secret."""
    for name, value in variables.items():
        if _is_credential(name, value):
            register_secret(value)


def names_credential(name: str) -> bool:
    """Whether a variable or option of that name usually holds a secret."""
    return _CREDENTIAL_NAME.search(name) is not None


def holds_secret(text: str) -> bool:
    """Whether there may be a secret in a text; quick, and sure only when it says no."""
    return (
        any(map(text.__contains__, _MARKERS))
        or any(map(text.__contains__, _environment_secrets()))
        or any(map(text.__contains__, _registered))
    )


def redact(text: str) -> str:
    """The text without the secrets that are known."""
    for secret in _known():
        if secret in text:
            text = text.replace(secret, MASK)
    return _KEY_FORMATS.sub(_mask_key, text)


def redact_json(value: Any) -> Any:
    """A JSON value without the secrets in it; its shape stays, whatever a secret looks like."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(key): redact_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [redact_json(item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    spelled = str(value)
    return value if redact(spelled) == spelled else MASK


def redact_value(value: Any, depth: int = 0) -> Any:
    """The value without the secrets in it, as a copy of the same type; as it is where nothing was to be taken out.

    Texts and bytes are looked for in the containers of the language, dataclasses, and structs of msgspec and pydantic.
    Other objects, a data frame for one, stay what they are: they are the caller's, and never leave the process.
    """
    if isinstance(value, str):
        return redact(value) if holds_secret(value) else value
    if isinstance(value, bytes):
        return _redact_bytes(value)
    if value is None or isinstance(value, bool | int | float):
        return redact_json(value)
    if depth == _DEEPEST:
        return value
    if isinstance(value, dict):
        keys, items = (redact_value(list(part), depth + 1) for part in (value.keys(), value.values()))
        if keys == list(value) and all(map(_is, items, value.values())):
            return value
        cleaned = copy.copy(value)  # an ordered one, or one with defaults, stays what it is
        cleaned.clear()
        cleaned.update(zip(keys, items, strict=True))
        return cleaned
    if isinstance(value, list | tuple | set | frozenset):
        parts = [redact_value(item, depth + 1) for item in value]
        if all(map(_is, parts, value)):
            return value
        make = getattr(type(value), "_make", type(value))  # that of a named tuple
        return make(parts)
    return _redact_fields(value, depth)


def _redact_fields(value: Any, depth: int) -> Any:
    changed = {
        name: clean
        for name in _field_names(value)
        if (clean := redact_value(held := getattr(value, name, None), depth + 1)) is not held
    }
    if not changed:
        return value
    cleaned = copy.copy(value)
    assign = msgspec.structs.force_setattr if isinstance(value, msgspec.Struct) else object.__setattr__
    for name, clean in changed.items():
        assign(cleaned, name, clean)  # also where it is frozen: nobody else has this copy yet
    return cleaned


def _field_names(value: Any) -> Iterable[str]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [field.name for field in dataclasses.fields(value)]
    if isinstance(value, msgspec.Struct):
        return value.__struct_fields__
    return getattr(type(value), "model_fields", ())  # pydantic


def _is(one: Any, other: Any) -> bool:
    return one is other


def _redact_bytes(data: bytes) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    clean = redact(text) if holds_secret(text) else text
    return data if clean == text else clean.encode("utf-8", "surrogateescape")


#: A word that the next piece may complete: half a secret can't be told from an ordinary word.
_UNFINISHED_WORD = re.compile(r"(?:[Bb]earer )?\S*[A-Za-z0-9]\S*\Z|[Bb]earer \Z")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?!.*-----END)", re.DOTALL)
_HELD_AT_MOST = 8_192


class SecretsHeldBack:
    """Text that comes in pieces, given on without secrets: what may be the beginning of one waits for the rest.

    Args:
        unfinished: Further patterns for an end of the text that must wait.
    """

    def __init__(self, *unfinished: re.Pattern[str]) -> None:
        self._patterns = (_UNFINISHED_WORD, _PRIVATE_KEY, *unfinished)
        self._held = ""

    def feed(self, text: str) -> str:
        """What can be given on, now that this piece has come."""
        pending = self._held + text
        cut = self._safe_length(pending)
        self._held = pending[cut:]
        return redact(pending[:cut]) if holds_secret(pending[:cut]) else pending[:cut]

    def rest(self) -> str:
        """What was held back, now that nothing more will come."""
        held, self._held = self._held, ""
        return redact(held)

    def _safe_length(self, text: str) -> int:
        earliest = max(0, len(text) - _HELD_AT_MOST)
        found = [match.start() for pattern in self._patterns if (match := pattern.search(text, earliest))]
        return _outside_secrets(text, min([len(text), *found, *_begun_secrets(text, earliest)]))


def _begun_secrets(text: str, earliest: int) -> Iterable[int]:
    """Where the end of a text may be the beginning of a known secret that has spaces in it."""
    for secret in _known():
        if not secret.isalnum():
            for start in range(max(earliest, len(text) - len(secret) + 1), len(text)):
                if secret.startswith(text[start:]):
                    yield start
                    break


def _outside_secrets(text: str, cut: int) -> int:
    """Where to cut a text so that no known secret is cut in two: there, or before the secret that stands there."""
    for secret in _known():
        start = text.find(secret, max(cut - len(secret) + 1, 0), cut + len(secret) - 1)
        if 0 <= start < cut:
            return _outside_secrets(text, start)
    return cut


def _mask_key(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    found = match[0]
    if found.startswith("://"):
        user = found[3:].partition(":")[0]
        return f"://{user}:{MASK}"
    is_escape = match.string[match.start() - 2 : match.start() - 1] == "\\"  # the n of a \n in JSON
    if (before.isalnum() or before == "_") and not is_escape:
        return found
    return f"{found[:7]}{MASK}" if found[:6].lower() == "bearer" else MASK


def _environment_secrets() -> tuple[str, ...]:
    """Values of the environment that look like credentials, read anew whenever the environment has changed."""
    global _environment  # replaced as a whole, so that readers need no lock
    raw = getattr(os.environ, "_data", None)  # the mapping of bytes behind it: 10 times cheaper to fingerprint
    mark = hash((*raw, *raw.values())) if raw is not None else hash(tuple(os.environ.items()))
    if mark != _environment[0]:
        values = {
            spelling
            for name, value in os.environ.items()
            if _is_credential(name, value)
            for spelling in _spellings(value)
        }
        _environment = (mark, _longest_first(values))
    return _environment[1]


def _is_credential(name: str, value: str) -> bool:
    return len(value) >= _SHORTEST and names_credential(name) and not _is_path(value)


def _is_path(value: str) -> bool:
    # SSH_AUTH_SOCK, GOOGLE_APPLICATION_CREDENTIALS: where a secret is, not what it is
    return value.startswith(("/", "~", "./")) and os.path.exists(os.path.expanduser(value))  # noqa: PTH110, PTH111


def _known() -> tuple[str, ...]:
    """The values of secrets, those first of which another may be the beginning."""
    return _longest_first({*_registered, *_environment_secrets()})


def _longest_first(secrets: set[str]) -> tuple[str, ...]:
    return tuple(sorted(secrets, key=len, reverse=True))


def _spellings(value: str) -> set[str]:
    return {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], *_in_base64(value)}


def _in_base64(value: str) -> set[str]:
    """What base64 makes of a value in the midst of other bytes: three texts, by where its first byte falls.

    The characters that it shares with its neighbours are left out, as they could be any.
    """
    data = value.encode("utf-8", "surrogateescape")
    spelled = set()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data).decode()
        first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
        spelled.add(encoded[first:last])
    return {text for text in spelled if len(text) >= _SHORTEST}
