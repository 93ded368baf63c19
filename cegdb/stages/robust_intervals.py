"""Intervals of shares that hold whether or not the situations of a stage are alike.

The credible interval of a stage takes for granted that its situations have one probability
vector. They were put together because their counts looked alike, so that it is too narrow for
each of them, and off where chance made the most extreme ones a stage. The intervals here have
as target the mean of the true probabilities of the situations in a group, weighted by their
counts. They cover what each of three models says: the counts of the group as one binomial
sample (the Jeffreys interval); random effects, in which the situations of the hyperstage vary
about a common mean as much as their counts do; and a mixture, in which each situation belongs
to any of the groups, as probably as its counts say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cegdb.clustering.stage_sums import sum_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from cegdb.sqlfiles import Steps
    from cegdb.stages.scores import Arrays

    Floats = NDArray[np.float64]

_MOST_CORRELATED: Final = 0.95
_SAME: Final = 1e-12
_ROUNDS: Final = 100
_STEADY: Final = 1e-5
_MOST_CELLS: Final = 3_000_000
_LARGE: Final = 1e15


def intervals_of_stages(steps: Steps, estimates: Arrays, level: float) -> tuple[Floats, Floats]:
    """Return the robust intervals of ``estimates``, which are sorted by stage and label."""
    steps.run("situation_size")
    rows = steps.arrays("select * from temp.situation_size order by all")
    low, high = np.zeros(len(estimates["size"])), np.ones(len(estimates["size"]))
    first_row = np.unique(estimates["stage_id"], return_index=True)
    for part in _hyperstages(rows):
        stage, group = np.unique(rows["stage_id"][part[:, 0]], return_inverse=True)
        of_stage = first_row[1][np.searchsorted(first_row[0], stage)]
        at = of_stage[:, None] + np.arange(part.shape[1])
        points = estimates["probability"][at]
        low[at], high[at] = robust_intervals(rows["size"][part], group, points, level)
    return _of_predictive(steps, estimates, level, low, high)


def intervals_of_positions(steps: Steps, level: float) -> dict[str, NDArray[Any]]:
    """Return the robust intervals of the positions in ``position_size``, by their labels."""
    rows = steps.arrays("select * from temp.position_size order by all")
    found: dict[str, list[NDArray[Any]]] = {
        "position_id": [], "label_id": [], "low": [], "high": []
    }  # fmt: skip
    for part in _hyperstages(rows):
        position, first, group = np.unique(
            rows["position_id"][part[:, 0]], return_index=True, return_inverse=True
        )
        points = rows["probability"][part[first]]
        low, high = robust_intervals(rows["size"][part], group, points, level)
        found["position_id"].append(np.repeat(position, part.shape[1]))
        found["label_id"].append(rows["label_id"][part[first]].ravel())
        found["low"].append(low.ravel())
        found["high"].append(high.ravel())
    types = {"position_id": np.int64, "label_id": np.int32}
    return {
        name: np.concatenate([np.empty(0, types.get(name, np.float64)), *parts])
        for name, parts in found.items()
    }


def means_of_stages(
    steps: Steps,
    means: Mapping[int, float],
    scores: Mapping[int, Mapping[int, float | None]],
    scales: Mapping[int, tuple[float, float]],
    level: float,
) -> dict[int, tuple[float, float]]:
    """Return the robust intervals of the mean scores of stages.

    ``scores`` are those of the labels of each stage, None for labels that do not count;
    ``scales`` the lowest and the highest score of its variable.
    """
    steps.run("situation_size")
    rows = steps.arrays("select * from temp.situation_size order by all")
    found: dict[int, tuple[float, float]] = {}
    for part in _hyperstages(rows):
        stage, group = np.unique(rows["stage_id"][part[:, 0]], return_inverse=True)
        ids = stage.tolist()
        if not all(one in means for one in ids):
            continue
        score_of = scores[ids[0]]
        known = [score_of[label] for label in rows["label_id"][part[0]].tolist()]
        counts = [score is not None for score in known]
        score = np.array([one for one in known if one is not None])
        least, most = scales[ids[0]]
        width = (most - least) or 1.0
        points = (np.array([means[one] for one in ids]) - least) / width
        sizes = rows["size"][part][:, counts]
        low, high = robust_means(sizes, group, (score - least) / width, points, level)
        ends = zip((least + width * low).tolist(), (least + width * high).tolist(), strict=True)
        found |= dict(zip(ids, ends, strict=True))
    return found


def _hyperstages(rows: Arrays) -> Iterator[NDArray[np.int64]]:
    """Yield the indexes of rows, of shape (situations, labels), for each hyperstage."""
    if not len(rows["size"]):
        return
    starts = np.flatnonzero(np.diff(rows["hyperstage_id"])) + 1
    for part in np.split(np.arange(len(rows["size"])), starts):
        n_situations = 1 + np.count_nonzero(np.diff(rows["vertex_id"][part]))
        yield part.reshape(n_situations, -1)


def _of_predictive(
    steps: Steps, estimates: Arrays, level: float, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Return intervals with those of stages that nobody reached: of one more situation."""
    from scipy.special import betaincinv

    ids = [row[0] for row in steps.rows("select distinct stage_id from temp.predictive_prior")]
    is_new = np.isin(estimates["stage_id"], ids)
    mass, rest = estimates["prior"][is_new], (estimates["total"] - estimates["prior"])[is_new]
    low[is_new] = betaincinv(mass, rest, (1 - level) / 2)
    high[is_new] = betaincinv(mass, rest, (1 + level) / 2)
    return low, high


