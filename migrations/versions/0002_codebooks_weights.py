"""Variables in words for surveys with a codebook; squared weights of weighted trees."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
FOLDER = Path(__file__).resolve().parents[1]
VIEWS = ("020_variables", "030_labels")


def remake_views(of_revision: str) -> None:
    connection = op.get_bind()
    for view in VIEWS:
        connection.exec_driver_sql(f"drop view {SCHEMA}.{view.split('_', 1)[1]}")
        file = FOLDER / f"views_{of_revision}" / f"{view}.sql"
        connection.exec_driver_sql(file.read_text(encoding="utf-8"))


def upgrade() -> None:
    op.add_column("variable", sa.Column("question", sa.String), schema=SCHEMA)
    op.create_table(
        "vertex_weight",
        sa.Column("tree_id", sa.Integer, nullable=False),
        sa.Column("vertex_id", sa.BigInteger, nullable=False),
        sa.Column("weight_sq", sa.Numeric(38, 12)),
        schema=SCHEMA,
    )
    remake_views("0002")


def downgrade() -> None:
    remake_views("0001")
    op.drop_table("vertex_weight", schema=SCHEMA)
    op.drop_column("variable", "question", schema=SCHEMA)
