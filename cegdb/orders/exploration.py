"""Exploration of a wide survey: which variables say most about an outcome, in which order."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb import clustering
from cegdb.errors import TreeError, items_of, joined, listed
from cegdb.ingest.files.relation import find_columns
from cegdb.options import STAGE_ALPHA, ExploreOptions
from cegdb.orders.constraints import ordered_pairs
from cegdb.orders.exploration_result import (
    ExplorationResult,
    ExploredVariable,
    log_prior_odds,
    log_threshold,
)
from cegdb.orders.order_scores import EffectiveSize
from cegdb.orders.screened_variables import (
    ScreenedVariable,
    predecessors,
    read_variables,
    with_gates,
)
from cegdb.sqlfiles import Steps
from cegdb.stages.effective_counts import Weighting
from cegdb.stages.learning import integer_sizes
from cegdb.store.catalog import row
from cegdb.tree.answer_columns import screen_answers

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from cegdb.store import Store
    from cegdb.store.progress import Progress

_ALIKE: Final = 0.9
"""From this share of a variable's entropy another one tells it."""

_MAX_CODE: Final = 1 << 62


class _Counts(NamedTuple):
    """The table of one variable: a row for each configuration, answer and outcome."""

    configuration: NDArray[np.int64]
    answer: NDArray[np.int64]
    outcome: NDArray[np.int64]
    sums: NDArray[np.float64]

    def part(self, rows: slice | NDArray[np.bool_]) -> _Counts:
        """Return some of the rows."""
        return _Counts(
            self.configuration[rows], self.answer[rows], self.outcome[rows], self.sums[rows]
        )