def robust_intervals(
    sizes: Floats, group: NDArray[np.int64], points: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return the intervals of groups of situations of one hyperstage.

    ``sizes`` are counts, shape (situations, labels); ``group`` that of each situation, from 0
    up; ``points``, shape (groups, labels), the probabilities printed, which the intervals
    contain.

    Examples
    --------
    >>> sizes = np.array([[2.0, 13.0], [1.0, 14.0], [0.0, 15.0]])
    >>> points = np.array([[3.5 / 46, 42.5 / 46]])
    >>> low, high = robust_intervals(sizes, np.array([0, 0, 0]), points, 0.95)
    >>> low[0, 0].round(3).item(), high[0, 0].round(3).item()
    (0.018, 0.169)
    """
    n_groups = len(points)
    counts = sum_by(group, sizes, n_groups)
    low, high = own_intervals(counts, level)
    several = np.bincount(group, minlength=n_groups) > 1
    if several.any():
        for below, above in (
            _random_effects(sizes, group, n_groups, level),
            _mixture(sizes, group, n_groups, np.eye(sizes.shape[1]), level),
        ):
            low = np.where(several[:, None], np.minimum(low, below), low)
            high = np.where(several[:, None], np.maximum(high, above), high)
    return np.minimum(low, points), np.maximum(high, points)


def robust_means(
    sizes: Floats, group: NDArray[np.int64], worth: Floats, points: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return the intervals of the means of numbers that labels are worth, from 0 to 1.

    Otherwise as `robust_intervals`, whose intervals these are for the share of one of two
    labels, but for being wider as the variance of a few rows is estimated.

    Examples
    --------
    >>> sizes = np.array([[2.0, 4.0, 9.0], [1.0, 3.0, 11.0]])
    >>> worth, points = np.array([0.0, 0.5, 1.0]), np.array([0.78])
    >>> low, high = robust_means(sizes, np.array([0, 0]), worth, points, 0.95)
    >>> low.round(3).item(), high.round(3).item()
    (0.64, 0.888)
    """
    n_groups = len(points)
    low, high = _own_means(sum_by(group, sizes, n_groups), worth, level)
    several = np.bincount(group, minlength=n_groups) > 1
    if several.any():
        mixed = _mixture(sizes, group, n_groups, worth[:, None], level)
        for below, above in (
            _random_means(sizes, group, n_groups, worth, level),
            (mixed[0][:, 0], mixed[1][:, 0]),
        ):
            low = np.where(several, np.minimum(low, below), low)
            high = np.where(several, np.maximum(high, above), high)
    return np.minimum(low, points), np.maximum(high, points)


def _mixture(
    sizes: Floats, group: NDArray[np.int64], n_groups: int, worth: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return intervals of means of groups in a mixture of as many components as groups.

    ``worth`` has a row for each label and a column for each mean. Where groups overlap, those
    whose counts look most extreme were put together, which the counts of a group do not show,
    but the probabilities of belonging to the others do. Of very many situations and groups,
    and where there is one group only, nothing is added: the intervals are empty.
    """
    n_labels, shape = sizes.shape[1], (n_groups, worth.shape[1])
    if n_groups == 1 or len(sizes) * n_groups * n_labels > _MOST_CELLS:
        return np.ones(shape), np.zeros(shape)

    def shares(counts: Floats) -> Floats:
        found: Floats = (counts + 0.5 / n_labels) / (counts.sum(axis=1, keepdims=True) + 0.5)
        return found

    share = shares(sum_by(group, sizes, n_groups))
    part = np.bincount(group, minlength=n_groups) / len(sizes)
    for _ in range(_ROUNDS):
        fit = sizes @ np.log(share).T + np.log(np.maximum(part, 1e-300))
        chance = np.exp(fit - fit.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        part, counts, before = chance.mean(axis=0), chance.T @ sizes, share
        share = shares(counts)
        if np.abs(share - before).max() < _STEADY:
            break
    n = sizes.sum(axis=1)
    of_group = np.bincount(group, n, n_groups)[group]
    weight = np.divide(n, of_group, out=np.zeros_like(n), where=of_group > 0)[:, None]
    # Situations vary by the component they belong to, and components by the rows they have.
    component = share @ worth
    own = chance @ component
    spread = chance @ component**2 - own**2
    error = (share @ worth**2 - component**2) / (counts.sum(axis=1, keepdims=True) + 0.5)
    centre = sum_by(group, weight * own, n_groups)
    variance = sum_by(group, weight**2 * spread, n_groups)
    variance += sum_by(group, weight * chance, n_groups) ** 2 @ error
    size = np.minimum(centre * (1 - centre) / np.maximum(variance, 1e-300), _LARGE)
    low, high = own_intervals(_shares(centre.ravel(), size.ravel()), level)
    return low[:, 0].reshape(shape), high[:, 0].reshape(shape)


def _own_means(counts: Floats, worth: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the Jeffreys intervals of means of rows of counts, as many rows as vary so much.

    Where all rows have one label, the others may have what the rows leave open. A row without
    counts has the interval from 0 to 1.
    """
    n = counts.sum(axis=1)
    seen = np.maximum(n, 1e-300)
    mean = counts @ worth / seen
    variance = np.maximum(counts @ worth**2 / seen - mean**2, 0.0)
    varies = variance > _SAME
    size = np.divide(n * mean * (1 - mean), variance, out=np.zeros_like(n), where=varies)
    size = size / small_samples(n, level)
    low, high = (ends[:, 0] for ends in own_intervals(_shares(mean, size), level))
    with np.errstate(divide="ignore"):
        unseen = np.where(n > 0, -np.expm1(np.log1p(-level) / seen), 1.0)
    low = np.where(varies, low, mean * (1 - unseen))
    return low, np.where(varies, high, mean + unseen * (1 - mean))


def _random_means(
    sizes: Floats, group: NDArray[np.int64], n_groups: int, worth: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return intervals of means of groups in the model of `_random_effects`."""
    n = sizes.sum(axis=1)
    total, n_labels = float(n.sum()), sizes.shape[1]
    mean = (sizes.sum(axis=0) + 0.5) / (total + 0.5 * n_labels)
    rho = correlation(sizes)
    if rho == 0:
        low, high = _own_means(sizes.sum(axis=0, keepdims=True), worth, level)
        return np.repeat(low, n_groups), np.repeat(high, n_groups)
    strength = (1 - rho) / rho
    whole = strength + n
    share = (strength * mean + sizes) / whole[:, None]
    of_group = np.bincount(group, n, n_groups)[group]
    weight = np.divide(n, of_group, out=np.zeros_like(n), where=of_group > 0)
    own = share @ worth
    spread = (share @ worth**2 - own**2) / (whole + 1)
    centre: Floats = np.bincount(group, weight * own, n_groups).astype(np.float64)
    variance: Floats = np.bincount(group, weight**2 * spread, n_groups).astype(np.float64)
    pull = np.bincount(group, weight * strength / whole, n_groups)
    between = mean @ worth**2 - (mean @ worth) ** 2
    variance += pull**2 * between * (1 / total + rho / len(n))
    return _beta_ends(centre, variance, level)


def _shares(mean: Floats, size: Floats) -> Floats:
    return np.column_stack([mean * size, (1 - mean) * size])


def small_samples(n: NDArray[Any], level: float) -> Floats:
    """Return by how much the variance of means of so many rows grows, as it is estimated."""
    from scipy.special import ndtri, stdtrit

    upper, df = (1 + level) / 2, np.maximum(n - 1, 1)
    factor: Floats = (stdtrit(df, upper) / ndtri(upper)) ** 2 * (df + 1) / df
    return factor


def own_intervals(counts: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the Jeffreys interval of each share of rows of counts, shape (rows, labels).

    Of an answer that nobody gave the lower limit is 0, and the upper one at least
    ``1 - (1 - level)^(1 / n)``, above which seeing nobody has a probability below
    ``1 - level``; the other way round where everybody gave it. A row without counts has the
    interval from 0 to 1.

    Examples
    --------
    >>> low, high = own_intervals(np.array([[0.0, 15.0]]), 0.95)
    >>> low[0].round(3).tolist(), high[0].round(3).tolist()
    ([0.0, 0.819], [0.181, 1.0])
    """
    from scipy.special import betaincinv

    total = counts.sum(axis=1, keepdims=True)
    rest = np.maximum(total - counts, 0.0)
    tail = (1 - level) / 2
    low = betaincinv(counts + 0.5, rest + 0.5, tail)
    high = betaincinv(counts + 0.5, rest + 0.5, 1 - tail)
    with np.errstate(divide="ignore"):
        unseen = -np.expm1(np.log1p(-level) / total)
    low, high = np.where(counts <= 0, 0.0, low), np.where(rest <= 0, 1.0, high)
    high = np.where(counts <= 0, np.maximum(high, unseen), high)
    return np.where(rest <= 0, np.minimum(low, 1 - unseen), low), high


def _random_effects(
    sizes: Floats, group: NDArray[np.int64], n_groups: int, level: float
) -> tuple[Floats, Floats]:
    """Return intervals of the mean of each group in a Dirichlet-multinomial model.

    The mean vector and the intraclass correlation are those of all situations, by moments; a
    beta distribution with mean and variance of the posterior gives the quantiles. Without
    correlation every group has the probabilities of all situations together.
    """
    n = sizes.sum(axis=1)
    total, n_labels = float(n.sum()), sizes.shape[1]
    mean = (sizes.sum(axis=0) + 0.5) / (total + 0.5 * n_labels)
    rho = correlation(sizes)
    if rho == 0:
        low, high = own_intervals(sizes.sum(axis=0, keepdims=True), level)
        return np.repeat(low, n_groups, axis=0), np.repeat(high, n_groups, axis=0)
    strength = (1 - rho) / rho
    mass = strength * mean + sizes
    of_group = np.bincount(group, n, n_groups)[group]
    weight = np.divide(n, of_group, out=np.zeros_like(n), where=of_group > 0)[:, None]
    whole = (strength + n)[:, None]
    centre = sum_by(group, weight * mass / whole, n_groups)
    spread = weight**2 * mass * (whole - mass) / (whole**2 * (whole + 1))
    pull = sum_by(group, weight * strength / whole, n_groups)
    variance = sum_by(group, spread, n_groups)
    variance += pull**2 * mean * (1 - mean) * (1 / total + rho / len(n))
    return _beta_ends(centre, variance, level)


def _beta_ends(mean: Floats, variance: Floats, level: float) -> tuple[Floats, Floats]:
    """Return quantiles of beta distributions of some means and variances."""
    from scipy.special import betaincinv

    size = np.maximum(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, 1e-3)
    tail = (1 - level) / 2
    a, b = np.maximum(mean * size, 1e-12), np.maximum((1 - mean) * size, 1e-12)
    return np.asarray(betaincinv(a, b, tail)), np.asarray(betaincinv(a, b, 1 - tail))


def correlation(sizes: Floats) -> float:
    """Return the intraclass correlation of situations, 0 if they vary no more than by chance.

    By moments: Pearson's statistic has the expectation ``(r - 1)(k - 1)(1 + (m - 1) rho)`` for
    ``r`` situations of ``m`` counts and ``k`` labels.
    """
    seen = sizes[sizes.sum(axis=1) > 0][:, sizes.sum(axis=0) > 0]
    if min(seen.shape) < 2:
        return 0.0
    n, c = seen.sum(axis=1), seen.sum(axis=0)
    total, n_free = float(n.sum()), (len(n) - 1) * (len(c) - 1)
    typical = (total - float((n**2).sum()) / total) / (len(n) - 1)
    if typical <= 1:
        return 0.0
    statistic = total * float((seen**2 / n[:, None] / c).sum()) - total
    return float(np.clip((statistic / n_free - 1) / (typical - 1), 0.0, _MOST_CORRELATED))
