"""Stages by clustering the shares of the labels: fast approximations."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from cegdb.clustering.hyperstage import name_stages
from cegdb.clustering.stage_sums import shares_of, start_stages, sum_by, tie_tolerance
from cegdb.options import ShareDistance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.clustering.hyperstage import Hyperstage
    from cegdb.clustering.scoring import Score

Linkage: TypeAlias = Literal[
    "complete", "single", "average", "weighted", "ward", "centroid", "median"
]

MAX_STAGES: Final = 10
"""The most stages that k-means tries where their number is open."""

N_STARTS: Final = 5
"""How often k-means starts for each number of stages."""


def hclust(
    hyperstage: Hyperstage,
    score: Score,
    distance: ShareDistance,
    linkage: Linkage,
    n_stages: int | None,
    smoothing: float,
) -> NDArray[np.int64]:
    """Cut the tree of a hierarchical clustering on the shares of the start stages.

    ``linkage`` has scipy's names. Without ``n_stages`` the cut with the best score is taken, of
    ties the one with the fewest stages. A cut undoes the last merges, also where several are at
    the same height. ``"totvar"`` is half of ``"manhattan"``; ``"hellinger"`` is the Euclidean
    distance of the square roots, divided by sqrt 2.
    """
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import pdist

    stages = start_stages(hyperstage, score)
    size = len(stages.ids)
    if size < 2:
        return name_stages(hyperstage.ids, stages.member)
    shares = shares_of(sum_by(stages.member, hyperstage.sizes, size), smoothing)
    if distance == "hellinger":
        distances = pdist(np.sqrt(shares)) / np.sqrt(2)
    elif distance == "euclidean":
        distances = pdist(shares)
    elif distance in {"totvar", "manhattan"}:
        distances = pdist(shares, "cityblock") / (2 if distance == "totvar" else 1)
    else:
        raise ValueError(f"distance {distance!r} is none of {get_args(ShareDistance)}")
    merges = hierarchy.linkage(distances, linkage)[:, :2].astype(np.int64)
    if n_stages is None:
        n_stages = size - _best_n_merges(stages.terms, merges, score)
    into = np.arange(2 * size - 1)
    for merge in reversed(range(max(size - n_stages, 0))):
        into[merges[merge]] = into[size + merge]
    return name_stages(hyperstage.ids, into[stages.member])


def _best_n_merges(terms: NDArray[np.float64], merges: NDArray[np.int64], score: Score) -> int:
    """Return after how many merges the score is best; of ties, the most."""
    size = len(terms)
    nodes = np.concatenate((terms, np.zeros((size - 1, terms.shape[1]))))
    for merge, (one, other) in enumerate(merges):
        nodes[size + merge] = nodes[one] + nodes[other]
    value = score.value(nodes)
    gains = value[size:] - value[merges].sum(axis=1)
    total = value[:size].sum() + np.concatenate(([0.0], gains.cumsum()))
    near = total >= total.max() - tie_tolerance(total.max())
    return int(np.flatnonzero(near)[-1])


def kmeans(
    hyperstage: Hyperstage,
    score: Score,
    n_stages: int | None,
    seed: int,
    smoothing: float,
) -> NDArray[np.int64]:
    """Cluster the start stages by k-means on the square roots of their shares.

    Each start stage has the same weight. Without ``n_stages`` the best score of 1 to 10 stages
    is taken, of ties the one with the fewest; there are never more than distinct shares.
    """
    stages = start_stages(hyperstage, score)
    size = len(stages.ids)
    roots = np.sqrt(shares_of(sum_by(stages.member, hyperstage.sizes, size), smoothing))
    n_distinct = len(np.unique(roots, axis=0))
    random = np.random.default_rng(seed)
    if n_stages is not None:
        group = _k_means(roots, min(n_stages, n_distinct), random)
        return name_stages(hyperstage.ids, group[stages.member])
    best, chosen = -np.inf, np.zeros(size, dtype=np.int64)
    for n_clusters in range(1, min(MAX_STAGES, n_distinct) + 1):
        group = _k_means(roots, n_clusters, random)
        total = float(score.value(sum_by(group, stages.terms, n_clusters)).sum())
        if total > best + tie_tolerance(total):
            best, chosen = total, group
    return name_stages(hyperstage.ids, chosen[stages.member])


def _k_means(
    points: NDArray[np.float64], n_clusters: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return the best of several clusterings by sum of squares; no cluster is empty."""
    from scipy.cluster.vq import kmeans2

    best, chosen = np.inf, np.zeros(len(points), dtype=np.int64)
    if n_clusters < 2:
        return chosen
    for _ in range(N_STARTS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of empty clusters, which are filled below
            _, labels = kmeans2(points, n_clusters, iter=10, minit="++", rng=random)
        group, squares = _fill_empty_clusters(points, labels.astype(np.int64), n_clusters)
        if squares < best - 1e-12:
            best, chosen = squares, group
    return chosen


def _fill_empty_clusters(
    points: NDArray[np.float64], group: NDArray[np.int64], n_clusters: int
) -> tuple[NDArray[np.int64], float]:
    """Give each empty cluster the point farthest from its centre; return the sum of squares."""
    group = group.copy()
    while True:
        size = np.bincount(group, minlength=n_clusters)
        centres = sum_by(group, points, n_clusters) / np.maximum(size, 1)[:, None]
        squares = ((points - centres[group]) ** 2).sum(axis=1)
        if size.all():
            return group, float(squares.sum())
        group[squares.argmax()] = size.argmin()
