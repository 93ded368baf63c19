"""Exact greedy clustering of stages, on arrays.

Agglomerative hierarchical clustering (AHC) merges two stages by adding their counts and
priors, the pair that gains most first: the pair with the largest log Bayes factor, as long
as that is positive [1]_, or with the largest gain in another score.

A gain depends only on the contents of the two stages: their counts and priors. A large tree
has many stages of equal content (few rows, few labels), so stages of equal content are kept
together, and contents are compared, not stages. With ``d`` distinct contents that takes
``d**2 / 2`` comparisons to begin with and a few times ``d`` per merge; memory is
proportional to the number of situations. Contents are integers throughout (counts, and
multiplicities of a few prior vectors): equal contents are then equal to the bit whatever
merges made them, and neither row order nor the order of merges can make a tie look like a
gain.

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

from cegdb.clustering.scoring import LARGE_PRIOR, Marginal, Score, log_marginal_likelihood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MIN_LOG_BAYES_FACTOR = 1e-9
"""A merge must gain more than this: it stands for 0, above the noise of rounding."""

TIE_TOLERANCE = 1e-9
"""Gains ``x`` and ``best`` tie if they differ by this times ``max(1, |best|)``."""

_STALE = -1
"""Partner of a content whose best partner is gone."""


class Merge(NamedTuple):
    """Two stages become one: the first keeps its id, the smaller of the two.

    ``log_bayes_factor`` is the score of the merged stage minus the scores of the two: a log
    Bayes factor, or half of what BIC or AIC falls by.
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
    """Cluster the situations of one hyperstage and return the merges in the order made.

    The arrays and ``unit`` are those of `Hyperstage`, in any row order. A merge must gain more
    than ``least``. Of ties the smallest (smaller id, larger id) is taken, or with ``last_wins``
    the largest (larger id, smaller id).
    """
    if bases.shape[1] == 1:
        return []
    scorer: _Scorer
    if score is None or (isinstance(score, Marginal) and score.stage_mass is None):
        scorer = _MarginalScorer(bases, unit)
    else:
        scorer = _CountScorer(score, counts.shape[1], unit)
        multiplicities = multiplicities[:, :0]
    # Ids of the other sign turn the order of ties round; the smallest id stays the name.
    sign, name = (-1, max) if last_wins else (1, min)
    contents = _DistinctStages(len(ids), scorer, least)
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

    Hyperstages do not affect each other, so each is clustered alone; a global run would make
    the best of their next merges each time, and resolve ties as within a hyperstage.
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
        floor = tie_floor(-gains[0])
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
    """Scores many contents at a time, by columns of terms that add up."""

    n_terms: int
    width: int

    def terms(self, row: NDArray[np.int64]) -> NDArray[np.float64]: ...

    def score(self, terms: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def has_large_prior(self, terms: NDArray[np.float64]) -> NDArray[np.bool_] | None: ...

    def precise_score(self, rows: NDArray[np.int64]) -> NDArray[np.float64]: ...


class _MarginalScorer:
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

    def has_large_prior(self, terms: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Return which columns have a large prior mass; None if none has."""
        is_large: NDArray[np.bool_] = terms[self.n_labels] > LARGE_PRIOR
        return is_large if is_large.any() else None

    def precise_score(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores of contents whose prior mass is large."""
        prior = rows[:, self.n_labels :] @ self.bases[:, self.label_base]
        return log_marginal_likelihood(rows[:, : self.n_labels] * self.unit, prior)


class _CountScorer:
    """A score of counts alone; a row is counts."""

    def __init__(self, score: Score, n_labels: int, unit: float) -> None:
        self.rule = score
        self.n_terms = self.width = n_labels
        self.unit = unit

    def terms(self, row: NDArray[np.int64]) -> NDArray[np.float64]:
        return row * np.float64(self.unit)

    def score(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.rule.value(terms.T)

    def has_large_prior(self, terms: NDArray[np.float64]) -> None:  # noqa: ARG002
        return None

    def precise_score(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.rule.value(self.terms(rows))


class _DistinctStages:
    """The distinct contents of the stages, each with its stages and its best gain.

    Contents fill the slots ``0 ... size - 1`` of the arrays. ``best[i]`` is the largest gain of
    content ``i`` with any content (itself included, if it has two stages), and ``partner[i]``
    the slot that gives it.
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
            floor = tie_floor(top, self.least)
            tied = np.flatnonzero(best >= floor)
            # A stale gain is an upper bound: gains with contents that went are no longer
            # possible, those with new contents were compared when these came. So a row is
            # compared anew only when its bound comes to the top, which few ever do.
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
        """Return the smallest id in ``slot``, apart from the smallest one in ``first``."""
        stages = self.stages[slot]
        return min(stages[1:3]) if slot == first else stages[0]

    def _gains(self, slot: int, others: slice | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the gains of merging a content with others.

        It is symmetric to the bit (sums of two commute, longer sums have a fixed order), so
        that a pair has the same gain whichever of its contents is compared with the other.
        """
        merged = self.terms[:, others] + self.terms[:, slot, None]
        apart: NDArray[np.float64] = self.score[others] + self.score[slot]
        together = self.scorer.score(merged)
        is_large = self.scorer.has_large_prior(merged)
        if is_large is not None:
            rows = self.rows[others][is_large] + self.rows[slot]
            together[is_large] = self.scorer.precise_score(rows)
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
        if self.scorer.has_large_prior(self.terms[:, slot, None]) is not None:
            self.score[slot] = self.scorer.precise_score(row[None, :])[0]
        else:
            self.score[slot] = self.scorer.score(self.terms[:, slot, None])[0]
        self.stages.append([stage])
        self.slots[row.tobytes()] = slot
        gains = self._gains(slot, slice(self.size))
        # Two stages of this content may merge too, once there is a second one: see `add`.
        self.twin_gain[slot] = gains[slot]
        gains[slot] = self.best[slot] = -np.inf
        better = gains >= self.best[: self.size]
        self.best[: self.size][better] = gains[better]
        self.partner[: self.size][better] = slot
        partner = gains.argmax()
        self.partner[slot] = partner
        self.best[slot] = gains[partner]

    def _close_slot(self, slot: int) -> None:
        # The last content moves into the gap, so that the arrays stay dense.
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


def tie_floor(best: float, least: float = -inf) -> float:
    """Return the smallest gain above ``least`` that ties with the best."""
    floor = best - TIE_TOLERANCE * max(1.0, abs(best))
    return max(floor, nextafter(least, inf))
