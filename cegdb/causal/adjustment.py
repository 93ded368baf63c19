"""Whether adjusting for variables identifies the effect of a treatment, by algebra."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb.causal.interventions import nodes_below
from cegdb.errors import QueryError
from cegdb.evidence import All, Answer
from cegdb.independence.modular_arithmetic import MODULAR, multiply, random_parameters
from cegdb.inference.automata import run_automata
from cegdb.inference.compiled_model import MIXED, SINK
from cegdb.inference.propagation import PATH_COUNT, REAL
from cegdb.inference.queries import (
    MOST_STATES,
    condition,
    distribution,
    path_sums,
    refuse_repeated,
)
from cegdb.ingest.coding.variables import NOT_APPLICABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from cegdb.evidence import Evidence
    from cegdb.independence.modular_arithmetic import Residues
    from cegdb.inference.automata import Product
    from cegdb.inference.compiled_model import CompiledModel
    from cegdb.inference.propagation import Floats, Graph, Ints, Ring

_DRAWS: Final = 2
_MOST_CELLS: Final = 2_000_000
_MOST_SETS: Final = 200
_MAX_SET_SIZE: Final = 3


class CellProbabilities(NamedTuple):
    """Values by adjustment cell z (rows) and answer y to the outcome (columns).

    ``total`` is P(z); ``by_label`` yields x, P(z, y | do(x)) and P(z, y, x) for each label x.
    """

    cells: Ints
    total: NDArray[Any]
    by_label: Iterator[tuple[str, NDArray[Any], NDArray[Any]]]


class Estimates(NamedTuple):
    """The outcome by label of the treatment (rows) and answer (columns).

    ``adjusted`` is the sum over z of P(y | x, z) P(z), NaN where a z with P(z) > 0 never has x;
    ``intervened`` is P(y | do(x)), ``observed`` is P(y | x).
    """

    answers: list[str]
    adjusted: Floats
    intervened: Floats
    observed: Floats


@dataclass(frozen=True)
class AdjustmentProblem:
    """The effect of a treatment on an outcome in a group, to be found by adjusting.

    ``ceg`` is without any intervention, ``labels`` are those compared, ``seed`` is that of the
    random parameters.
    """

    ceg: CompiledModel
    treatment: int
    outcome: int
    labels: tuple[str, ...]
    group: Evidence
    seed: int

    @cached_property
    def product(self) -> Product:
        """The paths of the group, also those of fitted probability 0."""
        ones = np.ones(len(self.ceg.probability))
        product = run_automata(replace(self.ceg, probability=ones), self.group)
        if product is None:
            raise QueryError(
                f"no path agrees with the group: {self.group}", hint="leave a part of it out"
            )
        return product

    def reason_invalid(self, by: Sequence[int]) -> str | None:
        """Return why adjusting for variables does not give the effect; None if it does."""
        # P(z | do(x)) = P(z) and P(y | do(x), z) = P(y | x, z) must hold for polynomials in
        # the parameters of the stages. They are compared at random points modulo 2^61 - 1: a
        # valid set is never refused, an invalid one passes with probability (degree / 2^61)^2
        # (docs/theory.md, section 11b).
        for parameters in self._random_parameters:
            cells = self._cells(by, parameters, MODULAR)
            for label, intervened_cells, observed_cells in cells.by_label:
                intervened_total = _row_sums(intervened_cells, MODULAR)
                observed_total = _row_sums(observed_cells, MODULAR)
                changed = np.flatnonzero(intervened_total != cells.total)
                if len(changed):
                    return self._changed_cell(by, label, int(cells.cells[changed[0]]))
                differs = multiply(intervened_cells, observed_total[:, None]) != multiply(
                    observed_cells, intervened_total[:, None]
                )
                confounded = np.flatnonzero(differs.any(axis=1))
                if len(confounded):
                    return self._confounded_cell(by, label, int(cells.cells[confounded[0]]))
        return None

    def _changed_cell(self, by: Sequence[int], label: str, cell: int) -> str:
        treatment = self.ceg.variables[self.treatment].name
        return (
            f"setting {treatment} = {label} changes the probability of "
            f"{self._cell_text(by, cell)}"
        )

    def _confounded_cell(self, by: Sequence[int], label: str, cell: int) -> str:
        treatment = self.ceg.variables[self.treatment].name
        where = f", given {self._cell_text(by, cell)}" if by else ""
        outcome = self.ceg.variables[self.outcome].name
        return (
            f"{outcome} differs between people set to {treatment} = {label} and people "
            f"observed with it{where}"
        )

    def _cell_text(self, by: Sequence[int], cell: int) -> str:
        digits = []
        for index in reversed(by):
            labels = (NOT_APPLICABLE, *self.ceg.variables[index].labels)
            digits.append(f"{self.ceg.variables[index].name} = {labels[cell % len(labels)]}")
            cell //= len(labels)
        return " and ".join(reversed(digits))

    def estimates(self, by: Sequence[int]) -> Estimates:
        """Return the adjusted, intervened and observed outcome as fitted."""
        cells = self._cells(by, self.ceg.probability, REAL)
        known = (NOT_APPLICABLE, *self.ceg.variables[self.outcome].labels)
        adjusted, intervened, observed = [], [], []
        for label, intervened_cells, observed_cells in cells.by_label:
            has = cells.total > 0
            observed_total = observed_cells.sum(axis=1)[has]
            with np.errstate(invalid="ignore"):
                given = observed_cells[has] / observed_total[:, None]
            adjusted.append((given * cells.total[has, None]).sum(axis=0) / cells.total.sum())
            intervened.append(intervened_cells.sum(axis=0) / intervened_cells.sum())
            observed.append(self._observed(label, known))
        met = np.nan_to_num(np.concatenate([intervened, observed])).any(axis=0)
        order = [i for i in [*range(1, len(known)), 0] if met[i]]
        return Estimates(
            [known[i] for i in order],
            np.array(adjusted)[:, order],
            np.array(intervened)[:, order],
            np.array(observed)[:, order],
        )

    def _observed(self, label: str, known: Sequence[str]) -> Floats:
        ceg = self.ceg
        both = All((self.group, Answer(ceg.variables[self.treatment].name, (label,))))
        probability = np.zeros(len(known))
        try:
            given = condition(ceg, both)
        except QueryError:
            return np.full(len(known), np.nan)
        (labels,), mass = distribution(given, [ceg.variables[self.outcome].name])
        for answer, value in zip(labels, mass.tolist(), strict=True):
            probability[known.index(answer)] += value
        return probability

    @cached_property
    def _random_parameters(self) -> list[Residues]:
        return list(random_parameters(self.ceg, _DRAWS, self.seed).T)

    def _cells(
        self, by: Sequence[int], parameters: NDArray[Any], ring: Ring
    ) -> CellProbabilities:
        """Return probabilities by cell and answer, of the group.

        Where the treatment does not occur, does not apply or lacks the label, nothing is set.
        """
        ceg, graph, product = self.ceg, self.ceg.graph, self.product
        added, n_cells, n_answers = self._states(by)
        applies = np.array(ceg.edge_labels) != NOT_APPLICABLE
        zero = parameters.dtype.type(0)

        def sums(value: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
            edge, n_states = product.edge, n_cells * n_answers
            return path_sums(product.graph, value[edge], added[edge], n_states, ring)

        def by_label() -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
            is_it = (ceg.edge_variable == self.treatment) & applies
            whole = _source_totals(graph, np.where(is_it, parameters, zero), ring)
            for label in self.labels:
                has = is_it & (ceg.label == ceg.variables[self.treatment].label_index(label))
                can = np.isin(graph.source, graph.source[has])
                follows = np.where(~is_it | has | ~can, parameters, zero)
                intervened = _table_of(sums(np.where(has, whole, follows)), cells, n_answers)
                yield label, intervened, _table_of(sums(follows), cells, n_answers)

        all_sums = sums(parameters)
        cells = np.unique(all_sums[0] // n_answers)
        return CellProbabilities(
            cells, _row_sums(_table_of(all_sums, cells, n_answers), ring), by_label()
        )

    def is_small(self, by: Sequence[int]) -> bool:
        """Return whether the table of combinations of labels is small enough."""
        sizes = [len(self.ceg.variables[index].labels) + 1 for index in (self.outcome, *by)]
        n_states = 2 * math.prod(sizes)
        fits = n_states * self.ceg.graph.n_nodes < MOST_STATES
        return fits and min(n_states, self._n_paths) <= _MOST_CELLS

    @cached_property
    def _n_paths(self) -> int:
        ones = np.ones(len(self.ceg.probability), object)
        return int(self.ceg.graph.backward(ones, PATH_COUNT)[0])

    def _states(self, by: Sequence[int]) -> tuple[Ints, int, int]:
        """Return what edges add to the state, and the numbers of cells and of answers.

        A cell is a combination of labels, and whether the treatment applies.
        """
        ceg = self.ceg
        if not self.is_small(by):
            names = ", ".join(ceg.variables[index].name for index in by)
            raise QueryError(
                f"adjusting for {names} takes too many combinations of labels",
                hint="name fewer variables",
            )
        added = np.zeros(len(ceg.probability), np.int64)
        step = 1
        sizes = []
        for index in (self.outcome, *reversed(by)):
            labels = ceg.variables[index].labels
            is_answer = (ceg.edge_variable == index) & (ceg.label >= 0)
            if NOT_APPLICABLE in labels:
                is_answer &= ceg.label != labels.index(NOT_APPLICABLE)
            added += np.where(is_answer, (ceg.label + 1) * step, 0)
            sizes.append(len(labels) + 1)
            step *= sizes[-1]
        applies = (ceg.edge_variable == self.treatment) & (
            np.array(ceg.edge_labels) != NOT_APPLICABLE
        )
        added += np.where(applies, step, 0)
        return added, 2 * math.prod(sizes[1:]), sizes[0]

    def predecessors(self) -> list[int]:
        """Return the variables before the treatment on some path, and after it on none."""
        ceg = self.ceg
        below = nodes_below(ceg, self.treatment)
        above = ceg.variable == self.treatment
        for part in reversed(ceg.graph.layers()):
            above[ceg.graph.source[part][above[ceg.graph.target[part]]]] = True
        met = set(ceg.variable[above].tolist()) - set(ceg.variable[below].tolist())
        return sorted(met - {self.treatment, self.outcome, SINK, MIXED})

    def smallest_sets(self) -> tuple[list[tuple[int, ...]], bool]:
        """Return the smallest valid sets of predecessors, and whether none was skipped.

        Sets of up to 3 variables are tried, 200 at most, then all predecessors at once.
        """
        known = self.predecessors()
        sizes = range(min(_MAX_SET_SIZE, len(known)) + 1)
        tried, skips = 0, False
        for size in sizes:
            valid: list[tuple[int, ...]] = []
            for by in combinations(known, size):
                if tried == _MOST_SETS or not self.is_small(by):
                    skips = True
                    continue
                tried += 1
                if self.reason_invalid(by) is None:
                    valid.append(by)
            if valid:
                return valid, not skips
        return self._all_predecessors(known), not skips and len(known) <= _MAX_SET_SIZE + 1

    def _all_predecessors(self, known: Sequence[int]) -> list[tuple[int, ...]]:
        works = self.is_small(known) and self.reason_invalid(known) is None
        return [tuple(known)] if works else []


def _table_of(sums: tuple[Ints, NDArray[Any]], cells: Ints, n_answers: int) -> NDArray[Any]:
    """Return values by cell and answer."""
    state, value = sums
    table = np.zeros((len(cells), n_answers), value.dtype)
    table[np.searchsorted(cells, state // n_answers), state % n_answers] = value
    return table


def _source_totals(graph: Graph, value: NDArray[Any], ring: Ring) -> NDArray[Any]:
    """Return, for each edge, the sum over the edges of its source."""
    if not len(value):
        return value
    starts = np.flatnonzero(np.diff(graph.source, prepend=-1))
    sums = ring.total(value, starts)
    of_edge: NDArray[Any] = sums[np.searchsorted(graph.source[starts], graph.source)]
    return of_edge


def _row_sums(table: NDArray[Any], ring: Ring) -> NDArray[Any]:
    """Return the sum of each row."""
    if not table.size:
        return np.zeros(len(table), table.dtype)
    sums: NDArray[Any] = ring.total(table.T, np.zeros(1, np.int64))[0]
    return sums


def variable_indexes(
    ceg: CompiledModel, treatment: object, outcome: object, by: object
) -> list[int]:
    """Return the indexes of treatment, outcome and adjustment variables, all different."""
    names = [treatment, outcome, *(by if isinstance(by, (list, tuple)) else [])]
    indexes = [ceg.variable_index(name) for name in names]
    refuse_repeated(
        (ceg.variables[index].name for index in indexes),
        "treatment, outcome and adjustment variables must differ",
    )
    return indexes
