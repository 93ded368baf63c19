"""Macros and views that answer questions: marginals, events, conditionals, likely paths.

A view and a macro may have one name: the view is of all CEGs, the macro of one.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
VIEWS = Path(__file__).resolve().parents[1] / "views_0008"
SCALAR = ["nearest"]


def upgrade() -> None:
    for file in sorted(VIEWS.glob("*.sql")):
        op.get_bind().exec_driver_sql(file.read_text(encoding="utf-8"))


def downgrade() -> None:
    for file in sorted(VIEWS.glob("*.sql"), reverse=True):
        name, *kind = file.stem.split("_", 1)[1].split(".")
        what = "macro" if name in SCALAR else "macro table" if kind else "view"
        op.execute(f"drop {what} {SCHEMA}.{name}")
