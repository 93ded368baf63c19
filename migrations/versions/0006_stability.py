"""Bootstraps of stagings: how often pairs are staged together, and intervals."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
FOLDER = Path(__file__).resolve().parents[1]
# Edges with their shares and intervals: the view, and the folder that had it before.
FORMER_VIEWS = {"110_ceg_edges": "views_0001", "126_staged_edges": "views_0005"}
VIEWS = (
    "170_stage_pairs",
    "180_stage_stability",
    "190_stage_bootstraps",
    "200_bootstrap_intervals",
)
KIND = "kind in ('nonparametric', 'parametric')"


def run_file(folder: str, view: str) -> None:
    text = (FOLDER / folder / f"{view}.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(text)


def count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, sa.CheckConstraint(f"{name} >= 0"), nullable=False)


def upgrade() -> None:
    op.create_table(
        "stage_bootstrap",
        sa.Column("staging_id", sa.Integer, nullable=False),
        sa.Column("kind", sa.String, sa.CheckConstraint(KIND), nullable=False),
        count("n_runs"),
        sa.Column("seed", sa.BigInteger, nullable=False),
        count("n_situations"),
        count("n_pairs"),
        sa.Column("mean_stages", sa.Double, nullable=False),
        count("min_stages"),
        count("max_stages"),
        sa.Column("seconds", sa.Double, nullable=False),
        schema=SCHEMA,
    )
    op.create_table(
        "situation_pair",
        sa.Column("staging_id", sa.Integer, nullable=False),
        sa.Column("kind", sa.String, sa.CheckConstraint(KIND), nullable=False),
        sa.Column("vertex_id", sa.BigInteger, nullable=False),
        sa.Column("other_id", sa.BigInteger, nullable=False),
        sa.Column("is_together", sa.Boolean, nullable=False),
        count("n_runs"),
        count("n_together"),
        schema=SCHEMA,
    )
    op.create_table(
        "bootstrap_interval",
        sa.Column("staging_id", sa.Integer, nullable=False),
        sa.Column("vertex_id", sa.BigInteger, nullable=False),
        sa.Column("label_id", sa.Integer, nullable=False),
        sa.Column("low", sa.Double, nullable=False),
        sa.Column("high", sa.Double, nullable=False),
        sa.Column("level", sa.Double, nullable=False),
        count("n_runs"),
        sa.Column("seed", sa.BigInteger, nullable=False),
        schema=SCHEMA,
    )
    for view in FORMER_VIEWS:
        op.execute(f"drop view {SCHEMA}.{view.split('_', 1)[1]}")
        run_file("views_0006", view)
    for view in VIEWS:
        run_file("views_0006", view)


def downgrade() -> None:
    for view in reversed(VIEWS):
        op.execute(f"drop view {SCHEMA}.{view.split('_', 1)[1]}")
    for view, folder in FORMER_VIEWS.items():
        op.execute(f"drop view {SCHEMA}.{view.split('_', 1)[1]}")
        run_file(folder, view)
    for table in ("bootstrap_interval", "situation_pair", "stage_bootstrap"):
        op.drop_table(table, schema=SCHEMA)
