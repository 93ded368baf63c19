"""Intervals of the answers that macros give, of the views that show them, and with weights."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0011_macro_intervals"
down_revision = "0010_own_intervals"
branch_labels = None
depends_on = None

SQL = Path(__file__).parents[1] / "sql"
STAGED_EDGES = SQL / "0010_own_intervals" / "views" / "020_staged_edges.sql"
VIEWS = ("position_probability", "marginals", "most_probable_paths")
MADE = ("path_limits", "known_variables", "agreeing", "counted_edges")
MADE_SCALAR = ("share_limits", "normal_quantile")
FORMER = (
    "320_paths.macro.sql",
    "330_position_probability.macro.sql",
    "335_position_probability.sql",
    "340_marginals.macro.sql",
    "345_marginals.sql",
    "350_most_probable_paths.macro.sql",
    "355_most_probable_paths.sql",
    "360_row_masses.macro.sql",
    "370_event_probability.macro.sql",
    "380_conditional_probability.macro.sql",
)


def upgrade() -> None:
    for file in sorted((SQL / revision / "views").iterdir()):
        _run(file.read_text(encoding="utf-8"))


def downgrade() -> None:
    for view in VIEWS:
        _run(f"drop view cegdb.{view}")
    for file in reversed(FORMER):
        if ".macro." in file:
            name = file.split("_", 1)[1].removesuffix(".macro.sql")
            _run(f"drop macro table cegdb.{name}")
    for macro in MADE:
        _run(f"drop macro table cegdb.{macro}")
    for macro in MADE_SCALAR:
        _run(f"drop macro cegdb.{macro}")
    _run("drop view cegdb.staged_edges")
    _run(STAGED_EDGES.read_text(encoding="utf-8"))
    for file in FORMER:
        _run((SQL / "0001_first" / "views" / file).read_text(encoding="utf-8"))


def _run(sql: str) -> None:
    op.get_bind().exec_driver_sql(sql)
