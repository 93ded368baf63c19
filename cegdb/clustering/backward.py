"""Backward learning: methods that only join stages, by the names of stagedtrees [1]_.

References
----------
.. [1] Carli, F., Leonelli, M., Riccomagno, E. and Varando, G. (2022). The R package
   stagedtrees for structural learning of stratified staged trees. Journal of Statistical
   Software 102(6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from cegdb.clustering.best_pairs import Pairs
from cegdb.clustering.stage_sums import add_by, name_stages, share_of, slack, start_stages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.clustering.scoring import Hyperstage, Score

JoinDistance: TypeAlias = Literal[
    "manhattan", "euclidean", "reny", "kullback", "totvar", "hellinger", "bhatt", "chandarw"
]


def fbhc(hyperstage: Hyperstage, score: Score) -> NDArray[np.int64]:
    """Join the first two stages whose join does not lower the score, until none are left.

    Parameters
    ----------
    hyperstage
        Its situations start in the stages ``hyperstage.start``.
    score
        What must not fall.

    Returns
    -------
    NDArray[np.int64]
        Shape (situations,): the stage of each, named by its smallest situation.

    Notes
    -----
    Stages are in order of their smallest situation; of the pairs (i, j), j before i,
    the one with the smallest i, then j, is tried first, and after a join all are tried
    anew. A pair refused once is refused for good while both stages last, so that only
    pairs with the joined stage are tried again: about one round of tests a stage.

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
    >>> fbhc(three, Penalised(penalty=1.0))
    array([4, 5, 4])
    """
    stages = start_stages(hyperstage, score)
    terms = stages.terms.copy()
    value = score.value(terms)
    into = np.arange(len(terms))
    # Of the stages in ``tried``, ascending, no two are worth a join.
    tried = np.empty(0, dtype=np.int64)
    for stage in range(len(terms)):
        changed = stage
        while True:
            joined = score.value(terms[tried] + terms[changed])
            gains = joined - value[tried] - value[changed]
            welcome = np.flatnonzero(gains >= -np.maximum(1e-9, 1e-12 * np.abs(joined)))
            if not len(welcome):
                break
            other = int(tried[welcome[0]])
            tried = np.delete(tried, welcome[0])
            kept, gone = min(other, changed), max(other, changed)
            terms[kept] += terms[gone]
            value[[kept]] = score.value(terms[[kept]])
            into[gone] = kept
            changed = kept
        tried = np.insert(tried, np.searchsorted(tried, changed), changed)
    for stage in range(len(into)):
        into[stage] = into[into[stage]]
    return name_stages(hyperstage.ids, into[stages.member])


def csbhc(hyperstage: Hyperstage, score: Score) -> NDArray[np.int64]:
    """Make the next answer independent of one earlier answer in one context, repeatedly.

    Parameters
    ----------
    hyperstage
        Its situations start in the stages ``hyperstage.start``.
    score
        Each step is the one that raises it most, while any does.

    Returns
    -------
    NDArray[np.int64]
        Shape (situations,): the stage of each, named by its smallest situation.

    Notes
    -----
    A step joins all stages met by the situations of a context, which are those that
    differ in the answer to one earlier variable only. Of equal steps the first is taken:
    variables go from the nearest back, and the contexts of variable j are in order of the
    answers to j + 1, ..., k and then to 1, ..., j - 1.

    Examples
    --------
    The second answer does not matter where the first is 0:

    >>> from cegdb.clustering import Hyperstage, Penalised
    >>> ids = np.array([4, 5, 6, 7])
    >>> four = Hyperstage(
    ...     ids=ids,
    ...     counts=np.array([[9, 1], [8, 2], [20, 10], [1, 29]]),
    ...     bases=np.ones((1, 2)),
    ...     multiplicities=np.ones((4, 1), dtype=np.int64),
    ...     start=ids,
    ...     answers=np.array([[0, 0], [0, 1], [1, 0], [1, 1]]),
    ... )
    >>> csbhc(four, Penalised(penalty=1.0))
    array([4, 4, 6, 7])
    """
    stages = start_stages(hyperstage, score)
    member = stages.member
    terms = stages.terms.copy()
    value = score.value(terms)
    context, situation = _contexts(hyperstage.answers)
    if not len(context):
        return name_stages(hyperstage.ids, member)
    n_contexts = int(context[-1]) + 1
    joined, gains = np.zeros(n_contexts), np.zeros(n_contexts)
    is_open = np.ones(n_contexts, dtype=bool)
    while True:
        look = is_open[context]
        pair = np.unique(context[look] * len(terms) + member[situation[look]])
        of, stage = np.divmod(pair, len(terms))
        new = score.value(add_by(of, terms[stage], n_contexts)[is_open])
        joined[is_open] = new
        gains[is_open] = new - np.bincount(of, value[stage], n_contexts)[is_open]
        gains[is_open & (np.bincount(of, minlength=n_contexts) < 2)] = -np.inf
        best = int(gains.argmax())
        near = slack(joined[best])
        if gains[best] <= near:
            return name_stages(hyperstage.ids, member)
        first = int((gains >= gains[best] - near).argmax())
        together = np.unique(member[situation[context == first]])
        kept = together[0]
        terms[kept] = terms[together].sum(axis=0)
        value[[kept]] = score.value(terms[[kept]])
        member = np.where(np.isin(member, together), kept, member)
        is_open[:] = False
        is_open[context[member[situation] == kept]] = True


def _contexts(answers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the contexts of two or more situations: pairs (context, situation)."""
    n_variables = answers.shape[1]
    contexts, situations, n_contexts = [], [], 0
    for variable in reversed(range(n_variables)):
        others = np.concatenate((answers[:, variable + 1 :], answers[:, :variable]), axis=1)
        _, context = np.unique(others, axis=0, return_inverse=True)
        context = context.reshape(-1)
        shared = np.flatnonzero(np.bincount(context)[context] > 1)
        _, number = np.unique(context[shared], return_inverse=True)
        order = np.argsort(number, kind="stable")
        contexts.append(number[order] + n_contexts)
        situations.append(shared[order])
        n_contexts += int(number.max(initial=-1)) + 1
    empty = np.empty(0, dtype=np.int64)
    return np.concatenate([empty, *contexts]), np.concatenate([empty, *situations])


