"""How probable stagings are: pairs of situations that share a stage, and hyperstages."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0004_staging_posterior"
down_revision = "0003_robust_intervals"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"


def upgrade() -> None:
    connection = op.get_bind()
    for file in sorted((SQL / revision).rglob("*.sql")):
        connection.exec_driver_sql(file.read_text(encoding="utf-8"))


def downgrade() -> None:
    connection = op.get_bind()
    connection.exec_driver_sql("""
        drop view cegdb.costagings;
        drop view cegdb.hyperstage_posteriors;
        drop table cegdb.costaging;
        drop table cegdb.hyperstage_posterior
    """)
