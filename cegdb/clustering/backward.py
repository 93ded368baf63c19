"""Backward learning: methods that only merge stages, with the names of stagedtrees [1]_.

References
----------
.. [1] Carli, F., Leonelli, M., Riccomagno, E. and Varando, G. (2022). The R package
   stagedtrees for structural learning of stratified staged trees. Journal of Statistical
   Software 102(6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from cegdb.clustering.best_pairs import BestPairs
from cegdb.clustering.hyperstage import name_stages
from cegdb.clustering.stage_sums import shares_of, start_stages, sum_by, tie_tolerance
from cegdb.options import JoinDistance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.clustering.hyperstage import Hyperstage
    from cegdb.clustering.scoring import Score


def fbhc(hyperstage: Hyperstage, score: Score) -> NDArray[np.int64]:
    """Merge the first two stages whose merge does not lower the score, until none are left.

    Of the pairs (i, j) with j before i, the one with the smallest i, then j, comes first;
    stages are in the order of their smallest situation.
    """
    stages = start_stages(hyperstage, score)
    terms = stages.terms.copy()
    value = score.value(terms)
    into = np.arange(len(terms))
    # No two of the stages in ``settled`` (ascending) may be merged. A pair refused once is
    # refused for as long as both stages last, so after a merge only the pairs of the merged
    # stage are tried again: about one round of tests per stage.
    settled = np.empty(0, dtype=np.int64)
    for stage in range(len(terms)):
        changed = stage
        while True:
            merged = score.value(terms[settled] + terms[changed])
            gains = merged - value[settled] - value[changed]
            allowed = np.flatnonzero(gains >= -np.maximum(1e-9, 1e-12 * np.abs(merged)))
            if not len(allowed):
                break
            other = int(settled[allowed[0]])
            settled = np.delete(settled, allowed[0])
            kept, absorbed = min(other, changed), max(other, changed)
            terms[kept] += terms[absorbed]
            value[[kept]] = score.value(terms[[kept]])
            into[absorbed] = kept
            changed = kept
        settled = np.insert(settled, np.searchsorted(settled, changed), changed)
    for stage in range(len(into)):
        into[stage] = into[into[stage]]
    return name_stages(hyperstage.ids, into[stages.member])


def csbhc(hyperstage: Hyperstage, score: Score) -> NDArray[np.int64]:
    """Make the next answer independent of one earlier answer in one context, repeatedly.

    A step merges all stages in a context: situations that differ in the answer to one earlier
    variable only. The step that raises the score most is taken; of ties, the first context.
    """
    stages = start_stages(hyperstage, score)
    member = stages.member
    terms = stages.terms.copy()
    value = score.value(terms)
    context, situation = _contexts(hyperstage.answers)
    if not len(context):
        return name_stages(hyperstage.ids, member)
    n_contexts = int(context[-1]) + 1
    merged, gains = np.zeros(n_contexts), np.zeros(n_contexts)
    has_changed = np.ones(n_contexts, dtype=bool)
    while True:
        # Each stage of each context that changed, once: what merging them would gain.
        is_new = has_changed[context]
        pair = np.unique(context[is_new] * len(terms) + member[situation[is_new]])
        context_of, stage = np.divmod(pair, len(terms))
        new = score.value(sum_by(context_of, terms[stage], n_contexts)[has_changed])
        apart = np.bincount(context_of, value[stage], n_contexts)[has_changed]
        merged[has_changed], gains[has_changed] = new, new - apart
        n_stages = np.bincount(context_of, minlength=n_contexts)
        gains[has_changed & (n_stages < 2)] = -np.inf
        best = int(gains.argmax())
        tolerance = tie_tolerance(merged[best])
        if gains[best] <= tolerance:
            return name_stages(hyperstage.ids, member)
        first = int((gains >= gains[best] - tolerance).argmax())
        together = np.unique(member[situation[context == first]])
        kept = together[0]
        terms[kept] = terms[together].sum(axis=0)
        value[[kept]] = score.value(terms[[kept]])
        member = np.where(np.isin(member, together), kept, member)
        has_changed[:] = False
        has_changed[context[member[situation] == kept]] = True


def _contexts(answers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the contexts of two or more situations as pairs (context, situation).

    The nearest variable comes first; contexts of variable j are in the order of the answers
    to j + 1, ..., k and then to 1, ..., j - 1.
    """
    n_variables = answers.shape[1]
    contexts, situations, n_contexts = [], [], 0
    for variable in reversed(range(n_variables)):
        others = np.concatenate((answers[:, variable + 1 :], answers[:, :variable]), axis=1)
        _, context = np.unique(others, axis=0, return_inverse=True)
        context = context.reshape(-1)
        shared = np.flatnonzero(np.bincount(context)[context] > 1)
        _, index = np.unique(context[shared], return_inverse=True)
        order = np.argsort(index, kind="stable")
        contexts.append(index[order] + n_contexts)
        situations.append(shared[order])
        n_contexts += int(index.max(initial=-1)) + 1
    empty = np.empty(0, dtype=np.int64)
    return np.concatenate([empty, *contexts]), np.concatenate([empty, *situations])