def bj(
    hyperstage: Hyperstage, distance: JoinDistance, threshold: float, smoothing: float
) -> NDArray[np.int64]:
    """Join the two nearest stages while they are nearer than a threshold.

    Parameters
    ----------
    hyperstage
        Its situations start in the stages ``hyperstage.start``.
    distance
        Between the shares of two stages, see ``share_distances``.
    threshold
        Stages at this distance or a larger one are not joined.
    smoothing
        Added to the count of each label of a stage when its shares are estimated.

    Returns
    -------
    NDArray[np.int64]
        Shape (situations,): the stage of each, named by its smallest situation.

    Notes
    -----
    Of pairs equally near the one with the smallest situations is joined. Stages whose
    distance is infinite or not defined (``kullback`` with a share of 0 in one alone) are
    never joined.

    Examples
    --------
    >>> from cegdb.clustering import Hyperstage
    >>> ids = np.array([4, 5, 6])
    >>> three = Hyperstage(
    ...     ids=ids,
    ...     counts=np.array([[9, 1], [1, 9], [8, 2]]),
    ...     bases=np.ones((1, 2)),
    ...     multiplicities=np.ones((3, 1), dtype=np.int64),
    ...     start=ids,
    ...     answers=np.array([[0], [1], [2]]),
    ... )
    >>> bj(three, "kullback", threshold=0.1, smoothing=0.0)
    array([4, 5, 4])
    """
    ids, member = np.unique(hyperstage.start, return_inverse=True)
    counts = add_by(member, hyperstage.sizes, len(ids))
    shares = share_of(counts, smoothing)
    into = np.arange(len(ids))

    def nearness(stage: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        return -share_distances(shares[stage], shares[others], distance)

    pairs = Pairs(nearness, len(ids), len(ids))
    while True:
        near, first, second = pairs.find(into, lambda near: 1e-14 + 1e-9 * abs(near))
        if not -near < threshold:
            return name_stages(hyperstage.ids, into[member])
        kept, gone = min(first, second), max(first, second)
        counts[kept] += counts[gone]
        shares[kept] = share_of(counts[kept], smoothing)
        into[into == gone] = kept
        pairs.change([kept], [gone])


def share_distances(
    share: NDArray[np.float64], others: NDArray[np.float64], distance: JoinDistance
) -> NDArray[np.float64]:
    """Return the distances of one row of shares from others, by stagedtrees' names.

    Parameters
    ----------
    share
        Shape (labels,), sums to 1.
    others
        Shape (stages, labels), each row sums to 1.
    distance
        ``"manhattan"`` and ``"totvar"`` (both sum abs(x - y)), ``"euclidean"``,
        ``"hellinger"`` (sum (sqrt x - sqrt y)^2), ``"kullback"`` (Kullback and Leibler,
        both ways added), ``"reny"`` (Renyi of order 2, both ways added), ``"bhatt"``
        (-log sum sqrt(x y)) or ``"chandarw"`` (log max(x / y) - log min(x / y)).

    Returns
    -------
    NDArray[np.float64]
        Shape (stages,), infinite where it is not defined.

    Examples
    --------
    >>> share_distances(np.array([0.5, 0.5]), np.array([[0.5, 0.5], [1, 0]]), "kullback")
    array([ 0., inf])
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
    """Return distances that are made of x / y, infinite if one alone is 0."""
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
