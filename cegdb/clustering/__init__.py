"""Scores and clustering of stages, on arrays: no tables, no database."""

from __future__ import annotations

from cegdb.clustering.all_stagings import MAX_SITUATIONS
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
    learn,
    log_probability,
    programme_size,
    total_score,
)
from cegdb.clustering.posterior import StagingModel, StagingPosterior, posterior
from cegdb.clustering.scoring import (
    Marginal,
    Penalised,
    log_marginal_likelihood,
    log_rising,
)

__all__ = [
    "MAX_SITUATIONS",
    "Coarsening",
    "Hyperstage",
    "LearntStages",
    "Marginal",
    "Merge",
    "Penalised",
    "Plan",
    "StagingModel",
    "StagingPosterior",
    "agglomerate",
    "interleave",
    "learn",
    "log_marginal_likelihood",
    "log_probability",
    "log_rising",
    "posterior",
    "programme_size",
    "total_score",
]
