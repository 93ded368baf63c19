"""Learn the stages of a hyperstage by any method."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from cegdb.clustering.all_stagings import best_staging, interchangeable, log_total
from cegdb.clustering.backward import bj, csbhc, fbhc
from cegdb.clustering.contiguous import best_contiguous, contiguous_prior
from cegdb.clustering.greedy import MIN_LOG_BAYES_FACTOR, TIE_TOLERANCE, Merge, agglomerate
from cegdb.clustering.hill_climbing import climb
from cegdb.clustering.homogeneity import p_value
from cegdb.clustering.hyperstage import Hyperstage, name_stages
from cegdb.clustering.parent_sets import pool_configurations
from cegdb.clustering.scoring import Marginal, Penalised, Score
from cegdb.clustering.segmentation import optimum
from cegdb.clustering.share_clustering import hclust, kmeans
from cegdb.clustering.stage_sums import start_stages
from cegdb.clustering.structure_prior import structure_prior
from cegdb.options import GREEDY_METHODS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cegdb.options import JoinDistance, Method, ScoreName, ShareDistance, StructurePrior


@dataclass(frozen=True)
class Coarsening:
    """When and how ``"auto"`` starts from cells of situations with almost the same shares.

    Hyperstages of up to ``max_exact`` distinct contents are clustered exactly; larger ones
    from fewer than ``max_cells`` cells, with ``sample_size`` situations to estimate the loss.
    """

    max_exact: int = 4_000
    max_cells: int = 2_000
    sample_size: int = 1_000


@dataclass(frozen=True)
class Plan:
    """How stages are learnt, with every default settled.

    ``n_rows`` is the N of BIC, ``n_stages`` the number in each hyperstage (None: the one
    with the best score), ``stage_mass`` the prior mass of each stage where this does not depend
    on its situations. With a ``significance`` greedy merging goes on to one stage, which is
    split again where tests at that level tell its situations apart; ``simulates`` says whether
    the tests may simulate small tables. With ``max_parents`` the situations to learn are the
    configurations of the best set of at most so many earlier variables.
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
    stage_mass: float | None = None
    significance: float | None = None
    simulates: bool = True
    max_parents: int | None = None
    coarsening: Coarsening = field(default_factory=Coarsening)

    @property
    def scorer(self) -> Score:
        """The score of a stage, more being better."""
        if self.score == "log_marginal_likelihood":
            return Marginal(self.stage_mass)
        half_log = math.log(max(self.n_rows, 1.0)) / 2
        penalty = {"bic": half_log, "aic": 1.0, "log_likelihood": 0.0}[self.score]
        return Penalised(penalty, self.smoothing)


class LearntStages(NamedTuple):
    """The stages of a hyperstage, each named by its smallest situation.

    ``merges`` led to them, in the order made (none for methods that do not merge). After an
    approximation ``sample`` says, for a sample of the situations, by how much it is below
    the exact greedy score, and that score. With ``max_parents`` the stage is -1 where no row
    reached the configuration.
    """

    stage: NDArray[np.int64]
    merges: Sequence[Merge] = ()
    sample: tuple[float, float] | None = None


