"""Intervals of answers: what the rows say of them without the stages, or given the staging.

An answer is a ratio of sums over the leaves of the tree, ``P(event) / P(condition)``. Its
standard error is that of its linear approximation in the probabilities of each situation (the
delta method), found with one pass through the tree.

By default each situation has the shares of its own rows. Nothing is taken from other
situations, so that the interval holds whatever the stages are: it is the Jeffreys interval of
as many rows as would have that standard error. Given the staging each stage has its posterior,
and the interval is that of the beta distribution with the mean and the standard error of the
answer; for the probability of a single stage this is the posterior itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.evidence import All, Answer, items
from cegdb.inference.automata import run_automata
from cegdb.inference.counted_tree import walk
from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.stages.robust_intervals import own_intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.evidence import Evidence
    from cegdb.inference.counted_tree import Bools, CountedTree, Walk
    from cegdb.inference.propagation import Floats, Ints
    from cegdb.inference.queries import ConditionedModel

_CELLS_AT_ONCE: Final = 4_000_000
_ROUNDING: Final = 1e-12
_LARGE: Final = 1e15


class Limits(NamedTuple):
    """Ends of the interval of each answer, and the rows that meet its condition."""

    low: Floats
    high: Floats
    n: Ints


@dataclass(frozen=True)
class AnswerIntervals:
    """Makes the intervals of answers about a model given evidence.

    ``level`` is the probability to cover; ``given_staging`` takes the stages as known.
    """

    tree: CountedTree
    model: ConditionedModel
    level: float
    given_staging: bool = False

    def of_event(self, event: Evidence, point: float) -> Limits:
        """Return the interval of the probability of an event."""
        model = self.model
        both = All((model.evidence, event))
        is_met = walk(self.tree, model.ceg, run_automata(model.ceg, both)).is_alive
        named = {
            model.ceg.variable_index(part.variable)
            for part in items(event)
            if isinstance(part, Answer)
        }
        one = np.array([0])
        is_known = named <= self._known_variables() and len(named) == len(list(items(event)))
        return self.of_classes(
            np.where(is_met, 0, -1), one, one - 1, np.array([point]), is_known=is_known
        )

    def of_paths(self, paths: Sequence[Ints], points: Floats) -> Limits:
        """Return the intervals of the probabilities of paths, given as edges of the model."""
        path_of = np.full(len(self.tree.n), -1)
        for number, edges in enumerate(paths):
            at = 0
            for edge in edges.tolist():
                first, last = np.searchsorted(self.tree.parent, (at, at + 1))
                at = 1 + int(first + np.flatnonzero(self.tree.edge[first:last] == edge)[0])
            path_of[at] = number
        return self.of_classes(path_of, np.arange(len(paths)), np.full(len(paths), -1), points)

    def of_answers(
        self, names: Sequence[str], columns: Sequence[Sequence[str]], points: Floats, n_by: int
    ) -> Limits:
        """Return the intervals of combinations of labels, given those of the first variables.

        ``columns`` has the labels of each variable; the first ``n_by`` are conditions.
        """
        ceg = self.model.ceg
        named = {ceg.variable_index(name) for name in names[n_by:]}
        code, of_row = np.zeros(len(self.tree.n), np.int64), np.zeros(len(points), np.int64)
        group, of_group = None, np.full(len(points), -1)
        for number, (name, labels) in enumerate(zip(names, columns, strict=True)):
            if number == n_by and n_by:
                group, of_group = code.copy(), of_row.copy()
            index = ceg.variable_index(name)
            known = ceg.variables[index].labels
            absent = known.index(NOT_APPLICABLE) if NOT_APPLICABLE in known else len(known)
            place = {label: i for i, label in enumerate(known)} | {NOT_APPLICABLE: absent}
            code = code * (len(known) + 1) + self._labels(index, absent)
            of_row = of_row * (len(known) + 1) + np.array([place[label] for label in labels])
        is_known = named <= self._known_variables()
        return self.of_classes(code, of_row, of_group, points, group, is_known=is_known)

    def _known_variables(self) -> set[int]:
        """Return the variables of which the evidence, or an intervention, excludes labels."""
        tree, ceg = self.tree, self.model.ceg
        is_alive = self._evidence.is_alive
        variable = np.full(len(tree.n), -1)
        in_model = tree.edge >= 0
        variable[tree.parent[in_model]] = ceg.edge_variable[tree.edge[in_model]]
        is_cut = is_alive[tree.parent] & ~is_alive[1:]
        return set(variable[tree.parent[is_cut]].tolist())

    @cached_property
    def _evidence(self) -> Walk:
        return walk(self.tree, self.model.ceg, self.model.product)

    def _labels(self, variable: int, absent: int) -> Ints:
        """Return the label of a variable on the way to each vertex."""
        tree, ceg = self.tree, self.model.ceg
        label = np.full(len(tree.n), absent)
        is_it = (tree.edge >= 0) & (ceg.edge_variable[tree.edge] == variable)
        for part in tree.layers:
            before = label[tree.parent[part]]
            own = ceg.label[tree.edge[part]]
            label[part.start + 1 : part.stop + 1] = np.where(is_it[part], own, before)
        return label

    def of_classes(
        self,
        leaf_class: Ints,
        classes: Ints,
        groups: Ints,
        points: Floats,
        group_of: Ints | None = None,
        *,
        is_known: bool = False,
    ) -> Limits:
        """Return the intervals of the probabilities of classes of leaves.

        Each is given a group of leaves (``group_of``), or, where that is -1, given the
        evidence only. Where the evidence itself is what is asked (``is_known``), what it
        makes certain is.
        """
        tree, evidence = self.tree, self._evidence
        low, high = np.zeros(len(points)), np.ones(len(points))
        n = np.zeros(len(points), np.int64)
        at_once = max(1, _CELLS_AT_ONCE // len(tree.n))
        is_end = evidence.is_alive & tree.is_leaf
        for first in range(0, len(points), at_once):
            part = slice(first, first + at_once)
            asked = groups[part][None, :]
            is_within = np.repeat(is_end[:, None], asked.shape[1], axis=1)
            if group_of is not None:
                is_within &= (asked < 0) | (group_of[:, None] == asked)
            is_event = is_within & (leaf_class[:, None] == classes[part][None, :])
            limits = self._limits(evidence, is_event, is_within, points[part])
            low[part], high[part], n[part] = limits
        if is_known:
            is_certain = (points < _ROUNDING) | (points > 1 - _ROUNDING)
            low, high = np.where(is_certain, points, low), np.where(is_certain, points, high)
        return Limits(low, high, n)

    def _limits(
        self, evidence: Walk, is_event: Bools, is_within: Bools, points: Floats
    ) -> Limits:
        """Return the intervals of answers, one a column, given their leaves."""
        tree = self.tree
        n = rows_below(tree, is_within)
        chance = tree.stage_chance if self.given_staging else tree.row_chance
        answer = linearise(tree, evidence, is_event, is_within, chance)
        if self.given_staging:
            size = _equivalent(points, _stage_variance(tree, answer.slope)) - 1
            low, high = _beta_limits(points, size, self.level)
            return Limits(low, high, n)
        low, high = row_limits(tree, answer, is_event, is_within, self.level)
        return Limits(np.minimum(low, points), np.maximum(high, points), n)


class Linear(NamedTuple):
    """Answers near the probabilities of edges that are given, one a column.

    ``ratio`` is the answer there, ``slope`` what it changes by with the probability of each
    edge; ``is_known`` says whether its condition has a probability above 0.
    """

    ratio: Floats
    slope: Floats
    is_known: Bools


def linearise(
    tree: CountedTree, evidence: Walk, is_event: Bools, is_within: Bools, chance: Floats
) -> Linear:
    """Return the probabilities of leaves ``is_event`` among those ``is_within``.

    Both have a row for each vertex and a column for each answer.
    """
    value = chance * evidence.factor
    event = tree.backward(value, is_event.astype(np.float64))
    within = tree.backward(value, is_within.astype(np.float64))
    is_known = within[0] > 0
    base = np.where(is_known, within[0], 1.0)
    ratio = event[0] / base
    below = (event - ratio * within) / base
    taken = tree.forward(value)[tree.parent] * evidence.factor
    slope = tree.before_intervention(taken[:, None] * below[1:])
    return Linear(ratio, slope, is_known)


def row_limits(
    tree: CountedTree, answer: Linear, is_event: Bools, is_within: Bools, level: float
) -> tuple[Floats, Floats]:
    """Return Jeffreys intervals of as many rows as have the standard error of each answer."""
    ratio = answer.ratio
    size = _equivalent(ratio, row_variance(tree, answer.slope))
    is_certain = (ratio < _ROUNDING) | (ratio > 1 - _ROUNDING)
    decided = rows_below(tree, is_event) + rows_below(tree, is_within & ~is_event)
    size = np.where(is_certain, decided * _effective_share(tree), size)
    ratio = np.where(is_certain, np.round(ratio), ratio)
    # Without any variance it was set, or follows from what was.
    size = np.where(answer.is_known, np.minimum(size, _LARGE), 0.0)
    limits = own_intervals(np.column_stack([ratio * size, (1 - ratio) * size]), level)
    return limits[0][:, 0], limits[1][:, 0]


def row_variance(tree: CountedTree, slope: Floats) -> Floats:
    """Return the variance of linear answers if each situation is a sample of its own."""
    spread, centred = _spread(tree, slope)
    variance: Floats = (spread[:, None] * centred**2).sum(axis=0)
    return variance


def row_covariance(tree: CountedTree, slope: Floats) -> Floats:
    """Return the covariance of linear answers if each situation is a sample of its own."""
    spread, centred = _spread(tree, slope)
    covariance: Floats = centred.T @ (spread[:, None] * centred)
    return covariance


def _spread(tree: CountedTree, slope: Floats) -> tuple[Floats, Floats]:
    """Return the share of each edge by the rows of its situation, and centred slopes."""
    n_vertices = len(tree.n)
    means = [np.bincount(tree.parent, tree.share * one, n_vertices) for one in slope.T]
    centred = slope - np.column_stack(means)[tree.parent]
    return tree.share / np.maximum(tree.total, 1.0)[tree.parent], centred


def rows_below(tree: CountedTree, leaves: Bools) -> Ints:
    """Return how many rows reach vertices below which there are only such leaves."""
    is_inside = tree.all_below(leaves)
    is_top = is_inside.copy()
    is_top[1:] &= ~is_inside[tree.parent]
    rows: Ints = np.where(is_top, tree.n[:, None], 0).sum(axis=0)
    return rows


def _effective_share(tree: CountedTree) -> float:
    """Return what a row counts, on average."""
    if not tree.layers:
        return 1.0
    first = tree.layers[0]
    answered = int(tree.n[first.start + 1 : first.stop + 1].sum())
    return float(tree.size[first].sum()) / answered if answered else 1.0


def _stage_variance(tree: CountedTree, slope: Floats) -> Floats:
    """Return the variance of linear answers if each stage has its posterior."""
    answers, first = np.unique(tree.answer, return_index=True)
    _, stage = np.unique(tree.stage[first], return_inverse=True)
    mass, chance = tree.mass[first], tree.probability[first]
    total = np.zeros(slope.shape[1])
    for column in range(slope.shape[1]):
        of_stage = np.bincount(tree.answer, slope[:, column])[answers]
        mean = np.bincount(stage, chance * of_stage)[stage]
        total[column] = float((chance * (of_stage - mean) ** 2 / (mass + 1)).sum())
    return total


def _equivalent(mean: Floats, variance: Floats) -> Floats:
    """Return the number of rows of which a share has that variance."""
    size = np.full(len(mean), np.inf)
    np.divide(mean * (1 - mean), variance, out=size, where=variance > 0)
    return size


def _beta_limits(mean: Floats, size: Floats, level: float) -> tuple[Floats, Floats]:
    """Return quantiles of beta distributions, and the mean itself where it is certain."""
    from scipy.special import betaincinv

    low, high, tail = mean.copy(), mean.copy(), (1 - level) / 2
    varies = np.isfinite(size) & (size > 0) & (mean > 0) & (mean < 1)
    a, b = mean[varies] * size[varies], (1 - mean[varies]) * size[varies]
    low[varies] = betaincinv(a, b, tail)
    high[varies] = betaincinv(a, b, 1 - tail)
    return np.minimum(low, mean), np.maximum(high, mean)
