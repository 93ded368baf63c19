"""Means and cumulative shares of ordered answers, with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import sqlalchemy as sa

from cegdb.errors import QueryError, agreeing, listed
from cegdb.inference.answer_intervals import Limits
from cegdb.inference.queries import conditional_distribution, variable_names
from cegdb.ingest.coding.variables import MISSING, NOT_APPLICABLE
from cegdb.store import schema
from cegdb.store.catalog import row, staging_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from cegdb.inference.answer_intervals import AnswerIntervals
    from cegdb.inference.propagation import Floats
    from cegdb.inference.queries import ConditionedModel
    from cegdb.options import Kind
    from cegdb.store import Store

_ROUNDING: Final = 1e-12
_HINT: Final = (
    "declare in a codebook which answers are ordered (ordered: true), and ingest with it"
)


class OrderedAnswers(NamedTuple):
    """The answers to an ordered variable given each combination of answers to others.

    Attributes
    ----------
    variable
        Its name.
    labels, scores
        The labels that have a score, in the order of the scores, and these.
    places
        The place of each of these labels among all labels of the variable.
    n_labels
        How many labels it has in all.
    names, columns
        The other variables, and the label of each in every group.
    probability
        Shape (groups, labels): given that one of these answers was given.
    """

    variable: str
    labels: list[str]
    scores: Floats
    places: list[int]
    n_labels: int
    names: list[str]
    columns: list[list[str]]
    probability: Floats

    def groups(self, n_times: int) -> dict[str, list[str]]:
        """Return the labels of the other variables, each as often as wanted."""
        return {
            name: [label for label in column for _ in range(n_times)]
            for name, column in zip(self.names, self.columns, strict=True)
        }

    @property
    def mean(self) -> Floats:
        """The mean score in each group."""
        mean: Floats = self.probability @ self.scores
        return mean

    @property
    def cumulative(self) -> Floats:
        """The probability of a score up to that of each label, shape (groups, labels)."""
        shares = np.minimum(self.probability @ self._up_to, 1.0)
        return np.where(self.scores == self.scores.max(), 1.0, shares)

    @property
    def _up_to(self) -> NDArray[np.bool_]:
        """Whether the score of each label (row) is up to that of another one (column)."""
        is_up_to: NDArray[np.bool_] = self.scores[:, None] <= self.scores[None, :]
        return is_up_to

    def mean_limits(self, intervals: AnswerIntervals) -> Limits:
        """Return the intervals of the means."""
        least, width = float(self.scores.min()), float(np.ptp(self.scores)) or 1.0
        n_groups = len(self.probability)
        worth: Floats = np.repeat(((self.scores - least) / width)[:, None], n_groups, axis=1)
        points = (self.mean - least) / width
        is_one = self.probability.max(axis=1, initial=0.0) > 1 - _ROUNDING
        is_certain = is_one & intervals.knows(self.variable)
        limits = self._limits(intervals, worth, points, is_certain, self.columns)
        low, high = least + width * limits.low, least + width * limits.high
        return Limits(np.minimum(low, self.mean), np.maximum(high, self.mean), limits.n)

    def cumulative_limits(self, intervals: AnswerIntervals) -> Limits:
        """Return the intervals of the cumulative shares, groups one after another."""
        n_groups, n_labels = self.probability.shape
        columns = list(self.groups(n_labels).values())
        points = self.cumulative.ravel()
        is_all = np.tile(self.scores == self.scores.max(), n_groups)
        is_sure = (points < _ROUNDING) | (points > 1 - _ROUNDING)
        is_certain = is_all | (is_sure & intervals.knows(self.variable))
        return self._limits(
            intervals, np.tile(self._up_to, n_groups), points, is_certain, columns
        )

    def _limits(
        self,
        intervals: AnswerIntervals,
        worth: Floats | NDArray[np.bool_],
        points: Floats,
        is_certain: NDArray[np.bool_],
        columns: Sequence[Sequence[str]],
    ) -> Limits:
        if not len(points):
            return Limits(points, points, np.zeros(0, np.int64))
        index, is_counted = np.zeros(self.n_labels, np.int64), np.zeros(self.n_labels, bool)
        index[self.places], is_counted[self.places] = np.arange(len(self.places)), True
        by = (self.names, columns)
        return intervals.of_scores(
            self.variable, worth[index], is_counted, points, is_certain, by
        )


class Scale(NamedTuple):
    """The scores of the labels of a variable; None for labels that are no answer.

    ``is_declared`` in the codebook: of other variables, two answers have the scores 0 and 1.
    """

    scores: dict[str, float | None]
    is_declared: bool


def stored_scales(store: Store, kind: Kind, object_id: int) -> dict[str, Scale]:
    """Return the scales of the ordered variables below a staging or CEG."""
    variable, level, score = schema.variable.c, schema.level.c, schema.level_score.c
    with store.catalog() as catalog:
        record = row(catalog, kind, object_id)
        if kind == "ceg":
            record = row(catalog, "staging", staging_of(record))
        tree = row(catalog, "tree", record["tree_id"])
        query = (
            sa.select(variable.name, level.label, level.kind, score.score)
            .select_from(
                schema.variable.join(
                    schema.level, variable.variable_id == level.variable_id
                ).outerjoin(schema.level_score, level.level_id == score.level_id)
            )
            .where(variable.survey_id == tree["survey_id"])
            .order_by(level.level_id)
        )
        answers: dict[str, dict[str, float | None]] = {}
        others: dict[str, dict[str, float | None]] = {}
        for name, label, of_kind, number in catalog.execute(query):
            own = answers if of_kind == "value" else others
            own.setdefault(str(name), {})[str(label)] = number
    scales = {}
    for name, scores in answers.items():
        is_declared = None not in scores.values()
        if is_declared or len(scores) == 2:
            numbers = scores if is_declared else dict(zip(scores, (0.0, 1.0), strict=True))
            absent = dict.fromkeys((MISSING, NOT_APPLICABLE, *others[name]))
            scales[name] = Scale({**absent, **numbers}, is_declared)
    return scales


def ordered_answers(
    model: ConditionedModel,
    scales: Mapping[str, Scale],
    variables: object,
    by: object,
    columns_beside: Sequence[str],
) -> list[OrderedAnswers]:
    """Return the answers to variables (None: all that the codebook orders) given others."""
    before = variable_names(model, by)
    known = [variable.name for variable in model.ceg.variables]
    if variables is None:
        variables = [
            name
            for name in known
            if name in scales and scales[name].is_declared and name not in before
        ]
        if not variables:
            raise QueryError(f"{model.ceg.title} has no ordered variable", hint=_HINT)
    found = []
    for name in variable_names(model, variables):
        if name not in scales:
            ordered = [other for other in known if other in scales]
            hint = (
                f"the ordered variables are {listed(map(repr, ordered))}" if ordered else _HINT
            )
            raise QueryError(f"the answers to {name!r} are not ordered", hint=hint)
        found.append(_of_variable(model, scales[name].scores, name, before, columns_beside))
    return found


def _of_variable(
    model: ConditionedModel,
    score_of: Mapping[str, float | None],
    name: str,
    before: list[str],
    columns_beside: Sequence[str],
) -> OrderedAnswers:
    variable = model.ceg.variables[model.ceg.variable_index(name)]
    without = [label for label in variable.labels if label not in score_of]
    if without:
        raise QueryError(
            f"{listed(map(repr, without))}, to which answers to {name!r} were relabelled, "
            f"{agreeing(len(without), 'have')} no score",
            hint="recode the answers when ingesting (recode in a codebook) instead of relabel",
        )
    scored = [
        (score, place)
        for place, label in enumerate(variable.labels)
        if (score := score_of[label]) is not None
    ]
    places = [place for _, place in sorted(scored)]
    labels = [variable.labels[place] for place in places]
    names, columns, probability = conditional_distribution(
        model, before, [name], columns_beside
    )
    *by_columns, own = columns
    groups: dict[tuple[str, ...], int] = {}
    group = [groups.setdefault(key, len(groups)) for key in _rows(by_columns, len(own))]
    table = np.zeros((len(groups), len(labels)))
    index = {label: i for i, label in enumerate(labels)}
    for at, label, p in zip(group, own, probability.tolist(), strict=True):
        if label in index:
            table[at, index[label]] += p
    total = table.sum(axis=1)
    has_answers = total > 0
    keys = [key for key, has in zip(groups, has_answers.tolist(), strict=True) if has]
    return OrderedAnswers(
        name,
        labels,
        np.array(sorted(score for score, _ in scored)),
        places,
        len(variable.labels),
        names[: len(before)],
        [list(column) for column in zip(*keys, strict=True)] if keys else [[] for _ in before],
        table[has_answers] / total[has_answers, None],
    )


def _rows(columns: list[list[str]], n_rows: int) -> list[tuple[Any, ...]]:
    return list(zip(*columns, strict=True)) if columns else [()] * n_rows
