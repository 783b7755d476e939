"""Databases: rows, tables and databases lost, through any client."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_nb.approval.languages import sql
from hermes_nb.approval.rules.table import rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hermes_nb.approval.shell.commands import Command

_SQL_CLIENTS = (
    "psql mysql mariadb sqlite3 sqlite sqlcmd sqlplus clickhouse-client clickhouse cqlsh duckdb"
    " snowsql bq usql pgcli mycli litecli isql osql tsql db2 hive beeline"
    " spark-sql presto trino impala-shell cockroach turso wrangler mysqlsh influx vsql bteq d1"
    " prisma supabase litefs rqlite mysqladmin"
)


def _statements(command: Command) -> Iterator[str]:
    """Everything that a client would be given to execute."""
    for word in command.arguments:
        text = word.text
        if len(text) > 4 and (" " in text or ";" in text or text.startswith((".", "\\"))):
            # -eSELECT and --execute=SELECT come with their option.
            yield re.sub(r"\A--?\w+=|\A-[ecQqf](?=[A-Za-z])", "", text)
    if command.stdin and command.stdin.text:
        yield command.stdin.text


def _executes(danger: str) -> Callable[[Command], bool]:
    return lambda command: any(sql.danger_of(text) == danger for text in _statements(command))


rule(
    "sql-lose-data",
    "drops, empties or rewrites whole tables",
    programs=_SQL_CLIENTS,
    dangerous=(
        "psql -c 'DROP TABLE users'", "mysql -e 'DELETE FROM users'", "sqlite3 a.db 'UPDATE t SET x=1'",
        "echo 'TRUNCATE t;' | psql", "psql <<< 'drop database x'",
        "sqlite3 a.db <<EOF\nDELETE FROM t;\nEOF", "mysql db -e \"DELETE FROM t WHERE 1=1\"",
        "psql -c 'ALTER TABLE t DROP COLUMN c'", "mysql --execute='drop schema x'",
        "docker exec db psql -U x -c 'DROP TABLE t'", "psql -c 'DELETE FROM t -- WHERE id=1'",
    ),
    benign=(
        "psql -c 'SELECT * FROM users'", "mysql -e 'DELETE FROM users WHERE id=3'",
        "sqlite3 a.db 'UPDATE t SET x=1 WHERE id=2'", "echo 'DROP TABLE users'", "psql -f dump.sql",
        "psql -c \"SELECT 'DROP TABLE x'\"", "grep 'DROP TABLE' schema.sql", "sqlite3 a.db .tables",
        "psql -c 'CREATE INDEX i ON t(c)'", "psql -c \"INSERT INTO log VALUES ('delete from x')\"",
    ),
)(_executes("lose-data"))  # fmt: skip


rule(
    "sql-run-program",
    "lets the database run programs or write files",
    programs=_SQL_CLIENTS,
    dangerous=(
        "psql -c \"COPY t FROM PROGRAM 'id'\"", "mysql -e \"SELECT 1 INTO OUTFILE '/tmp/x'\"",
        "sqlite3 a.db '.shell id'", "sqlcmd -Q \"EXEC xp_cmdshell 'dir'\"", "psql -c '\\! id'",
    ),
    benign=("psql -c '\\dt'", "sqlite3 a.db '.schema t'"),
)(_executes("run-program"))  # fmt: skip


rule(
    "sql-rights",
    "changes the rights, the users or the settings of a database server",
    programs=_SQL_CLIENTS,
    dangerous=(
        "psql -c 'GRANT ALL ON DATABASE x TO y'", "mysql -e \"ALTER USER root IDENTIFIED BY 'x'\"",
        "psql -c 'ALTER ROLE x SUPERUSER'",
        'psql -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"',
    ),
    benign=("psql -c '\\du'", "mysql -e 'SHOW GRANTS'"),
)(_executes("rights"))  # fmt: skip


@rule(
    "drop-database",
    "drops a database or a user of the server",
    programs=(
        "dropdb dropuser mysqladmin pg_dropcluster influx bq pg_restore pg_resetwal mongorestore"
        " initdb"
    ),
    dangerous=(
        "dropdb prod", "mysqladmin drop app", "dropuser bob", "bq rm -r dataset",
        "pg_restore --clean -d app dump", "mongorestore --drop dump/", "mysqladmin -f drop x",
        "mysqladmin shutdown",
    ),
    benign=("mysqladmin status", "bq ls", "createdb x", "pg_restore -l dump"),
)  # fmt: skip
def _drops_database(command: Command) -> bool:
    match command.name:
        case "mysqladmin":
            return any(verb in ("drop", "shutdown", "flush-privileges", "password") for verb in command.verbs)
        case "bq":
            return command.verbs[:1] == ["rm"]
        case "influx":
            return "delete" in command.verbs
        case "pg_restore":
            return command.has("-c", "--clean")
        case "mongorestore":
            return command.has("--drop")
        case "initdb":
            return False
    return True


@rule(
    "mongo-lose-data",
    "drops collections or databases, or deletes all documents",
    programs="mongo mongosh",
    dangerous=(
        "mongosh --eval 'db.dropDatabase()'", "mongosh app --eval 'db.users.deleteMany({})'",
        "mongo app --eval 'db.x.drop()'", "echo 'db.dropDatabase()' | mongosh",
        "mongo --eval 'db.c.remove({})'",
    ),
    benign=(
        "mongosh --eval 'db.users.find()'", "mongosh --eval 'db.users.deleteOne({_id: 1})'",
        "mongosh --eval 'db.users.deleteMany({age: 3})'",
    ),
)  # fmt: skip
def _loses_documents(command: Command) -> bool:
    texts = [*command.texts, command.stdin.text or "" if command.stdin else ""]
    return any(sql.is_dangerous_mongo(text) for text in texts)


@rule(
    "redis-lose-data",
    "empties, stops or reconfigures a key-value store",
    programs="redis-cli valkey-cli keydb-cli etcdctl consul memcached-tool ",
    dangerous=(
        "redis-cli FLUSHALL", "redis-cli -n 1 flushdb", "echo FLUSHALL | redis-cli",
        "redis-cli config set dir /root/.ssh", "redis-cli --scan | xargs redis-cli del",
        "etcdctl del --prefix ''", "consul kv delete -recurse x", "redis-cli shutdown nosave",
    ),
    benign=(
        "redis-cli GET key", "redis-cli DEL session:1", "redis-cli ping", "redis-cli info",
        "redis-cli KEYS '*'", "etcdctl get x", "redis-cli SET note flushall",
    ),
)  # fmt: skip
def _loses_keys(command: Command) -> bool:
    verbs = command.verbs
    if command.name == "etcdctl":
        return "del" in verbs and command.has("--prefix", "--from-key")
    if command.name == "consul":
        return "delete" in verbs and command.has("-recurse")
    words = [text for text in command.texts if not text.startswith("-")]
    while words and re.fullmatch(r"\d+|[\w.-]+:\d+|localhost|redis|127\.0\.0\.1", words[0]):
        words = words[1:]
    if words and words[0].lower() in ("set", "get", "hset", "lpush", "rpush", "sadd", "publish"):
        return False
    spoken = " ".join(words[:3])
    bulk = (
        bool(words)
        and words[0].lower() in ("del", "unlink")
        and any(word.glob or word.unknown for word in command.arguments)
    )
    return (
        bulk
        or sql.is_dangerous_redis(spoken)
        or bool(command.stdin and command.stdin.text and sql.is_dangerous_redis(command.stdin.text))
    )


_FRAMEWORK = re.compile(
    r"db:(?:drop|reset|purge|wipe|fresh|schema:drop|database:drop|truncate_all|migrate:reset"
    r"|seed:undo:all|schema:load)|migrate:(?:fresh|reset|refresh|undo:all)|doctrine:(?:database"
    r"|schema):drop"
)


@rule(
    "framework-reset",
    "lets a framework drop or reset its database",
    programs=(
        "rails rake bin/rails php artisan python django-admin flask prisma npx sequelize knex alembic"
        " mix dotnet typeorm drizzle-kit manage.py supabase wrangler symfony"
    ),
    dangerous=(
        "rails db:drop", "php artisan migrate:fresh", "python manage.py flush --noinput",
        "npx prisma migrate reset", "rake db:reset", "alembic downgrade base", "mix ecto.drop",
        "prisma db push --force-reset", "./manage.py flush", "dotnet ef database drop",
        "python manage.py reset_db",
    ),
    benign=(
        "rails db:migrate", "php artisan migrate", "python manage.py migrate", "npx prisma generate",
        "alembic upgrade head", "python manage.py runserver", "./manage.py test",
    ),
)  # fmt: skip
def _resets_framework(command: Command) -> bool:
    texts = command.texts
    joined = " ".join(texts)
    return (
        any(_FRAMEWORK.fullmatch(text) for text in texts)
        or bool(
            re.search(
                r"\bmigrate reset\b|--force-reset|\becto\.(?:drop|reset)\b|\bdowngrade base\b"
                r"|\bdatabase drop\b|\bdb reset\b|\bschema:drop\b",
                joined,
            )
        )
        or (
            ("manage.py" in joined or command.name in ("manage.py", "django-admin"))
            and any(text in ("flush", "reset_db", "zero") for text in texts)
        )
    )
