"""Scores and clustering of stages, on arrays: no tables, no database."""

from __future__ import annotations

from cegdb.clustering.all_stagings import MAX_SITUATIONS, Posterior, posterior
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
    programme_size,
    total_score,
)
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
    "Posterior",
    "agglomerate",
    "interleave",
    "learn",
    "log_marginal_likelihood",
    "log_rising",
    "posterior",
    "programme_size",
    "total_score",
]
