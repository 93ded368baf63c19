"""All tables, views and macros of the first release, with their comments.

Frozen once released: whatever changes later is a later revision.
"""

from __future__ import annotations

import re
from pathlib import Path

from alembic import op

revision = "0001_first"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
FILES = sorted((Path(__file__).parents[1] / "sql" / revision).rglob("*.sql"))
MADE = re.compile(rf"^create (\w+) ({SCHEMA}\.\w+)(?:\(.*\) as (table)$)?", re.MULTILINE)
RESPONSES = f"""
    select table_name from duckdb_tables()
    where database_name = current_database() and schema_name = '{SCHEMA}'
        and regexp_full_match(table_name, 'response_\\d+')
"""  # noqa: S608


def upgrade() -> None:
    connection = op.get_bind()
    for file in FILES:
        connection.exec_driver_sql(file.read_text(encoding="utf-8"))


def downgrade() -> None:
    connection = op.get_bind()
    for (table,) in connection.exec_driver_sql(RESPONSES).fetchall():
        op.drop_table(table, schema=SCHEMA)
    for file in reversed(FILES):
        made = MADE.findall(file.read_text(encoding="utf-8"))
        for kind, name, is_table_macro in reversed(made):
            op.execute(f"drop {kind} {is_table_macro} {name}")