class _Strata(NamedTuple):
    """The configurations of variables chosen, grouped into stages of the outcome.

    ``stage`` has that of each of ``configurations``, which are ascending; ``n`` are the
    respondents in all.
    """

    configurations: NDArray[np.int64]
    stage: NDArray[np.int64]
    n: int

    def of(self, configuration: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the stage of each row of a table."""
        return self.stage[np.searchsorted(self.configurations, configuration)]


class _Gain(NamedTuple):
    """What a variable adds to those chosen: log Bayes factors of dependence of the outcome.

    ``own`` is that of the variable given those before it, its gates included, and ``total``
    that of the variable and those of its gates that are not chosen yet.
    """

    own: float
    total: float
    gates: tuple[str, ...]


@dataclass
class _Screening:
    """Counts variables by the outcome, and compares how much they say about it.

    ``labels`` are the codes of the outcome that occur.
    """

    steps: Steps
    survey_id: int
    known: Mapping[str, ScreenedVariable]
    outcome: str
    effective_size: EffectiveSize
    progress: Progress
    labels: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    _strata: dict[tuple[str, ...], _Strata] = field(default_factory=dict)
    _gains: dict[tuple[tuple[str, ...], int, str], tuple[float, float]] = field(
        default_factory=dict
    )

    @property
    def n_labels(self) -> int:
        """How many labels of the outcome occur."""
        return len(self.labels)

    def count(
        self, names: Sequence[str], chosen: Sequence[str], outcome: str | None = None
    ) -> dict[str, _Counts]:
        """Return the tables of some variables, all from one pass over the rows."""
        self.view(names, chosen, outcome)
        self.steps.run("screened_count")
        rows = self.steps.arrays("from temp.screened_count")
        self.progress.read(len(names))
        uses_weights = self.effective_size.uses_weights
        summed = ("n", "weight", "weight_sq") if uses_weights else ("n",)
        table = _Counts(
            rows["configuration"].astype(np.int64),
            rows["answer"].astype(np.int64),
            rows["outcome"].astype(np.int64),
            np.column_stack([rows[name].astype(np.float64) for name in summed]),
        )
        ordinals = rows["ordinal"]
        counts = {}
        for name in names:
            ordinal = self.known[name].column.ordinal
            start, end = np.searchsorted(ordinals, [ordinal, ordinal + 1])
            counts[name] = table.part(slice(start, end))
        return counts

    def screen(self, names: Sequence[str]) -> dict[str, ExploredVariable]:
        """Return the variables, each compared alone; with a reason those that are no use."""
        if not names:
            raise TreeError(f"there is no variable to screen for {self.outcome!r}")
        self.view([], ())
        outcomes = [row[1] for row in self.steps.fetch("screened_configuration")]
        self.labels = np.array(sorted(outcomes), np.int64)
        if self.n_labels < 2:
            raise TreeError(
                f"nobody answered {self.outcome!r}"
                if not self.n_labels
                else f"all who answered {self.outcome!r} gave the same answer"
            )
        tables = self.count(names, ())
        self.add_gains(tables, (), 0)
        screened = {}
        for name, table in tables.items():
            applicable = self._applicable(name, table)
            n_labels = len(np.unique(applicable.answer))
            one = ExploredVariable(name, n_labels, int(applicable.sums[:, 0].sum()))
            told = _share_told(applicable.outcome, applicable.answer, applicable.sums[:, 0])
            gain = self._gains[(), 0, name][0]
            if n_labels < 2:
                one.reason = "constant" if one.rows else "no answer from those with an outcome"
            else:
                one.alone = gain
                if told >= _ALIKE and gain > -log_prior_odds(len(names)):
                    one.reason = f"tells nearly all of {self.outcome!r}, as a copy of it would"
            screened[name] = one
        return screened

    def copies(self, names: Sequence[str], chosen: Sequence[str]) -> dict[str, str]:
        """Return which of some variables are nearly told by one of those chosen."""
        found: dict[str, str] = {}
        for other in chosen:
            rest = [name for name in names if name not in found]
            for name, table in self.count(rest, (), other).items() if rest else ():
                if _share_told(table.answer, table.outcome, table.sums[:, 0]) >= _ALIKE:
                    found[name] = other
        return found

    def strata(self, before: tuple[str, ...]) -> _Strata:
        """Return the configurations of some variables, grouped into stages of the outcome.

        Stages are learnt from all rows with an answer to these variables and the outcome.
        """
        if before in self._strata:
            return self._strata[before]
        self.view([], before)
        rows = np.array(self.steps.fetch("screened_configuration"), float).reshape(-1, 5)
        code, outcome = rows[:, :2].T.astype(np.int64)
        configurations, situation = np.unique(code, return_inverse=True)
        sums = rows[:, 2:] if self.effective_size.uses_weights else rows[:, 2:3]
        n = int(sums[:, 0].sum())
        counts = np.zeros((len(configurations), self.n_labels), np.int64)
        column = np.searchsorted(self.labels, outcome)
        counts[situation, column], unit = integer_sizes(
            self.effective_size.sizes(sums, situation, 0)
        )
        ids = np.arange(len(configurations))
        situations = clustering.Hyperstage(
            ids=ids,
            counts=counts,
            bases=np.full((1, self.n_labels), STAGE_ALPHA / self.n_labels),
            multiplicities=np.ones((len(ids), 1), np.int64),
            start=ids,
            answers=np.zeros((len(ids), 0), np.int64),
            unit=unit,
        )
        plan = clustering.Plan(method="auto", stage_mass=STAGE_ALPHA)
        stage = clustering.learn(situations, plan).stage if len(ids) else ids
        self._strata[before] = _Strata(configurations, stage, n)
        return self._strata[before]

    def view(
        self, names: Sequence[str], chosen: Sequence[str], outcome: str | None = None
    ) -> None:
        """Make the view of the rows that are counted."""
        known = self.known
        screen_answers(
            self.steps,
            self.survey_id,
            [known[name].column for name in names],
            [known[name].column for name in chosen],
            known[outcome or self.outcome].column,
        )

    def gains(self, names: Sequence[str], chosen: Sequence[str]) -> dict[str, _Gain]:
        """Return what each variable adds, unless its configurations are too many to code."""
        by_gates: dict[tuple[str, ...], list[str]] = {}
        for name in names:
            gates = tuple(x for x in predecessors(self.known, name) if x not in chosen)
            configuration = [*chosen, *gates, name]
            n_codes = math.prod(self.known[x].column.radix for x in configuration)
            if n_codes < _MAX_CODE:
                by_gates.setdefault(gates, []).append(name)
        found: dict[str, _Gain] = {}
        for gates, group in by_gates.items():
            before = (*chosen, *gates)
            key = (before, len(chosen))
            new = [name for name in group if (*key, name) not in self._gains]
            if new:
                self.add_gains(self.count(new, before), before, len(chosen))
            found |= {name: _Gain(*self._gains[*key, name], gates) for name in group}
        return {name: found[name] for name in names if name in found}

    def add_gains(
        self, counts: Mapping[str, _Counts], before: tuple[str, ...], n_chosen: int
    ) -> None:
        """Compute the gains of variables from their tables, and keep them."""
        divisor = math.prod(self.known[name].column.radix for name in before[n_chosen:])
        stages, former = self.strata(before), self.strata(before[:n_chosen])
        for name, table in counts.items():
            applicable = self._applicable(name, table)
            own = self.log_bayes_factor(applicable, stages.of(applicable.configuration), stages)
            total = own
            if divisor > 1:
                base = former.of(table.configuration // divisor)
                total = self.log_bayes_factor(table, base, stages)
            self._gains[before, n_chosen, name] = own, total

    def log_bayes_factor(
        self, table: _Counts, base: NDArray[np.int64], stages: _Strata
    ) -> float:
        """Return log P(outcome | stages and answers) - log P(outcome | groups of ``base``)."""
        if not len(table.answer):
            return 0.0
        situation = _numbered(table.configuration, table.answer)
        size = self.effective_size.sizes(table.sums, situation, 0)
        group = _numbered(stages.of(table.configuration), table.answer)
        return self._log_likelihood(group, table.outcome, size) - self._log_likelihood(
            _numbered(base), table.outcome, size
        )

    def _applicable(self, name: str, table: _Counts) -> _Counts:
        """Return the rows to which a variable with gates applies."""
        return table.part(table.answer > 0) if self.known[name].gates else table

    def _log_likelihood(
        self, group: NDArray[np.intp], outcome: NDArray[np.int64], size: NDArray[np.float64]
    ) -> float:
        """Return the log Dirichlet-multinomial likelihood, each group with the same prior."""
        from scipy.special import gammaln

        prior = STAGE_ALPHA / self.n_labels
        cells = np.bincount(_numbered(group, outcome), size)
        totals = np.bincount(group, size)
        terms = (
            gammaln(cells + prior) - gammaln(prior),
            gammaln(STAGE_ALPHA) - gammaln(totals + STAGE_ALPHA),
        )
        return math.fsum(np.concatenate(terms).tolist())


def explore(
    store: Store, survey_id: int, outcome: str, options: ExploreOptions | None = None
) -> ExplorationResult:
    """Choose variables that say most about an outcome, each given those chosen before it.

    The configurations of the variables chosen are grouped into stages. The outcome's counts in
    each stage are compared by their Dirichlet-multinomial likelihoods, with and without a
    further variable. Each variable screened has the prior probability of one among them all
    [1]_, at most one half.

    References
    ----------
    .. [1] Scott, J. G. and Berger, J. O. (2010). Bayes and empirical-Bayes multiplicity
       adjustment in the variable-selection problem. Annals of Statistics, 38, 2587-2619.
    """
    started = time.perf_counter()
    options = options or ExploreOptions()
    with store.catalog() as catalog:
        survey = row(catalog, "survey", survey_id)
        variables = read_variables(catalog, survey_id)
        names = [one.name for one in variables]
        (y,) = find_columns(names, [outcome], f"survey {survey['name']!r}", setting="outcome")
        tree = {"survey_id": survey_id, "settings": {"order": names}}
        counting = Weighting(options.weighting, options.deff).for_tree(catalog, tree)
    where = f"survey {survey['name']!r}"
    written = items_of(options.exclude or (), "exclude", TreeError, hint="give a list of names")
    excluded = set(find_columns(names, written, where, setting="exclude"))
    pairs = ordered_pairs(names, options.tiers, ())
    n_tables = (options.max_variables + 2) * len(names)
    with (
        store.counting(n_tables, "table") as progress,
        store.reading() as con,
        Steps(con) as steps,
    ):
        known = with_gates(con, steps, survey, variables, options)
        forced = predecessors(known, y)
        _check_outcome(known[y], forced, excluded, pairs, options.max_variables)
        factor = counting.factor(steps) if counting.uses_weights else None
        effects = (counting.effects.get(y, 1.0),)
        size = EffectiveSize(counting.uses_weights, factor, effects)
        screening = _Screening(steps, survey_id, known, y, size, progress)
        left_out = _left_out_unseen(known, y, forced, excluded, pairs)
        screened = screening.screen([x for x in names if x != y and x not in left_out])
        candidates = [x for x in screened if not screened[x].reason]
        usable = {x for x in screened if not screened[x].reason or screened[x].labels == 1}
        for name in candidates.copy():
            gates = predecessors(known, name)
            unusable = [x for x in gates if x not in usable and x not in forced]
            if unusable:
                why = f"{unusable[0]!r}, which decides whether it applies, is left out"
                screened[name].reason = why
                candidates.remove(name)
        chosen = _choose(screening, candidates, forced, screened, options.max_variables)
        n_used, n_known = (screening.strata(tuple(x)).n for x in (chosen, forced))
    explored = {
        name: screened.get(name) or ExploredVariable(name, reason=left_out[name])
        for name in names
        if name != y
    }
    order = _sorted(chosen, known, pairs)
    for position, name in enumerate(order, 1):
        explored[name].position = position
    return ExplorationResult(
        survey=str(survey["name"]),
        outcome=y,
        order=[*order, y],
        variables=list(explored.values()),
        gates_of_outcome=forced,
        n_screened=len(candidates),
        log_threshold=log_threshold(len(candidates)),
        max_variables=options.max_variables,
        n=int(survey["n"]),
        n_known=n_known,
        n_used=n_used,
        blank=options.blank,
        missing_policy=options.missing_policy,
        weighting=counting.as_json(),
        seconds=time.perf_counter() - started,
    )


def _check_outcome(
    outcome: ScreenedVariable,
    gates: Sequence[str],
    excluded: Collection[str],
    pairs: Sequence[tuple[str, str]],
    max_variables: int,
) -> None:
    """Refuse an outcome that cannot be the last of an order."""
    name = outcome.name
    if name in excluded:
        raise TreeError(f"exclude names the outcome, {name!r}")
    if outcome.identifies:
        raise TreeError(
            f"nearly every respondent has an own answer to {name!r}: no outcome to explain",
            hint="ingest it in a few classes (bins, --bin)",
        )
    for gate in gates:
        why = "is excluded" if gate in excluded else ""
        why = why or ("is in a tier after it" if (name, gate) in pairs else "")
        if why:
            raise TreeError(
                f"{gate!r} decides whether {name!r} applies and must come before it, but {why}",
                hint=f"leave {gate!r} out of {'exclude' if gate in excluded else 'tiers'}",
            )
    if len(gates) > max_variables:
        raise TreeError(
            f"{listed(map(repr, gates))} decide whether {name!r} applies and must come before "
            f"it: more than max_variables = {max_variables}",
            hint=f"give max_variables={len(gates)} or more",
        )


def _left_out_unseen(
    known: Mapping[str, ScreenedVariable],
    y: str,
    forced: Collection[str],
    excluded: Collection[str],
    pairs: Sequence[tuple[str, str]],
) -> dict[str, str]:
    """Return the variables that cannot come before the outcome, with the reason."""
    left_out: dict[str, str] = {}
    for name, variable in known.items():
        gates = predecessors(known, name)
        later = [gate for gate in gates if (name, gate) in pairs]
        if name == y or name in forced:
            continue
        if name in excluded:
            left_out[name] = "excluded"
        elif y in gates:
            left_out[name] = f"comes after {y!r}, which decides whether it applies"
        elif (y, name) in pairs:
            left_out[name] = f"in a tier after that of {y!r}"
        elif later:
            left_out[name] = f"in a tier before its gate {later[0]!r}"
        elif variable.identifies:
            left_out[name] = "nearly as many labels as respondents"
    return left_out


def _choose(
    screening: _Screening,
    candidates: Sequence[str],
    forced: Sequence[str],
    screened: Mapping[str, ExploredVariable],
    max_variables: int,
) -> list[str]:
    """Choose variables one after the other, with their gates; say why the others are not."""
    threshold = log_threshold(len(candidates))
    chosen = list(forced)
    for gate in forced:
        screened[gate].reason = f"decides whether {screening.outcome!r} applies"
    while True:
        rest = [name for name in candidates if name not in chosen]
        gains = screening.gains(rest, chosen)
        convincing = [
            name for name, gain in gains.items() if min(gain.own, gain.total) >= threshold
        ]
        fitting = [
            name for name in convincing if len(chosen) + len(gains[name].gates) < max_variables
        ]
        for name, gain in gains.items():
            screened[name].given = gain.own
        if not fitting:
            break
        best = max(fitting, key=lambda x: gains[x].total / (len(gains[x].gates) + 1))
        for gate in gains[best].gates:
            screened[gate].reason = f"decides whether {best!r} applies"
        chosen += [*gains[best].gates, best]
    strong = [
        x for x in rest if x not in convincing and (screened[x].alone or 0.0) >= threshold
    ]
    copied = screening.copies(strong, chosen)
    for name in rest:
        variable = screened[name]
        if name in convincing:
            gates = gains[name].gates
            also = f" and {joined([repr(gate) for gate in gates])}" if gates else ""
            variable.reason = f"no room for it{also} (max_variables is {max_variables})"
        elif name in copied:
            variable.reason = f"nearly told by {copied[name]!r}"
        elif name in strong:
            variable.reason = "too little evidence given those chosen"
        else:
            variable.reason = "too little evidence"
        if name not in gains:
            variable.reason = "too many combinations with those chosen"
    return chosen


def _sorted(
    chosen: Sequence[str],
    known: Mapping[str, ScreenedVariable],
    pairs: Sequence[tuple[str, str]],
) -> list[str]:
    """Return the chosen variables in an order: gates and tiers first, then by strength."""
    order: list[str] = []
    waiting = list(chosen)
    while waiting:
        ready = next(
            name
            for name in waiting
            if not any(
                other in predecessors(known, name) or (other, name) in pairs
                for other in waiting
            )
        )
        order.append(ready)
        waiting.remove(ready)
    return order


def _numbered(*columns: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the index of each row among the distinct ones."""
    rows = np.column_stack(columns)
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


def _entropy(*columns: NDArray[np.int64], n: NDArray[np.float64]) -> float:
    """Return the entropy of the distinct rows, with ``n`` respondents each."""
    totals = np.bincount(_numbered(*columns), n)
    shares = totals[totals > 0] / totals.sum()
    return float(-(shares * np.log(shares)).sum())


def _share_told(
    told: NDArray[np.int64], by: NDArray[np.int64], n: NDArray[np.float64]
) -> float:
    """Return the share of one column's entropy that another one tells.

    Examples
    --------
    >>> age, old = np.array([1, 2, 3, 4]), np.array([0, 0, 1, 1])
    >>> round(_share_told(old, age, np.ones(4)), 9), round(_share_told(age, old, np.ones(4)), 9)
    (1.0, 0.5)
    """
    of_told = _entropy(told, n=n)
    if not of_told:
        return 0.0
    return (of_told + _entropy(by, n=n) - _entropy(told, by, n=n)) / of_told
