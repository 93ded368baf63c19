"""The null bootstrap: how many spurious stages to expect, on arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.clustering.all_stagings import MAX_SITUATIONS
from cegdb.clustering.greedy import MIN_LOG_BAYES_FACTOR, TIE_TOLERANCE
from cegdb.clustering.homogeneity import p_value
from cegdb.clustering.methods import Plan, learn, programme_size
from cegdb.clustering.structure_prior import structure_prior
from cegdb.options import GREEDY_METHODS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cegdb.clustering.hyperstage import Hyperstage
    from cegdb.options import Method

_COSTS: Final[dict[Method, tuple[float, float, float]]] = {
    "exact": (300, 6, 0.0),
    "ordinal": (300, 60, 0.5),
    "hclust": (300, 5, 0.0),
    "fbhc": (300, 60, 0.0),
    "csbhc": (800, 160, 0.0),
    "bj": (300, 170, 0.0),
    "hc": (500, 700, 2.2),
    "kmeans": (15_000, 50, 0.0),
}
"""What a run of a method costs in microseconds: a constant, per situation, per pair of them."""
_SET_COST: Final = 30.0
"""What each set of situations costs a run that looks at all stagings, in microseconds."""


@dataclass(frozen=True)
class Budget:
    """What the null bootstrap may cost.

    As many runs as fit ``merging_cost`` (in units of `_merging_cost`) or, for methods that do
    not merge, ``microseconds``, between ``min_runs`` and ``max_runs``. Where even ``min_runs``
    do not fit, fewer than ``max_situations`` situations of each hyperstage are simulated.
    """

    max_runs: int = 200
    min_runs: int = 20
    max_situations: int = 300
    min_situations: int = 10
    merging_cost: float = 3e8
    microseconds: float = 1e6


class NullBootstrap(NamedTuple):
    """How many stages are learnt where all situations of a hyperstage are alike.

    Attributes
    ----------
    expected
        Shape (hyperstages,): the mean number of stages beyond the one there is.
    error
        The standard error of their sum, hyperstages being independent.
    n_runs
        How often each hyperstage was simulated.
    n_sampled
        Shape (hyperstages,): how many of its start stages were simulated. Where these are
        fewer than there are, ``expected`` is of that many: usually too small.
    """

    expected: NDArray[np.float64]
    error: float
    n_runs: int
    n_sampled: NDArray[np.int64]


def expected_spurious_stages(
    hyperstages: Sequence[Hyperstage], plan: Plan, *, seed: int, budget: Budget | None = None
) -> NullBootstrap:
    """Estimate how many spurious stages to expect under the null hypothesis.

    Each hyperstage is simulated with the situations and row counts it has, all with one
    probability vector, its own shares: every stage learnt beyond the first is spurious.
    """
    budget = budget or Budget()
    is_greedy = plan.method in GREEDY_METHODS
    # Only methods that merge keep the situations of an initial stage together.
    moves_situations = plan.method in ("hc", "exact")
    starts = [start if moves_situations else start.pooled() for start in hyperstages]
    sizes = np.array([len(start.ids) for start in starts], dtype=np.int64)
    # A simulation has no equal shares, so that all its stagings are too many to look at.
    looks_at_all = np.array(
        [plan.method == "exact" and programme_size(start, plan) > 0 for start in starts]
    )
    most = np.where(looks_at_all, np.minimum(sizes, MAX_SITUATIONS), sizes)
    labels = np.array([start.counts.shape[1] for start in starts], dtype=np.float64)

    def affordable_runs(max_situations: int) -> float:
        n = np.minimum(most, max_situations).astype(np.float64)
        cost = _merging_cost(n, labels) if is_greedy else _run_cost(n, plan.method)
        cost = np.where(looks_at_all, _SET_COST * 2.0**n, cost)
        if plan.significance is not None:  # few runs go on to learn
            cost = cost * plan.significance
        total = budget.merging_cost if is_greedy else budget.microseconds
        return total / max(float(cost.sum()), 1.0)

    max_situations = budget.max_situations
    while (
        max_situations > budget.min_situations
        and affordable_runs(max_situations) < budget.min_runs
    ):
        max_situations = max_situations * 3 // 4
    n_runs = int(np.clip(affordable_runs(max_situations), budget.min_runs, budget.max_runs))
    n_sampled = np.minimum(most, max_situations)
    is_simulated = (sizes > 1) & np.array([start.counts.any() for start in starts], dtype=bool)
    if not is_simulated.any():
        n_runs = 0
    expected, variance = np.zeros(len(starts)), 0.0
    for index, start in enumerate(starts):
        if not is_simulated[index]:
            continue
        random = np.random.default_rng([seed, index])
        # An evenly spaced sample of the situations by their number of rows.
        order = np.argsort(start.counts.sum(axis=1), kind="stable")
        ranks = np.linspace(0, len(order) - 1, n_sampled[index]).astype(int)
        sample = np.sort(order[ranks])
        totals = np.rint(start.sizes.sum(axis=1)).astype(np.int64)[sample]
        share = start.counts.sum(axis=0) / start.counts.sum()
        runs = random.multinomial(totals, share, size=(n_runs, len(sample)))
        if plan.significance is not None:
            n_stages = np.array([_count_tested(start, sample, run, plan) for run in runs])
        elif is_greedy:
            n_stages = count_merged(runs, start.prior[sample], plan)
        else:
            n_stages = np.array([_count_learnt(start, sample, run, plan) for run in runs])
        n_spurious = n_stages - 1
        expected[index] = n_spurious.mean()
        variance += float(n_spurious.var(ddof=1)) / n_runs
    return NullBootstrap(expected, float(np.sqrt(variance)), n_runs, n_sampled)


def _count_tested(
    start: Hyperstage, sample: NDArray[np.int64], counts: NDArray[np.int64], plan: Plan
) -> int:
    """Return how many stages are learnt; most often no test tells the situations apart."""
    is_one = p_value(counts.astype(np.float64)) > (plan.significance or 0.0)
    plan = replace(plan, simulates=False)
    return 1 if is_one else _count_learnt(start, sample, counts, plan)


def _merging_cost(n: NDArray[np.float64], labels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cost of a run: comparisons, and scores, which cost a hundred times as much."""
    cost: NDArray[np.float64] = n**3 + 100 * labels * n**2
    return cost


