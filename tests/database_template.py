"""Databases of the tests, copied from one made before, which takes a tenth of the time."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

import cegdb
from cegdb.api import Database
from cegdb.demo import DEMOS
from cegdb.stages import learning
from cegdb.store import Store, migrate, schema

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

    from cegdb.api import ChainEventGraph
    from cegdb.demo import DemoName

connect = Store.connect
make_demo = Database.demo
MAKE_DEMO = {survey: partial(make_demo, survey=survey) for survey in DEMOS}

TABLES = [table for table in vars(schema).values() if isinstance(table, sa.TableClause)]
"""All lasting tables, but for the ``response_`` tables of surveys."""


@cache
def folder() -> Path:
    """Return the folder of the files that are copied."""
    return Path(tempfile.mkdtemp(prefix="cegdb-template-"))


@cache
def template_file() -> Path:
    """Return the file of an empty database, made as a user's is."""
    file = folder() / "template.duckdb"
    con = connect(file, read_only=False)
    with Store(con, file, read_only=False) as store:
        migrate.bring_to_head(con, store._engine, file, read_only=False)
    return file


def file_with(make: Callable[[Database], object]) -> Path:
    """Return the file of a database that a function has filled; it is called only once."""
    return _file_with(make, learning.expected_spurious_stages)


@cache
def _file_with(make: Callable[[Database], object], _: object) -> Path:
    """Make it; what the tests let learning do under the null hypothesis stays in it."""
    file = folder() / f"{len(list(folder().iterdir()))}.duckdb"
    with cegdb.open(file) as db:
        make(db)
    return file


def database_with(make: Callable[[Database], object]) -> Database:
    """Return a database in memory like one that a function has filled, to change freely."""
    former, file = Store.connect, file_with(make)
    Store.connect = staticmethod(partial(connect_with_template, template=file))
    try:
        return cegdb.open()
    finally:
        Store.connect = staticmethod(former)


@wraps(make_demo)
def demo_of_template(
    db: Database, survey: DemoName = "chds", **settings: Any
) -> ChainEventGraph:
    """Return what ``Database.demo`` makes, copied where a database in memory is empty."""
    if db._store.path is not None or len(db.surveys) or survey not in DEMOS:
        return make_demo(db, survey, **settings)
    with db._store.reading() as con:
        con.execute("drop schema cegdb cascade")
        copy_into(con, file_with(MAKE_DEMO[survey]))
    return db.cegs[survey]


def remove_template() -> None:
    """Remove what was copied."""
    if folder.cache_info().currsize:
        shutil.rmtree(folder(), ignore_errors=True)
        for made in (folder, template_file, _file_with):
            made.cache_clear()


def copy_into(con: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Copy a file into a database in memory that has nothing in it."""
    con.execute(f"attach '{file}' as template (read_only)")
    con.execute("copy from database template to memory")
    con.execute("detach template")


def connect_with_template(
    file: Path | None, *, read_only: bool, template: Path | None = None
) -> duckdb.DuckDBPyConnection:
    """Connect as the store does; what is new gets what is in the template."""
    template = template or template_file()
    if file is not None and not file.exists():
        shutil.copyfile(template, file)
    con = connect(file, read_only=read_only)
    if file is None:
        copy_into(con, template)
    return con
