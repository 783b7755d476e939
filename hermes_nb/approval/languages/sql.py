"""Statements in a database's own language: which of them lose data or run programs."""

from __future__ import annotations

import re

#: Comments and strings: "DROP TABLE" in either drops nothing.
_IGNORED = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)
_DROPPING = re.compile(
    r"\b(?:drop\s+(?:table|database|schema|view|materialized|index|user|role|column|tablespace"
    r"|collection|keyspace|owned|type|sequence|extension|function|trigger|policy|constraint)\b"
    r"|truncate\b(?!\s*\()|alter\s+table\s+\S+\s+drop\b|drop\s+(?:if\s+exists\s+)?[\w.\"`]+\s*\Z)",
    re.IGNORECASE
)  # fmt: skip
_DELETING = re.compile(
    r"\bdelete\s+(?:from\b|\w+\s+from\b)|\bupdate\s+(?:only\s+|low_priority\s+"
    r"|ignore\s+)?[\w.\"`\[\]]+\s+(?:as\s+)?(?:\w+\s+)?set\b",
    re.IGNORECASE,
)
_WHERE = re.compile(r"\bwhere\b(.*)", re.IGNORECASE | re.DOTALL)
#: Behind "where": 1=1, true, 1<2, or anything "or 1=1".
_ALWAYS_TRUE = re.compile(
    r"\s*(?:\(?\s*(?:(\d+)\s*=\s*\1|true|1|not\s+false|\d+\s*(?:<>|!=|<"
    r"|>)\s*\d+)\s*\)?)\s*(?:or\b.*)?;?\s*\Z|.*\bor\s+(?:(\d+)\s*=\s*\2|true)\b",
    re.IGNORECASE | re.DOTALL,
)
_RUNS_PROGRAMS = re.compile(
    r"\bprogram\s+''|\bxp_cmdshell\b|\binto\s+(?:outfile|dumpfile)\b|\bload_extension\s*\("
    r"|\bpg_read_file\b|\blo_export\b|\bsys_exec\b|^\s*\\!|^\s*\.(?:shell|system)\b",
    re.IGNORECASE | re.MULTILINE,
)  # fmt: skip
_RIGHTS = re.compile(
    r"\bgrant\s+(?:all|\w+,?\s).*\bto\b|\balter\s+(?:user|role)\b|\bcreate\s+(?:user|role)\b"
    r"|\bset\s+global\b|\bshutdown\b|\bpg_terminate_backend\b|\breset\s+master\b|\bkill\s+\d+",
    re.IGNORECASE,
)
_MONGO = re.compile(
    r"dropDatabase\s*\(|\.drop\s*\(|dropUser|dropIndexes|dropAllUsers|(?:deleteMany|remove"
    r")\s*\(\s*(?:\{\s*\}\s*)?\)|(?:deleteMany|remove)\s*\(\s*\{\s*\}\s*,"
    r"|updateMany\s*\(\s*\{\s*\}|shutdownServer|\$out\b|fsyncLock"
    r"|(?:deleteMany|remove)\s*\(\s*\{\s*_?\w+\s*:\s*\{\s*\$exists"
)  # fmt: skip
_REDIS = re.compile(
    r"(?i)\b(?:flushall|flushdb|config\s+set|shutdown|debug\s+\w|script\s+flush|slaveof|replicaof"
    r"|module\s+load|swapdb|acl\s+(?:setuser|deluser)|eval\b.*\b(?:flush|del)|unlink\s+\S*\*|migrate"
    r"|cluster\s+reset|xtrim|function\s+flush)\b"
)


def danger_of(text: str) -> str | None:
    """Say what a piece of SQL would do: ``"lose-data"``, ``"run-program"``, change ``"rights"``, or None."""
    # Strings become '' and so stay visible as strings: COPY … TO PROGRAM '' is still recognised.
    bare = _IGNORED.sub("''", text)
    if _RUNS_PROGRAMS.search(bare):
        return "run-program"
    for statement in bare.split(";"):
        # A statement that begins with one of these speaks of dropping, as CREATE FUNCTION does in its body.
        if _DROPPING.search(statement) and not re.match(
            r"\s*(?:explain|show|create|insert|select|comment)\b", statement, re.IGNORECASE
        ):
            return "lose-data"
        if _DELETING.search(statement) and not re.match(
            r"\s*(?:explain|create\s+(?:trigger|rule|function))\b", statement, re.IGNORECASE
        ):
            where = _WHERE.search(statement)
            if not where or _ALWAYS_TRUE.match(where[1]):
                return "lose-data"
    if _RIGHTS.search(bare) and not re.match(r"\s*(?:explain|select\s+''|insert|comment)\b", bare, re.IGNORECASE):
        return "rights"
    return None


def is_dangerous_mongo(text: str) -> bool:
    """Whether a script for MongoDB would lose a collection, a database or all documents."""
    return bool(_MONGO.search(text))


def is_dangerous_redis(text: str) -> bool:
    """Whether a command for Redis would empty it, stop it or reconfigure it."""
    return bool(_REDIS.search(text))
