"""The best staging of ordered answers whose stages are neighbours in their mean score.

Situations are put in the order of their predictive mean: the mean score of the answers by the
posterior of each situation alone. A staging is then a way to cut this row into segments, and
the best one follows from those of its beginnings: with ``m(i, j)`` the score of situations
``i`` to ``j - 1`` as one stage,

    best(j) = max over i < j of best(i) + m(i, j)

in O(n^2) scores of stages [1]_. A structure prior that depends on the number of stages is
weighed from ``best(j, k)``, cut into ``k`` segments, for ``k`` up to the last number that can
win: with ``D(c)`` the best score where each stage costs ``c``, no staging into ``k`` stages has
a score above ``D(c) + c k``, whatever ``c``.

References
----------
.. [1] Jackson, B., Scargle, J. D., Barnes, D. et al. (2005). An algorithm for optimal
   partitioning of data on an interval. IEEE Signal Processing Letters 12(2), 105-108.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from cegdb.clustering.hyperstage import name_stages
from cegdb.clustering.stage_sums import tie_tolerance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cegdb.clustering.hyperstage import Hyperstage
    from cegdb.clustering.scoring import Score
    from cegdb.options import StructurePrior

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

MAX_ORDERED: Final = 5_000
"""Most situations of a hyperstage whose contiguous stagings are all looked at."""

_DIGITS: Final = 12
_MOST_COSTS: Final = 40


def order_by_mean(hyperstage: Hyperstage) -> Numbers:
    """Return the rows of the situations by their predictive mean score, ties by their id.

    Labels without a score (nan) play no part.
    """
    if hyperstage.scores is None:
        raise ValueError("the labels have no scores")
    has_score = ~np.isnan(hyperstage.scores)
    scores = hyperstage.scores[has_score]
    mass = (hyperstage.sizes + hyperstage.prior)[:, has_score]
    # On one scale, so that means that differ by rounding errors only are equal.
    mean = mass @ ((scores - scores.min()) / np.ptp(scores)) / mass.sum(axis=1)
    return np.lexsort((hyperstage.ids, mean.round(_DIGITS))).astype(np.int64)


def contiguous_prior(n_situations: int, kind: StructurePrior) -> Floats:
    """Return the log prior of one contiguous staging into k stages, by k from 0 up.

    ``"size"``: every number of stages is equally probable, and every way to cut the row of
    situations into that many. Element 0 has no meaning.
    """
    from scipy.special import gammaln

    prior = np.zeros(n_situations + 1)
    if kind == "size" and n_situations > 1:
        k = np.arange(1, n_situations + 1)
        n = n_situations
        prior[1:] = gammaln(k) + gammaln(n - k + 1) - gammaln(n) - np.log(n)
    return prior


def best_contiguous(hyperstage: Hyperstage, score: Score, structure: Floats) -> Numbers:
    """Return the contiguous staging with the best score plus log structure prior, by number.

    Of ties, one with the fewest stages. ``hyperstage.start`` plays no part.

    Examples
    --------
    >>> from cegdb.clustering import Hyperstage, Marginal
    >>> ids = np.array([4, 5, 6])
    >>> situations = Hyperstage(
    ...     ids=ids,
    ...     counts=np.array([[9, 1], [1, 9], [8, 2]]),
    ...     bases=np.array([[1.0, 1.0]]),
    ...     multiplicities=np.array([[1], [1], [1]]),
    ...     start=ids,
    ...     answers=np.array([[0], [1], [2]]),
    ...     scores=np.array([0.0, 1.0]),
    ... )
    >>> best_contiguous(situations, Marginal(), np.zeros(4))
    array([4, 5, 4])
    """
    order = order_by_mean(hyperstage)
    scores = _segment_scores(hyperstage, score, order)
    if (structure[1:] == structure[-1]).all():
        starts = _cut(scores, 0.0)[1]
    else:
        starts = _cut_by_number(scores, structure)
    segment = np.empty(len(order), dtype=np.int64)
    segment[order] = np.searchsorted(starts, np.arange(len(order)), side="right")
    return name_stages(hyperstage.ids, segment)


def _segment_scores(hyperstage: Hyperstage, score: Score, order: Numbers) -> list[Floats]:
    """Return, for each end, the scores of the segments from each start as one stage."""
    counts = _sums(hyperstage.counts[order])
    multiplicities = _sums(hyperstage.multiplicities[order])
    scores = []
    for end in range(1, len(order) + 1):
        # Sums of whole numbers: equal segments have equal scores to the bit.
        sizes = (counts[end] - counts[:end]) * np.float64(hyperstage.unit)
        prior = (multiplicities[end] - multiplicities[:end]) @ hyperstage.bases
        scores.append(score.value(score.terms(sizes, prior)))
    return scores


def _sums(rows: Numbers) -> Numbers:
    """Return the sums of the first 0, 1, ... rows."""
    return np.concatenate((np.zeros_like(rows[:1]), rows.cumsum(axis=0)))


def _cut(scores: Sequence[Floats], cost: float) -> tuple[float, list[int]]:
    """Return the best score where each stage costs so much, and the starts of its segments."""
    n = len(scores)
    best, n_segments = np.zeros(n + 1), np.zeros(n + 1, dtype=np.int64)
    last = np.zeros(n + 1, dtype=np.int64)
    for end, of_end in enumerate(scores, 1):
        values = best[:end] + of_end
        top = float(values.max())
        ties = np.flatnonzero(values >= top - tie_tolerance(top))
        last[end] = ties[n_segments[ties].argmin()]
        best[end] = values[last[end]] - cost
        n_segments[end] = n_segments[last[end]] + 1
    return float(best[n]), _trace([last] * int(n_segments[n]))


def _cut_by_number(scores: Sequence[Floats], structure: Floats) -> list[int]:
    """Return the starts of the best segments given the prior of each number."""
    n = len(scores)
    bound, winner = _bounds(scores, structure)
    best = np.append(0.0, [of_end[0] for of_end in scores])
    layers = [np.zeros(n + 1, dtype=np.int64)]
    value, n_stages = float(best[n] + structure[1]), 1
    for k in range(2, n + 1):
        beyond = max(value, winner)
        if (
            value >= beyond - tie_tolerance(beyond)
            and (bound[k:] <= beyond + tie_tolerance(beyond)).all()
        ):
            break
        previous, best = best, np.full(n + 1, -np.inf)
        last = np.zeros(n + 1, dtype=np.int64)
        for end in range(k, n + 1):
            values = previous[k - 1 : end] + scores[end - 1][k - 1 :]
            chosen = int(values.argmax())
            best[end], last[end] = values[chosen], k - 1 + chosen
        layers.append(last)
        total = float(best[n] + structure[k])
        if total > value + tie_tolerance(value):
            value, n_stages = total, k
    return _trace(layers[:n_stages])


def _bounds(scores: Sequence[Floats], structure: Floats) -> tuple[Floats, float]:
    """Return what no staging into k stages exceeds, by k, and the value of one known.

    Structure prior included. The costs of a stage are the slopes of the upper hull of the best
    scores by number, found from both of its ends.
    """
    n = len(scores)
    number = np.arange(n + 1)
    one, all_apart = float(scores[-1][0]), float(sum(of_end[-1] for of_end in scores))
    bound = np.full(n + 1, np.inf)
    bound[1], bound[n] = one, all_apart
    winner = max(one + structure[1], all_apart + structure[n])
    gaps = [(1, one, n, all_apart)] if n > 2 else []
    for _ in range(_MOST_COSTS):
        if not gaps:
            break
        low, of_low, high, of_high = gaps.pop(0)
        cost = (of_high - of_low) / (high - low)
        least, starts = _cut(scores, cost)
        bound = np.minimum(bound, least + cost * number)
        k = len(starts) + 1
        of_k = least + cost * k
        winner = max(winner, of_k + structure[k])
        if low < k < high and of_k > of_low + cost * (k - low) + tie_tolerance(of_k):
            gaps += [(low, of_low, k, of_k), (k, of_k, high, of_high)]
    return bound + structure, float(winner)


def _trace(layers: Sequence[Numbers]) -> list[int]:
    """Return the starts of all segments but the first, ascending."""
    starts = [len(layers[0]) - 1]
    for last in layers[::-1]:
        starts.append(int(last[starts[-1]]))
    return starts[-2:0:-1]
