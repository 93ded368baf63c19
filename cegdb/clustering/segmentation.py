"""The best staging of all, where situations have two labels and scores a penalty.

The situations of an optimal stage are neighbours in their share of the first label: the
log likelihood is that of a clustering on a line by a Bregman divergence [1]_. So the best
staging is the best way to cut the row of distinct shares into segments. With
``l(i, j)`` the log likelihood of shares ``i`` to ``j - 1`` as one stage,
``l(a, c) + l(b, d) >= l(a, d) + l(b, c)`` for ``a < b < c < d``: a last cut that is worse
than a later one for the first ``j`` shares stays worse for all larger ``j`` [2]_.

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

from cegdb.clustering.stage_sums import name_stages, slack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.clustering.scoring import Hyperstage, Penalised


def optimum(
    hyperstage: Hyperstage, score: Penalised, structure: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the staging with the largest score of all.

    Parameters
    ----------
    hyperstage
        Of florets with two labels. ``start`` has no part in it. Situations without counts
        join the stage of the smallest share: they cost nothing in any.
    score
        Without smoothing.
    structure
        Shape (situations + 1,), the log prior of a staging with that many stages, from 0
        up. It is added to the score; all alike if it is flat.

    Returns
    -------
    NDArray[np.int64]
        Shape (situations,): the stage of each, named by its smallest situation.

    Raises
    ------
    ValueError
        The florets do not have two labels, or the score is smoothed.

    Notes
    -----
    Of stagings that tie, one with the fewest stages is returned. For D distinct shares
    and a flat prior the cost is O(D^2) at worst, with few of the cuts looked at. Else it
    is O(D log D) for each number of stages, up to the number beyond which no score can
    win (the gain of one more stage never grows), and memory for one row of cuts each.

    Examples
    --------
    >>> from cegdb.clustering import Hyperstage, Penalised
    >>> ids = np.array([4, 5, 6])
    >>> three = Hyperstage(
    ...     ids=ids,
    ...     counts=np.array([[9, 1], [1, 9], [8, 2]]),
    ...     bases=np.ones((1, 2)),
    ...     multiplicities=np.ones((3, 1), dtype=np.int64),
    ...     start=ids,
    ...     answers=np.array([[0], [1], [2]]),
    ... )
    >>> optimum(three, Penalised(penalty=1.0), np.zeros(4))
    array([4, 5, 4])
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

    Rows without counts cost nothing in any stage: they are taken as of share 0.
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
        near = slack(top)
        ties = np.flatnonzero(values >= top - near)
        chosen = ties[n_segments[starts[ties]].argmin()]
        last[end] = starts[chosen]
        best[end] = values[chosen]
        n_segments[end] = n_segments[starts[chosen]] + 1
        later = np.maximum.accumulate(values[::-1])[::-1]
        # Neither worse than a later cut, nor than one here even if free of penalty.
        keeps = (values >= later - near) & (values + score.penalty >= best[end] - near)
        starts = starts[keeps]
    return _trace(last[None, :].repeat(int(n_segments[size]), axis=0))


def _segment_by_number(
    score: Penalised, below: NDArray[np.float64], structure: NDArray[np.float64]
) -> tuple[NDArray[np.int64], int]:
    """Return the cuts of the best segments given what each number costs, and the number.

    The number is that of stages, above that of segments if equal shares are best kept
    apart.
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
        if bound.max() <= winner + slack(winner):
            return _trace(np.array(layers[:n_stages])), n_stages
        previous = best
        best, cut = _add_segment(score, below, previous, m)
        layers.append(cut)
        step = max(float(best[size] - previous[size]), 0.0) + slack(float(best[size]))
        value = float(best[size] + bonus[m])
        if value > winner + slack(winner):
            winner, n_stages = value, m
    beyond = saturated + bonus[size + 1 :]
    if len(beyond) and beyond.max() > winner + slack(winner):
        ties = beyond >= beyond.max() - slack(float(beyond.max()))
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
        of = np.repeat(np.arange(len(end)), width)
        offset = np.concatenate(([0], width.cumsum()))
        start = low[of] + np.arange(offset[-1]) - offset[of]
        values = previous[start] + _likelihood(score, below[end[of]] - below[start])
        top = np.maximum.reduceat(values, offset[:-1])
        best[end] = top
        hit = np.flatnonzero(values == top[of])
        cut[end[of[hit[::-1]]]] = start[hit[::-1]]
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
    """Give the last of those that are not alone stages of their own, up to a number."""
    missing = n_stages - int(segment.max(initial=-1)) - 1
    if missing <= 0:
        return segment
    first = np.unique(segment, return_index=True)[1]
    others = np.setdiff1d(np.arange(len(segment)), first)
    stage = segment.copy()
    stage[others[-missing:]] = segment.max() + 1 + np.arange(missing)
    return stage
