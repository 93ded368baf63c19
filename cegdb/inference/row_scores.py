"""How well a CEG tells rows it may not have seen: log scores, calibration, classification."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.errors import QueryError, is_whole, items_of
from cegdb.inference.compiled import NOT_APPLICABLE
from cegdb.inference.row_answers import RowSource, ask_ranks, open_rows, place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cegdb.inference.propagation import Floats, Ints
    from cegdb.inference.queries import Conditioned
    from cegdb.inference.row_answers import OpenRows
    from cegdb.inference.row_tables import Origin
    from cegdb.store import Store

_ALIKE: Final = 12


class LogScore(NamedTuple):
    """The log score of rows: the natural log of the probability of their answers.

    Parameters
    ----------
    n
        Respondents.
    weight
        What they weigh: ``n`` where no weight is given.
    total
        Weighted sum; ``-inf`` if a row of some weight has probability 0.
    mean
        ``total / weight``.
    n_impossible
        Respondents whose answers have probability 0.
    mean_of_possible
        Weighted mean of the others; NaN if there is none.
    """

    n: int
    weight: float
    total: float
    mean: float
    n_impossible: int
    mean_of_possible: float


def log_score(store: Store, given: Conditioned, origin: Origin, asked: RowSource) -> LogScore:
    """Return the log score of the rows of a source."""
    with open_rows(store, given, origin, asked) as rows:
        rows.run(rows.n_combinations)
        ((_, n, weight, n_impossible, lost, score),) = rows.steps.fetch("answered_total")
    total = -math.inf if lost > 0 else float(score)
    left = float(weight) - float(lost)
    return LogScore(
        int(n),
        float(weight),
        total,
        total / weight if weight > 0 else math.nan,
        int(n_impossible),
        float(score) / left if left > 0 else math.nan,
    )


@dataclass(frozen=True)
class Predicted:
    """The distribution of one variable for rows of which it is known, from others of theirs.

    Parameters
    ----------
    labels
        Of the variable, ``not applicable`` last or where the levels have it.
    probability
        One row a (combination of the other answers, label given), one column a label.
    actual
        The label given.
    n, weight
        Respondents, and what they weigh.
    n_unknown
        Respondents left out since they did not answer, or with a label the CEG lacks.
    n_impossible
        Respondents left out since their other answers have probability 0.
    """

    labels: list[str]
    probability: Floats
    actual: Ints
    n: Ints
    weight: Floats
    n_unknown: int
    n_impossible: int


def predictions(
    store: Store,
    given: Conditioned,
    origin: Origin,
    asked: RowSource,
    variable: str,
    others: object = None,
) -> Predicted:
    """Predict a variable for each row of a source from its other answers.

    Parameters
    ----------
    store, given, model, asked
        As `cegdb.inference.row_answers.assigned`.
    variable
        To be predicted.
    others
        Names of those from which; None means all others.

    Raises
    ------
    QueryError
        A name is unknown, or no row can be predicted.
    """
    with open_rows(store, given, origin, asked) as rows:
        rank = place_of(rows.model, variable)
        used = _used(rows, rank, others)
        _set_apart(rows, rank, used)
        labels, table, _ = _labels_of_combinations(rows, rank)
        told = rows.steps.arrays(
            "select g.combination_id, coalesce(p.place, -1) as place, "
            "isinf(s.log_likelihood) as is_impossible, cast(sum(g.n) as double) as n, "
            "fsum(g.n * cast(coalesce(g.weight, 1) as double)) as weight "
            "from temp.given_row as g "
            "inner join temp.row_score as s on g.combination_id = s.combination_id "
            "left join temp.actual_place as p on g.actual = p.code "
            "group by all order by all"
        )
    place, lost = told["place"].astype(np.int64), told["is_impossible"]
    kept = (place >= 0) & ~lost & (told["weight"] > 0)
    if not kept.any():
        raise QueryError(
            f"no row tells {variable!r} and has other answers that are possible",
            hint="see what cegdb assign says of these rows",
        )
    return Predicted(
        labels,
        table[told["combination_id"][kept]],
        place[kept],
        told["n"][kept].astype(np.int64),
        told["weight"][kept],
        int(told["n"][place < 0].sum()),
        int(told["n"][(place >= 0) & lost].sum()),
    )


class PredictedLabels(NamedTuple):
    """For each row of a source, the probability of each label of a variable.

    Parameters
    ----------
    labels
        In level order, of the columns.
    probability
        Shape (rows, labels); NaN where the other answers have probability 0.
    """

    labels: list[str]
    probability: Floats

    def best(self) -> list[str | None]:
        """Return the most probable label of each row; of ties, the first in level order."""
        rounded = np.round(self.probability, _ALIKE)
        return [
            None if np.isnan(row[0]) else self.labels[int(np.argmax(row))] for row in rounded
        ]


def predicted_labels(
    store: Store,
    given: Conditioned,
    origin: Origin,
    asked: RowSource,
    variable: str,
    others: object = None,
) -> PredictedLabels:
    """Predict a variable for each row from its other answers, whatever its own answer is."""
    with open_rows(store, given, origin, asked) as rows:
        rank = place_of(rows.model, variable)
        used = _used(rows, rank, others)
        steps = rows.steps
        steps.create("predicted_row", _cells_of_rows(rows, used))
        _set_apart(rows, rank, used)
        labels, table, is_lost = _labels_of_combinations(rows, rank)
        found = steps.arrays(
            "select c.combination_id from temp.predicted_row as r "
            "inner join temp.given_combination as c on r.cells = c.codes order by r.row_number"
        )
    table[is_lost] = np.nan
    probability = table[found["combination_id"]]
    occurs = [bool((table[:, i] > 0).any()) for i in range(len(labels))]
    return PredictedLabels(
        [label for label, is_there in zip(labels, occurs, strict=True) if is_there],
        probability[:, occurs],
    )


def _used(rows: OpenRows, rank: int, others: object) -> list[int]:
    order = rows.model.order
    if others is None:
        return [place for place in range(len(order)) if place != rank]
    if isinstance(others, str):
        others = [others]
    names = items_of(others, "given", QueryError, hint="give names of variables")
    used = sorted({place_of(rows.model, name) for name in names})
    if rank in used:
        raise QueryError(f"{order[rank]!r} cannot be predicted from itself")
    return used


def _labels_of_combinations(
    rows: OpenRows, rank: int
) -> tuple[list[str], Floats, NDArray[np.bool_]]:
    """Return labels, their probability for each combination, and which are impossible."""
    steps = rows.steps
    ((n_combinations,),) = steps.rows("select count(*) from temp.given_combination")
    ask_ranks(steps, [rank])
    rows.run(int(n_combinations), labels=True)
    labels = [
        str(label)
        for (label,) in steps.rows(
            "select label from temp.query_label where rank = $rank order by place",
            {"rank": rank},
        )
    ]
    found = steps.arrays(
        "select combination_id, place, probability from temp.row_label "
        "order by combination_id, place"
    )
    table = np.zeros((int(n_combinations), len(labels)))
    table[found["combination_id"], found["place"]] = found["probability"]
    scores = steps.arrays(
        "select isinf(log_likelihood) as is_lost from temp.row_score order by combination_id"
    )
    return labels, table, scores["is_lost"].astype(bool)


def _cells_of_rows(rows: OpenRows, used: Sequence[int]) -> str:
    """Return the SELECT of each row's answers to the variables used, 0 for the others."""
    cells = _cells(rows, used)
    return (
        f"select r.row_number, cast([{cells}] as integer[]) as cells "  # noqa: S608
        "from temp.given_row as r "
        "inner join temp.given_combination as c on r.combination_id = c.combination_id"
    )


