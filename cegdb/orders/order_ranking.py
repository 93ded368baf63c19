"""Orders of variables by a sum of local scores: the best ones, or a good one.

The score of an order is the sum, over its variables, of a local score of variable ``x``
after the *set* ``s`` of variables before it [1]_. Variables are numbers from 0, and sets are
bit masks. ``predecessors`` has, for each variable, the set of those that must come before.

References
----------
.. [1] Silander, T. and Leong, T.-Y. (2013). A dynamic programming algorithm for learning
   chain event graphs. Discovery Science, LNAI 8140, 201-216.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from cegdb.clustering.greedy import tie_floor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    LocalScore: TypeAlias = Callable[[int, int], float]

_WINDOW: Final = 4


class RankedOrder(NamedTuple):
    """An order of variables, and the sum of its local scores.

    ``n_ties`` is how many orders are as good: of all, or of those with the same last variable.
    """

    order: tuple[int, ...]
    score: float
    n_ties: int


class Ranking(NamedTuple):
    """The orders of variables, best first; of ties, the one with the smallest last variables.

    ``orders`` are all, or the best; ``best_by_last`` has the best order for each variable that
    can be the last; ``n_orders`` is how many orders there are.
    """

    orders: list[RankedOrder]
    best_by_last: list[RankedOrder]
    n_orders: int


class _BestOrders(NamedTuple):
    """The best orders of a set: score, last variable, and which of the rest's orders."""

    scores: NDArray[np.float64]
    last: NDArray[np.int64]
    rest_index: NDArray[np.int64]
    n_optimal: int


def members(subset: int) -> list[int]:
    """Return the variables of a set, ascending.

    Examples
    --------
    >>> members(0b1101)
    [0, 2, 3]
    """
    return [x for x in range(subset.bit_length()) if subset >> x & 1]


def mask_of(variables: Iterable[int]) -> int:
    """Return the set of some variables."""
    return sum(1 << x for x in set(variables))


def down_sets(predecessors: Sequence[int], limit: int) -> list[int] | None:
    """Return the sets that can come first in an order, smallest first; None above ``limit``."""
    subsets = [0]
    layer = [0]
    for _ in predecessors:
        above = {
            subset | 1 << x
            for subset in layer
            for x, required in enumerate(predecessors)
            if not subset >> x & 1 and required & ~subset == 0
        }
        layer = sorted(above)
        subsets += layer
        if len(subsets) > limit:
            return None
    return subsets


def last_variables(subsets: Sequence[int]) -> dict[int, list[int]]:
    """Return, for each down-set, the variables that can be its last one."""
    known = set(subsets)
    return {
        subset: [x for x in members(subset) if subset ^ 1 << x in known] for subset in subsets
    }


def count_orders(lasts_of: Mapping[int, Sequence[int]]) -> int:
    """Return how many orders there are."""
    n_orders = {0: 1}
    for subset, lasts in lasts_of.items():
        if subset:
            n_orders[subset] = sum(n_orders[subset ^ 1 << x] for x in lasts)
    return n_orders[max(lasts_of)]


def rank_orders(
    lasts_of: Mapping[int, Sequence[int]], local_score: LocalScore, *, limit: int
) -> Ranking:
    """Rank orders by a dynamic programme over sets: exact.

    ``f({}) = 0`` and ``f(W) = max over x of f(W - x) + local_score(x, W - x)``; not only the
    maximum is kept but the best ``limit`` orders of each set. The local score is called once
    for each set and last variable.
    """
    none = np.zeros(1, dtype=np.int64)
    tops = {0: _BestOrders(np.zeros(1), none, none, 1)}
    best_by_last: list[RankedOrder] = []
    *_, whole = lasts_of
    for subset, lasts in lasts_of.items():
        if not subset:
            continue
        rests = [tops[subset ^ 1 << x] for x in lasts]
        ends = [
            rest.scores + local_score(x, subset ^ 1 << x)
            for x, rest in zip(lasts, rests, strict=True)
        ]
        tops[subset] = _merge_ends(lasts, rests, ends, limit)
        if subset == whole:
            best_by_last = [
                RankedOrder(
                    (*_order(tops, subset ^ 1 << x, 0), x), float(end[0]), rest.n_optimal
                )
                for x, rest, end in zip(lasts, rests, ends, strict=True)
            ]
    best = tops[whole]
    orders = [
        RankedOrder(_order(tops, whole, index), float(score), 1)
        for index, score in enumerate(best.scores)
    ]
    return Ranking(
        _by_ties(orders, best.n_optimal), _by_ties(best_by_last, None), count_orders(lasts_of)
    )


def _merge_ends(
    lasts: Sequence[int],
    rests: Sequence[_BestOrders],
    ends: Sequence[NDArray[np.float64]],
    limit: int,
) -> _BestOrders:
    """Return the best orders of a set, given those that end with each variable."""
    scores = np.concatenate(ends)
    last = np.repeat(np.array(lasts, dtype=np.int64), [len(end) for end in ends])
    index = np.concatenate([np.arange(len(end)) for end in ends])
    floor = tie_floor(float(scores.max()))
    key = np.where(scores >= floor, np.inf, scores)
    chosen = np.lexsort((index, last, -key))[:limit]
    n_optimal = sum(
        rest.n_optimal for rest, end in zip(rests, ends, strict=True) if end[0] >= floor
    )
    return _BestOrders(scores[chosen], last[chosen], index[chosen], n_optimal)


