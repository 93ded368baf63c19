"""How well a CEG predicts rows: log scores, calibration, classification."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cegdb.errors import QueryError, is_whole
from cegdb.inference.row_answers import RowSource, open_rows, rank_of, ranks_of, request_labels
from cegdb.ingest.coding.new_row_codes import ASKED_BLANK
from cegdb.ingest.coding.variables import NOT_APPLICABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from cegdb.inference.propagation import Floats, Ints
    from cegdb.inference.queries import ConditionedModel
    from cegdb.inference.row_answers import OpenRows
    from cegdb.inference.row_tables import ModelKey
    from cegdb.store import Store

_DIGITS: Final = 12


class LogScore(NamedTuple):
    """The log score of rows: the natural log of the probability of their answers.

    Parameters
    ----------
    n
        Respondents.
    weight
        Their total weight: ``n`` without weights.
    total
        Weighted sum; ``-inf`` if a row with positive weight has probability 0.
    mean
        ``total / weight``.
    n_impossible
        Respondents whose answers have probability 0.
    mean_of_possible
        Weighted mean of the other respondents; NaN if there are none.
    """

    n: int
    weight: float
    total: float
    mean: float
    n_impossible: int
    mean_of_possible: float


def log_score(
    store: Store, model: ConditionedModel, key: ModelKey, source: RowSource
) -> LogScore:
    """Return the log score of the rows of a source."""
    with open_rows(store, model, key, source) as rows:
        rows.run(rows.n_combinations)
        ((_, n, weight, n_impossible, weight_impossible, score),) = rows.steps.fetch(
            "row_total"
        )
    total = -math.inf if weight_impossible > 0 else float(score)
    weight_possible = float(weight) - float(weight_impossible)
    return LogScore(
        int(n),
        float(weight),
        total,
        total / weight if weight > 0 else math.nan,
        int(n_impossible),
        float(score) / weight_possible if weight_possible > 0 else math.nan,
    )


@dataclass(frozen=True)
class Predictions:
    """The predicted distribution of a variable, and the label given, of groups of rows.

    ``probability`` has one row per combination of the other answers and label given
    (``actual``), and one column per label. Omitted are ``n_unknown`` respondents without a
    label that the CEG knows, and ``n_impossible`` whose other answers have probability 0.
    """

    labels: list[str]
    probability: Floats
    actual: Ints
    n: Ints
    weight: Floats
    n_unknown: int
    n_impossible: int


def predict(
    store: Store,
    model: ConditionedModel,
    key: ModelKey,
    source: RowSource,
    variable: str,
    predictors: object = None,
) -> Predictions:
    """Predict a variable for each row of a source from other answers, by default all."""
    with open_rows(store, model, key, source) as rows:
        rank = rank_of(rows.origin, variable)
        used = _predictor_ranks(rows, rank, predictors)
        rows.steps.run("masked_combination", used=used, rank=rank)
        _separate_actual_answers(rows, rank)
        labels, table, _ = _labels_of_combinations(rows, rank)
        rows.steps.run("prediction_count")
        counts = rows.steps.arrays("from temp.prediction_count order by all")
    label_index = _labels_given(counts, table)
    is_known, is_impossible = label_index >= 0, counts["is_impossible"]
    is_scored = is_known & ~is_impossible & (counts["weight"] > 0)
    if not is_scored.any():
        raise QueryError(
            f"no row can be scored: each lacks a known answer to {variable!r}, or its other "
            "answers are impossible",
            hint="see what cegdb assign prints for these rows",
        )
    return Predictions(
        labels,
        table[counts["combination_id"][is_scored]],
        label_index[is_scored],
        counts["n"][is_scored].astype(np.int64),
        counts["weight"][is_scored],
        int(counts["n"][~is_known].sum()),
        int(counts["n"][is_known & is_impossible].sum()),
    )


def _labels_given(counts: Mapping[str, NDArray[Any]], table: Floats) -> Ints:
    """Return the label given by each group of rows, -1 for none.

    A blank read as missing does not apply where, by the other answers, nothing is missing.
    """
    given = counts["label_index"].astype(np.int64)
    absent = counts["absent_index"].astype(np.int64)
    of_group = table[counts["combination_id"]]
    rows = np.arange(len(given))
    is_absent = (absent >= 0) & (of_group[rows, given] == 0) & (of_group[rows, absent] > 0)
    return np.where(is_absent, absent, given)


class PredictedLabels(NamedTuple):
    """The probability of each label (columns) for each row of a source.

    NaN where the other answers have probability 0.
    """

    labels: list[str]
    probability: Floats

    def best(self) -> list[str | None]:
        """Return the most probable label of each row; of ties, the first in level order."""
        rounded = np.round(self.probability, _DIGITS)
        return [
            None if np.isnan(row[0]) else self.labels[int(np.argmax(row))] for row in rounded
        ]


def predict_labels(
    store: Store,
    model: ConditionedModel,
    key: ModelKey,
    source: RowSource,
    variable: str,
    predictors: object = None,
) -> PredictedLabels:
    """Predict a variable for each row from other answers, ignoring the variable's own."""
    with open_rows(store, model, key, source) as rows:
        rank = rank_of(rows.origin, variable)
        used = _predictor_ranks(rows, rank, predictors)
        steps = rows.steps
        steps.run("masked_combination", used=used, rank=rank)
        steps.run("predicted_row")
        _separate_actual_answers(rows, rank)
        labels, table, is_impossible = _labels_of_combinations(rows, rank)
        steps.run("predicted_combination")
        combination = steps.arrays(
            "select combination_id from temp.predicted_combination order by row_number"
        )["combination_id"]
    table[is_impossible] = np.nan
    probability = table[combination]
    occurs = [bool((table[:, i] > 0).any()) for i in range(len(labels))]
    return PredictedLabels(
        [label for label, is_met in zip(labels, occurs, strict=True) if is_met],
        probability[:, occurs],
    )