def _cells(rows: OpenRows, used: Sequence[int]) -> str:
    return ", ".join(
        f"c.codes[{place + 1}]" if place in used else "0"
        for place in range(len(rows.model.order))
    )


def _set_apart(rows: OpenRows, rank: int, used: Sequence[int]) -> None:
    """Make the combinations again without the variable, which becomes ``actual``."""
    steps = rows.steps
    cells = _cells(rows, used)
    steps.create(
        "coded_row",
        f"select min(r.row_number) as row_number, cast([{cells}] as integer[]) as cells, "  # noqa: S608
        f"c.codes[{rank + 1}] as actual, sum(r.n) as n, "
        "fsum(r.n * cast(coalesce(r.weight, 1) as double)) / nullif(sum(r.n), 0) as weight "
        "from temp.given_row as r "
        "inner join temp.given_combination as c on r.combination_id = c.combination_id "
        "group by all",
    )
    steps.run("given_combination")
    steps.run("given_row")
    steps.drop(["coded_row"])
    levels = rows.model.survey.variables[rows.model.order[rank]].levels
    structural = [kind for kind, *_ in levels].index("structural") + 1
    steps.create(
        "actual_place",
        "with taken as (select e.code, min(w.place) as place from temp.query_edge as e "  # noqa: S608
        "inner join temp.query_word as w on e.edge = w.edge "
        f"where w.rank = {rank} and e.code > 0 group by e.code) "
        "select m.code, coalesce(t.place, q.place) as place from temp.code_meaning as m "
        "left join taken as t on m.answer = t.code "
        "left join temp.query_label as q on m.rank = q.rank "
        f"and q.label = '{NOT_APPLICABLE}' and m.answer = {structural} "
        f"where m.rank = {rank} and coalesce(t.place, q.place) is not null",
    )


