"""The scores of the answers of ordered variables."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0008_ordered_answers"
down_revision = "0007_finding"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"


def upgrade() -> None:
    connection = op.get_bind()
    for file in sorted((SQL / revision).rglob("*.sql")):
        connection.exec_driver_sql(file.read_text(encoding="utf-8"))


def downgrade() -> None:
    connection = op.get_bind()
    connection.exec_driver_sql("drop view cegdb.scores")
    connection.exec_driver_sql("drop table cegdb.level_score")
