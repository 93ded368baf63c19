"""The lasting tables as SQLAlchemy Core metadata; equal to the head of ``migrations/``.

The catalog (survey ... ceg) is small and keyed. The bulk tables (vertex ... merge_step)
hold up to 10^8 rows, are written whole and sorted, and have neither keys nor indexes.
References between tables that are deleted together are proved by ``cegdb check``, since
DuckDB checks foreign keys eagerly.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

SCHEMA: Final = "cegdb"
HEAD: Final = "0010"

metadata: Final = sa.MetaData(schema=SCHEMA)

_WEIGHT = sa.Numeric(38, 12)
_TEXTS = sa.ARRAY(sa.String())


def _key(kind: str) -> sa.Column[int]:
    """Return the key column of a catalog table, counted by its own sequence."""
    sequence = sa.Sequence(f"{kind}_id_seq", schema=SCHEMA, metadata=metadata)
    return sa.Column(
        f"{kind}_id",
        sa.Integer,
        sequence,
        server_default=sequence.next_value(),
        primary_key=True,
        autoincrement=False,
    )


def _name() -> sa.Column[str]:
    return sa.Column("name", sa.String, nullable=False, unique=True)


def _made() -> tuple[sa.Column[object], ...]:
    """Return the columns that say how, when and by what an object was made."""
    return (
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("summary", sa.JSON, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("cegdb_version", sa.String, nullable=False),
    )


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, sa.CheckConstraint(f"{name} >= 0"), nullable=False)


def _id(name: str, *, wide: bool = False, nullable: bool = False) -> sa.Column[int]:
    kind = sa.BigInteger() if wide else sa.Integer()
    return sa.Column(name, kind, nullable=nullable)


def _bootstrap_kind() -> sa.Column[str]:
    allowed = sa.CheckConstraint("kind in ('nonparametric', 'parametric')")
    return sa.Column("kind", sa.String, allowed, nullable=False)


survey = sa.Table(
    "survey",
    metadata,
    _key("survey"),
    _name(),
    sa.Column("source", sa.String, nullable=False),
    _count("n_read"),
    _count("n"),
    _count("n_distinct"),
    *_made(),
    _id("superseded_by", nullable=True),
)
variable = sa.Table(
    "variable",
    metadata,
    sa.Column("variable_id", sa.Integer, primary_key=True, autoincrement=False),
    _id("survey_id"),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("question", sa.String),
    sa.UniqueConstraint("survey_id", "ordinal"),
    sa.UniqueConstraint("survey_id", "name"),
)
level = sa.Table(
    "level",
    metadata,
    sa.Column("level_id", sa.Integer, primary_key=True, autoincrement=False),
    _id("variable_id"),
    sa.Column("code", sa.Integer, nullable=False),
    sa.Column("label", sa.String, nullable=False),
    _id("label_id"),
    sa.Column("original_code", sa.String),
    sa.Column(
        "kind",
        sa.String,
        sa.CheckConstraint("kind in ('value', 'missing', 'structural', 'blank')"),
        nullable=False,
    ),
    _count("n"),
    sa.UniqueConstraint("variable_id", "code"),
)
event_tree = sa.Table(
    "event_tree",
    metadata,
    _key("tree"),
    _name(),
    _id("survey_id"),
    _count("n"),
    _count("n_vertices"),
    _count("n_situations"),
    _count("n_leaves"),
    _count("height"),
    *_made(),
)
staging = sa.Table(
    "staging",
    metadata,
    _key("staging"),
    _name(),
    _id("tree_id"),
    sa.Column("method", sa.String, nullable=False),
    sa.Column("alpha", sa.Double, nullable=False),
    _count("n_hyperstages"),
    _count("n_stages"),
    sa.Column("log_marginal_likelihood", sa.Double, nullable=False),
    sa.Column("log_likelihood", sa.Double, nullable=False),
    _count("df"),
    sa.Column("aic", sa.Double, nullable=False),
    sa.Column("bic", sa.Double, nullable=False),
    *_made(),
)
ceg = sa.Table(
    "ceg",
    metadata,
    _key("ceg"),
    _name(),
    _id("staging_id", nullable=True),
    _id("parent_ceg_id", nullable=True),
    sa.Column("evidence", sa.JSON),
    _count("n_vertices"),
    _count("n_edges"),
    *_made(),
    _id("root_staging_id", nullable=True),
    sa.Column("probability", sa.Double),
)

vertex = sa.Table(
    "vertex",
    metadata,
    _id("tree_id"),
    _id("vertex_id", wide=True),
    _id("depth"),
    _id("height"),
    _id("variable_id", nullable=True),
    _count("n"),
    sa.Column("weight", _WEIGHT),
    _count("n_stopped"),
)
vertex_weight = sa.Table(
    "vertex_weight",
    metadata,
    _id("tree_id"),
    _id("vertex_id", wide=True),
    sa.Column("weight_sq", _WEIGHT),
)
edge = sa.Table(
    "edge",
    metadata,
    _id("tree_id"),
    _id("parent_id", wide=True),
    _id("child_id", wide=True),
    _id("level_id"),
    _count("n"),
    sa.Column("weight", _WEIGHT),
)
hyperstage = sa.Table(
    "hyperstage",
    metadata,
    _id("staging_id"),
    _id("hyperstage_id", wide=True),
    _id("variable_id", nullable=True),
    sa.Column("labels", _TEXTS, nullable=False),
    _count("n_situations"),
)
stage = sa.Table(
    "stage",
    metadata,
    _id("staging_id"),
    _id("stage_id", wide=True),
    _id("hyperstage_id", wide=True),
    _count("n_situations"),
    _count("n"),
    sa.Column("colour", sa.String, nullable=False),
    sa.Column(
        "kind",
        sa.String,
        sa.CheckConstraint("kind in ('learnt', 'given', 'single_edge', 'unobserved')"),
        nullable=False,
    ),
    sa.Column("name", sa.String),
)
stage_member = sa.Table(
    "stage_member",
    metadata,
    _id("staging_id"),
    _id("vertex_id", wide=True),
    _id("stage_id", wide=True),
)
stage_edge = sa.Table(
    "stage_edge",
    metadata,
    _id("staging_id"),
    _id("stage_id", wide=True),
    _id("label_id"),
    sa.Column("prior", sa.Double, nullable=False),
    _count("n"),
    sa.Column("weight", _WEIGHT),
    sa.Column("share", sa.Double),
    sa.Column("probability", sa.Double, nullable=False),
    sa.Column("low", sa.Double),
    sa.Column("high", sa.Double),
)
prior_entry = sa.Table(
    "prior_entry",
    metadata,
    _id("staging_id"),
    _id("child_id", wide=True),
    _id("vertex_id", wide=True),
    sa.Column("label", sa.String, nullable=False),
    sa.Column("prior", sa.Double, nullable=False),
)
relabelled_edge = sa.Table(
    "relabelled_edge",
    metadata,
    _id("staging_id"),
    _id("child_id", wide=True),
    _id("label_id"),
    sa.Column("label", sa.String, nullable=False),
)
ahc_merge = sa.Table(
    "ahc_merge",
    metadata,
    _id("staging_id"),
    _id("step"),
    _id("kept_id", wide=True),
    _id("absorbed_id", wide=True),
    sa.Column("log_bayes_factor", sa.Double, nullable=False),
)
stage_drift = sa.Table(
    "stage_drift",
    metadata,
    _id("staging_id"),
    sa.Column("was", sa.String),
    _id("stage_id", wide=True, nullable=True),
    sa.Column("variable", sa.String),
    _count("n_situations"),
    _count("n_before"),
    _count("n_after"),
    sa.Column("label", sa.String),
    sa.Column("probability_before", sa.Double),
    sa.Column("low_before", sa.Double),
    sa.Column("high_before", sa.Double),
    sa.Column("probability_after", sa.Double),
    sa.Column("low_after", sa.Double),
    sa.Column("high_after", sa.Double),
    sa.Column("is_apart", sa.Boolean),
)
stage_bootstrap = sa.Table(
    "stage_bootstrap",
    metadata,
    _id("staging_id"),
    _bootstrap_kind(),
    _count("n_runs"),
    _id("seed", wide=True),
    _count("n_situations"),
    _count("n_pairs"),
    sa.Column("mean_stages", sa.Double, nullable=False),
    _count("min_stages"),
    _count("max_stages"),
    sa.Column("seconds", sa.Double, nullable=False),
)
situation_pair = sa.Table(
    "situation_pair",
    metadata,
    _id("staging_id"),
    _bootstrap_kind(),
    _id("vertex_id", wide=True),
    _id("other_id", wide=True),
    sa.Column("is_together", sa.Boolean, nullable=False),
    _count("n_runs"),
    _count("n_together"),
)
bootstrap_interval = sa.Table(
    "bootstrap_interval",
    metadata,
    _id("staging_id"),
    _id("vertex_id", wide=True),
    _id("label_id"),
    sa.Column("low", sa.Double, nullable=False),
    sa.Column("high", sa.Double, nullable=False),
    sa.Column("level", sa.Double, nullable=False),
    _count("n_runs"),
    _id("seed", wide=True),
)
position = sa.Table(
    "position",
    metadata,
    _id("ceg_id"),
    _id("position_id", wide=True),
    _id("stage_id", wide=True, nullable=True),
    _id("height"),
    _count("n"),
    _count("n_situations"),
)
position_member = sa.Table(
    "position_member",
    metadata,
    _id("ceg_id"),
    _id("vertex_id", wide=True),
    _id("position_id", wide=True),
)
ceg_edge = sa.Table(
    "ceg_edge",
    metadata,
    _id("ceg_id"),
    _id("source_id", wide=True),
    _id("target_id", wide=True),
    _id("label_id"),
    sa.Column("raw_labels", _TEXTS, nullable=False),
    _count("n"),
    sa.Column("weight", _WEIGHT),
    sa.Column("prior", sa.Double, nullable=False),
    sa.Column("probability", sa.Double, nullable=False),
)
ceg_stage = sa.Table(
    "ceg_stage",
    metadata,
    _id("ceg_id"),
    _id("stage_id", wide=True),
    _id("variable_id", nullable=True),
    _count("n_situations"),
    _count("n"),
    sa.Column("colour", sa.String, nullable=False),
)
merge_step = sa.Table(
    "merge_step",
    metadata,
    _id("ceg_id"),
    _id("step"),
    _id("height"),
    _count("n_situations"),
    _count("n_positions"),
    _count("n_vertices"),
    _count("n_edges"),
    sa.Column("seconds", sa.Double, nullable=False),
)
