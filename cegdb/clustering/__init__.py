"""Scores and clustering of stages, on arrays: no tables, no database."""

from __future__ import annotations

from cegdb.clustering.greedy import (
    MIN_LOG_BAYES_FACTOR,
    TIE_TOLERANCE,
    Merge,
    agglomerate,
    interleave,
)
from cegdb.clustering.hyperstage import Hyperstage
from cegdb.clustering.methods import Coarsening, LearntStages, Plan, learn, total_score
from cegdb.clustering.scoring import (
    Marginal,
    Penalised,
    Score,
    log_marginal_likelihood,
    log_rising,
)

__all__ = [
    "MIN_LOG_BAYES_FACTOR",
    "TIE_TOLERANCE",
    "Coarsening",
    "Hyperstage",
    "LearntStages",
    "Marginal",
    "Merge",
    "Penalised",
    "Plan",
    "Score",
    "agglomerate",
    "interleave",
    "learn",
    "log_marginal_likelihood",
    "log_rising",
    "total_score",
]
