"""The local scores of a search over orders: the stages of one variable after a set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb import clustering
from cegdb.orders.order_ranking import members
from cegdb.stages.learning import prior_bases, whole_sizes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cegdb.orders.complete_cases import CompleteRows

_MOST_CELLS: Final = 50_000_000
_LIMIT: Final = 1 << 62


class Staged(NamedTuple):
    """The stages found for one variable after a set of others.

    Attributes
    ----------
    value
        Their score, more being better.
    n_situations
        Observed configurations of the set in which the variable applies.
    n_stages
        Of these situations.
    """

    value: float
    n_situations: int
    n_stages: int


@dataclass(frozen=True)
class Worth:
    """What respondents count.

    Attributes
    ----------
    uses_weights
        Whether weights count; else one each.
    factor
        Respondents per unit of weight; None: those of a situation, of weights w, are worth
        as many of equal weight, (sum of w)^2 / (sum of w^2).
    effects
        The design effect of each variable, which divides what they count.
    """

    uses_weights: bool
    factor: float | None
    effects: tuple[float, ...]

    def of(
        self, sums: NDArray[np.float64], situation: NDArray[np.intp], x: int
    ) -> tuple[NDArray[np.int64], float]:
        """Return what the rows of situations of a variable count, in units, and the unit."""
        if not self.uses_weights and self.effects[x] == 1:
            return sums[:, 0].astype(np.int64), 1.0
        sizes = sums[:, 0]
        if self.uses_weights:
            _, weight, squares = sums.T
            if self.factor is not None:
                sizes = weight * self.factor
            else:
                total = np.bincount(situation, weight)
                squared = np.bincount(situation, squares)
                worth = np.divide(total, squared, out=np.zeros_like(total), where=squared > 0)
                sizes = weight * worth[situation]
        return whole_sizes(sizes / self.effects[x])

    def n_rows(self, sums: NDArray[np.float64]) -> float:
        """Return what all rows count together, design effects aside: the N of BIC."""
        n, *weights = sums.sum(axis=0).tolist()
        if not self.uses_weights:
            return float(n)
        weight, squares = weights
        return float(weight * self.factor if self.factor is not None else weight**2 / squares)


@dataclass
class LocalScores:
    """Stagings of variables after sets of others, each learnt once.

    The situations of a variable are the observed configurations of the set of variables
    before it, so their stages do not depend on the order of these.

    Attributes
    ----------
    rows
        The complete rows.
    worth
        What respondents count.
    plan
        How stages are learnt and scored.
    alpha
        Prior mass of the root: an edge of a situation has ``alpha`` over the number of labels
        of its variable and of those that apply before it.
    known
        (variable, set before it) -> the stages found.
    """

    rows: CompleteRows
    worth: Worth
    plan: clustering.Plan
    alpha: float
    known: dict[tuple[int, int], Staged] = field(default_factory=dict)
    _tables: dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]] = field(
        default_factory=dict
    )
    _n_cells: int = 0

    def __call__(self, x: int, before: int) -> float:
        """Return the score of a variable after a set."""
        return self.staged(x, before).value

    def staged(self, x: int, before: int) -> Staged:
        """Return the stages of a variable after a set."""
        found = self.known.get((x, before))
        if found is None:
            found = self.known[x, before] = self._learn(x, before)
        return found

    def _learn(self, x: int, before: int) -> Staged:
        asked = self.rows.questions[x]
        codes, sums = self._table(before | 1 << x)
        variables = members(before | 1 << x)
        place = variables.index(x)
        if asked.gates:
            applies = codes[:, place] < asked.n_values
            codes, sums = codes[applies], sums[applies]
        if not len(codes):
            return Staged(0.0, 0, 0)
        others = members(before)
        answers = np.delete(codes, place, axis=1)
        first, situation = _grouped(answers, [self._radix(y) for y in others])
        counts = np.zeros((len(first), asked.n_labels), dtype=np.int64)
        counts[situation, codes[:, place]], unit = self.worth.of(sums, situation, x)
        answers = answers[first]
        n_shares = np.full(len(first), float(asked.n_labels))
        for column, y in enumerate(others):
            question = self.rows.questions[y]
            is_closed = answers[:, column] == question.n_labels
            answers[is_closed, column] = -1
            n_shares *= np.where(is_closed, 1, question.n_labels)
        ids = np.arange(len(first))
        prior = np.repeat((self.alpha / n_shares)[:, None], asked.n_labels, axis=1)
        bases, multiplicities = prior_bases(prior)
        return self._scored(
            clustering.Hyperstage(
                ids=ids,
                counts=counts,
                bases=bases,
                multiplicities=multiplicities,
                start=ids,
                answers=answers,
                unit=unit,
            )
        )

    def _scored(self, situations: clustering.Hyperstage) -> Staged:
        if situations.counts.shape[1] == 1:
            return Staged(0.0, len(situations.ids), 1)
        stage = clustering.learn(situations, self.plan).stage
        value = clustering.total_score(situations, stage, self.plan.scorer)
        return Staged(value, len(situations.ids), len(np.unique(stage)))

    def _radix(self, x: int) -> int:
        return self.rows.questions[x].n_values + 1

    def _table(self, subset: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the distinct rows of a set of variables, summed from those of a larger one."""
        found = self._tables.get(subset)
        if found is not None:
            return found
        whole = (1 << len(self.rows.questions)) - 1
        source, (codes, sums) = whole, (self.rows.codes, self.rows.sums)
        for x in members(whole & ~subset):
            larger = self._tables.get(subset | 1 << x)
            if larger is not None and len(larger[0]) < len(codes):
                source, (codes, sums) = subset | 1 << x, larger
        if source != subset:
            kept = [place for place, x in enumerate(members(source)) if subset >> x & 1]
            codes = codes[:, kept]
            first, group = _grouped(codes, [self._radix(x) for x in members(subset)])
            columns = [np.bincount(group, column) for column in sums.T]
            codes, sums = codes[first], np.column_stack(columns)
        self._tables[subset] = codes, sums
        self._n_cells += codes.size
        while self._n_cells > _MOST_CELLS and len(self._tables) > 1:
            self._n_cells -= self._tables.pop(next(iter(self._tables)))[0].size
        return codes, sums


def _grouped(
    codes: NDArray[np.int64], radices: Sequence[int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return a row of each distinct configuration, in their order, and that of each row."""
    key = np.zeros(len(codes), dtype=np.int64)
    size = 1
    for column, radix in enumerate(radices):
        if size * radix >= _LIMIT:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            size = len(codes)
        key = key * radix + codes[:, column]
        size *= radix
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return first, group
