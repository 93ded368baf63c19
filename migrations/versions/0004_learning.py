"""Stages that have names, priors that are given, and stagings side by side."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
# Free parameters are those of all stages now, those that no row reached included.
COUNT_ALL_STAGES = """
update cegdb.staging as g set
    df = f.df,
    aic = g.aic + 2 * (f.df - g.df),
    bic = g.bic
        + if(g.df > 0, (f.df - g.df) * (g.bic + 2 * g.log_likelihood) / nullif(g.df, 0), 0)
from (
    select x.staging_id, sum(x.n_edges - 1) as df
    from (
        select staging_id, stage_id, count(*) as n_edges
        from cegdb.stage_edge group by staging_id, stage_id
    ) as x group by x.staging_id
) as f
where g.staging_id = f.staging_id and g.df <> f.df
"""
FOLDER = Path(__file__).resolve().parents[1]


def run_file(folder: str, view: str) -> None:
    text = (FOLDER / folder / f"{view}.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(text)


def upgrade() -> None:
    op.add_column("stage", sa.Column("name", sa.String), schema=SCHEMA)
    op.create_table(
        "prior_entry",
        sa.Column("staging_id", sa.Integer, nullable=False),
        sa.Column("child_id", sa.BigInteger, nullable=False),
        sa.Column("vertex_id", sa.BigInteger, nullable=False),
        sa.Column("label", sa.String, nullable=False),
        sa.Column("prior", sa.Double, nullable=False),
        schema=SCHEMA,
    )
    op.execute(COUNT_ALL_STAGES)
    op.execute(f"drop view {SCHEMA}.stages")
    run_file("views_0004", "080_stages")
    run_file("views_0004", "160_stagings")


def downgrade() -> None:
    op.execute(f"drop view {SCHEMA}.stagings")
    op.execute(f"drop view {SCHEMA}.stages")
    run_file("views_0001", "080_stages")
    op.drop_table("prior_entry", schema=SCHEMA)
    op.drop_column("stage", "name", schema=SCHEMA)
