"""A test of homogeneity, of situations that may have one probability vector.

Two tests are combined, each with its part of the significance level. Pearson's statistic
``X^2`` sees differences spread over all situations; its null distribution is that of a table
with the same margins, approximated by a scaled chi-squared distribution with the exact mean
and variance [1]_, and where counts are small by tables simulated from the pooled shares (the
parametric bootstrap). The binomial tail of each count sees a single situation apart from many
others, which ``X^2`` would not.

References
----------
.. [1] Lewis, T., Saunders, I. W. and Westcott, M. (1984). The moments of the Pearson
   chi-squared statistic and the minimum expected value in two-way tables. Biometrika 71(3),
   515-522.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OUTLIER_PART: Final = 0.2
"""The part of the level that the search for single situations takes, of three or more."""
_LARGE_EXPECTED: Final = 5.0
"""Where every cell is expected to have this many counts, three or more situations need no
simulation."""
_LARGE_TABLE: Final = 1_000
"""Nor do two situations with this many counts in all."""
_UNSURE: Final = 4.0
"""Only p-values between the level divided and multiplied by this are simulated."""
_MOST_TABLES: Final = 4_000
_MOST_CELLS: Final = 400_000
_TINY: Final = 1e-300


def p_value(sizes: NDArray[np.float64], level: float = 0.0) -> float:
    """Return the p-value of homogeneity of situations, shape (situations, labels).

    It is simulated where counts are small and it matters for the ``level``. 1 if there is
    nothing to compare: fewer than two situations with counts, or one label.

    Examples
    --------
    >>> p_value(np.array([[20.0, 80.0], [40.0, 60.0]])) < 0.05
    True
    >>> p_value(np.array([[1.0, 4.0], [2.0, 3.0]])) > 0.5
    True
    """
    seen = sizes[sizes.sum(axis=1) > 0][:, sizes.sum(axis=0) > 0]
    if min(seen.shape) < 2:
        return 1.0
    part = 0.0 if len(seen) == 2 else _OUTLIER_PART
    p = float(pearson(seen[None])[0])
    own = level * (1 - part)
    if own / _UNSURE < p < own * _UNSURE and not _is_large(seen):
        p = _simulated(seen, p)
    p /= 1 - part
    return min(p, _outlier(seen) / part, 1.0) if part else p


def _is_large(sizes: NDArray[np.float64]) -> bool:
    """Return whether the approximation is close enough."""
    n, c = sizes.sum(axis=1), sizes.sum(axis=0)
    if len(n) == 2:
        return bool(n.sum() >= _LARGE_TABLE)
    return bool(n.min() * c.min() / n.sum() >= _LARGE_EXPECTED)


def _simulated(sizes: NDArray[np.float64], p: float) -> float:
    """Return how often a table simulated from the pooled shares has a p-value of ``p`` or less.

    Effective counts are rounded; the table itself counts as one more.
    """
    n = np.maximum(np.rint(sizes.sum(axis=1)), 1).astype(np.int64)
    share = sizes.sum(axis=0) / sizes.sum()
    n_tables = min(_MOST_TABLES, max(_MOST_CELLS // sizes.size, 400))
    random = np.random.default_rng(1)
    tables = random.multinomial(n, share, size=(n_tables, len(n))).astype(np.float64)
    n_as_small = int((pearson(tables) <= p * (1 + 1e-9)).sum())
    return (n_as_small + 1) / (n_tables + 1)


def pearson(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the p-values of Pearson's statistic, as approximated.

    ``tables`` has the shape (tables, situations, labels), each row with counts.
    """
    from scipy.special import chdtrc

    n, c = tables.sum(axis=2), tables.sum(axis=1)
    total = n.sum(axis=1)
    parts = np.einsum("tij,tij,ti,tj->t", tables, tables, 1 / n, 1 / np.maximum(c, _TINY))
    mean, variance = moments(n, c)
    known = (mean > 0) & (variance > 1e-9)
    scale = np.where(known, variance / np.where(known, 2 * mean, 1.0), 1.0)
    statistic = np.maximum(total * parts - total, 0.0)
    p = chdtrc(np.where(known, mean / scale, 1.0), statistic / scale)
    return np.where(known, p, 1.0)


def moments(
    n: NDArray[np.float64], c: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and variance of Pearson's statistic over the tables with these margins.

    ``n`` has the shape (tables, situations), ``c`` (tables, labels); labels without counts are
    passed over. The mean is 0 where the total is 3 or less.
    """
    total = n.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = []
        for margin in (n, c):
            seen = margin > 0
            m = seen.sum(axis=1)
            shares = np.where(seen, total[:, None] / np.where(seen, margin, 1.0), 0.0)
            spread = (shares.sum(axis=1) - m * m) / (total - 2)
            parts.append((m - 1, (m - 1) * (total - m) / (total - 1), spread))
        (rows, v, w), (columns, v2, w2) = parts
        mean = total / (total - 1) * rows * columns
        variance = 2 * total / (total - 3) * (v - w) * (v2 - w2)
        variance += total**2 / (total - 1) * w * w2
    enough = total > 3
    return np.where(enough, mean, 0.0), np.where(enough, variance, 0.0)


def _outlier(sizes: NDArray[np.float64]) -> float:
    """Return the p-value of the count furthest out, for the number of counts looked at."""
    from scipy.special import betainc

    n, share = sizes.sum(axis=1, keepdims=True), sizes.sum(axis=0) / sizes.sum()
    rest = n - sizes
    # A binomial tail is an incomplete beta function, also of effective counts.
    at_least = np.where(sizes > 0, betainc(np.maximum(sizes, _TINY), rest + 1, share), 1.0)
    at_most = np.where(rest > 0, betainc(np.maximum(rest, _TINY), sizes + 1, 1 - share), 1.0)
    n_situations, n_labels = sizes.shape
    n_looked_at = 2 * n_situations * (1 if n_labels == 2 else n_labels)
    return float(n_looked_at * np.minimum(at_least, at_most).min())