class Classified(NamedTuple):
    """How well the most probable label is the right one.

    Parameters
    ----------
    n, weight
        Respondents judged, and what they weigh.
    accuracy
        Share whose most probable label is theirs; of labels alike the first in level order.
    log_loss
        Mean of -ln(probability of their label); infinite if one had probability 0.
    brier
        Mean of the sum over labels of (probability - 1 if theirs)^2: 0 to 2.
    auc
        Of two labels, how probable it is that one who has the second is given a larger
        probability of it than one who has the first, ties counting half; NaN where the
        variable has other than two labels that occur, or one of them is given by nobody.
    n_unknown, n_impossible
        Respondents left out: no answer, or one the CEG lacks; other answers of
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


def classified(found: Predicted) -> tuple[Classified, Floats]:
    """Return metrics, and the confusion table: a row a label given, a column one predicted."""
    weight, p = found.weight, found.probability
    total = float(weight.sum())
    rows = np.arange(len(p))
    guess = np.argmax(p >= p.max(axis=1, keepdims=True) * (1 - 1e-12), axis=1)
    of_actual = p[rows, found.actual]
    with np.errstate(divide="ignore"):
        log_loss = -np.log(of_actual)
    right = np.zeros_like(p)
    right[rows, found.actual] = 1.0
    confusion = np.zeros((len(found.labels), len(found.labels)))
    np.add.at(confusion, (found.actual, guess), weight)
    told = Classified(
        int(found.n.sum()),
        total,
        float(weight[guess == found.actual].sum() / total),
        float((weight * log_loss).sum() / total),
        float((weight * ((p - right) ** 2).sum(axis=1)).sum() / total),
        _auc(found),
        found.n_unknown,
        found.n_impossible,
    )
    return told, confusion


def _auc(found: Predicted) -> float:
    """Return the weighted Mann-Whitney statistic of the later of two labels."""
    occurs = np.flatnonzero(
        (found.probability > 0).any(axis=0)
        | np.isin(np.arange(len(found.labels)), found.actual)
    )
    if len(occurs) != 2:
        return math.nan
    score = np.round(found.probability[:, occurs[1]], _ALIKE)
    _, group = np.unique(score, return_inverse=True)
    is_second = found.actual == occurs[1]
    second = np.bincount(group, weights=found.weight * is_second)
    first = np.bincount(group, weights=found.weight * ~is_second)
    pairs = first.sum() * second.sum()
    if pairs <= 0:
        return math.nan
    below = np.cumsum(first) - first
    return float((second * (below + first / 2)).sum() / pairs)


def calibrated(
    found: Predicted, bins: int | None
) -> list[tuple[str, float, float, int, float, float, float]]:
    """Return label, bin from, to, n, weight, mean predicted and share observed.

    Parameters
    ----------
    found
        Predictions.
    bins
        How many of equal width, closed above; None makes each probability its own.

    Raises
    ------
    QueryError
        ``bins`` is no whole number from 1 on.
    """
    if bins is not None and (not is_whole(bins) or bins < 1):
        raise QueryError(f"bins is {bins!r}", hint="give a whole number from 1 on, or None")
    rows = []
    for i, label in enumerate(found.labels):
        p = found.probability[:, i]
        is_it = found.actual == i
        if not (p.any() or is_it.any()):
            continue
        if bins is None:
            low, group = np.unique(np.round(p, _ALIKE), return_inverse=True)
            high = low
        else:
            group = np.clip(
                np.ceil(np.round(p * bins, _ALIKE)).astype(np.int64) - 1, 0, bins - 1
            )
            low, high = np.arange(bins) / bins, np.arange(1, bins + 1) / bins
        size = len(low)
        weight = np.bincount(group, weights=found.weight, minlength=size)
        n = np.bincount(group, weights=found.n, minlength=size)
        told = np.bincount(group, weights=found.weight * p, minlength=size)
        seen = np.bincount(group, weights=found.weight * is_it, minlength=size)
        rows += [
            (label, float(low[k]), float(high[k]), int(n[k]), float(weight[k]),
             float(told[k] / weight[k]), float(seen[k] / weight[k]))
            for k in np.flatnonzero(weight > 0).tolist()
        ]  # fmt: skip
    return rows
