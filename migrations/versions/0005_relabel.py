"""Stagings that give edges of the tree other labels."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
FOLDER = Path(__file__).resolve().parents[1]
VIEWS = ("030_labels", "126_staged_edges")


def remake_views(*folders: str) -> None:
    for view, folder in zip(VIEWS, folders, strict=True):
        op.execute(f"drop view {SCHEMA}.{view.split('_', 1)[1]}")
        text = (FOLDER / folder / f"{view}.sql").read_text(encoding="utf-8")
        op.get_bind().exec_driver_sql(text)


def upgrade() -> None:
    op.create_table(
        "relabelled_edge",
        sa.Column("staging_id", sa.Integer, nullable=False),
        sa.Column("child_id", sa.BigInteger, nullable=False),
        sa.Column("label_id", sa.Integer, nullable=False),
        sa.Column("label", sa.String, nullable=False),
        schema=SCHEMA,
    )
    remake_views("views_0005", "views_0005")


def downgrade() -> None:
    relabelled = (
        f"select name from {SCHEMA}.staging where staging_id in "  # noqa: S608
        f"(select staging_id from {SCHEMA}.relabelled_edge) order by staging_id"
    )
    found = op.get_bind().exec_driver_sql(relabelled).fetchall()
    if found:
        raise RuntimeError(
            "revision 0004 knows no labels of stagings: drop the stagings "
            + ", ".join(repr(name) for (name,) in found)
        )
    remake_views("views_0002", "views_0001")
    op.drop_table("relabelled_edge", schema=SCHEMA)
