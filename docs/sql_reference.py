"""The SQL reference, from the comments in a new database.

``sql_reference(db)`` returns the text of ``docs/reference/sql.md``. The page is kept in the
repository, so that it reads without a site; a test compares it with the database. Write it
again with ``python docs/sql_reference.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cegdb import Database

PAGE = Path(__file__).parent / "reference" / "sql.md"

OBJECTS = """
    select 'view' as kind, view_name as name, comment
    from duckdb_views() where schema_name = 'cegdb'
    union all
    select 'table', table_name, comment
    from duckdb_tables() where schema_name = 'cegdb' and table_name <> 'alembic_version'
    order by all
"""
COLUMNS = """
    select column_name, data_type, comment
    from duckdb_columns()
    where schema_name = 'cegdb' and table_name = $name
    order by column_index
"""
MACROS = """
    select function_name as name, parameters, comment
    from duckdb_functions()
    where schema_name = 'cegdb' and function_type in ('macro', 'table_macro')
    order by function_name
"""
HEAD = """# SQL reference

Everything cegdb stores is in the schema `cegdb` of the DuckDB file. This page lists its views,
macros and tables, with the comments that the database itself holds
(`select comment from duckdb_views()`).

Query the views: they show names instead of ids. Macros take arguments; they work when the
file is opened, or attached and selected with `use`. The tables below them are what the views
read.
"""


def sql_reference(db: Database) -> str:
    """Return the page: views, macros and tables of the schema, with their comments."""
    kinds: dict[str, list[Any]] = {"view": [], "table": []}
    for row in db.sql(OBJECTS).itertuples():
        kinds[row.kind].append(row)
    parts = [HEAD, "## Views\n"]
    parts += [_relation(db, row.name, row.comment) for row in kinds["view"]]
    parts.append("## Macros\n")
    parts += [
        f"### `cegdb.{row.name}({', '.join(row.parameters)})`\n\n{row.comment}\n"
        for row in db.sql(MACROS).itertuples()
    ]
    parts.append("## Tables\n")
    parts += [_relation(db, row.name, row.comment) for row in kinds["table"]]
    return "\n".join(parts)


def _relation(db: Database, name: str, comment: str) -> str:
    lines = [f"### `cegdb.{name}`", "", comment, "", "| column | type | meaning |"]
    lines.append("| --- | --- | --- |")
    for column in db.sql(COLUMNS, {"name": name}).itertuples():
        meaning = str(column.comment).replace("|", "\\|").replace("\n", " ")
        lines.append(f"| `{column.column_name}` | {column.data_type} | {meaning} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    import cegdb

    with cegdb.open() as db:
        PAGE.write_text(sql_reference(db), encoding="utf-8")
