"""Intervals of shares that hold whether or not the situations of a stage are alike.

The credible interval of a stage takes for granted that its situations have one probability
vector. They were put together because their counts looked alike, so that it is too narrow for
each of them, and off where chance made the most extreme ones a stage. The intervals here have
as target the mean of the true probabilities of the situations in a group, weighted by their
counts. They cover what each of two models says: the counts of the group as one binomial sample
(the Jeffreys interval), and random effects, in which the situations of the hyperstage vary
about a common mean as much as their counts do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cegdb.clustering.stage_sums import sum_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from cegdb.sqlfiles import Steps
    from cegdb.stages.scores import Arrays

    Floats = NDArray[np.float64]

_MOST_CORRELATED: Final = 0.95


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
        below, above = _random_effects(sizes, group, n_groups, level)
        low = np.where(several[:, None], np.minimum(low, below), low)
        high = np.where(several[:, None], np.maximum(high, above), high)
    return np.minimum(low, points), np.maximum(high, points)


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
    from scipy.special import betaincinv

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
    size = np.maximum(centre * (1 - centre) / np.maximum(variance, 1e-300) - 1, 1e-3)
    tail = (1 - level) / 2
    a, b = np.maximum(centre * size, 1e-12), np.maximum((1 - centre) * size, 1e-12)
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
