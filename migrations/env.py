"""Alembic's environment: runs the chain on the connection the store holds."""

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
