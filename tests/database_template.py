"""New databases of the tests, copied from one: making the schema takes 0.1 s each time."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from cegdb.store import Store, migrate, schema

if TYPE_CHECKING:
    import duckdb

connect = Store.connect

TABLES = [table for table in vars(schema).values() if isinstance(table, sa.TableClause)]
"""All lasting tables, but for the ``response_`` tables of surveys."""


@cache
def template_file() -> Path:
    """Return the file of an empty database, made as a user's is."""
    file = Path(tempfile.mkdtemp(prefix="cegdb-template-")) / "template.duckdb"
    con = connect(file, read_only=False)
    with Store(con, file, read_only=False) as store:
        migrate.bring_to_head(con, store._engine, file, read_only=False)
    return file


def remove_template() -> None:
    """Remove the template, if there is one."""
    if template_file.cache_info().currsize:
        shutil.rmtree(template_file().parent, ignore_errors=True)
        template_file.cache_clear()


def connect_with_template(file: Path | None, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    """Connect as the store does; what is new gets the schema of the template."""
    if file is not None and not file.exists():
        shutil.copyfile(template_file(), file)
    con = connect(file, read_only=read_only)
    if file is None:
        con.execute(f"attach '{template_file()}' as template (read_only)")
        con.execute("copy from database template to memory")
        con.execute("detach template")
    return con
