"""Intervals of answers: what the rows say of them without the stages, or given the staging.

An answer is a ratio of sums over the leaves of the tree, ``P(event) / P(condition)``. Its
standard error is that of its linear approximation in the probabilities of each situation (the
delta method), found with one pass through the tree.

By default each situation has the shares of its own rows. Nothing is taken from other
situations that have rows, so that the interval holds whatever the stages are: it is the
Jeffreys interval of as many rows as would have that standard error. Given the staging each
stage has its posterior, and the interval is that of the beta distribution with the mean and the
standard error of the answer; for the probability of a single stage this is the posterior
itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.evidence import All, Answer, items
from cegdb.inference.automata import occurs_always, run_automata
from cegdb.inference.counted_tree import walk
from cegdb.ingest.coding.variables import NOT_APPLICABLE
from cegdb.stages.robust_intervals import own_intervals, small_samples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.evidence import Evidence
    from cegdb.inference.counted_tree import Bools, CountedTree, Walk
    from cegdb.inference.propagation import Floats, Ints
    from cegdb.inference.queries import ConditionedModel

_CELLS_AT_ONCE: Final = 4_000_000
_ROUNDING: Final = 1e-12
_SAME: Final = 1e-6
_DIGITS: Final = 9
_LARGE: Final = 1e15
_HALVINGS: Final = 60


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
        asked = [part for part in items(event) if not self._holds_always(part)]
        is_known = all(
            isinstance(part, Answer) and model.ceg.variable_index(part.variable) in self._known
            for part in asked
        )
        one = np.array([0])
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
        named = {self.model.ceg.variable_index(name) for name in names[n_by:]}
        code, of_row = self._codes(names, columns, len(points))
        group, of_group = None, np.full(len(points), -1)
        if n_by:
            group, of_group = self._codes(names[:n_by], columns[:n_by], len(points))
        is_known = named <= self._known
        return self.of_classes(code, of_row, of_group, points, group, is_known=is_known)

    def of_scores(
        self,
        variable: str,
        worth: Floats | Bools,
        is_counted: Bools,
        points: Floats,
        is_certain: Bools,
        by: tuple[Sequence[str], Sequence[Sequence[str]]] = ((), ()),
    ) -> Limits:
        """Return the intervals of means of numbers from 0 to 1 that labels of a variable have.

        ``worth`` has a row for each label and a column for each mean, which is over the labels
        that are counted; ``by`` has the names of variables and, for each of them, the label
        that is given in each mean. Those that are certain are so whatever the rows say.
        """
        ceg, tree = self.model.ceg, self.tree
        index = ceg.variable_index(variable)
        label = self._labels(index, len(ceg.variables[index].labels))
        counts = np.append(is_counted, False)[label] & self._is_end
        group, of_group = self._codes(*by, len(points))
        parts = []
        for part in _parts_of(len(points), len(tree.n)):
            is_within = counts[:, None] & (group[:, None] == of_group[part][None, :])
            # Leaves that are not within play no part.
            own = worth[np.minimum(label, len(worth) - 1)][:, part]
            own[~is_within] = 0
            parts.append(self._limits(self._evidence, own, is_within, points[part]))
        low, high, n = (np.concatenate(one) for one in zip(*parts, strict=True))
        return Limits(np.where(is_certain, points, low), np.where(is_certain, points, high), n)

    def knows(self, variable: str) -> bool:
        """Return whether the evidence names a variable, or an intervention sets it."""
        return self.model.ceg.variable_index(variable) in self._known

    def _codes(
        self, names: Sequence[str], columns: Sequence[Sequence[str]], n_rows: int
    ) -> tuple[Ints, Ints]:
        """Return a code of the labels on the way to each vertex, and of those of each row."""
        ceg = self.model.ceg
        code, of_row = np.zeros(len(self.tree.n), np.int64), np.zeros(n_rows, np.int64)
        for name, labels in zip(names, columns, strict=True):
            index = ceg.variable_index(name)
            known = ceg.variables[index].labels
            absent = known.index(NOT_APPLICABLE) if NOT_APPLICABLE in known else len(known)
            place = {label: i for i, label in enumerate(known)} | {NOT_APPLICABLE: absent}
            code = code * (len(known) + 1) + self._labels(index, absent)
            of_row = of_row * (len(known) + 1) + np.array([place[label] for label in labels])
        return code, of_row

    @cached_property
    def _known(self) -> set[int]:
        """Return the variables that the evidence names, or an intervention sets."""
        known = {
            self.model.ceg.variable_index(part.variable)
            for part in (*items(self.model.evidence), *items(self.tree.stored_evidence))
            if isinstance(part, Answer)
        }
        is_set = ~np.isnan(self.tree.set_share)
        return known | set(self.model.ceg.edge_variable[self.tree.edge[is_set]].tolist())

    def _holds_always(self, part: Evidence) -> bool:
        """Return whether the labels asked for, several, are all that the variable has."""
        if not isinstance(part, Answer) or len(part.labels) < 2:
            return False
        ceg = self.model.ceg
        variable = ceg.variable_index(part.variable)
        is_always_asked = NOT_APPLICABLE in part.labels or occurs_always(ceg, variable)
        return is_always_asked and {*ceg.variables[variable].labels} <= {*part.labels}

    @cached_property
    def _evidence(self) -> Walk:
        return walk(self.tree, self.model.ceg, self.model.product)

    @property
    def _is_end(self) -> Bools:
        """Whether a vertex is a leaf that agrees with the evidence."""
        return self._evidence.is_alive & self.tree.is_leaf

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
        is_end = self._is_end
        for part in _parts_of(len(points), len(tree.n)):
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
        self, evidence: Walk, worth: Floats | Bools, is_within: Bools, points: Floats
    ) -> Limits:
        """Return the intervals of means of what leaves are worth, one a column."""
        tree = self.tree
        n = rows_below(tree, is_within)
        chance = tree.stage_chance if self.given_staging else tree.row_chance
        answer = linearise(tree, evidence, worth, is_within, chance)
        if self.given_staging:
            size = _equivalent(points, _stage_variance(tree, answer.slope)) - 1
            low, high = _beta_limits(points, size, self.level)
            return Limits(low, high, n)
        low, high = row_limits(tree, evidence, answer, worth, is_within, self.level)
        return Limits(np.minimum(low, points), np.maximum(high, points), n)


def _parts_of(n_answers: int, n_vertices: int) -> list[slice]:
    """Return the answers in parts that fit in memory."""
    at_once = max(1, _CELLS_AT_ONCE // n_vertices)
    return [slice(i, i + at_once) for i in range(0, n_answers, at_once)]


class Linear(NamedTuple):
    """Answers near the probabilities of edges that are given, one a column.

    ``ratio`` is the answer there, ``slope`` what it changes by with the probability of each
    edge; ``has_condition`` says whether its condition has a probability above 0.
    """

    ratio: Floats
    slope: Floats
    has_condition: Bools


def linearise(
    tree: CountedTree,
    evidence: Walk,
    worth: Floats | Bools,
    is_within: Bools,
    chance: Floats,
) -> Linear:
    """Return the means of what leaves are worth, among those ``is_within``.

    Both have a row for each vertex and a column for each answer. For an event ``worth`` says
    which leaves have it.
    """
    value = chance * evidence.factor
    event = tree.backward(value, worth.astype(np.float64))
    within = tree.backward(value, is_within.astype(np.float64))
    has_condition = within[0] > 0
    base = np.where(has_condition, within[0], 1.0)
    ratio = event[0] / base
    below = (event - ratio * within) / base
    taken = tree.forward(value)[tree.parent] * evidence.factor
    slope = tree.before_intervention(taken[:, None] * below[1:])
    return Linear(ratio, slope, has_condition)


def row_limits(
    tree: CountedTree,
    evidence: Walk,
    answer: Linear,
    worth: Floats | Bools,
    is_within: Bools,
    level: float,
) -> tuple[Floats, Floats]:
    """Return the intervals of answers, from 0 to 1, by the rows of each situation.

    They are Jeffreys intervals of as many rows as have the standard error of each answer; of
    means of numbers, whose variance is estimated, as much wider as Student's distribution is.
    Situations whose rows count for more than they are, as after an intervention, have one of
    their own, and their distances from the answer add up as squares. Where no row has the
    event, or each has it (all rows are worth the same), intervals go as far as the rows allow
    that decided it; and situations without rows may have any probabilities.
    """
    ratio = answer.ratio
    variance, below, above = _parts(tree, answer.slope, level)
    # Without any variance it follows from what an intervention set, or from those parts.
    size = np.minimum(_equivalent(ratio, variance), _LARGE)
    size = np.where(answer.has_condition, size, 0.0)
    if worth.dtype != np.bool_:
        size = size / small_samples(rows_below(tree, is_within), level)
    limits = own_intervals(np.column_stack([ratio * size, (1 - ratio) * size]), level)
    low, high = limits[0][:, 0], limits[1][:, 0]
    low = ratio - np.sqrt(np.maximum(ratio - low, 0.0) ** 2 + below)
    high = ratio + np.sqrt(np.maximum(high - ratio, 0.0) ** 2 + above)
    square = ratio
    if worth.dtype != np.bool_:
        squared = np.square(worth.astype(np.float64))
        square = linearise(tree, evidence, squared, is_within, tree.row_chance).ratio
    is_same = answer.has_condition & (square - ratio**2 < _ROUNDING)
    for column in np.flatnonzero(is_same):
        same, within = round(float(ratio[column]), _DIGITS), is_within[:, column]
        is_other = within & (np.abs(worth[:, column] - same) > _SAME)
        unseen = _most_unseen(tree, evidence, is_other, within, level)
        low[column], high[column] = same * (1 - unseen), same + unseen * (1 - same)
    unknown = _unknown_part(tree, answer.slope)
    return np.maximum(low - unknown[0], 0.0), np.minimum(high + unknown[1], 1.0)


def _parts(tree: CountedTree, slope: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Return the variance of linear answers, and squared distances of limits below and above.

    The first is of the situations that weigh as much as their rows, the others of those that
    weigh more; a situation may be in part of both kinds.
    """
    n_vertices, n_answers = len(tree.n), slope.shape[1]
    rows = np.divide(1.0, tree.total, out=np.zeros(n_vertices), where=tree.total > 0)
    centred = _centred(tree, slope)
    spread = tree.share * (rows * (1 - tree.overweight))[tree.parent]
    variance: Floats = (spread[:, None] * centred**2).sum(axis=0)
    below, above = np.zeros(n_answers), np.zeros(n_answers)
    is_heavy = (tree.overweight > 0) & (tree.total > 0)
    edges = is_heavy[tree.parent]
    if not edges.any():
        return variance, below, above
    parent = tree.parent[edges]
    starts = np.flatnonzero(np.diff(parent, prepend=-1))
    at, weight = parent[starts], tree.overweight[parent[starts]]
    for column in range(n_answers):
        own = slope[edges, column]
        least, most = np.minimum.reduceat(own, starts), np.maximum.reduceat(own, starts)
        mean = np.add.reduceat(tree.share[edges] * own, starts)
        square = np.add.reduceat(tree.share[edges] * centred[edges, column] ** 2, starts)
        width = most - least
        is_used = width > 0
        scale = np.where(is_used, width, 1.0)
        share = np.clip((mean - least) / scale, 0.0, 1.0)
        size = tree.total[at] * np.divide(
            share * (1 - share) * scale**2, square, out=np.ones(len(at)), where=square > 0
        )
        limits = own_intervals(np.column_stack([share * size, (1 - share) * size]), level)
        part = np.where(is_used, weight, 0.0) * width**2
        below[column] = (part * np.maximum(share - limits[0][:, 0], 0.0) ** 2).sum()
        above[column] = (part * np.maximum(limits[1][:, 0] - share, 0.0) ** 2).sum()
    return variance, below, above