def _predictor_ranks(rows: OpenRows, rank: int, predictors: object) -> list[int]:
    order = rows.origin.order
    if predictors is None:
        return [other for other in range(len(order)) if other != rank]
    used = sorted(ranks_of(rows.origin, predictors, "given"))
    if rank in used:
        raise QueryError(
            f"{order[rank]!r} cannot be predicted from itself", hint="name other variables"
        )
    return used


def _labels_of_combinations(
    rows: OpenRows, rank: int
) -> tuple[list[str], Floats, NDArray[np.bool_]]:
    """Return labels, their probability for each combination, and which are impossible."""
    steps = rows.steps
    ((n_combinations,),) = steps.rows("select count(*) from temp.row_combination")
    request_labels(steps, [rank])
    rows.run(int(n_combinations), labels=True)
    labels = [
        str(label)
        for (label,) in steps.rows(
            "select label from temp.query_label where rank = $rank order by label_index",
            {"rank": rank},
        )
    ]
    cells = steps.arrays("from temp.row_label order by combination_id, label_index")
    table = np.zeros((int(n_combinations), len(labels)))
    table[cells["combination_id"], cells["label_index"]] = cells["probability"]
    scores = steps.arrays(
        "select isinf(log_likelihood) as is_impossible from temp.row_score "
        "order by combination_id"
    )
    return labels, table, scores["is_impossible"].astype(bool)


def _separate_actual_answers(rows: OpenRows, rank: int) -> None:
    """Make the combinations again from the masked ones, the variable's answer apart."""
    steps = rows.steps
    steps.run("coded_row")
    steps.run("row_combination")
    steps.run("source_row")
    steps.drop(["coded_row", "masked_combination"])
    levels = rows.origin.survey.variables[rows.origin.order[rank]].levels
    kinds = [kind for kind, *_ in levels]
    steps.run(
        "actual_label",
        rank=rank,
        structural=kinds.index("structural") + 1,
        blanks=[kinds.index("blank") + 1, ASKED_BLANK],
        absent=NOT_APPLICABLE,
    )


