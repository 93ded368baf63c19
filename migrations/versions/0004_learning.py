"""Stages that have names, and stagings side by side."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
FOLDER = Path(__file__).resolve().parents[1]


def run_file(folder: str, view: str) -> None:
    text = (FOLDER / folder / f"{view}.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(text)


def upgrade() -> None:
    op.add_column("stage", sa.Column("name", sa.String), schema=SCHEMA)
    op.execute(f"drop view {SCHEMA}.stages")
    run_file("views_0004", "080_stages")
    run_file("views_0004", "160_stagings")


def downgrade() -> None:
    op.execute(f"drop view {SCHEMA}.stagings")
    op.execute(f"drop view {SCHEMA}.stages")
    run_file("views_0001", "080_stages")
    op.drop_column("stage", "name", schema=SCHEMA)