def _most_unseen(
    tree: CountedTree, evidence: Walk, is_event: Bools, is_within: Bools, level: float
) -> float:
    """Return the largest probability of an event that leaves what was seen likely enough.

    Nobody had it: not of the ``m`` rows at each place that decided it, where it would have the
    weight ``w``. The largest sum of ``w p`` for which ``m log(1 - p)`` sum to the logarithm of
    1 - level has ``1 - p = min(1, c m / w)``.
    """
    value = tree.row_chance * evidence.factor
    within = tree.backward(value, is_within.astype(np.float64))
    reach = tree.forward(value) / within[0]
    has_event, has_within = ~tree.all_below(~is_event), ~tree.all_below(~is_within)
    is_taken = has_event[1:] & (value > 0)
    is_open = np.bincount(tree.parent, is_taken, len(tree.n)) > 0
    decides = has_event & ~tree.is_leaf & ~is_open & (reach > 0)
    # Where no path has the event, the rows that went through to a leaf did without it.
    is_top = has_within & ~has_event & (reach > 0)
    is_top[1:] &= has_event[tree.parent] & ~decides[tree.parent]
    at_leaf = np.where(tree.is_leaf & is_within, np.append(tree.rows_at_root, tree.size), 0.0)
    ended = tree.backward(np.ones(len(tree.parent)), at_leaf)
    m = np.concatenate([tree.total[decides], ended[is_top]])
    w = np.concatenate([reach[decides], (reach * within)[is_top]])
    m, w = m[w > 0], w[w > 0]
    without_rows = float(w[m <= 0].sum())
    m, w = m[m > 0], w[m > 0]
    if not len(m):
        return min(without_rows, 1.0)
    target = math.log1p(-level)

    def seen(log_c: float) -> float:
        return float((m * np.minimum(log_c + np.log(m / w), 0.0)).sum())

    low, high = (
        target / float(m.min()) - float(np.log(m / w).max()),
        -float(np.log(m / w).min()),
    )
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) >= target else (middle, high)
    p = -np.expm1(np.minimum(high + np.log(m / w), 0.0))
    return min(without_rows + float((w * p).sum()), 1.0)


