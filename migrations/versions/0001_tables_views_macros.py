"""Catalog and bulk tables, views and macros of the first release.

Revision 0001. Frozen: later changes are later revisions.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = "cegdb"
VIEWS = Path(__file__).resolve().parents[1] / "views_0001"
MACROS = ["paths"]
KEYED = ["survey", "tree", "staging", "ceg"]

WEIGHT = sa.Numeric(38, 12)
TEXTS = sa.ARRAY(sa.String())


def key(kind: str) -> sa.Column[int]:
    column = f"{kind}_id"
    default = sa.text(f"nextval('{SCHEMA}.{column}_seq')")
    return sa.Column(
        column,
        sa.Integer,
        server_default=default,
        primary_key=True,
        autoincrement=False,
    )


def name() -> sa.Column[str]:
    return sa.Column("name", sa.String, nullable=False, unique=True)


def made() -> list[sa.Column[object]]:
    return [
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("summary", sa.JSON, nullable=False),
        real("seconds"),
        sa.Column("created_at", sa.DateTime, nullable=False),
        text("cegdb_version"),
    ]


def count(column: str) -> sa.Column[int]:
    check = sa.CheckConstraint(f"{column} >= 0")
    return sa.Column(column, sa.BigInteger, check, nullable=False)


def small(column: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(column, sa.Integer, nullable=nullable)


def wide(column: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(column, sa.BigInteger, nullable=nullable)


def own_key(column: str) -> sa.Column[int]:
    return sa.Column(column, sa.Integer, primary_key=True, autoincrement=False)


def text(column: str) -> sa.Column[str]:
    return sa.Column(column, sa.String, nullable=False)


def real(column: str, *, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(column, sa.Double, nullable=nullable)


def weight() -> sa.Column[object]:
    return sa.Column("weight", WEIGHT)


def kind(*kinds: str) -> sa.Column[str]:
    allowed = ", ".join(f"'{value}'" for value in kinds)
    check = sa.CheckConstraint(f"kind in ({allowed})")
    return sa.Column("kind", sa.String, check, nullable=False)


def table(table_name: str, *columns: sa.schema.SchemaItem) -> None:
    op.create_table(table_name, *columns, schema=SCHEMA)


def catalog_tables() -> None:
    table(
        "survey",
        key("survey"),
        name(),
        text("source"),
        count("n_read"),
        count("n"),
        count("n_distinct"),
        *made(),
    )
    table(
        "variable",
        own_key("variable_id"),
        small("survey_id"),
        small("ordinal"),
        text("name"),
        sa.UniqueConstraint("survey_id", "ordinal"),
        sa.UniqueConstraint("survey_id", "name"),
    )
    table(
        "level",
        own_key("level_id"),
        small("variable_id"),
        small("code"),
        text("label"),
        small("label_id"),
        sa.Column("original_code", sa.String),
        kind("value", "missing", "structural", "blank"),
        count("n"),
        sa.UniqueConstraint("variable_id", "code"),
    )
    table(
        "event_tree",
        key("tree"),
        name(),
        small("survey_id"),
        count("n"),
        count("n_vertices"),
        count("n_situations"),
        count("n_leaves"),
        count("height"),
        *made(),
    )
    table(
        "staging",
        key("staging"),
        name(),
        small("tree_id"),
        text("method"),
        real("alpha"),
        count("n_hyperstages"),
        count("n_stages"),
        real("log_marginal_likelihood"),
        real("log_likelihood"),
        count("df"),
        real("aic"),
        real("bic"),
        *made(),
    )
    table(
        "ceg",
        key("ceg"),
        name(),
        small("staging_id", nullable=True),
        small("parent_ceg_id", nullable=True),
        sa.Column("evidence", sa.JSON),
        count("n_vertices"),
        count("n_edges"),
        *made(),
    )


def bulk_tables() -> None:
    table(
        "vertex",
        small("tree_id"),
        wide("vertex_id"),
        small("depth"),
        small("height"),
        small("variable_id", nullable=True),
        count("n"),
        weight(),
        count("n_stopped"),
    )
    table(
        "edge",
        small("tree_id"),
        wide("parent_id"),
        wide("child_id"),
        small("level_id"),
        count("n"),
        weight(),
    )
    table(
        "hyperstage",
        small("staging_id"),
        wide("hyperstage_id"),
        small("variable_id", nullable=True),
        sa.Column("labels", TEXTS, nullable=False),
        count("n_situations"),
    )
    table(
        "stage",
        small("staging_id"),
        wide("stage_id"),
        wide("hyperstage_id"),
        count("n_situations"),
        count("n"),
        text("colour"),
        kind("learnt", "given", "single_edge", "unobserved"),
    )
    table("stage_member", small("staging_id"), wide("vertex_id"), wide("stage_id"))
    table(
        "stage_edge",
        small("staging_id"),
        wide("stage_id"),
        small("label_id"),
        real("prior"),
        count("n"),
        weight(),
        real("share", nullable=True),
        real("probability"),
        real("low", nullable=True),
        real("high", nullable=True),
    )
    table(
        "ahc_merge",
        small("staging_id"),
        small("step"),
        wide("kept_id"),
        wide("absorbed_id"),
        real("log_bayes_factor"),
    )
    table(
        "position",
        small("ceg_id"),
        wide("position_id"),
        wide("stage_id", nullable=True),
        small("height"),
        count("n"),
        count("n_situations"),
    )
    table("position_member", small("ceg_id"), wide("vertex_id"), wide("position_id"))
    table(
        "ceg_edge",
        small("ceg_id"),
        wide("source_id"),
        wide("target_id"),
        small("label_id"),
        sa.Column("raw_labels", TEXTS, nullable=False),
        count("n"),
        weight(),
        real("prior"),
        real("probability"),
    )
    table(
        "merge_step",
        small("ceg_id"),
        small("step"),
        small("height"),
        count("n_situations"),
        count("n_positions"),
        count("n_vertices"),
        count("n_edges"),
        real("seconds"),
    )


def upgrade() -> None:
    connection = op.get_bind()
    for kind_of in KEYED:
        connection.exec_driver_sql(f"create sequence {SCHEMA}.{kind_of}_id_seq")
    catalog_tables()
    bulk_tables()
    for file in sorted(VIEWS.glob("*.sql")):
        connection.exec_driver_sql(file.read_text(encoding="utf-8"))


def downgrade() -> None:
    connection = op.get_bind()
    for file in sorted(VIEWS.glob("*.sql"), reverse=True):
        made_by = file.stem.split("_", 1)[1]
        what = "macro table" if made_by in MACROS else "view"
        connection.exec_driver_sql(f"drop {what} {SCHEMA}.{made_by}")
    tables = connection.exec_driver_sql(
        "select table_name from duckdb_tables() "  # noqa: S608
        "where database_name = current_database() "
        f"and schema_name = '{SCHEMA}' and table_name <> 'alembic_version'"
    )
    for (found,) in tables.fetchall():
        op.drop_table(found, schema=SCHEMA)
    for kind_of in KEYED:
        connection.exec_driver_sql(f"drop sequence {SCHEMA}.{kind_of}_id_seq")
