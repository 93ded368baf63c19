"""The answers that are presumed impossible where nobody gave them."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0006_presumed_zeros"
down_revision = "0005_parent_set"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"


def upgrade() -> None:
    connection = op.get_bind()
    for file in sorted((SQL / revision).rglob("*.sql")):
        connection.exec_driver_sql(file.read_text(encoding="utf-8"))


def downgrade() -> None:
    connection = op.get_bind()
    connection.exec_driver_sql("drop view cegdb.presumed_zeros")
    connection.exec_driver_sql("drop table cegdb.presumed_zero")