class ClassificationMetrics(NamedTuple):
    """How often the most probable label is the one given.

    Parameters
    ----------
    n, weight
        Respondents classified, and their weight.
    accuracy
        Share whose most probable label is the one given; ties go to the first in level order.
    log_loss
        Mean of -ln(probability of their label); infinite if one had probability 0.
    brier
        Mean of the sum over labels of (probability - 1 if theirs)^2: 0 to 2.
    auc
        Area under the ROC curve of the second of two labels, ties counting half; NaN unless
        exactly two labels occur and both are given.
    n_unknown, n_impossible
        Respondents omitted: no answer, or one that the CEG does not have; other answers of
        probability 0.
    """

    n: int
    weight: float
    accuracy: float
    log_loss: float
    brier: float
    auc: float
    n_unknown: int
    n_impossible: int


def classification_metrics(predictions: Predictions) -> tuple[ClassificationMetrics, Floats]:
    """Return metrics, and the confusion table: given labels in rows, predicted in columns."""
    weight, p = predictions.weight, predictions.probability
    total = float(weight.sum())
    rows = np.arange(len(p))
    predicted = np.argmax(p >= p.max(axis=1, keepdims=True) * (1 - 1e-12), axis=1)
    of_actual = p[rows, predictions.actual]
    with np.errstate(divide="ignore"):
        log_loss = -np.log(of_actual)
    right = np.zeros_like(p)
    right[rows, predictions.actual] = 1.0
    confusion = np.zeros((len(predictions.labels), len(predictions.labels)))
    np.add.at(confusion, (predictions.actual, predicted), weight)
    metrics = ClassificationMetrics(
        int(predictions.n.sum()),
        total,
        float(weight[predicted == predictions.actual].sum() / total),
        float((weight * log_loss).sum() / total),
        float((weight * ((p - right) ** 2).sum(axis=1)).sum() / total),
        _auc(predictions),
        predictions.n_unknown,
        predictions.n_impossible,
    )
    return metrics, confusion


def _auc(predictions: Predictions) -> float:
    """Return the weighted Mann-Whitney statistic of the later of two labels."""
    occurs = np.flatnonzero(
        (predictions.probability > 0).any(axis=0)
        | np.isin(np.arange(len(predictions.labels)), predictions.actual)
    )
    if len(occurs) != 2:
        return math.nan
    score = np.round(predictions.probability[:, occurs[1]], _DIGITS)
    _, group = np.unique(score, return_inverse=True)
    is_second = predictions.actual == occurs[1]
    second = np.bincount(group, weights=predictions.weight * is_second)
    first = np.bincount(group, weights=predictions.weight * ~is_second)
    pairs = first.sum() * second.sum()
    if pairs <= 0:
        return math.nan
    below = np.cumsum(first) - first
    return float((second * (below + first / 2)).sum() / pairs)


def calibration_bins(
    predictions: Predictions, bins: int | None
) -> list[tuple[str, float, float, int, float, float, float]]:
    """Return label, bin bounds, n, weight, mean prediction and observed share.

    Bins have equal width and include their upper bound; None gives each probability its own.
    """
    if bins is not None and (not is_whole(bins) or bins < 1):
        raise QueryError(f"bins must be a whole number of 1 or more, or None, not {bins!r}")
    rows = []
    for i, label in enumerate(predictions.labels):
        p = predictions.probability[:, i]
        is_it = predictions.actual == i
        if not (p.any() or is_it.any()):
            continue
        if bins is None:
            low, group = np.unique(np.round(p, _DIGITS), return_inverse=True)
            high = low
        else:
            group = np.clip(
                np.ceil(np.round(p * bins, _DIGITS)).astype(np.int64) - 1, 0, bins - 1
            )
            low, high = np.arange(bins) / bins, np.arange(1, bins + 1) / bins
        size = len(low)
        weight = np.bincount(group, weights=predictions.weight, minlength=size)
        n = np.bincount(group, weights=predictions.n, minlength=size)
        expected = np.bincount(group, weights=predictions.weight * p, minlength=size)
        observed = np.bincount(group, weights=predictions.weight * is_it, minlength=size)
        rows += [
            (label, float(low[k]), float(high[k]), int(n[k]), float(weight[k]),
             float(expected[k] / weight[k]), float(observed[k] / weight[k]))
            for k in np.flatnonzero(weight > 0).tolist()
        ]  # fmt: skip
    return rows
