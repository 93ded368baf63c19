"""What the intervals of single edges say."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0009_single_edges"
down_revision = "0008_ordered_answers"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"
COMMENTS = Path("comments") / "010_intervals.sql"


def upgrade() -> None:
    _run(SQL / revision / COMMENTS)


def downgrade() -> None:
    _run(SQL / "0003_robust_intervals" / COMMENTS)


def _run(file: Path) -> None:
    op.get_bind().exec_driver_sql(file.read_text(encoding="utf-8"))