def _unknown_part(tree: CountedTree, slope: Floats) -> tuple[Floats, Floats]:
    """Return by how much answers may be lower and higher, since nobody answered somewhere."""
    is_empty = (tree.total == 0)[tree.parent]
    below, above = np.zeros(slope.shape[1]), np.zeros(slope.shape[1])
    if not is_empty.any():
        return below, above
    parent, n_vertices = tree.parent[is_empty], len(tree.n)
    starts = np.flatnonzero(np.diff(parent, prepend=-1))
    for column in range(slope.shape[1]):
        own = slope[is_empty, column]
        mean = np.bincount(parent, tree.share[is_empty] * own, n_vertices)[parent[starts]]
        below[column] = (mean - np.minimum.reduceat(own, starts)).sum()
        above[column] = (np.maximum.reduceat(own, starts) - mean).sum()
    return below, above


def row_covariance(tree: CountedTree, slope: Floats) -> Floats:
    """Return the covariance of linear answers if each situation is a sample of its own."""
    rows = np.divide(1.0, tree.total, out=np.zeros(len(tree.n)), where=tree.total > 0)
    spread, centred = tree.share * rows[tree.parent], _centred(tree, slope)
    covariance: Floats = centred.T @ (spread[:, None] * centred)
    return covariance


def _centred(tree: CountedTree, slope: Floats) -> Floats:
    """Return slopes less their mean in each situation."""
    means = [np.bincount(tree.parent, tree.share * one, len(tree.n)) for one in slope.T]
    centred: Floats = slope - np.column_stack(means)[tree.parent]
    return centred


def rows_below(tree: CountedTree, leaves: Bools) -> Ints:
    """Return how many rows reach vertices below which there are only such leaves."""
    is_inside = tree.all_below(leaves)
    is_top = is_inside.copy()
    is_top[1:] &= ~is_inside[tree.parent]
    rows: Ints = np.where(is_top, tree.n[:, None], 0).sum(axis=0)
    return rows


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
