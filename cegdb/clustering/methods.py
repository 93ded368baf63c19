"""One way to learn the stages of a hyperstage, by any method."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from cegdb.clustering.backward import bj, csbhc, fbhc
from cegdb.clustering.greedy import MIN_LOG_BAYES_FACTOR, TIE_TOLERANCE, Merge, agglomerate
from cegdb.clustering.hill_climbing import climb
from cegdb.clustering.scoring import Hyperstage, Marginal, Penalised, Score
from cegdb.clustering.segmentation import optimum
from cegdb.clustering.share_clustering import hclust, kmeans
from cegdb.clustering.stage_sums import name_stages, start_stages
from cegdb.clustering.structure_prior import structure_prior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cegdb.clustering.backward import JoinDistance
    from cegdb.clustering.share_clustering import ShareDistance
    from cegdb.options import Method, ScoreName, StructurePrior


GREEDY: Final = ("ahc", "auto", "bhc")
"""Methods that merge the best pair, again and again."""

LARGE: Final = 4_000
"""Distinct contents of a hyperstage that ``"auto"`` still clusters exactly."""

_CELLS: Final = 2_000
_SAMPLE: Final = 1_000


@dataclass(frozen=True)
class Plan:
    """How stages are learnt.

    Attributes
    ----------
    method
        ``"ahc"``: merge the best pair while it gains; ``"auto"``: the same of large
        hyperstages from cells of situations with almost the same shares; ``"bhc"``: merge
        also while nothing is lost, of ties the last pair; ``"fbhc"``, ``"csbhc"``,
        ``"bj"``, ``"hc"``, ``"exact"``, ``"hclust"``, ``"kmeans"``: see `fbhc`, `csbhc`,
        `bj`, `climb`, `optimum`, `hclust`, `kmeans`.
    score
        What is made as large (``"log_marginal_likelihood"``, ``"log_likelihood"``) or as
        small (``"bic"``, ``"aic"``) as can be.
    structure_prior
        ``"flat"`` or ``"size"``: see `structure_prior`.
    n_rows
        The N of BIC.
    smoothing
        Added to the count of each label of a stage when its shares are estimated.
    distance, threshold
        Between shares, and below which ``"bj"`` joins.
    n_stages
        Of each hyperstage, for ``"hclust"`` and ``"kmeans"``; None: the best score.
    seed
        Of random numbers.
    """

    method: Method = "ahc"
    score: ScoreName = "log_marginal_likelihood"
    structure_prior: StructurePrior = "flat"
    n_rows: float = 1.0
    smoothing: float = 0.0
    distance: str = ""
    threshold: float = 0.1
    n_stages: int | None = None
    seed: int = 1

    @property
    def scorer(self) -> Score:
        """The score of a stage, more being better."""
        if self.score == "log_marginal_likelihood":
            return Marginal()
        half_log = math.log(max(self.n_rows, 1.0)) / 2
        penalty = {"bic": half_log, "aic": 1.0, "log_likelihood": 0.0}[self.score]
        return Penalised(penalty, self.smoothing)


class Learnt(NamedTuple):
    """The stages of a hyperstage.

    Attributes
    ----------
    stage
        Shape (situations,): the stage of each, named by its smallest situation.
    merges
        Those that led to them, in the order made; none for methods that do not merge.
    sample
        Where an approximation was made: by how much it was below the exact greedy score on
        a sample of the situations, and that score.
    """

    stage: NDArray[np.int64]
    merges: Sequence[Merge] = ()
    sample: tuple[float, float] | None = None


def learn(hyperstage: Hyperstage, plan: Plan) -> Learnt:
    """Learn the stages of one hyperstage.

    Examples
    --------
    Two situations alike and one apart, each with prior (1, 1):

    >>> ids = np.array([4, 5, 6])
    >>> situations = Hyperstage(
    ...     ids=ids,
    ...     counts=np.array([[9, 1], [1, 9], [8, 2]]),
    ...     bases=np.array([[1.0, 1.0]]),
    ...     multiplicities=np.array([[1], [1], [1]]),
    ...     start=ids,
    ...     answers=np.array([[0], [1], [2]]),
    ... )
    >>> learn(situations, Plan()).stage
    array([4, 5, 4])
    """
    method, score = plan.method, plan.scorer
    if hyperstage.counts.shape[1] == 1 or len(hyperstage.ids) == 1:
        return Learnt(hyperstage.start)
    if method == "auto" and _n_contents(hyperstage) > LARGE:
        return _merge_cells(hyperstage, plan)
    if method in GREEDY:
        return _merge(hyperstage, plan)
    structure = structure_prior(len(hyperstage.ids), plan.structure_prior)
    if method == "fbhc":
        return Learnt(fbhc(hyperstage, score))
    if method == "csbhc":
        return Learnt(csbhc(hyperstage, score))
    if method == "bj":
        distance = cast("JoinDistance", plan.distance)
        return Learnt(bj(hyperstage, distance, plan.threshold, plan.smoothing))
    if method == "hc":
        return Learnt(_climb(hyperstage, plan))
    if method == "hclust":
        metric = cast("ShareDistance", plan.distance)
        stage = hclust(hyperstage, score, metric, "complete", plan.n_stages, plan.smoothing)
        return Learnt(stage)
    if method == "kmeans":
        return Learnt(kmeans(hyperstage, score, plan.n_stages, plan.seed, plan.smoothing))
    if isinstance(score, Penalised):
        return Learnt(optimum(hyperstage, score, structure))
    raise ValueError(f"no way to learn: {plan}")


def _climb(hyperstage: Hyperstage, plan: Plan) -> NDArray[np.int64]:
    """Climb from the start and, where the number of stages counts, from merged stages too.

    The prior by size makes single merges of many stages a loss, so that nothing leads from
    them to a few.
    """
    score = plan.scorer
    structure = structure_prior(len(hyperstage.ids), plan.structure_prior)
    ended = climb(hyperstage, score, structure)
    if plan.structure_prior == "flat":
        return ended
    merged = replace(hyperstage, start=_merge(hyperstage, plan).stage)
    other = climb(merged, score, structure)

    def total(stage: NDArray[np.int64]) -> float:
        return total_score(hyperstage, stage, score) + float(structure[len(np.unique(stage))])

    return other if total(other) > total(ended) + MIN_LOG_BAYES_FACTOR else ended


def total_score(hyperstage: Hyperstage, stage: NDArray[np.int64], score: Score) -> float:
    """Return the score of stages of a hyperstage, more being better."""
    stages = start_stages(replace(hyperstage, start=stage), score)
    return math.fsum(score.value(stages.terms))


def pooled(hyperstage: Hyperstage) -> Hyperstage:
    """Return the stages a hyperstage starts in as if each were one situation.

    ``answers`` are those of its smallest situation.
    """
    starts, first, member = np.unique(hyperstage.start, return_index=True, return_inverse=True)
    if len(starts) == len(hyperstage.ids):
        return hyperstage
    counts = np.zeros((len(starts), hyperstage.counts.shape[1]), dtype=np.int64)
    np.add.at(counts, member, hyperstage.counts)
    multiplicities = np.zeros((len(starts), len(hyperstage.bases)), dtype=np.int64)
    np.add.at(multiplicities, member, hyperstage.multiplicities)
    return replace(
        hyperstage,
        ids=starts,
        counts=counts,
        multiplicities=multiplicities,
        start=starts,
        answers=hyperstage.answers[first],
    )


def _merge(hyperstage: Hyperstage, plan: Plan) -> Learnt:
    start = pooled(hyperstage)
    is_bhc, is_flat = plan.method == "bhc", plan.structure_prior == "flat"
    least = -TIE_TOLERANCE if is_bhc else MIN_LOG_BAYES_FACTOR
    merges = agglomerate(
        start.counts,
        start.bases,
        start.multiplicities,
        start.ids,
        unit=start.unit,
        score=plan.scorer,
        least=least if is_flat else -math.inf,
        last_wins=is_bhc,
    )
    if not is_flat:
        merges = merges[: _best_length(merges, len(start.ids), plan)]
    final = {int(stage): int(stage) for stage in start.ids}
    for merge in reversed(merges):
        final[merge.absorbed_id] = final[merge.kept_id]
    stage = np.array([final[int(stage)] for stage in hyperstage.start], dtype=np.int64)
    return Learnt(stage, merges)


def _best_length(merges: Sequence[Merge], n_stages: int, plan: Plan) -> int:
    """Return how many of the merges lead to the best score, structure prior included."""
    structure = structure_prior(n_stages, plan.structure_prior)
    best, length, total = structure[n_stages], 0, 0.0
    for done, merge in enumerate(merges, 1):
        total += merge.log_bayes_factor
        reached = total + structure[n_stages - done]
        if reached > best + MIN_LOG_BAYES_FACTOR:
            best, length = reached, done
    return length


def _n_contents(hyperstage: Hyperstage) -> int:
    start = pooled(hyperstage)
    rows = np.hstack((start.counts, start.multiplicities))
    return len(np.unique(rows, axis=0))


def _merge_cells(hyperstage: Hyperstage, plan: Plan) -> Learnt:
    """Cluster from cells of situations whose shares are almost the same."""
    start = pooled(hyperstage)
    mass = start.sizes + start.prior
    shares = np.arcsin(np.sqrt(mass / mass.sum(axis=1, keepdims=True)))
    width = 0.001
    while True:
        _, cell = np.unique(np.floor(shares / width), axis=0, return_inverse=True)
        cell = cell.ravel()
        if cell.max() < _CELLS:
            break
        width *= 1.25
    from_cells = replace(start, start=name_stages(start.ids, cell))
    learnt = _merge(from_cells, plan)
    names = dict(zip(start.ids.tolist(), learnt.stage.tolist(), strict=True))
    stage = np.array([names[name] for name in hyperstage.start.tolist()], dtype=np.int64)
    chosen = np.random.default_rng(plan.seed).choice(len(cell), _SAMPLE, replace=False)
    chosen.sort()
    sample = start.part(chosen)
    rough = from_cells.part(chosen)
    exact = total_score(sample, _merge(sample, plan).stage, plan.scorer)
    loss = exact - total_score(rough, _merge(rough, plan).stage, plan.scorer)
    return Learnt(stage, learnt.merges, (loss, exact))
