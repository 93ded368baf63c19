"""Scores and clustering of stages, on arrays: no tables, no database."""

from __future__ import annotations

from cegdb.clustering.all_stagings import MAX_SITUATIONS
from cegdb.clustering.contiguous import MAX_ORDERED
from cegdb.clustering.greedy import (
    Merge,
    agglomerate,
    interleave,
)
from cegdb.clustering.hyperstage import Hyperstage
from cegdb.clustering.methods import (
    Coarsening,
    LearntStages,
    Plan,
    expand,
    learn,
    log_probability,
    programme_size,
    total_score,
)
from cegdb.clustering.parent_sets import (
    MAX_SETS,
    Configurations,
    ParentSet,
    candidate_columns,
    codes_of,
    n_sets,
    parent_sets,
    pool_configurations,
)
from cegdb.clustering.posterior import StagingModel, StagingPosterior, posterior
from cegdb.clustering.scoring import (
    Marginal,
    Penalised,
    log_marginal_likelihood,
    log_rising,
)

__all__ = [
    "MAX_ORDERED",
    "MAX_SETS",
    "MAX_SITUATIONS",
    "Coarsening",
    "Configurations",
    "Hyperstage",
    "LearntStages",
    "Marginal",
    "Merge",
    "ParentSet",
    "Penalised",
    "Plan",
    "StagingModel",
    "StagingPosterior",
    "agglomerate",
    "candidate_columns",
    "codes_of",
    "expand",
    "interleave",
    "learn",
    "log_marginal_likelihood",
    "log_probability",
    "log_rising",
    "n_sets",
    "parent_sets",
    "pool_configurations",
    "posterior",
    "programme_size",
    "total_score",
]
