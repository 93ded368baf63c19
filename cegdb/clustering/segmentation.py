"""The optimal staging of situations with two labels by a penalised likelihood.

The situations of an optimal stage are neighbours in their share of the first label: the
log likelihood is that of a clustering on a line by a Bregman divergence [1]_. So the best
staging is the best way to cut the row of distinct shares into segments. With
``l(i, j)`` the log likelihood of shares ``i`` to ``j - 1`` as one stage,
``l(a, c) + l(b, d) >= l(a, d) + l(b, c)`` for ``a < b < c < d``: a last cut that is worse
than a later one for the first ``j`` shares stays worse for all larger ``j`` [2]_. With ``d``
distinct shares and a flat structure prior the cost is O(d^2) at worst, though few cuts are
looked at; else O(d log d) for each number of stages up to the one beyond which no score can
win (the gain of one more stage never grows).

References
----------
.. [1] Banerjee, A., Merugu, S., Dhillon, I. S. and Ghosh, J. (2005). Clustering with
   Bregman divergences. Journal of Machine Learning Research 6, 1705-1749.
.. [2] Gronlund, A., Larsen, K. G., Mathiasen, A., Nielsen, J. S., Schneider, S. and Song,
   M. (2017). Fast exact k-means, k-medians and Bregman divergence clustering in 1D.
   arXiv:1701.07204.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cegdb.clustering.hyperstage import name_stages
from cegdb.clustering.stage_sums import tie_tolerance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.clustering.hyperstage import Hyperstage
    from cegdb.clustering.scoring import Penalised


def optimum(
    hyperstage: Hyperstage, score: Penalised, structure: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the staging with the largest score plus log structure prior, by number of stages.

    Of ties, one with the fewest stages. ``hyperstage.start`` plays no part. Situations without
    counts join the stage of the smallest share: they cost nothing in any.
    """
    counts = hyperstage.counts
    if counts.shape[1] != 2:
        raise ValueError(f"the exact optimum needs 2 labels, got {counts.shape[1]}")
    if score.smoothing != 0:
        raise ValueError(f"the exact optimum needs smoothing 0, got {score.smoothing}")
    share = _share_ranks(counts)
    below = np.zeros((int(share.max(initial=-1)) + 2, 2))
    np.add.at(below, share + 1, hyperstage.sizes)
    below = below.cumsum(axis=0)
    if (structure[1:] == structure[-1]).all():
        cuts, n_stages = _segment(score, below), 0
    else:
        cuts, n_stages = _segment_by_number(score, below, structure)
    segment = np.searchsorted(cuts, share, side="right")
    return name_stages(hyperstage.ids, _split_further(segment, n_stages))


