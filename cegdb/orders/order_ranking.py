"""Orders of variables by a sum of local scores: the best ones, or a good one.

An order's score is the sum, over its variables, of a local score ``g(x, s)`` of variable
``x`` after the *set* ``s`` of variables before it [1]_. Variables are numbers from 0, sets
are bit masks, and what must come before what is a mask a variable.

References
----------
.. [1] Silander, T. and Leong, T.-Y. (2013). A dynamic programming algorithm for learning
   chain event graphs. Discovery Science, LNAI 8140, 201-216.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from cegdb.clustering.greedy import TIE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    LocalScore: TypeAlias = Callable[[int, int], float]

_WINDOW: Final = 4


class Ranked(NamedTuple):
    """An order of variables.

    Attributes
    ----------
    order
        From the first variable to the last.
    score
        The sum of its local scores.
    n_ties
        Orders as good as it: of all, or of those with the same last variable.
    """

    order: tuple[int, ...]
    score: float
    n_ties: int


class Ranking(NamedTuple):
    """The orders of variables, best first.

    Attributes
    ----------
    orders
        All of them, or the best; of ties, the one with the smallest variable last first.
    winners
        For each variable that can be the last, the best order that ends with it.
    n_orders
        How many orders there are.
    """

    orders: list[Ranked]
    winners: list[Ranked]
    n_orders: int


class _Top(NamedTuple):
    """The best orders of one set: score, last variable, place among those of the rest."""

    scores: NDArray[np.float64]
    last: NDArray[np.int64]
    place: NDArray[np.int64]
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
    """Return the set of some variables.

    Examples
    --------
    >>> mask_of([0, 2, 3])
    13
    """
    return sum(1 << x for x in set(variables))


def down_sets(needs: Sequence[int], most: int) -> list[int] | None:
    """Return the sets that can come first in an order, smallest first.

    Parameters
    ----------
    needs
        For each variable, the set of those that must come before it.
    most
        Give up beyond this number.

    Returns
    -------
    list of int, or None
        The empty set first, that of all variables last; None if they are too many.

    Examples
    --------
    Variable 1 only after variable 0:

    >>> down_sets([0b000, 0b001, 0b000], most=10)
    [0, 1, 4, 3, 5, 7]
    """
    found = [0]
    layer = [0]
    for _ in needs:
        above = {
            subset | 1 << x
            for subset in layer
            for x, needed in enumerate(needs)
            if not subset >> x & 1 and needed & ~subset == 0
        }
        layer = sorted(above)
        found += layer
        if len(found) > most:
            return None
    return found


def steps_of(subsets: Sequence[int]) -> dict[int, list[int]]:
    """Return, for each down-set, the variables that can be its last one.

    Examples
    --------
    >>> steps_of([0, 1, 4, 3, 5, 7])
    {0: [], 1: [0], 4: [2], 3: [1], 5: [0, 2], 7: [1, 2]}
    """
    known = set(subsets)
    return {
        subset: [x for x in members(subset) if subset ^ 1 << x in known] for subset in subsets
    }


def count_orders(steps: Mapping[int, Sequence[int]]) -> int:
    """Return how many orders there are.

    Examples
    --------
    >>> count_orders(steps_of([0, 1, 4, 3, 5, 7]))
    3
    """
    n_orders = {0: 1}
    for subset, lasts in steps.items():
        if subset:
            n_orders[subset] = sum(n_orders[subset ^ 1 << x] for x in lasts)
    return n_orders[max(steps)]


def rank_orders(steps: Mapping[int, Sequence[int]], g: LocalScore, *, most: int) -> Ranking:
    """Rank orders by a dynamic programme over sets: exact.

    ``f({}) = 0`` and ``f(W) = max over x of f(W - x) + g(x, W - x)``; not only the maximum is
    kept but the best ``most`` orders of each set.

    Parameters
    ----------
    steps
        The down-sets, smaller ones first, and what can be last in each: `steps_of`.
    g
        The local score, more being better; called once for each set and last variable.
    most
        How many orders to return at most.

    Returns
    -------
    Ranking
        Scores within ``1e-9 * max(1, |best|)`` of the best tie.

    Examples
    --------
    >>> gain = {(1, 0b01): 2.0}
    >>> ranking = rank_orders(
    ...     steps_of(down_sets([0, 0], most=4)), lambda x, s: gain.get((x, s), 0.0), most=9
    ... )
    >>> ranking.orders[0], ranking.n_orders
    (Ranked(order=(0, 1), score=2.0, n_ties=1), 2)
    """
    none = np.zeros(1, dtype=np.int64)
    tops = {0: _Top(np.zeros(1), none, none, 1)}
    winners: list[Ranked] = []
    *_, whole = steps
    for subset, lasts in steps.items():
        if not subset:
            continue
        rests = [tops[subset ^ 1 << x] for x in lasts]
        ends = [
            rest.scores + g(x, subset ^ 1 << x) for x, rest in zip(lasts, rests, strict=True)
        ]
        tops[subset] = _top(lasts, rests, ends, most)
        if subset == whole:
            winners = [
                Ranked((*_order(tops, subset ^ 1 << x, 0), x), float(end[0]), rest.n_optimal)
                for x, rest, end in zip(lasts, rests, ends, strict=True)
            ]
    best = tops[whole]
    orders = [
        Ranked(_order(tops, whole, place), float(score), 1)
        for place, score in enumerate(best.scores)
    ]
    return Ranking(
        _by_ties(orders, best.n_optimal), _by_ties(winners, None), count_orders(steps)
    )


def _top(
    lasts: Sequence[int],
    rests: Sequence[_Top],
    ends: Sequence[NDArray[np.float64]],
    most: int,
) -> _Top:
    """Return the best orders of a set, given those that end with each variable."""
    scores = np.concatenate(ends)
    last = np.repeat(np.array(lasts, dtype=np.int64), [len(end) for end in ends])
    place = np.concatenate([np.arange(len(end)) for end in ends])
    floor = _tie_floor(float(scores.max()))
    key = np.where(scores >= floor, np.inf, scores)
    chosen = np.lexsort((place, last, -key))[:most]
    n_optimal = sum(
        rest.n_optimal for rest, end in zip(rests, ends, strict=True) if end[0] >= floor
    )
    return _Top(scores[chosen], last[chosen], place[chosen], n_optimal)


def _tie_floor(best: float) -> float:
    return best - TIE_TOLERANCE * max(1.0, abs(best))


def _order(tops: Mapping[int, _Top], subset: int, place: int) -> tuple[int, ...]:
    """Trace back one of the best orders of a set."""
    order = []
    while subset:
        top = tops[subset]
        x, place = int(top.last[place]), int(top.place[place])
        order.append(x)
        subset ^= 1 << x
    return tuple(reversed(order))


def _by_ties(ranked: list[Ranked], n_optimal: int | None) -> list[Ranked]:
    """Sort orders, best first; of ties, that with the smallest last variables first.

    ``n_optimal`` is how many orders tie with the best, which may not all be here; None
    keeps the ties that are told.
    """
    ranked.sort(key=lambda one: -one.score)
    result: list[Ranked] = []
    start = 0
    while start < len(ranked):
        floor = _tie_floor(ranked[start].score)
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


def insert_variables(needs: Sequence[int], g: LocalScore) -> Ranked:
    """Find a good order: put in one variable after another, then move them.

    Parameters
    ----------
    needs
        For each variable, the set of those that must come before it.
    g
        The local score, more being better; called often with the same arguments.

    Returns
    -------
    Ranked
        ``n_ties`` is 0: not known.

    Notes
    -----
    Each variable goes where the total score *of the same set* of variables is best, since
    scores of different variables cannot be compared: they are of different data. Then
    single variables are moved, and any four in a row put in their best order, while that
    raises the score. This is done twice, with the variables taken in the order given and
    in reverse, and the better result kept. A variable tried at all places of an order of
    k costs 2 k + 1 local scores, four in a row cost 32.

    Examples
    --------
    >>> gain = {(1, 0b100): 3.0, (0, 0b110): 2.0}
    >>> insert_variables([0, 0, 0], lambda x, s: gain.get((x, s), 0.0)).order
    (2, 1, 0)
    """
    closed = closure(needs)
    n = len(needs)
    found = []
    for sequence in (range(n), range(n - 1, -1, -1)):
        order: list[int] = []
        for x in sequence:
            order = _placed(order, x, closed, g, None)
        former: list[int] = []
        while order != former:
            former = order
            for x in range(n):
                place = order.index(x)
                order = _placed([*order[:place], *order[place + 1 :]], x, closed, g, place)
            for start in range(n - 1):
                order = _rearranged(order, start, closed, g)
        found.append(Ranked(tuple(order), sum(_local(order, g)), 0))
    return max(found, key=lambda one: one.score)


def closure(needs: Sequence[int]) -> list[int]:
    """Return, for each variable, all that come before it, directly or not.

    Examples
    --------
    >>> closure([0b000, 0b001, 0b010])
    [0, 1, 3]
    """
    closed = list(needs)
    for _ in needs:
        for x, needed in enumerate(closed):
            for y in members(needed):
                closed[x] |= closed[y]
    return closed


def _local(order: Sequence[int], g: LocalScore) -> list[float]:
    before, scores = 0, []
    for x in order:
        scores.append(g(x, before))
        before |= 1 << x
    return scores


def _placed(
    order: list[int], x: int, closed: Sequence[int], g: LocalScore, current: int | None
) -> list[int]:
    """Put a variable where it is best; where it is, or last, if nothing is better."""
    low = max((i + 1 for i, y in enumerate(order) if closed[x] >> y & 1), default=0)
    high = min((i for i, y in enumerate(order) if closed[y] >> x & 1), default=len(order))
    before = [0]
    for y in order:
        before.append(before[-1] | 1 << y)
    ahead = np.array([g(order[i], before[i] | 1 << x) for i in range(low, high)])
    behind = np.array([g(order[i], before[i]) for i in range(low, high)])
    own = np.array([g(x, before[i]) for i in range(low, high + 1)])
    total = own + np.append(0.0, np.cumsum(behind))
    total += np.append(np.cumsum(ahead[::-1])[::-1], 0.0)
    stay = high if current is None else current
    best = float(total.max())
    place = low + int(total.argmax())
    if total[stay - low] >= _tie_floor(best):
        place = stay
    return [*order[:place], x, *order[place:]]


def _rearranged(
    order: list[int], start: int, closed: Sequence[int], g: LocalScore
) -> list[int]:
    """Put some variables in a row in their best order; as they are, if none is better."""
    row = order[start : start + _WINDOW]
    before = mask_of(order[:start])
    needs = [mask_of(i for i, y in enumerate(row) if closed[x] >> y & 1) for x in row]
    steps = steps_of(down_sets(needs, most=1 << len(row)) or [])

    def within(i: int, s: int) -> float:
        return g(row[i], before | mask_of(row[j] for j in members(s)))

    (best,) = rank_orders(steps, within, most=1).orders
    if sum(_local(range(len(row)), within)) >= _tie_floor(best.score):
        return order
    return [*order[:start], *(row[i] for i in best.order), *order[start + len(row) :]]
