"""Mean scores of stages and positions where answers are ordered, which stand in their order."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from cegdb.errors import StaleError
from cegdb.inference.ordered_answers import stored_scales
from cegdb.sqlfiles import Steps
from cegdb.stability.intervals import make_estimates
from cegdb.stages.robust_intervals import means_of_stages
from cegdb.store.catalog import row

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from cegdb.options import Kind
    from cegdb.store import Store

    Scores: TypeAlias = Mapping[str, Mapping[str, float | None]]
    """The score of each label of the variables that the codebook orders."""

_DIGITS: Final = 12
_MOST_DECIMALS: Final = 5

Item = TypeVar("Item")
Key = TypeVar("Key", bound="Hashable")


class MeanScore(NamedTuple):
    """The mean score of a stage, and its interval where one can be given."""

    mean: float
    low: float | None = None
    high: float | None = None


class ScoredStages(NamedTuple):
    """The scores of ordered variables, and the mean scores of the stages of a staging."""

    scores: Scores = MappingProxyType({})
    means: Mapping[int, MeanScore] = MappingProxyType({})


def scored_stages(store: Store, staging_id: int) -> ScoredStages:
    """Return the scores below a staging and the mean scores of its stages."""
    scores = declared_scores(store, "staging", staging_id)
    return ScoredStages(scores, stage_means(store, staging_id, scores))


def declared_scores(store: Store, kind: Kind, object_id: int) -> Scores:
    """Return the scores of the variables that the codebook orders; None: no answer."""
    scales = stored_scales(store, kind, object_id)
    return {name: one.scores for name, one in scales.items() if one.is_declared}


def score_ends(
    scores: Mapping[str, float | None],
) -> tuple[tuple[float, str], tuple[float, str]]:
    """Return the lowest and the highest score, each with its label.

    Examples
    --------
    >>> score_ends({"often": 2.0, "never": 0.0, "missing": None, "sometimes": 1.0})
    ((0.0, 'never'), (2.0, 'often'))
    """
    known = [(score, label) for label, score in scores.items() if score is not None]
    return min(known, key=lambda one: one[0]), max(known, key=lambda one: one[0])


def scale_text(scores: Mapping[str, float | None]) -> str:
    """Return the ends of a scale in words.

    Examples
    --------
    >>> scale_text({"never": 0.0, "sometimes": 1.0, "often": 2.5})
    'from 0 (never) to 2.5 (often)'
    """
    (low, lowest), (high, highest) = score_ends(scores)
    return f"from {low:g} ({lowest}) to {high:g} ({highest})"


def mean_numbers(mean: MeanScore) -> tuple[str, str]:
    """Return a mean score and its interval, empty if it has none.

    They have as many decimals as the ends of the interval differ in, at least one.

    Examples
    --------
    >>> mean_numbers(MeanScore(2.4012, 2.2101, 2.5803)), mean_numbers(MeanScore(2.0))
    (('2.4', '2.2 to 2.6'), ('2.0', ''))
    """
    if mean.low is None or mean.high is None:
        return f"{mean.mean:.1f}", ""
    width = mean.high - mean.low
    digits = next(
        (x for x in range(1, _MOST_DECIMALS) if width >= 3 * 10.0**-x), _MOST_DECIMALS
    )
    low, middle, high = (f"{one:.{digits}f}" for one in (mean.low, mean.mean, mean.high))
    return middle, f"{low} to {high}"


def mean_scores(
    rows: Iterable[tuple[Key, str | None, str, float | None]], scores: Scores
) -> dict[Key, float]:
    """Return the mean score of each key: rows are key, variable, label and probability.

    There is none if a probability is hidden (None), an answer has no score, or the rows of a
    key have several variables with other scores.

    Examples
    --------
    >>> scores = {"pain": {"none": 0.0, "some": 1.0, "much": 2.0, "missing": None}}
    >>> rows = [("u1", "pain", "none", 0.2), ("u1", "pain", "much", 0.6)]
    >>> mean_scores([*rows, ("u1", "pain", "missing", 0.2), ("u2", "sex", "f", 0.5)], scores)
    {'u1': 1.5}
    """
    known: dict[Key, set[float | None]] = {}
    florets: dict[tuple[Key, str | None], dict[str, float | None]] = {}
    for key, variable, label, probability in rows:
        florets.setdefault((key, variable), {})[label] = probability
    for (key, variable), floret in florets.items():
        known.setdefault(key, set()).add(_mean(floret, scores.get(variable or "", {})))
    return {
        key: mean
        for key, means in known.items()
        if len(means) == 1 and (mean := next(iter(means))) is not None
    }


def _mean(
    floret: Mapping[str, float | None], scores: Mapping[str, float | None]
) -> float | None:
    total = weighted = 0.0
    for label, probability in floret.items():
        if probability is None or label not in scores:
            return None
        score = scores[label]
        if score is not None:
            total += probability
            weighted += probability * score
    return round(weighted / total, _DIGITS) if total else None


def in_order_of_means(
    items: Sequence[Item],
    variable_of: Callable[[Item], str | None],
    mean_of: Callable[[Item], float | None],
) -> list[Item]:
    """Return items with those of each ordered variable in the order of their means.

    They share out the places that they have; those without a mean come last.

    Examples
    --------
    >>> items = [("w1", "pain", 1.5), ("w2", "sex", None), ("w3", "pain", 0.5)]
    >>> in_order = in_order_of_means(items, lambda one: one[1], lambda one: one[2])
    >>> [name for name, *_ in in_order]
    ['w3', 'w2', 'w1']
    """
    places: dict[str | None, list[int]] = {}
    for place, item in enumerate(items):
        places.setdefault(variable_of(item), []).append(place)
    found = list(items)
    for of_variable in places.values():
        own = [items[place] for place in of_variable]
        own.sort(key=lambda item: _last_if_none(mean_of(item)))
        for place, item in zip(of_variable, own, strict=True):
            found[place] = item
    return found


def _last_if_none(mean: float | None) -> tuple[bool, float]:
    return mean is None, mean or 0.0


def stage_means(
    store: Store, staging_id: int, scores: Scores, level: float = 0.95
) -> dict[int, MeanScore]:
    """Return the mean scores of the stages of a staging whose answers are ordered.

    Their intervals are those of `cegdb.stages.robust_intervals.robust_means`; there are none
    where no other answer is possible, and if the survey that weights come from has changed.
    """
    if not scores:
        return {}
    with store.catalog() as catalog:
        staging = row(catalog, "staging", staging_id)
    with store.reading() as con, Steps(con) as steps:
        answers = steps.rows(
            "select stage_id, variable, label, probability, label_id, "
            "count(*) over (partition by stage_id) = 1 and low is null as is_certain "
            "from cegdb.stage_edges where staging = $staging and variable is not null "
            "order by stage_id, label_id",
            {"staging": staging["name"]},
        )
        points: dict[int, float] = mean_scores((answer[:4] for answer in answers), scores)
        score_of: dict[int, dict[int, float | None]] = {}
        scales: dict[int, tuple[float, float]] = {}
        certain: set[int] = set()
        for stage_id, variable, label, _, label_id, is_certain in answers:
            if stage_id in points:
                score_of.setdefault(stage_id, {})[label_id] = scores[variable][label]
                (least, _), (most, _) = score_ends(scores[variable])
                scales[stage_id] = (least, most)
            if is_certain:
                certain.add(stage_id)
        found = {stage: MeanScore(mean) for stage, mean in points.items()}
        try:
            make_estimates(store, steps, staging_id)
        except StaleError:
            return found
        limits = means_of_stages(steps, points, score_of, scales, level)
    return found | {
        stage: MeanScore(points[stage], *ends)
        for stage, ends in limits.items()
        if stage not in certain
    }
