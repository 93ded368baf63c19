"""The local scores of a search over orders: the stages of one variable after a set."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cegdb import clustering
from cegdb.errors import StagingError, listed
from cegdb.orders.order_ranking import members
from cegdb.stages.learning import integer_sizes, prior_bases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cegdb.orders.complete_cases import CompleteRows


class LocalStaging(NamedTuple):
    """The stages learnt for one variable after a set of others.

    ``value`` is their score, more being better; situations are the observed configurations
    of the set in which the variable applies.
    """

    value: float
    n_situations: int
    n_stages: int


@dataclass(frozen=True)
class EffectiveSize:
    """The effective number of respondents.

    ``factor`` is the number of respondents per unit of weight; None: those of a situation,
    of weights w, count as many as (sum of w)^2 / (sum of w^2) of equal weight. A design
    effect per variable divides that.
    """

    uses_weights: bool
    factor: float | None
    design_effects: tuple[float, ...]

    def counts(
        self, sums: NDArray[np.float64], situation: NDArray[np.intp], x: int
    ) -> tuple[NDArray[np.int64], float]:
        """Return the effective counts of rows, in whole units, and the unit."""
        if not self.uses_weights and self.design_effects[x] == 1:
            return sums[:, 0].astype(np.int64), 1.0
        return integer_sizes(self.sizes(sums, situation, x))

    def sizes(
        self, sums: NDArray[np.float64], situation: NDArray[np.intp], x: int
    ) -> NDArray[np.float64]:
        """Return the effective counts of rows, which are those of the situations named."""
        sizes = sums[:, 0]
        if self.uses_weights:
            _, weight, squares = sums.T
            if self.factor is not None:
                sizes = weight * self.factor
            else:
                total = np.bincount(situation, weight)
                squared = np.bincount(situation, squares)
                factor = np.divide(total, squared, out=np.zeros_like(total), where=squared > 0)
                sizes = weight * factor[situation]
        return sizes / self.design_effects[x]

    def n_rows(self, sums: NDArray[np.float64]) -> float:
        """Return the effective number of all rows, without design effects: the N of BIC."""
        n, *weights = sums.sum(axis=0).tolist()
        if not self.uses_weights:
            return float(n)
        weight, squares = weights
        return float(weight * self.factor if self.factor is not None else weight**2 / squares)


@dataclass
class LocalScores:
    """Stagings of variables after sets of others, each learnt once.

    The situations of a variable are the observed configurations of the set of variables
    before it, so their stages do not depend on the order of these. An edge of a situation
    has ``alpha`` over the number of labels of its variable and of those that apply before
    it. All stagings are looked at where up to ``exact_up_to`` situations may share stages;
    else the plan says how stages are learnt. ``stagings`` has those learnt, by (variable, set
    before it).

    Tables of distinct rows are kept, up to ``max_cells`` cells in all; a row is found again
    by an integer key below ``max_key``.
    """

    rows: CompleteRows
    effective_size: EffectiveSize
    plan: clustering.Plan
    alpha: float
    exact_up_to: int = 0
    max_cells: int = 50_000_000
    max_key: int = 1 << 62
    stagings: dict[tuple[int, int], LocalStaging] = field(default_factory=dict)
    _tables: dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]] = field(
        default_factory=dict
    )
    _n_cells: int = 0

    def __call__(self, x: int, before: int) -> float:
        """Return the score of a variable after a set."""
        return self.staging(x, before).value

    def staging(self, x: int, before: int) -> LocalStaging:
        """Return the stages of a variable after a set."""
        staging = self.stagings.get((x, before))
        if staging is None:
            staging = self.stagings[x, before] = self._learn(x, before)
        return staging

    def _learn(self, x: int, before: int) -> LocalStaging:
        question = self.rows.questions[x]
        codes, sums = self._table(before | 1 << x)
        variables = members(before | 1 << x)
        own = variables.index(x)
        if question.gates:
            applies = codes[:, own] < question.n_values
            codes, sums = codes[applies], sums[applies]
        if not len(codes):
            return LocalStaging(0.0, 0, 0)
        others = members(before)
        answers = np.delete(codes, own, axis=1)
        first, situation = self._group(answers, others)
        counts = np.zeros((len(first), question.n_labels), dtype=np.int64)
        counts[situation, codes[:, own]], unit = self.effective_size.counts(sums, situation, x)
        answers = answers[first]
        n_shares = np.full(len(first), float(question.n_labels))
        for column, y in enumerate(others):
            # A closed gate: the variable has no floret there, and takes no share of the prior.
            n_labels = self.rows.questions[y].n_labels
            is_closed = answers[:, column] == n_labels
            answers[is_closed, column] = -1
            n_shares *= np.where(is_closed, 1, n_labels)
        ids = np.arange(len(first))
        prior = np.repeat((self.alpha / n_shares)[:, None], question.n_labels, axis=1)
        bases, multiplicities = prior_bases(prior)
        situations = clustering.Hyperstage(
            ids=ids,
            counts=counts,
            bases=bases,
            multiplicities=multiplicities,
            start=ids,
            answers=answers,
            unit=unit,
        )
        if self.plan.method == "exact":
            self._refuse_too_many(situations, question.name, others)
        return self._learn_and_score(situations)

    def _refuse_too_many(
        self, situations: clustering.Hyperstage, name: str, others: Sequence[int]
    ) -> None:
        n_situations = clustering.programme_size(situations, self.plan)
        if n_situations > clustering.MAX_SITUATIONS:
            before = listed([repr(self.rows.questions[y].name) for y in others])
            raise StagingError(
                "method 'exact' looks at all stagings of up to "
                f"{clustering.MAX_SITUATIONS} situations; {name!r} after {before} has "
                f"{n_situations:,}",
                hint="use method='ahc' or 'hc', or search over fewer variables",
            )

    def _learn_and_score(self, situations: clustering.Hyperstage) -> LocalStaging:
        if situations.counts.shape[1] == 1:
            return LocalStaging(0.0, len(situations.ids), 1)
        plan = self.plan
        if self.exact_up_to:
            exact = replace(plan, method="exact")
            if clustering.programme_size(situations, exact) <= self.exact_up_to:
                plan = exact
        stage = clustering.learn(situations, plan).stage
        value = clustering.total_score(situations, stage, self.plan.scorer)
        return LocalStaging(value, len(situations.ids), len(np.unique(stage)))

    def _table(self, subset: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the distinct rows of a set of variables, summed from those of a larger one."""
        table = self._tables.get(subset)
        if table is not None:
            return table
        whole = (1 << len(self.rows.questions)) - 1
        source, (codes, sums) = whole, (self.rows.codes, self.rows.sums)
        for x in members(whole & ~subset):
            larger = self._tables.get(subset | 1 << x)
            if larger is not None and len(larger[0]) < len(codes):
                source, (codes, sums) = subset | 1 << x, larger
        if source != subset:
            kept = [column for column, x in enumerate(members(source)) if subset >> x & 1]
            codes = codes[:, kept]
            first, group = self._group(codes, members(subset))
            columns = [np.bincount(group, column) for column in sums.T]
            codes, sums = codes[first], np.column_stack(columns)
        self._tables[subset] = codes, sums
        self._n_cells += codes.size
        while self._n_cells > self.max_cells and len(self._tables) > 1:
            self._n_cells -= self._tables.pop(next(iter(self._tables)))[0].size
        return codes, sums

    def _group(
        self, codes: NDArray[np.int64], variables: Sequence[int]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return a row of each distinct configuration, in their order, and that of each row."""
        key = np.zeros(len(codes), dtype=np.int64)
        size = 1
        for column, variable in enumerate(variables):
            radix = self.rows.questions[variable].n_values + 1
            if size * radix >= self.max_key:
                # Rank the keys so far, so that the next digit fits.
                key = np.unique(key, return_inverse=True)[1].astype(np.int64)
                size = len(codes)
            key = key * radix + codes[:, column]
            size *= radix
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        return first, group
