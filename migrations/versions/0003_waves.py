"""Surveys that go on: rows superseded by later ones, and the drift of stages made anew."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
FOLDER = Path(__file__).resolve().parents[1]


def run_file(folder: str, view: str) -> None:
    text = (FOLDER / folder / f"{view}.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(text)


def upgrade() -> None:
    op.add_column("survey", sa.Column("superseded_by", sa.Integer), schema=SCHEMA)
    op.create_table(
        "stage_drift",
        sa.Column("staging_id", sa.Integer, nullable=False),
        sa.Column("was", sa.String),
        sa.Column("stage_id", sa.BigInteger),
        sa.Column("variable", sa.String),
        *(
            sa.Column(name, sa.BigInteger, sa.CheckConstraint(f"{name} >= 0"), nullable=False)
            for name in ("n_situations", "n_before", "n_after")
        ),
        sa.Column("label", sa.String),
        *(
            sa.Column(name, sa.Double)
            for name in (
                "probability_before",
                "low_before",
                "high_before",
                "probability_after",
                "low_after",
                "high_after",
            )
        ),
        sa.Column("is_apart", sa.Boolean),
        schema=SCHEMA,
    )
    for view in ("surveys", "variables"):
        op.execute(f"drop view {SCHEMA}.{view}")
    run_file("views_0003", "010_surveys")
    run_file("views_0003", "020_variables")
    run_file("views_0003", "140_drift")
    run_file("views_0003", "150_stale")


def downgrade() -> None:
    connection = op.get_bind()
    old = connection.exec_driver_sql(
        f"select name from {SCHEMA}.survey where superseded_by is not null"  # noqa: S608
    ).fetchall()
    if old:
        raise RuntimeError(
            "revision 0002 knows no superseded rows: rebuild or drop the stale trees of "
            + ", ".join(repr(name) for (name,) in old)
        )
    for view in ("stale", "drift", "surveys", "variables"):
        op.execute(f"drop view {SCHEMA}.{view}")
    run_file("views_0001", "010_surveys")
    run_file("views_0002", "020_variables")
    op.drop_table("stage_drift", schema=SCHEMA)
    op.drop_column("survey", "superseded_by", schema=SCHEMA)
