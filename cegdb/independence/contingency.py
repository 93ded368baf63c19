"""Stratified tables of two variables: Bayes factor, G-test, largest difference of shares."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cegdb.inference.propagation import REAL
from cegdb.stability.intervals import wilson

if TYPE_CHECKING:
    from cegdb.inference.propagation import Floats, Ints

LEVEL: Final = 0.95


class Cells(NamedTuple):
    """The cells with respondents: stratum z (0, 1, ...), answers x and y, n and effective n."""

    z: Ints
    x: Ints
    y: Ints
    n: Ints
    size: Floats

    @property
    def zx(self) -> Ints:
        """Index of each cell's stratum and answer to X."""
        return _numbered(self.z, self.x)

    @property
    def zy(self) -> Ints:
        """Index of each cell's stratum and answer to Y: its group."""
        return _numbered(self.z, self.y)


class Share(NamedTuple):
    """A group (an answer to Y), its n, and the share of it that gave an answer to X."""

    group: int
    n: int
    share: float


class Difference(NamedTuple):
    """Two groups of a stratum, the difference of their shares, and its interval."""

    stratum: int
    answer: int
    larger: Share
    smaller: Share
    difference: float
    low: float
    high: float


def _numbered(*columns: Ints) -> Ints:
    """Return the index of each row among the distinct ones."""
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel()


def _sums(value: Floats, group: Ints) -> Floats:
    order = np.argsort(group, kind="stable")
    return REAL.total(value[order], np.flatnonzero(np.diff(group[order], prepend=-1)))


def _value_of_group(value: Ints, group: Ints) -> Ints:
    """Return, for each group, a value that is the same within it."""
    of_group = np.zeros(int(group.max()) + 1, np.int64)
    of_group[group] = value
    return of_group


def log_bayes_factor(cells: Cells, alpha: float) -> float:
    """Return log P(rows | independent) - log P(rows | dependent).

    ``alpha`` is the prior mass of each stratum, shared equally among its cells.

    Examples
    --------
    >>> one = np.array([0, 0], np.int64)
    >>> cells = Cells(one, np.array([0, 1]), np.array([0, 1]), one + 1, np.ones(2))
    >>> round(log_bayes_factor(cells, 4), 4)
    -0.2231
    """
    from scipy.special import gammaln

    z, zx, zy = cells.z, cells.zx, cells.zy
    z_of_zx, z_of_zy = _value_of_group(z, zx), _value_of_group(z, zy)
    n_x, n_y = np.bincount(z_of_zx), np.bincount(z_of_zy)

    def log_gain(prior: Floats, size: Floats) -> Floats:
        gain: Floats = gammaln(prior + size) - gammaln(prior)
        return gain

    own = log_gain((alpha / (n_x * n_y))[z], cells.size)
    of_groups = log_gain((alpha / n_y)[z_of_zy], _sums(cells.size, zy))
    pooled = log_gain((alpha / n_x)[z_of_zx], _sums(cells.size, zx))
    of_strata = log_gain(np.full(len(n_x), alpha), _sums(cells.size, z))
    return fsum([*pooled, *-of_strata, *of_groups, *-own])


def g_test(cells: Cells) -> tuple[float, int, float]:
    """Return the likelihood ratio statistic, its degrees of freedom and its p value.

    Examples
    --------
    >>> zero = np.zeros(4, np.int64)
    >>> x, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> g, df, p = g_test(Cells(zero, x, y, zero, np.array([10.0, 20.0, 30.0, 20.0])))
    >>> round(g, 4), df, round(p, 4)
    (5.4115, 1, 0.02)
    """
    from scipy.stats import chi2

    z, zx, zy = cells.z, cells.zx, cells.zy
    of_z, of_zx, of_zy = (_sums(cells.size, group) for group in (z, zx, zy))
    df = int(
        (
            (np.bincount(_value_of_group(z, zx)) - 1)
            * (np.bincount(_value_of_group(z, zy)) - 1)
        ).sum()
    )
    expected = of_zx[zx] * of_zy[zy] / of_z[z]
    g = max(0.0, 2 * fsum(cells.size * np.log(cells.size / expected)))
    return g, df, float(chi2.sf(g, df)) if df else 1.0


def largest_difference(cells: Cells) -> Difference:
    """Return where two groups of a stratum differ most in the share of an answer.

    The interval is Newcombe's hybrid score interval.

    Examples
    --------
    >>> zero = np.zeros(4, np.int64)
    >>> x, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> size = np.array([56.0, 48.0, 14.0, 32.0])
    >>> worst = largest_difference(Cells(zero, x, y, size.astype(int), size))
    >>> worst.larger, round(worst.difference, 4), round(worst.low, 4), round(worst.high, 4)
    (Share(group=0, n=70, share=0.8), 0.2, 0.0524, 0.3339)
    """
    z, zx, zy = cells.z, cells.zx, cells.zy
    share = cells.size / _sums(cells.size, zy)[zy]
    most, least = np.zeros(int(zx.max()) + 1), np.full(int(zx.max()) + 1, np.inf)
    np.maximum.at(most, zx, share)
    np.minimum.at(least, zx, share)
    z_of_zx = _value_of_group(z, zx)
    is_lacking = np.bincount(zx) < np.bincount(_value_of_group(z, zy))[z_of_zx]
    worst = int(np.argmax(np.round(most - np.where(is_lacking, 0.0, least), 12)))
    stratum, answer = int(z_of_zx[worst]), int(_value_of_group(cells.x, zx)[worst])
    here = z == stratum
    y, x, n, size = (of[here] for of in (cells.y, cells.x, cells.n, cells.size))
    groups, group = np.unique(y, return_inverse=True)
    total = np.bincount(group, weights=size)
    with_answer = np.bincount(group, weights=np.where(x == answer, size, 0.0))
    of_groups = np.bincount(group, weights=n)
    high, low = int(np.argmax(with_answer / total)), int(np.argmin(with_answer / total))
    pair = [high, low]
    p, q = (with_answer / total)[pair].tolist()
    lower, upper = wilson(with_answer[pair].astype(float), total[pair].astype(float), LEVEL)
    return Difference(
        stratum,
        answer,
        Share(int(groups[high]), int(of_groups[high]), p),
        Share(int(groups[low]), int(of_groups[low]), q),
        p - q,
        p - q - float(np.hypot(p - lower[0], upper[1] - q)),
        p - q + float(np.hypot(upper[0] - p, q - lower[1])),
    )