def bj(
    hyperstage: Hyperstage, distance: JoinDistance, threshold: float, smoothing: float
) -> NDArray[np.int64]:
    """Merge the two nearest stages while their distance is below a threshold.

    Of pairs equally near, the one with the smallest situations is merged. Stages whose
    distance is infinite (``kullback``, with a share of 0 in only one of them) never are.
    """
    ids, member = np.unique(hyperstage.start, return_inverse=True)
    counts = sum_by(member, hyperstage.sizes, len(ids))
    shares = shares_of(counts, smoothing)
    into = np.arange(len(ids))

    def nearness(stage: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        return -share_distances(shares[stage], shares[others], distance)

    pairs = BestPairs(nearness, len(ids), len(ids))
    while True:
        best, first, second = pairs.find(into, lambda best: 1e-14 + 1e-9 * abs(best))
        if not -best < threshold:
            return name_stages(hyperstage.ids, into[member])
        kept, absorbed = min(first, second), max(first, second)
        counts[kept] += counts[absorbed]
        shares[kept] = shares_of(counts[kept], smoothing)
        into[into == absorbed] = kept
        pairs.update([kept], [absorbed])


def share_distances(
    share: NDArray[np.float64], others: NDArray[np.float64], distance: JoinDistance
) -> NDArray[np.float64]:
    """Return the distances of one row of shares from others, by the names of stagedtrees.

    They are infinite where undefined. ``"manhattan"`` and ``"totvar"`` both are
    sum abs(x - y), as in stagedtrees; ``"kullback"`` and ``"reny"`` add both directions.
    """
    x, y = share, others
    result: NDArray[np.float64]
    if distance in {"manhattan", "totvar"}:
        result = np.abs(x - y).sum(axis=1)
    elif distance == "euclidean":
        result = np.sqrt(((x - y) ** 2).sum(axis=1))
    elif distance == "hellinger":
        result = ((np.sqrt(x) - np.sqrt(y)) ** 2).sum(axis=1)
    elif distance == "bhatt":
        overlap = np.sqrt(x * y).sum(axis=1)
        result = np.full(len(y), np.inf)
        np.log(overlap, out=result, where=overlap > 0)
        result[overlap > 0] *= -1
        result = np.abs(result)
    elif distance in {"kullback", "reny", "chandarw"}:
        result = _ratio_distances(x, y, distance)
    else:
        raise ValueError(f"distance {distance!r} is none of {get_args(JoinDistance)}")
    return result


def _ratio_distances(
    x: NDArray[np.float64], y: NDArray[np.float64], distance: str
) -> NDArray[np.float64]:
    """Return the distances that are functions of x / y; infinite where only one is 0."""
    is_used = (x > 0) & (y > 0)
    is_bounded = ((x > 0) == (y > 0)).all(axis=1)
    x, y = np.where(is_used, x, 1.0), np.where(is_used, y, 1.0)
    ratio = x / y
    if distance == "kullback":
        result = (np.where(is_used, x - y, 0.0) * np.log(ratio)).sum(axis=1)
    elif distance == "reny":
        forth = np.where(is_used, x * ratio, 0.0).sum(axis=1)
        back = np.where(is_used, y / ratio, 0.0).sum(axis=1)
        forth[~is_bounded] = back[~is_bounded] = 1.0
        result = np.log(forth) + np.log(back)
    else:
        top = np.where(is_used, ratio, -np.inf).max(axis=1)
        bottom = np.where(is_used, ratio, np.inf).min(axis=1)
        top[~is_bounded] = bottom[~is_bounded] = 1.0
        result = np.log(top) - np.log(bottom)
    distances: NDArray[np.float64] = np.where(is_bounded, result, np.inf)
    return distances
