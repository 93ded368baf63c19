"""Exact greedy clustering of stages, on arrays.

Agglomerative hierarchical clustering (AHC) merges two stages by adding counts and
priors, the pair that gains most first: the largest log Bayes factor, as long as that is
positive [1]_, or another score's gain.

References
----------
.. [1] Freeman, G. and Smith, J. Q. (2011). Bayesian MAP model selection of chain
   event graphs. Journal of Multivariate Analysis 102(7), 1152-1165.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf, nextafter
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from cegdb.clustering.scoring import STEEP, Penalised, Score, log_marginal_likelihood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MIN_LOG_BAYES_FACTOR = 1e-9
"""A merge must gain more than this: 0 in exact arithmetic."""

TIE_TOLERANCE = 1e-9
"""Gains ``x`` and ``best`` tie if they differ by this times ``max(1, |best|)``."""

_STALE = -1


class Merge(NamedTuple):
    """One step of AHC: two stages become one.

    Attributes
    ----------
    kept_id
        The smaller of the two stages' ids, and the id of the merged stage.
    absorbed_id
        The other stage's id.
    log_bayes_factor
        Score of the merged stage minus the scores of the two: a log Bayes factor, or half
        of what BIC or AIC falls by.
    """

    kept_id: int
    absorbed_id: int
    log_bayes_factor: float


def agglomerate(
    counts: NDArray[np.int64],
    bases: NDArray[np.float64],
    multiplicities: NDArray[np.int64],
    ids: NDArray[np.int64],
    *,
    unit: float = 1.0,
    score: Score | None = None,
    least: float = MIN_LOG_BAYES_FACTOR,
    last_wins: bool = False,
) -> list[Merge]:
    """Cluster the situations of one hyperstage: exact greedy AHC.

    Of all pairs of stages, the one that gains most is merged, while its gain exceeds
    ``least``. Pairs within ``1e-9 * max(1, best)`` of the best tie: the smallest (smaller
    id, larger id) is taken. A merged stage has the smallest id of its members.

    Parameters
    ----------
    counts
        Shape (situations, labels), not negative.
    bases
        Shape (bases, labels), above 0: the distinct prior vectors of the hyperstage.
    multiplicities
        Shape (situations, bases), each row with a number above 0: the prior of
        situation ``i`` is ``multiplicities[i] @ bases``. Whole numbers, so that equal
        contents are equal to the bit, whatever merges they came from.
    ids
        One a situation, distinct, in any order.
    unit
        What 1 in ``counts`` stands for, a power of 2: effective counts of weighted
        surveys are multiples of a small one, so that their sums are exact too.
    score
        What gains are gains of; left out, the log marginal likelihood (log Bayes factors).
    least
        A merge must gain more: 1e-9 is 0 in exact arithmetic.
    last_wins
        Of ties take the largest (larger id, smaller id) instead.

    Returns
    -------
    list[Merge]
        In the order made. The order of the rows has no part in it.

    Notes
    -----
    A gain depends on the two contents (counts and multiplicities) only, so
    stages of equal content are kept together, and contents are compared, not stages.
    With ``d`` distinct contents at a time: ``d**2 / 2`` comparisons to begin with and
    a few times ``d`` a merge. Memory is proportional to the number of situations.

    Examples
    --------
    Two situations alike and one apart, each with prior (1, 1):

    >>> merges = agglomerate(
    ...     counts=np.array([[9, 1], [1, 9], [8, 2]]),
    ...     bases=np.array([[1.0, 1.0]]),
    ...     multiplicities=np.array([[1], [1], [1]]),
    ...     ids=np.array([4, 5, 6]),
    ... )
    >>> [(m.kept_id, m.absorbed_id, round(m.log_bayes_factor, 6)) for m in merges]
    [(4, 6, 0.663621)]
    """
    if bases.shape[1] == 1:
        return []
    scorer: _Scorer
    if isinstance(score, Penalised):
        scorer = _Fit(score, counts.shape[1], unit)
        multiplicities = multiplicities[:, :0]
    else:
        scorer = _Bayes(bases, unit)
    # Ids of the other sign turn the order of ties round; the smallest id stays the name.
    sign, name = (-1, max) if last_wins else (1, min)
    contents = _Contents(len(ids), scorer, least)
    rows = np.hstack((counts, multiplicities))
    for row, stage in zip(rows, (sign * ids).tolist(), strict=True):
        contents.add(row, stage)
    merges: list[Merge] = []
    while (choice := contents.choose()) is not None:
        first, second, gain = choice
        row = contents.rows[first] + contents.rows[second]
        taken = contents.take(first, second)
        contents.add(row, name(taken))
        kept, absorbed = sorted(sign * stage for stage in taken)
        merges.append(Merge(kept, absorbed, gain))
    return merges


def interleave(runs: Sequence[Sequence[Merge]]) -> list[Merge]:
    """Put the merges of several hyperstages in the order of one global greedy run.

    Hyperstages do not affect each other, so each is clustered alone; the global run
    always makes the best of their next merges. Ties are resolved as within a
    hyperstage.

    Parameters
    ----------
    runs
        One sequence of merges a hyperstage, each in the order made; no id in two.

    Returns
    -------
    list[Merge]
        All merges; those of one run keep their order.

    Examples
    --------
    >>> interleave([[Merge(1, 3, 0.5), Merge(1, 4, 2.0)], [Merge(2, 5, 1.0)]])
    ... # doctest: +NORMALIZE_WHITESPACE
    [Merge(kept_id=2, absorbed_id=5, log_bayes_factor=1.0),
     Merge(kept_id=1, absorbed_id=3, log_bayes_factor=0.5),
     Merge(kept_id=1, absorbed_id=4, log_bayes_factor=2.0)]
    """
    # Heads of equal gain share a heap, ordered by ids: a tie of a thousand
    # hyperstages then costs no more than one of two.
    heads: dict[float, list[tuple[int, int, int]]] = {}
    gains: list[float] = []
    remaining = [iter(run) for run in runs]

    def advance(run: int) -> None:
        merge = next(remaining[run], None)
        if merge is None:
            return
        if merge.log_bayes_factor not in heads:
            heads[merge.log_bayes_factor] = []
            heappush(gains, -merge.log_bayes_factor)
        head = (merge.kept_id, merge.absorbed_id, run)
        heappush(heads[merge.log_bayes_factor], head)

    for run in range(len(runs)):
        advance(run)
    merges: list[Merge] = []
    while gains:
        floor = _tie_floor(-gains[0], -inf)
        tied: list[float] = []
        while gains and -gains[0] >= floor:
            tied.append(-heappop(gains))
        gain = min(tied, key=lambda value: heads[value][0])
        kept, absorbed, run = heappop(heads[gain])
        merges.append(Merge(kept, absorbed, gain))
        for value in tied:
            if heads[value]:
                heappush(gains, -value)
            else:
                del heads[value]
        advance(run)
    return merges


class _Scorer(Protocol):
    """Scores contents, many at a time, by columns of terms that add up."""

    n_terms: int
    width: int

    def terms(self, row: NDArray[np.int64]) -> NDArray[np.float64]: ...

    def score(self, terms: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def steep(self, terms: NDArray[np.float64]) -> NDArray[np.bool_] | None: ...

    def steep_score(self, rows: NDArray[np.int64]) -> NDArray[np.float64]: ...


class _Bayes:
    """The log marginal likelihood; a row is counts, then multiplicities of the bases."""

    def __init__(self, bases: NDArray[np.float64], unit: float) -> None:
        n_bases, self.n_labels = bases.shape
        self.width = self.n_labels + n_bases
        # Labels with the same prior throughout, all of them as a rule, share a term.
        self.bases, label_base = np.unique(bases, axis=1, return_inverse=True)
        self.label_base = label_base.ravel()
        self.n_terms = self.n_labels + self.bases.shape[1] + 2
        self.minus = [*(self.n_labels + 1 + self.label_base).tolist(), self.n_terms - 1]
        self.unit = unit

    def terms(self, row: NDArray[np.int64]) -> NDArray[np.float64]:
        counts = row[: self.n_labels] * self.unit
        prior = (row[self.n_labels :, None] * self.bases).sum(axis=0)
        label_prior = prior[self.label_base]
        mass = label_prior.sum(keepdims=True)
        return np.concatenate((label_prior + counts, mass, prior, mass + counts.sum()))

    def score(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log marginal likelihoods, one a column.

        The first rows are ``a_1 + n_1 ... a_k + n_k`` and ``A``; ``minus`` names the rows
        of ``a_1 ... a_k`` and ``A + N``. Differences are taken first, so that the score is
        exactly 0 without counts; rows are added in this order.
        """
        from scipy.special import gammaln  # takes 0.2 s to import

        values = gammaln(terms)
        total: NDArray[np.float64] = values[0] - values[self.minus[0]]
        for row in range(1, len(self.minus)):
            total += values[row] - values[self.minus[row]]
        return total

    def steep(self, terms: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Return which columns have a large prior mass; None if none has."""
        steep: NDArray[np.bool_] = terms[self.n_labels] > STEEP
        return steep if steep.any() else None

    def steep_score(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores of contents whose prior mass is large."""
        prior = rows[:, self.n_labels :] @ self.bases[:, self.label_base]
        return log_marginal_likelihood(rows[:, : self.n_labels] * self.unit, prior)


class _Fit:
    """A penalised log likelihood; a row is counts."""

    def __init__(self, score: Penalised, n_labels: int, unit: float) -> None:
        self.of = score
        self.n_terms = self.width = n_labels
        self.unit = unit

    def terms(self, row: NDArray[np.int64]) -> NDArray[np.float64]:
        return row * np.float64(self.unit)

    def score(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.of.value(terms.T)

    def steep(self, terms: NDArray[np.float64]) -> None:  # noqa: ARG002
        return None

    def steep_score(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.of.value(self.terms(rows))


class _Contents:
    """The distinct contents of the stages, each with its stages and its best gain.

    Contents fill the slots ``0 ... size - 1`` of the arrays. ``best[i]`` is the
    largest log Bayes factor of content ``i`` with any content, itself included if it
    has two stages, and ``partner[i]`` the slot that gives it. When the partner goes,
    ``best[i]`` stays as an upper bound, ``partner[i]`` is stale, and the row is
    compared anew only if the bound comes to the top.

    Every log Bayes factor comes from `_gains`, which is symmetric to the bit: sums of
    two are commutative, longer ones have a fixed order.
    """

    def __init__(self, capacity: int, scorer: _Scorer, least: float) -> None:
        self.scorer = scorer
        self.least = least
        self.size = 0
        self.rows = np.empty((capacity, scorer.width), dtype=np.int64)
        self.terms = np.empty((scorer.n_terms, capacity))
        self.score = np.empty(capacity)
        self.twin_gain = np.empty(capacity)
        self.best = np.empty(capacity)
        self.partner = np.empty(capacity, dtype=np.int64)
        self.stages: list[list[int]] = []
        self.slots: dict[bytes, int] = {}

    def add(self, row: NDArray[np.int64], stage: int) -> None:
        """Add a stage; ``row`` is its counts and multiplicities."""
        slot = self.slots.get(row.tobytes())
        if slot is None:
            self._open_slot(row, stage)
            return
        heappush(self.stages[slot], stage)
        if len(self.stages[slot]) == 2 and self.twin_gain[slot] >= self.best[slot]:
            self.best[slot] = self.twin_gain[slot]
            self.partner[slot] = slot

    def choose(self) -> tuple[int, int, float] | None:
        """Return the slots of the stages to merge, smaller id first, and the gain."""
        if not self.size:
            return None
        while True:
            best = self.best[: self.size]
            top = float(best.max())
            if not top > self.least:
                return None
            floor = _tie_floor(top, self.least)
            tied = np.flatnonzero(best >= floor)
            stale = tied[self.partner[tied] == _STALE].tolist()
            if not stale:
                break
            for slot in stale:
                self._find_partner(slot)
        # Both contents of a tied pair are in `tied`, so the smallest id there is in
        # the pair to take.
        first = min(tied.tolist(), key=lambda slot: self.stages[slot][0])
        gains = self._gains(first, tied)
        _, second, gain = min(
            (self._smallest_other(first, slot), slot, gain)
            for slot, gain in zip(tied.tolist(), gains.tolist(), strict=True)
            if gain >= floor and (slot != first or len(self.stages[slot]) > 1)
        )
        return first, second, gain

    def take(self, first: int, second: int) -> tuple[int, int]:
        """Take the smallest stage out of each of two slots, or two out of one."""
        taken = heappop(self.stages[first]), heappop(self.stages[second])
        # The higher slot first: closing a slot moves the last one into it.
        for slot in sorted({first, second}, reverse=True):
            n_stages = len(self.stages[slot])
            if n_stages == 0:
                self._close_slot(slot)
            elif n_stages == 1 and self.partner[slot] == slot:
                self.partner[slot] = _STALE
        return taken

    def _smallest_other(self, first: int, slot: int) -> int:
        """Return the smallest id in ``slot`` but for the smallest one in ``first``."""
        stages = self.stages[slot]
        return min(stages[1:3]) if slot == first else stages[0]

    def _gains(self, slot: int, others: slice | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the log Bayes factors of a content with others."""
        merged = self.terms[:, others] + self.terms[:, slot, None]
        apart: NDArray[np.float64] = self.score[others] + self.score[slot]
        together = self.scorer.score(merged)
        steep = self.scorer.steep(merged)
        if steep is not None:
            rows = self.rows[others][steep] + self.rows[slot]
            together[steep] = self.scorer.steep_score(rows)
        return together - apart

    def _find_partner(self, slot: int) -> None:
        gains = self._gains(slot, slice(self.size))
        if len(self.stages[slot]) < 2:
            gains[slot] = -np.inf
        partner = gains.argmax()
        self.partner[slot] = partner
        self.best[slot] = gains[partner]

    def _open_slot(self, row: NDArray[np.int64], stage: int) -> None:
        slot = self.size
        self.size += 1
        self.rows[slot] = row
        self.terms[:, slot] = self.scorer.terms(row)
        if self.scorer.steep(self.terms[:, slot, None]) is not None:
            self.score[slot] = self.scorer.steep_score(row[None, :])[0]
        else:
            self.score[slot] = self.scorer.score(self.terms[:, slot, None])[0]
        self.stages.append([stage])
        self.slots[row.tobytes()] = slot
        gains = self._gains(slot, slice(self.size))
        self.twin_gain[slot] = gains[slot]
        gains[slot] = self.best[slot] = -np.inf
        better = gains >= self.best[: self.size]
        self.best[: self.size][better] = gains[better]
        self.partner[: self.size][better] = slot
        partner = gains.argmax()
        self.partner[slot] = partner
        self.best[slot] = gains[partner]

    def _close_slot(self, slot: int) -> None:
        self.size -= 1
        last = self.size
        del self.slots[self.rows[slot].tobytes()]
        partner = self.partner[: last + 1]
        partner[partner == slot] = _STALE
        stages = self.stages.pop()
        if slot == last:
            return
        partner[partner == last] = slot
        for column in (self.rows, self.score, self.twin_gain, self.best, self.partner):
            column[slot] = column[last]
        self.terms[:, slot] = self.terms[:, last]
        self.stages[slot] = stages
        self.slots[self.rows[slot].tobytes()] = slot


def _tie_floor(best: float, least: float) -> float:
    """Return the smallest gain above ``least`` that ties with the best."""
    floor = best - TIE_TOLERANCE * max(1.0, abs(best))
    return max(floor, nextafter(least, inf))
