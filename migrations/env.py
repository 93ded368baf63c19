"""Alembic's environment: runs the chain on the connection the store holds.

To change the schema, append a revision: ``versions/NNNN_name.py``, and the SQL of its upgrade
in the folder ``sql/NNNN_name``, with a comment on each new table, view, macro and column. A new
file is made from the SQL of all revisions, without Alembic; a test proves that both ways lead
to the same schema.
"""

from __future__ import annotations

from alembic import context
from alembic.ddl.impl import DefaultImpl

SCHEMA = "cegdb"


class DuckDBImpl(DefaultImpl):
    """Tell Alembic that DuckDB's DDL is transactional."""

    __dialect__ = "duckdb"
    transactional_ddl = True


connection = context.config.attributes["connection"]
connection.exec_driver_sql(f"create schema if not exists {SCHEMA}")
context.configure(connection=connection, version_table_schema=SCHEMA)
with context.begin_transaction():
    context.run_migrations()
