"""Intervals of stages whether or not situations are alike; what decided merges."""

from __future__ import annotations

import re
from pathlib import Path

from alembic import op

revision = "0003_robust_intervals"
down_revision = "0002_relative_likelihood"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"
FORMER = SQL / "0001_first"
COMMENT = re.compile(r"^comment on .*;$", re.MULTILINE)
CHANGED = re.compile("95 % credible interval|Intervals hold given the staging")


def upgrade() -> None:
    connection = op.get_bind()
    for file in sorted((SQL / revision).rglob("*.sql")):
        connection.exec_driver_sql(file.read_text(encoding="utf-8"))


def downgrade() -> None:
    connection = op.get_bind()
    view = (FORMER / "views" / "160_stagings.sql").read_text(encoding="utf-8")
    connection.exec_driver_sql("drop view cegdb.stagings")
    connection.exec_driver_sql(view)
    for file in sorted(FORMER.rglob("*.sql")):
        comments = COMMENT.findall(file.read_text(encoding="utf-8"))
        changed = [text for text in comments if CHANGED.search(text)]
        if changed:
            connection.exec_driver_sql("\n".join(changed))
