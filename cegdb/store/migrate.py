"""Bring a file's schema ``cegdb`` to the head of the Alembic chain in ``migrations/``."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager, suppress
from importlib.resources import as_file
from typing import TYPE_CHECKING

import duckdb
import sqlalchemy as sa

from cegdb.errors import MigrationError, listed
from cegdb.sqlfiles import quoted, raise_interrupt, raise_out_of_memory, resource_root
from cegdb.store.schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from importlib.resources.abc import Traversable
    from pathlib import Path

log = logging.getLogger("cegdb")

# Revisions from before the first release, and the last commit that reads files of them.
_UNRELEASED = {f"{number:04}" for number in range(1, 11)}
_UNRELEASED_READER = "f46e688"

_PROBE = "describe select * from {}"
_CREATE = re.compile(r"^\s*create\s+view\b", re.IGNORECASE)

# DuckDB finds a schema in any case of its letters.
_TABLES = """
    select table_name from duckdb_tables()
    where lower(schema_name) = 'cegdb' and database_name = current_database()
"""
_SCHEMAS = """
    select lower(schema_name) from duckdb_schemas()
    where lower(schema_name) in ('cegdb', 'temp') and database_name = current_database()
"""
_VIEWS = """
    select schema_name, view_name, sql, comment from duckdb_views()
    where not internal and not temporary and database_name = current_database()
    order by view_oid
"""
_COMMENTED_COLUMNS = """
    select column_name, comment from duckdb_columns()
    where database_name = current_database() and schema_name = $1 and table_name = $2
        and comment is not null
"""
_COMMENT = re.compile(r"^comment on .*?';?$", re.MULTILINE | re.DOTALL)
_VERSIONED = """
    select count(*) from duckdb_columns()
    where lower(schema_name) = 'cegdb' and database_name = current_database()
        and table_name = 'alembic_version' and column_name = 'version_num'
"""


def stored_revision(con: duckdb.DuckDBPyConnection, file: Path | None) -> str | None:
    """Return the revision a file's schema is at, None where there is no schema yet.

    Raises
    ------
    MigrationError
        A schema ``cegdb`` exists that is not ours, or a schema ``temp``.

    Examples
    --------
    >>> import duckdb
    >>> stored_revision(duckdb.connect(), None) is None
    True
    """
    schemas = {row[0] for row in con.execute(_SCHEMAS).fetchall()}
    if "temp" in schemas:
        raise MigrationError(
            f"{file or 'the database'} has a schema named temp, which DuckDB cannot "
            "distinguish from its own temporary tables",
            hint="rename that schema",
        )
    if SCHEMA not in schemas:
        return None
    tables = {row[0] for row in con.execute(_TABLES).fetchall()}
    if con.execute(_VERSIONED).fetchall() == [(1,)]:
        rows = con.execute(
            f"select version_num from {SCHEMA}.alembic_version"  # noqa: S608
        ).fetchall()
        if not rows and tables == {"alembic_version"}:
            return None
        if len(rows) == 1 and {"survey", "event_tree", "staging", "ceg"} <= tables:
            return str(rows[0][0])
    raise MigrationError(
        f"{file or 'the database'} has a schema {SCHEMA} that cegdb did not make "
        f"(tables: {listed(sorted(tables)) or 'none'})",
        hint=f"rename that schema, or use another file: cegdb needs the name {SCHEMA}",
    )


def bring_to_head(
    con: duckdb.DuckDBPyConnection,
    engine: sa.Engine,
    file: Path | None,
    *,
    read_only: bool,
    folder: Traversable | None = None,
) -> str | None:
    """Create or upgrade the schema; return the revision it was at.

    A new file is made from the SQL of all revisions, without importing Alembic. A file that is
    from a newer cegdb, not ours, or opened read-only at another revision is refused. All
    revisions run in one transaction, so that an error leaves the file unchanged. ``folder``
    holds the revisions, those of this cegdb if it is None.
    """
    folder = folder or resource_root("migrations")
    stored = stored_revision(con, file)
    known = known_revisions(folder)
    head = known[-1]
    if stored == head:
        return stored
    if stored in _UNRELEASED:
        raise MigrationError(
            f"{file} was made by cegdb before its first release (schema {stored}), "
            "and this version cannot read it",
            hint=f"commit {_UNRELEASED_READER} of cegdb still reads it: use that to export "
            "what you need, or make a new file from the survey with this version",
        )
    if stored is not None and stored not in known:
        raise MigrationError(
            f"{file} was written by a newer cegdb (schema {stored}, this one knows {head})",
            hint="upgrade cegdb",
        )
    if read_only:
        at = "has no cegdb tables" if stored is None else f"has schema {stored}, not {head}"
        raise MigrationError(f"{file} {at}", hint=f"run: cegdb migrate {file}")
    if stored is not None:
        log.warning("migrating %s from schema %s to %s", file, stored, head)
    try:
        with _set_for_ddl(con):
            if _has_schema(con):
                upgrade(engine, head, _working_views(con), folder=folder)
            else:
                create_schema(engine, folder, comments=file is not None)
    except sa.exc.DBAPIError as error:
        reason = error.orig or error
        if isinstance(reason, Exception):
            raise_interrupt(reason)
        raise_out_of_memory(reason)
        raise MigrationError(
            f"{file or 'the database'} cannot be migrated to schema {head}, and is unchanged: "
            f"{str(reason).strip().splitlines()[0]}",
            hint=f"rename or drop your own views and indexes in the schema {SCHEMA} or on its "
            "tables, and make them again afterwards; keep a copy of the file",
        ) from error
    return stored


def _has_schema(con: duckdb.DuckDBPyConnection) -> bool:
    return (SCHEMA,) in con.execute(_SCHEMAS).fetchall()


def create_schema(engine: sa.Engine, folder: Traversable, *, comments: bool) -> None:
    """Create the schema at the head of the chain, without running the chain.

    The comments take 0.1 s, and are left out in databases in memory.
    """
    version = f"{SCHEMA}.alembic_version"
    known = known_revisions(folder)
    texts = [
        f"create schema {SCHEMA}",
        f"create table {version} (version_num varchar not null primary key)",
        f"insert into {version} values ('{known[-1]}')",  # noqa: S608
    ]
    for revision in known:
        texts += _texts(folder / "sql" / revision)
    script = ";\n".join(texts)
    if not comments:
        script = _COMMENT.sub("", script)
    with engine.begin() as connection:
        connection.exec_driver_sql(script)


def _texts(folder: Traversable) -> Iterator[str]:
    """Yield the SQL files of a folder and its subfolders, in order; it may be in a zip."""
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _texts(item)
        elif item.name.endswith(".sql"):
            yield item.read_text(encoding="utf-8")


@contextmanager
def _set_for_ddl(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Commit without the write-ahead log, and plan without the optimizer.

    DuckDB 1.4 cannot replay a column that was added to a table with a sequence, and would
    not open the file any more if the process was killed before the next checkpoint. The
    optimizer would take a quarter of the time of hundreds of comments, and do nothing.
    """
    ((before,),) = con.execute("select current_setting('checkpoint_threshold')").fetchall()
    con.execute("set checkpoint_threshold = '0B'")
    con.execute("pragma disable_optimizer")
    try:
        yield
    finally:
        con.execute("pragma enable_optimizer")
        con.execute(f"set checkpoint_threshold = '{before}'")


