"""Stages by clustering the shares of labels: fast approximations."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from cegdb.clustering.stage_sums import add_by, name_stages, share_of, slack, start_stages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.clustering.scoring import Hyperstage, Score

ShareDistance: TypeAlias = Literal["totvar", "hellinger", "euclidean", "manhattan"]
Linkage: TypeAlias = Literal[
    "complete", "single", "average", "weighted", "ward", "centroid", "median"
]

MAX_STAGES: Final = 10
"""Up to this many stages k-means tries where their number is open."""

N_STARTS: Final = 5
"""K-means is started this often for each number of stages."""


def hclust(
    hyperstage: Hyperstage,
    score: Score,
    distance: ShareDistance,
    linkage: Linkage,
    n_stages: int | None,
    smoothing: float,
) -> NDArray[np.int64]:
    """Cut a tree of hierarchical clustering on the shares of the start stages.

    Parameters
    ----------
    hyperstage
        Its situations start in the stages ``hyperstage.start``.
    score
        Chooses the number of stages, if that is open.
    distance
        Between the shares of two stages: ``"totvar"`` (half of ``"manhattan"``, the sum
        of abs(x - y)), ``"euclidean"`` or ``"hellinger"`` (the Euclidean distance of the
        square roots, divided by sqrt 2).
    linkage
        Distance of clusters, by scipy's names.
    n_stages
        None for the cut with the best score, of equals that with the fewest stages.
    smoothing
        Added to the count of each label of a stage when its shares are estimated.

    Returns
    -------
    NDArray[np.int64]
        Shape (situations,): the stage of each, named by its smallest situation.

    Notes
    -----
    A cut undoes the last joins, also where they are at the same height.

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
    >>> hclust(three, Penalised(1.0), "totvar", "complete", None, smoothing=0.0)
    array([4, 5, 4])
    """
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import pdist

    stages = start_stages(hyperstage, score)
    size = len(stages.ids)
    if size < 2:
        return name_stages(hyperstage.ids, stages.member)
    shares = share_of(add_by(stages.member, hyperstage.sizes, size), smoothing)
    if distance == "hellinger":
        apart = pdist(np.sqrt(shares)) / np.sqrt(2)
    elif distance == "euclidean":
        apart = pdist(shares)
    elif distance in {"totvar", "manhattan"}:
        apart = pdist(shares, "cityblock") / (2 if distance == "totvar" else 1)
    else:
        raise ValueError(f"distance {distance!r} is none of {get_args(ShareDistance)}")
    joins = hierarchy.linkage(apart, linkage)[:, :2].astype(np.int64)
    if n_stages is None:
        n_stages = size - _best_number_of_joins(stages.terms, joins, score)
    into = np.arange(2 * size - 1)
    for join in reversed(range(max(size - n_stages, 0))):
        into[joins[join]] = into[size + join]
    return name_stages(hyperstage.ids, into[stages.member])


def _best_number_of_joins(
    terms: NDArray[np.float64], joins: NDArray[np.int64], score: Score
) -> int:
    """Return after how many joins the score is best, of equals the most."""
    size = len(terms)
    nodes = np.concatenate((terms, np.zeros((size - 1, terms.shape[1]))))
    for join, (one, other) in enumerate(joins):
        nodes[size + join] = nodes[one] + nodes[other]
    value = score.value(nodes)
    gains = value[size:] - value[joins].sum(axis=1)
    total = value[:size].sum() + np.concatenate(([0.0], gains.cumsum()))
    near = total >= total.max() - slack(total.max())
    return int(np.flatnonzero(near)[-1])


def kmeans(
    hyperstage: Hyperstage,
    score: Score,
    n_stages: int | None,
    seed: int,
    smoothing: float,
) -> NDArray[np.int64]:
    """Cluster the start stages by k-means on the square roots of their shares.

    Parameters
    ----------
    hyperstage
        Its situations start in the stages ``hyperstage.start``.
    score
        Chooses the number of stages, if that is open.
    n_stages
        None for the best score of 1 to 10 stages, of equals that with the fewest. There
        are never more than distinct shares.
    seed
        Of the random starts.
    smoothing
        Added to the count of each label of a stage when its shares are estimated.

    Returns
    -------
    NDArray[np.int64]
        Shape (situations,): the stage of each, named by its smallest situation.

    Notes
    -----
    Each start stage weighs the same. Of 5 starts, with 10 rounds each, the one with the
    smallest sum of squares is taken. A cluster left empty is given the stage farthest from
    its centre.

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
    >>> kmeans(three, Penalised(1.0), None, seed=1, smoothing=0.0)
    array([4, 5, 4])
    """
    stages = start_stages(hyperstage, score)
    size = len(stages.ids)
    roots = np.sqrt(share_of(add_by(stages.member, hyperstage.sizes, size), smoothing))
    most = len(np.unique(roots, axis=0))
    random = np.random.default_rng(seed)
    if n_stages is not None:
        group = _k_means(roots, min(n_stages, most), random)
        return name_stages(hyperstage.ids, group[stages.member])
    best, chosen = -np.inf, np.zeros(size, dtype=np.int64)
    for number in range(1, min(MAX_STAGES, most) + 1):
        group = _k_means(roots, number, random)
        total = float(score.value(add_by(group, stages.terms, number)).sum())
        if total > best + slack(total):
            best, chosen = total, group
    return name_stages(hyperstage.ids, chosen[stages.member])


def _k_means(
    points: NDArray[np.float64], number: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return the best of several clusterings; none of the clusters is empty."""
    from scipy.cluster.vq import kmeans2

    best, chosen = np.inf, np.zeros(len(points), dtype=np.int64)
    if number < 2:
        return chosen
    for _ in range(N_STARTS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of empty clusters, which are filled below
            _, labels = kmeans2(points, number, iter=10, minit="++", rng=random)
        group, squares = _fill(points, labels.astype(np.int64), number)
        if squares < best - 1e-12:
            best, chosen = squares, group
    return chosen


def _fill(
    points: NDArray[np.float64], group: NDArray[np.int64], number: int
) -> tuple[NDArray[np.int64], float]:
    """Give each empty cluster the point farthest from its centre; add up the squares."""
    group = group.copy()
    while True:
        size = np.bincount(group, minlength=number)
        centres = add_by(group, points, number) / np.maximum(size, 1)[:, None]
        squares = ((points - centres[group]) ** 2).sum(axis=1)
        if size.all():
            return group, float(squares.sum())
        group[squares.argmax()] = size.argmin()
