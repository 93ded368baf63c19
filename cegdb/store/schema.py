"""The lasting tables as far as Python names their columns, for SQLAlchemy Core.

They are stated in full in ``migrations/sql``: new files and the Alembic chain run that same
text, which also has the comments. A test proves that the columns here are equal to it.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

SCHEMA: Final = "cegdb"

_JSON: Final = {"settings", "summary", "evidence"}
_PROVENANCE: Final = ("settings", "summary", "seconds", "created_at", "cegdb_version")


def _table(name: str, *columns: str) -> sa.TableClause:
    return sa.table(
        name,
        *(sa.column(column, sa.JSON if column in _JSON else None) for column in columns),
        schema=SCHEMA,
    )


# The catalog: all columns.
survey = _table(
    "survey",
    "survey_id", "name", "source", "n_read", "n", "n_distinct", *_PROVENANCE, "superseded_by",
)  # fmt: skip
variable = _table("variable", "variable_id", "survey_id", "ordinal", "name", "question")
level = _table(
    "level",
    "level_id", "variable_id", "code", "label", "label_id", "original_code", "kind", "n",
)  # fmt: skip
level_score = _table("level_score", "level_id", "score")
event_tree = _table(
    "event_tree",
    "tree_id", "name", "survey_id", "n", "n_vertices", "n_situations", "n_leaves", "height",
    *_PROVENANCE,
)  # fmt: skip
staging = _table(
    "staging",
    "staging_id", "name", "tree_id", "method", "alpha", "n_hyperstages", "n_stages",
    "log_marginal_likelihood", "log_likelihood", "df", "aic", "bic", *_PROVENANCE,
)  # fmt: skip
ceg = _table(
    "ceg",
    "ceg_id", "name", "staging_id", "parent_ceg_id", "evidence", "n_vertices", "n_edges",
    *_PROVENANCE, "root_staging_id", "probability", "relative_likelihood",
)  # fmt: skip

finding = _table(
    "finding",
    "survey_id", "tree_id", "staging_id", "ordinal", "finding", "consequence", "variable",
    "sentence", "n", "advice",
)  # fmt: skip

# Up to 10^8 rows, written by SQL steps as a whole: only the column of the owner.
vertex = _table("vertex", "tree_id")
vertex_weight = _table("vertex_weight", "tree_id")
edge = _table("edge", "tree_id")
presumed_zero = _table("presumed_zero", "tree_id")
hyperstage = _table("hyperstage", "staging_id")
stage = _table("stage", "staging_id")
stage_member = _table("stage_member", "staging_id")
stage_edge = _table("stage_edge", "staging_id")
prior_entry = _table("prior_entry", "staging_id")
relabelled_edge = _table("relabelled_edge", "staging_id")
ahc_merge = _table("ahc_merge", "staging_id")
parent_set = _table("parent_set", "staging_id")
stage_drift = _table("stage_drift", "staging_id")
stage_bootstrap = _table("stage_bootstrap", "staging_id", "kind")
situation_pair = _table("situation_pair", "staging_id", "kind")
bootstrap_interval = _table("bootstrap_interval", "staging_id")
costaging = _table("costaging", "staging_id")
hyperstage_posterior = _table("hyperstage_posterior", "staging_id")
position = _table("position", "ceg_id")
position_member = _table("position_member", "ceg_id")
ceg_edge = _table("ceg_edge", "ceg_id")
ceg_stage = _table("ceg_stage", "ceg_id")
merge_step = _table("merge_step", "ceg_id")
