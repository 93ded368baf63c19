"""Intervals of the edges of single positions and situations, beside those of stages."""

from __future__ import annotations

import re
from pathlib import Path

from alembic import op

revision = "0010_own_intervals"
down_revision = "0009_single_edges"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"
FORMER = {"ceg_edges": "110_ceg_edges.sql", "staged_edges": "126_staged_edges.sql"}
COMMENTS = SQL / "0009_single_edges" / "comments" / "010_intervals.sql"


def upgrade() -> None:
    for file in sorted((SQL / revision).rglob("*.sql")):
        _run(file.read_text(encoding="utf-8"))


def downgrade() -> None:
    comments = COMMENTS.read_text(encoding="utf-8")
    for view, file in FORMER.items():
        _run(f"drop view cegdb.{view}")
        _run((SQL / "0001_first" / "views" / file).read_text(encoding="utf-8"))
        of_view = rf"^comment on column cegdb\.{view}\..*;$"
        _run("\n".join(re.findall(of_view, comments, re.MULTILINE)))
    for column in ("low", "high"):
        _run(f"alter table cegdb.ceg_edge drop column {column}")


def _run(sql: str) -> None:
    op.get_bind().exec_driver_sql(sql)
