"""CEGs given evidence: their stages, and views that show them like the others."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
FOLDER = Path(__file__).resolve().parents[1]
# Views that are made anew, and the folder that had each before.
FORMER_VIEWS = {
    "100_positions": "views_0007",
    "110_ceg_edges": "views_0007",
    "120_situation_positions": "views_0007",
    "150_stale": "views_0003",
}
NEW_VIEW = "210_conditioned_cegs"


def run_file(folder: str, view: str) -> None:
    text = (FOLDER / folder / f"{view}.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(text)


def drop(view: str) -> None:
    op.execute(f"drop view {SCHEMA}.{view.split('_', 1)[1]}")


def count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, sa.CheckConstraint(f"{name} >= 0"), nullable=False)


def upgrade() -> None:
    op.add_column("ceg", sa.Column("root_staging_id", sa.Integer), schema=SCHEMA)
    op.add_column("ceg", sa.Column("probability", sa.Double), schema=SCHEMA)
    op.create_table(
        "ceg_stage",
        sa.Column("ceg_id", sa.Integer, nullable=False),
        sa.Column("stage_id", sa.BigInteger, nullable=False),
        sa.Column("variable_id", sa.Integer),
        count("n_situations"),
        count("n"),
        sa.Column("colour", sa.String, nullable=False),
        schema=SCHEMA,
    )
    for view in FORMER_VIEWS:
        drop(view)
    for view in (*FORMER_VIEWS, NEW_VIEW):
        run_file("views_0009", view)


def downgrade() -> None:
    given = (
        op.get_bind()
        .exec_driver_sql(
            f"select name from {SCHEMA}.ceg where staging_id is null"  # noqa: S608
        )
        .fetchall()
    )
    if given:
        raise RuntimeError(
            "earlier revisions know no CEGs given evidence: drop "
            + ", ".join(repr(name) for (name,) in given)
        )
    for view in (*FORMER_VIEWS, NEW_VIEW):
        drop(view)
    for view, folder in FORMER_VIEWS.items():
        run_file(folder, view)
    op.drop_table("ceg_stage", schema=SCHEMA)
    op.drop_column("ceg", "probability", schema=SCHEMA)
    op.drop_column("ceg", "root_staging_id", schema=SCHEMA)