def _run_cost(n: NDArray[np.float64], method: Method) -> NDArray[np.float64]:
    """Return the cost of a run of a method that runs once per replicate."""
    run, situation, pair = _COSTS[method]
    cost: NDArray[np.float64] = run + situation * n + pair * n**2
    return cost


def _count_learnt(
    start: Hyperstage, sample: NDArray[np.int64], counts: NDArray[np.int64], plan: Plan
) -> int:
    """Return how many stages are learnt of simulated counts; 1 if there are none."""
    seen = counts.sum(axis=1) > 0
    if not seen.any():
        return 1
    replicate = start.subset(sample[seen], counts[seen], unit=1.0)
    return len(np.unique(learn(replicate, plan).stage))


def count_merged(
    counts: NDArray[np.int64], prior: NDArray[np.float64], plan: Plan
) -> NDArray[np.int64]:
    """Return how many stages greedy merging leaves, in many replicates at once.

    ``counts`` has the shape (replicates, situations, labels), ``prior`` (situations, labels).
    The gains of all pairs are kept in a matrix per replicate, so that a merge costs one row
    of it: numpy then works on all replicates at once, instead of Python on one.
    """
    score = plan.scorer
    n_runs, n, _ = counts.shape
    terms = score.terms(counts, np.broadcast_to(prior, counts.shape))
    values = score.value(terms)
    structure = structure_prior(n, plan.structure_prior)
    is_flat = plan.structure_prior == "flat"
    least = -TIE_TOLERANCE if plan.method == "bhc" else MIN_LOG_BAYES_FACTOR
    first, second = np.triu_indices(n, 1)
    gains = np.full((n_runs, n, n), -np.inf)
    for start in range(0, len(first), 4096):
        one, other = first[start : start + 4096], second[start : start + 4096]
        merged = score.value(terms[:, one] + terms[:, other])
        gains[:, one, other] = merged - values[:, one] - values[:, other]
    flat_gains = gains.reshape(n_runs, n * n)
    alive = np.ones((n_runs, n), dtype=bool)
    n_stages = np.full(n_runs, n)
    total, best = np.zeros(n_runs), np.full(n_runs, structure[n])
    runs, rows = np.arange(n_runs), np.arange(n)
    for size in range(n, 1, -1):
        top = flat_gains[runs].argmax(axis=1)
        gain = flat_gains[runs, top]
        if is_flat:
            goes_on = gain > least
            runs, top, gain = runs[goes_on], top[goes_on], gain[goes_on]
            n_stages[runs] = size - 1
            if not len(runs):
                break
        kept, absorbed = np.divmod(top, n)
        terms[runs, kept] += terms[runs, absorbed]
        alive[runs, absorbed] = False
        gains[runs, absorbed, :] = -np.inf
        gains[runs, :, absorbed] = -np.inf
        values[runs, kept] = score.value(terms[runs, kept])
        merged = score.value(terms[runs] + terms[runs, kept][:, None, :])
        new = merged - values[runs] - values[runs, kept][:, None]
        new[~alive[runs]] = -np.inf
        new[np.arange(len(runs)), kept] = -np.inf
        # The matrix is upper triangular: the smaller of two stages is its row.
        above = rows < kept[:, None]
        gains[runs, kept, :] = np.where(above, -np.inf, new)
        gains[runs, :, kept] = np.where(above, new, -np.inf)
        if not is_flat:
            total[runs] += gain
            with_prior = total + structure[size - 1]
            better = with_prior > best + MIN_LOG_BAYES_FACTOR
            n_stages[better], best[better] = size - 1, with_prior[better]
    return n_stages
