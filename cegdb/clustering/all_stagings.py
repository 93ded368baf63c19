"""All stagings of a hyperstage at once, by a programme over sets of situations.

The score of a staging is a sum over its stages, so that what is best, or how probable, for a
set ``S`` of situations follows from smaller sets: with ``s`` the last situation of ``S`` and
``m(B)`` the score of the stage ``B``,

    Z(S) = sum over the stages B of S that contain s of exp(m(B)) Z(S without B)

and the best staging is the same with the maximum instead of the sum: 3^n steps for ``n``
situations [1]_. The probability that ``B`` is a stage is ``exp(m(B)) Z(all without B) /
Z(all)``. A structure prior that depends on the number of stages is weighed at the end,
from ``Z(S, k)`` over the stagings of ``S`` into ``k`` stages. Sets are the bits of whole
numbers.

References
----------
.. [1] Silander, T. and Leong, T.-Y. (2013). A dynamic programming algorithm for learning chain
   event graphs. Discovery Science, 201-216.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from cegdb.clustering.hyperstage import name_stages
from cegdb.clustering.scoring import Penalised
from cegdb.clustering.stage_sums import tie_tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from cegdb.clustering.hyperstage import Hyperstage
    from cegdb.clustering.scoring import Score

MAX_SITUATIONS: Final = 16
"""Most situations of a hyperstage whose stagings are all looked at."""


def stage_scores(hyperstage: Hyperstage, score: Score) -> NDArray[np.float64]:
    """Return the score of each set of situations as one stage, 0 for the empty set."""
    n_situations, n_labels = hyperstage.counts.shape
    counts = np.zeros((1, n_labels), dtype=np.int64)
    multiplicities = np.zeros((1, len(hyperstage.bases)), dtype=np.int64)
    for i in range(n_situations):
        # Sums of whole numbers: equal sets have equal scores to the bit.
        counts = np.concatenate((counts, counts + hyperstage.counts[i]))
        multiplicities = np.concatenate(
            (multiplicities, multiplicities + hyperstage.multiplicities[i])
        )
    sizes = counts[1:] * np.float64(hyperstage.unit)
    values = score.value(score.terms(sizes, multiplicities[1:] @ hyperstage.bases))
    return np.concatenate(([0.0], values))


def best_staging(
    hyperstage: Hyperstage, score: Score, structure: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the staging with the largest score plus log structure prior, by number of stages.

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
    ... )
    >>> best_staging(situations, Marginal(), np.zeros(4))
    array([4, 5, 4])
    """
    classes = interchangeable(hyperstage, score, structure)
    start = replace(hyperstage, start=name_stages(hyperstage.ids, classes)).pooled()
    scores = stage_scores(start, score)
    n = len(start.ids)
    best = _over_sets(scores, 2**n // 2, np.max)
    everything = 2**n - 1
    total = _splits(best, scores, everything).max(axis=0) + structure[1 : n + 1]
    tolerance = tie_tolerance(float(total.max()))
    n_stages = 1 + int(np.argmax(total >= total.max() - tolerance))
    stage = np.zeros(n, dtype=np.int64)
    left = everything
    for k in range(n_stages, 0, -1):
        values = _splits(best, scores, left)[:, k - 1]
        chosen = int(np.argmax(values >= values.max() - tolerance))
        block = left ^ int(_rests(left)[chosen])
        stage[_members(block, n)] = k
        left ^= block
    return name_stages(hyperstage.ids, stage[classes])


def interchangeable(
    hyperstage: Hyperstage, score: Score, structure: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return a class of each situation: those of one share a stage in some best staging.

    Those with equal shares, for a penalised likelihood: the largest log likelihood of a stage
    plus ``t`` times a floret is convex in ``t``, as the largest of lines, so that moving one of
    two such situations to the stage of the other, one way or the other, loses nothing. Not
    where the prior of a stage grows with its situations, or the number of stages has a prior.
    """
    is_flat = bool((structure[1:] == structure[-1]).all())
    if not (is_flat and isinstance(score, Penalised) and score.smoothing == 0):
        return np.arange(len(hyperstage.ids))
    divisor = np.maximum(np.gcd.reduce(hyperstage.counts, axis=1), 1)
    shares = hyperstage.counts // divisor[:, None]
    _, first, member = np.unique(shares, axis=0, return_index=True, return_inverse=True)
    classes: NDArray[np.int64] = np.unique(first[member.ravel()], return_inverse=True)[1]
    return classes


def log_total(hyperstage: Hyperstage, score: Score, structure: NDArray[np.float64]) -> float:
    """Return the log of the sum of exp(score + log structure prior) over all stagings."""
    scores = stage_scores(hyperstage, score)
    sums = _over_sets(scores, len(scores) // 2, _log_sum)
    by_number = _log_sum(_splits(sums, scores, len(scores) - 1)) + structure[1:]
    return float(_log_sum(by_number[:, None])[0])


def stage_probabilities(
    hyperstage: Hyperstage, score: Score, structure: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return `log_total`, and for each set of situations the probability that it is a stage.

    ``score`` is a log marginal likelihood.
    """
    scores = stage_scores(hyperstage, score)
    sums = _over_sets(scores, len(scores), _log_sum)
    total = float(_log_sum((sums[-1, 1:] + structure[1:])[:, None])[0])
    # The situations outside a stage, whose set is the complement, however they are staged.
    others = _log_sum((sums[::-1, :-1] + structure[1:]).T)
    others[0] = -np.inf
    return total, np.exp(scores + others - total)


def is_member(n_situations: int) -> NDArray[np.bool_]:
    """Return which situations each set holds, shape (sets, situations)."""
    sets = np.arange(1 << n_situations)[:, None]
    return (sets >> np.arange(n_situations) & 1).astype(bool)


def _over_sets(
    scores: NDArray[np.float64], n_sets: int, combine: Callable[..., NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Combine the stagings of the first sets, by their number of stages: shape (sets, k)."""
    n = len(scores).bit_length() - 1
    table = np.full((n_sets, n + 1), -np.inf)
    table[0, 0] = 0.0
    for number in range(1, n_sets):
        values = _splits(table, scores, number)
        table[number, 1 : values.shape[1] + 1] = combine(values, axis=0)
    return table


def _splits(
    table: NDArray[np.float64], scores: NDArray[np.float64], number: int
) -> NDArray[np.float64]:
    """Score the ways to split a set into the stage of its last situation and the rest.

    Shape (rests, k): with the rest in 0, 1, ... stages.
    """
    rests = _rests(number)
    return table[rests, : number.bit_count()] + scores[number ^ rests, None]


def _rests(number: int) -> NDArray[np.int64]:
    """Return the subsets of a set without its last element, ascending."""
    subsets = np.zeros(1, dtype=np.int64)
    last = 1 << (number.bit_length() - 1)
    bit = 1
    while bit < last:
        if number & bit:
            subsets = np.concatenate((subsets, subsets | bit))
        bit <<= 1
    return subsets


def _members(number: int, n: int) -> NDArray[np.bool_]:
    return (number >> np.arange(n) & 1).astype(bool)


def _log_sum(values: NDArray[np.float64], axis: int = 0) -> NDArray[np.float64]:
    """Return the log of the sum of exponentials, -inf for a sum of nothing."""
    top = values.max(axis=axis)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total: NDArray[np.float64] = np.log(np.exp(values - top).sum(axis=axis)) + top
    return total
