"""How many stages chance alone makes: a null bootstrap, on arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.clustering.greedy import MIN_LOG_BAYES_FACTOR, TIE_TOLERANCE
from cegdb.clustering.methods import GREEDY, Plan, learn, pooled
from cegdb.clustering.structure_prior import structure_prior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cegdb.clustering.scoring import Hyperstage
    from cegdb.options import Method

_MOST_RUNS: Final = 200
_FEWEST_RUNS: Final = 20
_MOST_SITUATIONS: Final = 300
_FEWEST_SITUATIONS: Final = 10
_BUDGET: Final = {True: 3e8, False: 1e6}
"""What all runs together may take, if merging (`_merging_cost`) and if not (`_cost`)."""

_PRICES: Final[dict[Method, tuple[float, float, float]]] = {
    "exact": (300, 6, 0.0),
    "hclust": (300, 5, 0.0),
    "fbhc": (300, 60, 0.0),
    "csbhc": (800, 160, 0.0),
    "bj": (300, 170, 0.0),
    "hc": (500, 700, 2.2),
    "kmeans": (15_000, 50, 0.0),
}
"""What a run of a method costs, in microseconds: at all, a situation, and a pair of them."""


class Chance(NamedTuple):
    """What chance alone makes of hyperstages whose situations are alike.

    Attributes
    ----------
    expected
        Shape (hyperstages,): the mean number of stages beyond the one there is.
    error
        Its standard error, summed over hyperstages as independent.
    n_runs
        How often each hyperstage was simulated.
    n_sampled
        Shape (hyperstages,): how many of its stages to start from were simulated. Where
        these are fewer than there are, ``expected`` is of that many: usually too small.
    """

    expected: NDArray[np.float64]
    error: float
    n_runs: int
    n_sampled: NDArray[np.int64]


def false_stages(hyperstages: Sequence[Hyperstage], plan: Plan, *, seed: int) -> Chance:
    """Return the number of false extra stages to expect under the null hypothesis.

    Each hyperstage is simulated with the situations and numbers of rows it has, all of one
    probability vector, its own shares; whatever more than one stage is learnt is false.

    Parameters
    ----------
    hyperstages
        Situations with rows.
    plan
        How stages are learnt.
    seed
        Of the random numbers.

    Notes
    -----
    The cost is bounded: 200 runs of small hyperstages, down to 20; of larger ones an evenly
    spaced sample of the situations by rows is taken. Merging methods are run on all
    replicates at once.

    Examples
    --------
    >>> from cegdb.clustering import Hyperstage, Plan
    >>> ids = np.arange(20)
    >>> alike = Hyperstage(ids=ids, counts=np.full((20, 2), 25), bases=np.ones((1, 2)),
    ...     multiplicities=np.ones((20, 1), dtype=int), start=ids, answers=ids[:, None])
    >>> bool(0.4 < false_stages([alike], Plan(), seed=1).expected[0] < 1.6)
    True
    """
    is_greedy = plan.method in GREEDY
    # Only methods that merge keep the situations of an initial stage together.
    is_free = plan.method in ("hc", "exact")
    starts = [one if is_free else pooled(one) for one in hyperstages]
    sizes = np.array([len(start.ids) for start in starts], dtype=np.int64)
    labels = np.array([start.counts.shape[1] for start in starts], dtype=np.float64)

    def runs_of(most: int) -> float:
        """Return how many runs of at most so many situations are within the budget."""
        n = np.minimum(sizes, most).astype(np.float64)
        cost = _merging_cost(n, labels) if is_greedy else _cost(n, plan.method)
        return _BUDGET[is_greedy] / max(float(cost.sum()), 1.0)

    most = _MOST_SITUATIONS
    while most > _FEWEST_SITUATIONS and runs_of(most) < _FEWEST_RUNS:
        most = most * 3 // 4
    n_runs = int(np.clip(runs_of(most), _FEWEST_RUNS, _MOST_RUNS))
    sampled = np.minimum(sizes, most)
    expected, variance = np.zeros(len(starts)), 0.0
    for place, start in enumerate(starts):
        if sizes[place] < 2 or not start.counts.any():
            continue
        random = np.random.default_rng([seed, place])
        order = np.argsort(start.counts.sum(axis=1), kind="stable")
        kept = np.sort(order[np.linspace(0, len(order) - 1, sampled[place]).astype(int)])
        totals = np.rint(start.sizes.sum(axis=1)).astype(np.int64)[kept]
        share = start.counts.sum(axis=0) / start.counts.sum()
        drawn = random.multinomial(totals, share, size=(n_runs, len(kept)))
        prior = start.prior[kept]
        if is_greedy:
            extra = _count_merged(drawn, prior, plan) - 1
        else:
            extra = np.array([_count_learnt(start, kept, run, plan) - 1 for run in drawn])
        expected[place] = extra.mean()
        variance += float(extra.var(ddof=1)) / n_runs
    return Chance(expected, float(np.sqrt(variance)), n_runs, sampled)


def _merging_cost(n: NDArray[np.float64], labels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cost of a run: comparisons, and scores at a hundred times their price."""
    cost: NDArray[np.float64] = n**3 + 100 * labels * n**2
    return cost


def _cost(n: NDArray[np.float64], method: Method) -> NDArray[np.float64]:
    """Return the cost of a run of a method that is run once a replicate."""
    run, situation, pair = _PRICES[method]
    cost: NDArray[np.float64] = run + situation * n + pair * n**2
    return cost


def _count_learnt(
    start: Hyperstage, kept: NDArray[np.int64], counts: NDArray[np.int64], plan: Plan
) -> int:
    seen = counts.sum(axis=1) > 0
    if not seen.any():
        return 1
    replicate = start.part(kept[seen], counts[seen], unit=1.0)
    return len(np.unique(learn(replicate, plan).stage))


def _count_merged(
    counts: NDArray[np.int64], prior: NDArray[np.float64], plan: Plan
) -> NDArray[np.int64]:
    """Return the number of stages that greedy merging leaves, of many replicates at once.

    Parameters
    ----------
    counts
        Shape (replicates, situations, labels).
    prior
        Shape (situations, labels).
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
            going = gain > least
            runs, top, gain = runs[going], top[going], gain[going]
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
        above = rows < kept[:, None]
        gains[runs, kept, :] = np.where(above, -np.inf, new)
        gains[runs, :, kept] = np.where(above, new, -np.inf)
        if not is_flat:
            total[runs] += gain
            reached = total + structure[size - 1]
            better = reached > best + MIN_LOG_BAYES_FACTOR
            n_stages[better], best[better] = size - 1, reached[better]
    return n_stages
