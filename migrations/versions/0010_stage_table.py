"""The view stage_table: stages, their situations in words and their probabilities."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
VIEW = Path(__file__).resolve().parents[1] / "views_0010" / "400_stage_table.sql"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(VIEW.read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute(f"drop view {SCHEMA}.stage_table")