def learn(hyperstage: Hyperstage, plan: Plan) -> LearntStages:
    """Learn the stages of one hyperstage.

    Examples
    --------
    Two situations alike and one apart, each with prior (1, 1):

    >>> from cegdb.clustering import Hyperstage
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
    if plan.max_parents is not None:
        pooled = pool_configurations(hyperstage, score, plan.max_parents)
        return expand(learn(pooled.hyperstage, replace(plan, max_parents=None)), pooled.member)
    if hyperstage.counts.shape[1] == 1 or len(hyperstage.ids) < 2:
        return LearntStages(hyperstage.start)
    if method == "auto" and _n_distinct_stages(hyperstage) > plan.coarsening.max_exact:
        return _merge_cells(hyperstage, plan)
    if method in GREEDY_METHODS:
        return _merge(hyperstage, plan)
    if method == "ordinal" and hyperstage.scores is None:
        return LearntStages(_merge(hyperstage, plan).stage)
    if method == "ordinal":
        prior = contiguous_prior(len(hyperstage.ids), plan.structure_prior)
        return LearntStages(best_contiguous(hyperstage, score, prior))
    structure = structure_prior(len(hyperstage.ids), plan.structure_prior)
    if method == "fbhc":
        return LearntStages(fbhc(hyperstage, score))
    if method == "csbhc":
        return LearntStages(csbhc(hyperstage, score))
    if method == "bj":
        distance = cast("JoinDistance", plan.distance)
        return LearntStages(bj(hyperstage, distance, plan.threshold, plan.smoothing))
    if method == "hc":
        return LearntStages(_climb_from_both(hyperstage, plan))
    if method == "hclust":
        metric = cast("ShareDistance", plan.distance)
        stage = hclust(hyperstage, score, metric, "complete", plan.n_stages, plan.smoothing)
        return LearntStages(stage)
    if method == "kmeans":
        return LearntStages(kmeans(hyperstage, score, plan.n_stages, plan.seed, plan.smoothing))
    if method == "exact" and isinstance(score, Penalised) and _is_line(hyperstage, score):
        return LearntStages(optimum(hyperstage, score, structure))
    if method == "exact":
        return LearntStages(best_staging(hyperstage, score, structure))
    raise ValueError(f"no method for {plan}")


def expand(learnt: LearntStages, member: NDArray[np.int64]) -> LearntStages:
    """Return the stages of situations from those of their configurations, -1 where none has."""
    stage = np.full(len(member), -1, dtype=np.int64)
    stage[member >= 0] = learnt.stage[member[member >= 0]]
    return learnt._replace(stage=stage)


def programme_size(hyperstage: Hyperstage, plan: Plan) -> int:
    """Return of how many situations method "exact" looks at all stagings, 0 if of none."""
    n_situations, n_labels = hyperstage.counts.shape
    score = plan.scorer
    if n_situations == 1 or n_labels == 1 or _is_line(hyperstage, score):
        return 0
    structure = structure_prior(n_situations, plan.structure_prior)
    return int(interchangeable(hyperstage, score, structure).max()) + 1


def log_probability(hyperstage: Hyperstage, stage: NDArray[np.int64], plan: Plan) -> float:
    """Return the log of the posterior probability of stages, among all stagings."""
    n_situations, n_labels = hyperstage.counts.shape
    if n_situations == 1 or n_labels == 1:
        return 0.0
    score, structure = plan.scorer, structure_prior(n_situations, plan.structure_prior)
    total = total_score(hyperstage, stage, score) + float(structure[len(np.unique(stage))])
    return min(total - log_total(hyperstage, score, structure), 0.0)


def _is_line(hyperstage: Hyperstage, score: Score) -> bool:
    """Return whether the stages of the best staging are neighbours in their shares."""
    is_likelihood = isinstance(score, Penalised) and score.smoothing == 0
    return is_likelihood and hyperstage.counts.shape[1] == 2


def _climb_from_both(hyperstage: Hyperstage, plan: Plan) -> NDArray[np.int64]:
    """Climb from the start and, with a structure prior, from merged stages too.

    The prior by size makes single merges a loss while there are many stages, so that no path
    of gains leads from many stages to a few.
    """
    score = plan.scorer
    structure = structure_prior(len(hyperstage.ids), plan.structure_prior)
    from_start = climb(hyperstage, score, structure)
    if plan.structure_prior == "flat":
        return from_start
    merged = replace(hyperstage, start=_merge(hyperstage, plan).stage)
    from_merged = climb(merged, score, structure)

    def total(stage: NDArray[np.int64]) -> float:
        return total_score(hyperstage, stage, score) + float(structure[len(np.unique(stage))])

    is_better = total(from_merged) > total(from_start) + MIN_LOG_BAYES_FACTOR
    return from_merged if is_better else from_start


def total_score(hyperstage: Hyperstage, stage: NDArray[np.int64], score: Score) -> float:
    """Return the score of stages of a hyperstage, more being better.

    A stage without counts scores 0: none of its parameters is estimated.
    """
    stages = start_stages(replace(hyperstage, start=stage), score)
    n = np.bincount(stages.member, hyperstage.counts.sum(axis=1))
    return math.fsum(score.value(stages.terms)[n > 0])


def _merge(hyperstage: Hyperstage, plan: Plan) -> LearntStages:
    """Merge greedily; to the end with tests or a structure prior, which then choose."""
    start = hyperstage.pooled()
    is_bhc = plan.method == "bhc"
    is_flat = plan.structure_prior == "flat" and plan.significance is None
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
    if plan.significance is not None:
        merges = _untold_merges(merges, start, plan.significance, simulates=plan.simulates)
    elif not is_flat:
        merges = merges[: _best_length(merges, len(start.ids), plan)]
    final = {int(stage): int(stage) for stage in start.ids}
    for merge in reversed(merges):
        final[merge.absorbed_id] = final[merge.kept_id]
    stage = np.array([final[int(stage)] for stage in hyperstage.start], dtype=np.int64)
    return LearntStages(stage, merges)


def _best_length(merges: Sequence[Merge], n_stages: int, plan: Plan) -> int:
    """Return how many of the merges lead to the best score, structure prior included."""
    structure = structure_prior(n_stages, plan.structure_prior)
    best, length, total = structure[n_stages], 0, 0.0
    for n_merges, merge in enumerate(merges, 1):
        total += merge.log_bayes_factor
        score = total + structure[n_stages - n_merges]
        if score > best + MIN_LOG_BAYES_FACTOR:
            best, length = score, n_merges
    return length


def _untold_merges(
    merges: Sequence[Merge], start: Hyperstage, significance: float, *, simulates: bool
) -> list[Merge]:
    """Return the merges within stages whose situations no test tells apart.

    From one stage down, that with the smallest p-value is split as it was merged, as long as
    the p-value is significant for the number of stages there are (Bonferroni).
    """
    n = len(start.ids)
    node = {int(stage): row for row, stage in enumerate(start.ids)}
    children: list[tuple[int, int]] = []
    n_members = [1] * n
    for merge in merges:
        pair = node[merge.kept_id], node.pop(merge.absorbed_id)
        node[merge.kept_id] = len(n_members)
        n_members.append(n_members[pair[0]] + n_members[pair[1]])
        children.append(pair)
    # The situations in an order in which those of every stage follow each other.
    first = [0] * len(n_members)
    for index in reversed(range(len(children))):
        one, other = children[index]
        first[one] = first[n + index]
        first[other] = first[one] + n_members[one]
    sizes = start.sizes[np.argsort(first[:n])]

    def p_of(stage: int, n_stages: int) -> float:
        level = significance / n_stages if simulates else 0.0
        return p_value(sizes[first[stage] : first[stage] + n_members[stage]], level)

    (root,) = node.values()
    p, split = {root: p_of(root, 1)}, set()
    while True:
        stage = min(p, key=lambda stage: (p[stage], stage))
        if p[stage] * len(p) > significance or stage < n:
            break
        split.add(stage)
        del p[stage]
        p.update({child: p_of(child, len(p) + 2) for child in children[stage - n]})
    return [merge for index, merge in enumerate(merges, n) if index not in split]


def _n_distinct_stages(hyperstage: Hyperstage) -> int:
    start = hyperstage.pooled()
    contents = np.hstack((start.counts, start.multiplicities))
    return len(np.unique(contents, axis=0))


def _merge_cells(hyperstage: Hyperstage, plan: Plan) -> LearntStages:
    """Merge greedily from cells of situations whose shares are almost the same.

    Cells are a grid on arcsin(sqrt(share)), on whose scale the sampling error of a share
    does not depend on the share.
    """
    limits = plan.coarsening
    start = hyperstage.pooled()
    mass = start.sizes + start.prior
    shares = np.arcsin(np.sqrt(mass / mass.sum(axis=1, keepdims=True)))
    width = 0.001
    while True:
        _, cell = np.unique(np.floor(shares / width), axis=0, return_inverse=True)
        cell = cell.ravel()
        if cell.max() < limits.max_cells:
            break
        width *= 1.25
    from_cells = replace(start, start=name_stages(start.ids, cell))
    learnt = _merge(from_cells, plan)
    stage_of = dict(zip(start.ids.tolist(), learnt.stage.tolist(), strict=True))
    stage = np.array([stage_of[name] for name in hyperstage.start.tolist()], dtype=np.int64)
    random = np.random.default_rng(plan.seed)
    chosen = np.sort(random.choice(len(cell), limits.sample_size, replace=False))
    sample, sample_cells = start.subset(chosen), from_cells.subset(chosen)
    exact = total_score(sample, _merge(sample, plan).stage, plan.scorer)
    rough = total_score(sample_cells, _merge(sample_cells, plan).stage, plan.scorer)
    return LearntStages(stage, learnt.merges, (exact - rough, exact))