def _order(tops: Mapping[int, _BestOrders], subset: int, index: int) -> tuple[int, ...]:
    """Trace back one of the best orders of a set."""
    order = []
    while subset:
        top = tops[subset]
        x, index = int(top.last[index]), int(top.rest_index[index])
        order.append(x)
        subset ^= 1 << x
    return tuple(reversed(order))


def _by_ties(ranked: list[RankedOrder], n_optimal: int | None) -> list[RankedOrder]:
    """Sort orders, best first; of ties, the one with the smallest last variables first.

    ``n_optimal`` is how many orders tie with the best, which may not all be here; None
    keeps the ties as given.
    """
    ranked.sort(key=lambda one: -one.score)
    result: list[RankedOrder] = []
    start = 0
    while start < len(ranked):
        floor = tie_floor(ranked[start].score)
        end = start
        while end < len(ranked) and ranked[end].score >= floor:
            end += 1
        tied = sorted(ranked[start:end], key=lambda one: one.order[::-1])
        if n_optimal is not None:
            n_ties = len(tied) if start else n_optimal
            tied = [one._replace(n_ties=n_ties) for one in tied]
        result += tied
        start = end
    return result


def greedy_order(predecessors: Sequence[int], local_score: LocalScore) -> RankedOrder:
    """Find a good order: insert one variable after another, then move them.

    Each variable goes where the total score *of the same set* of variables is best: scores of
    different variables cannot be compared, since they are of different data. Then single
    variables are moved, and any four in a row put in their best order, while that raises the
    score. This is done twice, taking the variables as given and in reverse. Trying a variable
    at all positions in an order of k takes 2 k + 1 local scores; four in a row take 32.
    """
    closed = all_predecessors(predecessors)
    n = len(predecessors)
    tried = []
    for sequence in (range(n), range(n - 1, -1, -1)):
        order: list[int] = []
        for x in sequence:
            order = _insert(order, x, closed, local_score, None)
        former: list[int] = []
        while order != former:
            former = order
            for x in range(n):
                index = order.index(x)
                others = [*order[:index], *order[index + 1 :]]
                order = _insert(others, x, closed, local_score, index)
            for start in range(n - 1):
                order = _rearrange(order, start, closed, local_score)
        tried.append(RankedOrder(tuple(order), sum(_local_scores(order, local_score)), 0))
    return max(tried, key=lambda one: one.score)


def all_predecessors(predecessors: Sequence[int]) -> list[int]:
    """Return, for each variable, all that come before it, directly or not."""
    closed = list(predecessors)
    for _ in predecessors:
        for x, required in enumerate(closed):
            for y in members(required):
                closed[x] |= closed[y]
    return closed


def _local_scores(order: Sequence[int], local_score: LocalScore) -> list[float]:
    before, scores = 0, []
    for x in order:
        scores.append(local_score(x, before))
        before |= 1 << x
    return scores


def _insert(
    order: list[int],
    x: int,
    closed: Sequence[int],
    local_score: LocalScore,
    current: int | None,
) -> list[int]:
    """Put a variable where it is best; where it is, or last, if nothing is better."""
    low = max((i + 1 for i, y in enumerate(order) if closed[x] >> y & 1), default=0)
    high = min((i for i, y in enumerate(order) if closed[y] >> x & 1), default=len(order))
    before = [0]
    for y in order:
        before.append(before[-1] | 1 << y)
    ahead = np.array([local_score(order[i], before[i] | 1 << x) for i in range(low, high)])
    behind = np.array([local_score(order[i], before[i]) for i in range(low, high)])
    own = np.array([local_score(x, before[i]) for i in range(low, high + 1)])
    total = own + np.append(0.0, np.cumsum(behind))
    total += np.append(np.cumsum(ahead[::-1])[::-1], 0.0)
    stay = high if current is None else current
    best = float(total.max())
    index = low + int(total.argmax())
    if total[stay - low] >= tie_floor(best):
        index = stay
    return [*order[:index], x, *order[index:]]


def _rearrange(
    order: list[int], start: int, closed: Sequence[int], local_score: LocalScore
) -> list[int]:
    """Put some variables in a row in their best order; leave them if none is better."""
    row = order[start : start + _WINDOW]
    before = mask_of(order[:start])
    predecessors = [mask_of(i for i, y in enumerate(row) if closed[x] >> y & 1) for x in row]
    lasts_of = last_variables(down_sets(predecessors, limit=1 << len(row)) or [])

    def within(i: int, s: int) -> float:
        return local_score(row[i], before | mask_of(row[j] for j in members(s)))

    (best,) = rank_orders(lasts_of, within, limit=1).orders
    if sum(_local_scores(range(len(row)), within)) >= tie_floor(best.score):
        return order
    return [*order[:start], *(row[i] for i in best.order), *order[start + len(row) :]]