def _share_ranks(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rank of each row's share of the first label, equal for equal shares.

    Rows without counts cost nothing in any stage: they count as share 0.
    """
    first = counts[:, 0].astype(object)
    total = np.maximum(counts.sum(axis=1), 1).astype(object)
    # Shares of totals below 2^63 differ by more than 2^-126, or not at all.
    _, rank = np.unique((first << 126) // total, return_inverse=True)
    ranks: NDArray[np.int64] = rank.reshape(-1)
    return ranks


def _segment(score: Penalised, below: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the cuts of the best segments, whatever their number."""
    size = len(below) - 1
    best = np.zeros(size + 1)
    n_segments = np.zeros(size + 1, dtype=np.int64)
    last = np.zeros(size + 1, dtype=np.int64)
    starts = np.empty(0, dtype=np.int64)
    for end in range(1, size + 1):
        starts = np.append(starts, end - 1)
        values = best[starts] + score.value(below[end] - below[starts])
        top = float(values.max())
        tolerance = tie_tolerance(top)
        ties = np.flatnonzero(values >= top - tolerance)
        chosen = ties[n_segments[starts[ties]].argmin()]
        last[end] = starts[chosen]
        best[end] = values[chosen]
        n_segments[end] = n_segments[starts[chosen]] + 1
        later = np.maximum.accumulate(values[::-1])[::-1]
        # Drop starts that are worse than a later one, or worse than a cut here even without
        # the penalty of that cut: by the inequality above they stay worse.
        is_open = (values >= later - tolerance) & (
            values + score.penalty >= best[end] - tolerance
        )
        starts = starts[is_open]
    return _trace(last[None, :].repeat(int(n_segments[size]), axis=0))


def _segment_by_number(
    score: Penalised, below: NDArray[np.float64], structure: NDArray[np.float64]
) -> tuple[NDArray[np.int64], int]:
    """Return the cuts of the best segments given the prior of each number, and the number.

    That is the number of stages, above that of segments if equal shares are best kept apart.
    """
    size = len(below) - 1
    n_situations = len(structure) - 1
    number = np.arange(n_situations + 1)
    # What a number of stages adds to the log likelihood.
    bonus = structure - score.penalty * number
    saturated = float(_likelihood(score, np.diff(below, axis=0)).sum())
    best = np.append(0.0, _likelihood(score, below[1:]))
    layers = [np.zeros(size + 1, dtype=np.int64)]
    winner, n_stages = float(best[size] + bonus[1]), 1
    step = np.inf
    for m in range(2, size + 1):
        more = number[m:]
        bound = saturated + bonus[m:]
        if np.isfinite(step):
            bound = np.minimum(bound, best[size] + step * (more - m + 1) + bonus[m:])
        if bound.max() <= winner + tie_tolerance(winner):
            return _trace(np.array(layers[:n_stages])), n_stages
        previous = best
        best, cut = _add_segment(score, below, previous, m)
        layers.append(cut)
        step = max(float(best[size] - previous[size]), 0.0) + tie_tolerance(float(best[size]))
        value = float(best[size] + bonus[m])
        if value > winner + tie_tolerance(winner):
            winner, n_stages = value, m
    beyond = saturated + bonus[size + 1 :]
    if len(beyond) and beyond.max() > winner + tie_tolerance(winner):
        ties = beyond >= beyond.max() - tie_tolerance(float(beyond.max()))
        return _trace(np.array(layers)), size + 1 + int(ties.argmax())
    return _trace(np.array(layers[:n_stages])), n_stages


def _add_segment(
    score: Penalised, below: NDArray[np.float64], previous: NDArray[np.float64], m: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the best log likelihood of each first ``end`` shares as ``m`` segments.

    The best last cut never falls as ``end`` grows: the middle ``end`` of each gap is
    solved between the cuts of its neighbours, all gaps of a round at once.
    """
    size = len(below) - 1
    best = np.full(size + 1, -np.inf)
    cut = np.full(size + 1, m - 1, dtype=np.int64)
    gaps = np.array([[m, size, m - 1, size - 1]])
    while len(gaps):
        first, final, low, high = gaps.T
        end = (first + final) // 2
        high = np.minimum(high, end - 1)
        width = high - low + 1
        gap = np.repeat(np.arange(len(end)), width)
        offset = np.concatenate(([0], width.cumsum()))
        start = low[gap] + np.arange(offset[-1]) - offset[gap]
        values = previous[start] + _likelihood(score, below[end[gap]] - below[start])
        top = np.maximum.reduceat(values, offset[:-1])
        best[end] = top
        hit = np.flatnonzero(values == top[gap])
        cut[end[gap[hit[::-1]]]] = start[hit[::-1]]
        left = np.stack((first, end - 1, low, cut[end]), axis=1)
        right = np.stack((end + 1, final, cut[end], gaps[:, 3]), axis=1)
        gaps = np.concatenate((left, right))
        gaps = gaps[gaps[:, 0] <= gaps[:, 1]]
    return best, cut


def _likelihood(score: Penalised, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    return score.value(sizes) + score.penalty


def _trace(layers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cuts, ascending, given the best last cut of each layer and end."""
    cuts = [layers.shape[1] - 1]
    for last in layers[::-1]:
        cuts.append(int(last[cuts[-1]]))
    return np.array(cuts[-2:0:-1], dtype=np.int64)


def _split_further(segment: NDArray[np.int64], n_stages: int) -> NDArray[np.int64]:
    """Give the last situations that share a stage their own, up to a number of stages."""
    missing = n_stages - int(segment.max(initial=-1)) - 1
    if missing <= 0:
        return segment
    first = np.unique(segment, return_index=True)[1]
    others = np.setdiff1d(np.arange(len(segment)), first)
    stage = segment.copy()
    stage[others[-missing:]] = segment.max() + 1 + np.arange(missing)
    return stage
