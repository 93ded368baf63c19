"""Whether adjusting for variables gives the effect of a treatment, decided algebraically."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb.causal.interventions import below
from cegdb.errors import QueryError
from cegdb.evidence import All, Answer
from cegdb.independence.modular_arithmetic import MODULAR, drawn, multiply
from cegdb.inference.automata import run_automata
from cegdb.inference.compiled import MIXED, NOT_APPLICABLE, SINK
from cegdb.inference.propagation import NUMBER, REAL
from cegdb.inference.queries import carried, condition, distribution

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from cegdb.evidence import Evidence
    from cegdb.independence.modular_arithmetic import Words
    from cegdb.inference.automata import Product
    from cegdb.inference.compiled import Compiled
    from cegdb.inference.propagation import Floats, Graph, Ints, Ring

_DRAWS: Final = 2
_MOST_STATES: Final = 2_000_000
_LARGEST_CODE: Final = 2**62
_MOST_SETS: Final = 200
_LARGEST: Final = 3


class Cells(NamedTuple):
    """Values by adjustment cell (rows) and answer to the outcome (columns).

    Attributes
    ----------
    cells
        The codes of the cells.
    total
        P(z), by cell alone.
    by_label
        Gives, for each label x of the treatment, x, P(z, y || x) and P(z, y, x).
    """

    cells: Ints
    total: NDArray[Any]
    by_label: Iterator[tuple[str, NDArray[Any], NDArray[Any]]]


class Estimates(NamedTuple):
    """The outcome by label of the treatment (rows) and answer (columns).

    Attributes
    ----------
    answers
        The answers, in order.
    adjusted
        The sum over z of P(y | x, z) P(z); NaN where a z with P(z) > 0 never has x.
    truth
        P(y || x).
    seen
        P(y | x).
    """

    answers: list[str]
    adjusted: Floats
    truth: Floats
    seen: Floats


@dataclass(frozen=True)
class Question:
    """What a treatment does to an outcome in a group, to be answered by adjusting.

    Parameters
    ----------
    ceg
        Without any intervention.
    treatment, outcome
        Variables, by number.
    labels
        Of the treatment, that are compared.
    group
        Events before the treatment.
    seed
        Of the random parameters.
    """

    ceg: Compiled
    treatment: int
    outcome: int
    labels: tuple[str, ...]
    group: Evidence
    seed: int

    @cached_property
    def product(self) -> Product:
        """The paths of the group, those of fitted probability 0 too."""
        ones = np.ones(len(self.ceg.probability))
        found = run_automata(replace(self.ceg, probability=ones), self.group)
        if found is None:
            raise QueryError(f"no path agrees with {self.group}")
        return found

    def failure(self, by: Sequence[int]) -> str | None:
        """Return why adjusting for variables does not give the effect; None if it does.

        Notes
        -----
        P(z || x) = P(z) and P(y || x, z) = P(y | x, z), as polynomials in the parameters of
        the stages, which are compared at random points modulo 2^61 - 1; z tells also whether
        the treatment applies (``docs/theory.md``, section 11b). A set
        that works is never refused; one that does not passes with a probability of about
        (degree / 2^61)^2.
        """
        for theta in self._points:
            found = self._cells(by, theta, MODULAR)
            for label, under, seen in found.by_label:
                of_under, of_seen = _sums(under, MODULAR), _sums(seen, MODULAR)
                moved = np.flatnonzero(of_under != found.total)
                if len(moved):
                    return self._moved(by, label, int(found.cells[moved[0]]))
                differs = multiply(under, of_seen[:, None]) != multiply(seen, of_under[:, None])
                bent = np.flatnonzero(differs.any(axis=1))
                if len(bent):
                    return self._bent(by, label, int(found.cells[bent[0]]))
        return None

    def _moved(self, by: Sequence[int], label: str, cell: int) -> str:
        treatment = self.ceg.variables[self.treatment].name
        return (
            f"setting {treatment} = {label} changes the probability of "
            f"{self._in_words(by, cell)}"
        )

    def _bent(self, by: Sequence[int], label: str, cell: int) -> str:
        treatment = self.ceg.variables[self.treatment].name
        where = f", given {self._in_words(by, cell)}" if by else ""
        outcome = self.ceg.variables[self.outcome].name
        return (
            f"{outcome} differs between those set to {treatment} = {label} and those seen "
            f"with it{where}"
        )

    def _in_words(self, by: Sequence[int], cell: int) -> str:
        digits = []
        for place in reversed(by):
            labels = (NOT_APPLICABLE, *self.ceg.variables[place].labels)
            digits.append(f"{self.ceg.variables[place].name} = {labels[cell % len(labels)]}")
            cell //= len(labels)
        return " and ".join(reversed(digits))

    def estimates(self, by: Sequence[int]) -> Estimates:
        """Return the effect by adjusting, the true one, and what is seen, as fitted."""
        found = self._cells(by, self.ceg.probability, REAL)
        known = (NOT_APPLICABLE, *self.ceg.variables[self.outcome].labels)
        adjusted, truth, observed = [], [], []
        for label, under, seen in found.by_label:
            has = found.total > 0
            of_seen = seen.sum(axis=1)[has]
            with np.errstate(invalid="ignore"):
                given = seen[has] / of_seen[:, None]
            adjusted.append((given * found.total[has, None]).sum(axis=0) / found.total.sum())
            truth.append(under.sum(axis=0) / under.sum())
            observed.append(self._seen(label, known))
        met = np.nan_to_num(np.concatenate([truth, observed])).any(axis=0)
        order = [i for i in [*range(1, len(known)), 0] if met[i]]
        return Estimates(
            [known[i] for i in order],
            np.array(adjusted)[:, order],
            np.array(truth)[:, order],
            np.array(observed)[:, order],
        )

    def _seen(self, label: str, known: Sequence[str]) -> Floats:
        ceg = self.ceg
        both = All((self.group, Answer(ceg.variables[self.treatment].name, (label,))))
        found = np.zeros(len(known))
        try:
            under = condition(ceg, both)
        except QueryError:
            return np.full(len(known), np.nan)
        (labels,), mass = distribution(under, [ceg.variables[self.outcome].name])
        for answer, value in zip(labels, mass.tolist(), strict=True):
            found[known.index(answer)] += value
        return found

    @cached_property
    def _points(self) -> list[Words]:
        return list(drawn(self.ceg, _DRAWS, self.seed).T)

    def _cells(self, by: Sequence[int], theta: NDArray[Any], ring: Ring) -> Cells:
        """Return probabilities by cell and answer, of the group, with parameters ``theta``.

        A path on which the treatment does not occur or apply, or whose position lacks the
        label, counts as it is under each label: nothing is set on it.
        """
        ceg, graph, product = self.ceg, self.ceg.graph, self.product
        added, n_cells, n_answers = self._states(by)
        applies = np.array(ceg.texts) != NOT_APPLICABLE
        zero = theta.dtype.type(0)

        def passed(value: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
            edge, n_states = product.edge, n_cells * n_answers
            return carried(product.graph, value[edge], added[edge], n_states, ring)

        def by_label() -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
            is_it = (ceg.edge_variable == self.treatment) & applies
            whole = _per_source(graph, np.where(is_it, theta, zero), ring)
            for label in self.labels:
                has = is_it & (ceg.label == ceg.variables[self.treatment].place(label))
                can = np.isin(graph.source, graph.source[has])
                follows = np.where(~is_it | has | ~can, theta, zero)
                under = _tabled(passed(np.where(has, whole, follows)), cells, n_answers)
                yield label, under, _tabled(passed(follows), cells, n_answers)

        every = passed(theta)
        cells = np.unique(every[0] // n_answers)
        return Cells(cells, _sums(_tabled(every, cells, n_answers), ring), by_label())

    def is_small(self, by: Sequence[int]) -> bool:
        """Return whether the combinations of labels of variables can be tabled."""
        sizes = [len(self.ceg.variables[place].labels) + 1 for place in (self.outcome, *by)]
        n_states = 2 * math.prod(sizes)
        fits = n_states * self.ceg.graph.n_nodes < _LARGEST_CODE
        return fits and min(n_states, self._n_paths) <= _MOST_STATES

    @cached_property
    def _n_paths(self) -> int:
        ones = np.ones(len(self.ceg.probability), object)
        return int(self.ceg.graph.backward(ones, NUMBER)[0])

    def _states(self, by: Sequence[int]) -> tuple[Ints, int, int]:
        """Return what edges add to the state, the number of cells, and that of answers.

        A cell is a combination of labels, and whether the treatment applies.
        """
        ceg = self.ceg
        if not self.is_small(by):
            names = ", ".join(ceg.variables[place].name for place in by)
            raise QueryError(
                f"{names} have too many combinations of labels to adjust for",
                hint="name fewer variables",
            )
        added = np.zeros(len(ceg.probability), np.int64)
        step = 1
        sizes = []
        for place in (self.outcome, *reversed(by)):
            labels = ceg.variables[place].labels
            is_answer = (ceg.edge_variable == place) & (ceg.label >= 0)
            if NOT_APPLICABLE in labels:
                is_answer &= ceg.label != labels.index(NOT_APPLICABLE)
            added += np.where(is_answer, (ceg.label + 1) * step, 0)
            sizes.append(len(labels) + 1)
            step *= sizes[-1]
        applies = (ceg.edge_variable == self.treatment) & (
            np.array(ceg.texts) != NOT_APPLICABLE
        )
        added += np.where(applies, step, 0)
        return added, 2 * math.prod(sizes[1:]), sizes[0]

    def predecessors(self) -> list[int]:
        """Return the variables met before the treatment on some path, and after it on none."""
        ceg = self.ceg
        after = below(ceg, self.treatment)
        above = ceg.variable == self.treatment
        for part in reversed(ceg.graph.layers()):
            above[ceg.graph.source[part][above[ceg.graph.target[part]]]] = True
        found = set(ceg.variable[above].tolist()) - set(ceg.variable[after].tolist())
        return sorted(found - {self.treatment, self.outcome, SINK, MIXED})

    def smallest(self) -> tuple[list[tuple[int, ...]], bool]:
        """Return the smallest sets of predecessors that work, and whether all were tried.

        All up to their size, that is. Sets of up to 3 variables are tried, 200 at most, then
        all predecessors at once.
        """
        known = self.predecessors()
        sizes = range(min(_LARGEST, len(known)) + 1)
        tried, skips = 0, False
        for size in sizes:
            found: list[tuple[int, ...]] = []
            for by in combinations(known, size):
                if tried == _MOST_SETS or not self.is_small(by):
                    skips = True
                    continue
                tried += 1
                if self.failure(by) is None:
                    found.append(by)
            if found:
                return found, not skips
        return self._whole(known), not skips and len(known) <= _LARGEST + 1

    def _whole(self, known: Sequence[int]) -> list[tuple[int, ...]]:
        works = self.is_small(known) and self.failure(known) is None
        return [tuple(known)] if works else []


def _tabled(found: tuple[Ints, NDArray[Any]], cells: Ints, n_answers: int) -> NDArray[Any]:
    """Return values by cell and answer."""
    state, value = found
    table = np.zeros((len(cells), n_answers), value.dtype)
    table[np.searchsorted(cells, state // n_answers), state % n_answers] = value
    return table


def _per_source(graph: Graph, value: NDArray[Any], ring: Ring) -> NDArray[Any]:
    """Return, for each edge, the sum over the edges of its source."""
    if not len(value):
        return value
    starts = np.flatnonzero(np.diff(graph.source, prepend=-1))
    sums = ring.total(value, starts)
    found: NDArray[Any] = sums[np.searchsorted(graph.source[starts], graph.source)]
    return found


def _sums(table: NDArray[Any], ring: Ring) -> NDArray[Any]:
    """Return the sums of rows."""
    if not table.size:
        return np.zeros(len(table), table.dtype)
    found: NDArray[Any] = ring.total(table.T, np.zeros(1, np.int64))[0]
    return found


def checked(ceg: Compiled, treatment: object, outcome: object, by: object) -> list[int]:
    """Return the numbers of treatment, outcome and variables to adjust for.

    Raises
    ------
    QueryError
        One is unknown, or named twice.
    """
    names = [treatment, outcome, *(by if isinstance(by, (list, tuple)) else [])]
    places = [ceg.place(name) for name in names]
    if len(set(places)) < len(places):
        raise QueryError(
            "a variable is named twice",
            hint="the treatment, the outcome and what is adjusted for are different ones",
        )
    return places
