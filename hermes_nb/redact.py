"""Secrets are replaced before anything is stored or shown.

Three kinds are known: values of environment variables whose names look like credentials, values that the user
registers, and texts in the format of well-known keys. It is a safety net, not a guarantee: a secret that was encoded
or cut into pieces passes through.
"""

from __future__ import annotations

import json
import os
import re
import threading
from typing import Any

MASK = "[redacted]"

_CREDENTIAL_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|CREDENTIALS?|AUTH|PAT|PWD|DSN)(?:_|$|\d)|PASSWORD|PASSWD|PASSPHRASE",
    re.IGNORECASE,
)
_SHORTEST = 8  # shorter values are words: replacing "dev" everywhere would ruin every text

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


def holds_secret(text: str) -> bool:
    """Whether there may be a secret in a text; quick, and sure only when it says no."""
    return (
        any(map(text.__contains__, _MARKERS))
        or any(map(text.__contains__, _environment_secrets()))
        or any(map(text.__contains__, _registered))
    )


def redact(text: str) -> str:
    """The text without the secrets that are known."""
    for secret in _longest_first({*_registered, *_environment_secrets()}):  # one may be the beginning of another
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
            if len(value) >= _SHORTEST and _CREDENTIAL_NAME.search(name) and not _is_path(value)
            for spelling in _spellings(value)
        }
        _environment = (mark, _longest_first(values))
    return _environment[1]


def _is_path(value: str) -> bool:
    # SSH_AUTH_SOCK, GOOGLE_APPLICATION_CREDENTIALS: where a secret is, not what it is
    return value.startswith(("/", "~", "./")) and os.path.exists(os.path.expanduser(value))  # noqa: PTH110, PTH111


def _longest_first(secrets: set[str]) -> tuple[str, ...]:
    return tuple(sorted(secrets, key=len, reverse=True))


def _spellings(value: str) -> set[str]:
    return {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
