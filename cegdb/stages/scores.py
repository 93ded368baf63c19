"""Scores of a staging and intervals of its probabilities, on arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    Arrays: TypeAlias = Mapping[str, NDArray[Any]]

LEVEL: Final = 0.95
"""Of the intervals that are stored."""


def credible_intervals(
    estimates: Arrays, level: float = LEVEL
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the credible interval of each probability, given the staging.

    ``estimates`` are the columns of ``stage_estimate``. The marginals of a Dirichlet posterior
    are Beta(prior + size, total - prior - size).

    Examples
    --------
    >>> import numpy as np
    >>> low, high = credible_intervals({"prior": np.array([1.0]), "size": np.array([1.0]),
    ...     "total": np.array([4.0])})
    >>> low.round(4).item(), high.round(4).item()
    (0.0943, 0.9057)
    """
    import numpy as np
    from scipy.special import betaincinv

    mass = estimates["prior"] + estimates["size"]
    rest = np.maximum(estimates["total"] - mass, 0.0)
    several = rest > 0
    tail = (1 - level) / 2
    low, high = np.zeros(len(mass)), np.ones(len(mass))
    low[several] = betaincinv(mass[several], rest[several], tail)
    high[several] = betaincinv(mass[several], rest[several], 1 - tail)
    return low, high


def scores(estimates: Arrays, n_rows: float, smoothing: float = 0.0) -> dict[str, float]:
    """Return the scores of a staging in natural logarithms, summed without rounding.

    ``estimates`` are the columns of ``stage_estimate``, sorted by stage; ``n_rows``, the N of
    BIC, are the rows at the root or their effective size. ``smoothing`` is added to each count
    of a stage when its shares are estimated (stagedtrees' lambda). A stage without rows has no
    parameter that is estimated from them: ``df`` leaves it out.

    Examples
    --------
    >>> import numpy as np
    >>> stage = {"stage_id": np.array([0, 0]), "prior": np.array([1.0, 1.0]),
    ...     "size": np.array([3.0, 1.0])}
    >>> round(scores(stage, 4)["log_marginal_likelihood"], 6)
    -2.995732
    """
    import numpy as np

    from cegdb.clustering import log_rising

    prior, n = estimates["prior"], estimates["size"].astype(np.float64)
    starts = np.flatnonzero(np.diff(estimates["stage_id"], prepend=-1))
    if not len(starts):
        names = ("log_marginal_likelihood", "log_likelihood", "df", "aic", "bic")
        return dict.fromkeys(names, 0.0)
    sizes = np.diff(np.append(starts, len(n)))
    mass, total = np.add.reduceat(prior, starts), np.add.reduceat(n, starts)
    marginal = math.fsum(log_rising(prior, n)) - math.fsum(log_rising(mass, total))
    seen = n > 0
    smoothed = np.repeat(total + sizes * smoothing, sizes)
    share = (n[seen] + smoothing) / smoothed[seen]
    likelihood = math.fsum(n[seen] * np.log(share))
    df = int((sizes - 1)[total > 0].sum())
    return {
        "log_marginal_likelihood": marginal,
        "log_likelihood": likelihood,
        "df": df,
        "aic": -2 * likelihood + 2 * df,
        "bic": -2 * likelihood + df * math.log(max(n_rows, 1)),
    }