def known_revisions(folder: Traversable) -> list[str]:
    """Return the revisions in a folder of migrations, oldest first; the last is the head.

    Examples
    --------
    >>> known_revisions(resource_root("migrations"))[0]
    '0001_first'
    """
    names = (item.name for item in (folder / "versions").iterdir())
    return sorted(name.removesuffix(".py") for name in names if name.endswith(".py"))


def upgrade(
    engine: sa.Engine,
    revision: str,
    views: Collection[str] = (),
    *,
    folder: Traversable | None = None,
) -> None:
    """Run the chain up (or, for an earlier revision or ``base``, down) to a revision.

    Where it goes up, those of ``views`` that it breaks are made again.
    """
    from alembic import command
    from alembic.config import Config

    folder = folder or resource_root("migrations")
    with as_file(folder) as path, engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(path).replace("%", "%%"))
        config.attributes["connection"] = connection
        known = ["base", *known_revisions(folder)]
        at = stored_revision_of(connection) or "base"
        if known.index(revision) < known.index(at):
            command.downgrade(config, revision)
            return
        command.upgrade(config, revision)
        _remake_views(connection, views)


def _working_views(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of all views that can be queried, also those of the user."""
    working = []
    for schema, view, *_ in con.execute(_VIEWS).fetchall():
        name = f"{quoted(schema)}.{quoted(view)}"
        # Outside a transaction, which an error would abort.
        with suppress(duckdb.Error):
            con.execute(_PROBE.format(name))
            working.append(name)
    return working


def _remake_views(connection: sa.Connection, working: Collection[str]) -> None:
    """Replace views that worked before and now fail: DuckDB 1.4 requires the same columns.

    They are replaced in the order in which they were made, so that a view comes after those
    it reads.
    """
    for schema, view, sql, comment in connection.exec_driver_sql(_VIEWS).fetchall():
        name = f"{quoted(schema)}.{quoted(view)}"
        if name not in working:
            continue
        try:
            connection.exec_driver_sql(_PROBE.format(name))
        except sa.exc.DBAPIError as error:
            with suppress(sa.exc.DBAPIError):
                columns = connection.exec_driver_sql(_COMMENTED_COLUMNS, (schema, view)).all()
                connection.exec_driver_sql(_CREATE.sub("create or replace view", sql))
                connection.exec_driver_sql(_PROBE.format(name))
                _set_comment(connection, f"view {name}", comment)
                for column, text in columns:
                    _set_comment(connection, f"column {name}.{quoted(column)}", text)
                continue
            raise error from None


def _set_comment(connection: sa.Connection, item: str, comment: str | None) -> None:
    if comment is not None:
        text = comment.replace("'", "''")
        connection.exec_driver_sql(f"comment on {item} is '{text}'")


def stored_revision_of(connection: sa.Connection) -> str | None:
    """Return the revision in the version table, None where there is none."""
    exists = connection.exec_driver_sql(_TABLES + " and table_name = 'alembic_version'")
    if exists.first() is None:
        return None
    row = connection.exec_driver_sql(
        f"select version_num from {SCHEMA}.alembic_version"  # noqa: S608
    )
    revision = row.scalar_one_or_none()
    return None if revision is None else str(revision)
