"""Views of one object that do not slow down with the size of the others."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
FOLDER = Path(__file__).resolve().parents[1]
# In the order to be made: DuckDB binds a view when it is made.
VIEWS = (
    "060_situations",
    "070_florets",
    "100_positions",
    "110_ceg_edges",
    "120_situation_positions",
    "124_staged_vertices",
    "125_staged_situations",
    "126_staged_edges",
    "127_staged_florets",
    "128_merges",
    "170_stage_pairs",
    "180_stage_stability",
    "200_bootstrap_intervals",
)
NEW_VIEW = "125_staged_situations"
MOVED = {"127_staged_florets": "122_staged_florets"}
OF_0006 = (
    "110_ceg_edges",
    "126_staged_edges",
    "170_stage_pairs",
    "180_stage_stability",
    "200_bootstrap_intervals",
)


def run_file(folder: str, view: str) -> None:
    text = (FOLDER / folder / f"{view}.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(text)


def drop(view: str) -> None:
    op.execute(f"drop view {SCHEMA}.{view.split('_', 1)[1]}")


def upgrade() -> None:
    for view in VIEWS:
        if view != NEW_VIEW:
            drop(view)
    for view in VIEWS:
        run_file("views_0007", view)


def downgrade() -> None:
    for view in VIEWS:
        drop(view)
    for view in sorted(MOVED.get(view, view) for view in VIEWS if view != NEW_VIEW):
        run_file("views_0006" if view in OF_0006 else "views_0001", view)
