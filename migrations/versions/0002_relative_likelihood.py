"""A relative likelihood, instead of a probability, for CEGs conditioned on soft evidence."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0002_relative_likelihood"
down_revision = "0001_first"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"
FORMER_VIEW = SQL / down_revision / "views" / "210_conditioned_cegs.sql"


def upgrade() -> None:
    connection = op.get_bind()
    for file in sorted((SQL / revision).rglob("*.sql")):
        connection.exec_driver_sql(file.read_text(encoding="utf-8"))


def downgrade() -> None:
    connection = op.get_bind()
    # DuckDB 1.4 aborts after an update of a table that then loses a column.
    connection.exec_driver_sql("""
        drop view cegdb.conditioned_cegs;
        alter table cegdb.ceg
        alter column probability type double using coalesce(probability, relative_likelihood);
        alter table cegdb.ceg drop column relative_likelihood
    """)
    connection.exec_driver_sql(FORMER_VIEW.read_text(encoding="utf-8"))
