"""New databases of the tests, copied from one: to make the schema takes 0.1 s each time."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

import sqlalchemy as sa

from cegdb.store import Store, migrate, schema

_made = Store._connected.__func__

TABLES = [table for table in vars(schema).values() if isinstance(table, sa.TableClause)]
"""All lasting tables, but for the ``response_`` tables of surveys."""


@cache
def template() -> Path:
    """Return the file of an empty database, made as a user's is."""
    file = Path(tempfile.mkdtemp(prefix="cegdb-template-")) / "template.duckdb"
    with _made(Store, file, read_only=False) as store, store.reading() as con:
        migrate.bring_to_head(con, store._engine, file, read_only=False)
    return file


def clear() -> None:
    """Remove the template, if there is one."""
    if template.cache_info().currsize:
        shutil.rmtree(template().parent, ignore_errors=True)
        template.cache_clear()


def copied(cls: type[Store], file: Path | None, *, read_only: bool) -> Store:
    """Connect as the store does; what is new gets the schema of the template."""
    if file is None:
        store: Store = _made(cls, file, read_only=read_only)
        with store.reading() as con:
            con.execute(f"attach '{template()}' as template (read_only)")
            con.execute("copy from database template to memory")
            con.execute("detach template")
        return store
    if not file.exists():
        shutil.copyfile(template(), file)
    return _made(cls, file, read_only=read_only)


COPIED = classmethod(copied)
MADE = classmethod(_made)
