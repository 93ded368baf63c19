"""The prior of a staging's structure: how many stages, and which partition into that many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.options import StructurePrior

_MAX_EXACT: Final = 2_000


def structure_prior(n_situations: int, kind: StructurePrior) -> NDArray[np.float64]:
    """Return the log prior of one partition of the situations into m stages, by m from 0 up.

    ``"size"`` makes every number of stages equally likely, then every partition into that many:
    ``1 / (n S(n, m))``, S being the Stirling numbers of the second kind. A flat prior favours
    partitions into many stages, since there are so many of them. Element 0 has no meaning.
    """
    if kind == "flat" or n_situations < 2:
        return np.zeros(n_situations + 1)
    result: NDArray[np.float64] = -np.log(n_situations) - log_partitions(n_situations)
    result[0] = 0.0
    return result


def log_partitions(n: int) -> NDArray[np.float64]:
    """Return the logarithms of the numbers of partitions of n things into 0 ... n blocks.

    Stirling numbers of the second kind: by their recursion up to n = 2,000, beyond that by
    a uniform expansion [1]_ whose relative error is below 1 / n.

    References
    ----------
    .. [1] N. M. Temme (1993), Asymptotic estimates of Stirling numbers. Studies in Applied
       Mathematics 89, 233-243.
    """
    if n > _MAX_EXACT:
        return _log_partitions_expansion(n)
    result = np.full(n + 1, -np.inf)
    result[0] = 0.0
    blocks = np.log(np.arange(1, n + 1))
    for size in range(1, n + 1):
        result[1 : size + 1] = np.logaddexp(result[1 : size + 1] + blocks[:size], result[:size])
        result[0] = -np.inf
    return result


def _log_partitions_expansion(n: int) -> NDArray[np.float64]:
    from scipy.special import gammaln, lambertw

    result = np.full(n + 1, -np.inf)
    result[[1, n]] = 0.0
    m = np.arange(2, n, dtype=np.float64)
    # x solves x / (1 - exp(-x)) = n / m.
    ratio = n / m
    x = ratio + np.real(lambertw(-ratio * np.exp(-ratio), 0))
    t = ratio - 1
    exponent = -n * np.log(x) + m * (x + np.log(-np.expm1(-x))) - m * t + (n - m) * np.log(t)
    binomial = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    factor = np.log(t / ((1 + t) * (x - t))) / 2
    result[2:n] = exponent + factor + (n - m) * np.log(m) + binomial
    return result
