"""Scores of stages, on arrays.

A stage is a row of counts ``n_1 ... n_k`` (one per label) with a Dirichlet prior
``a_1 ... a_k``. There are two kinds of score: the log marginal likelihood of the counts
[1]_, and their log likelihood minus a penalty for each free parameter: BIC and AIC times
-1/2, so that more is better. Both depend on sums over the situations of a stage: its terms.

References
----------
.. [1] Freeman, G. and Smith, J. Q. (2011). Bayesian MAP model selection of chain
   event graphs. Journal of Multivariate Analysis 102(7), 1152-1165.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGE_PRIOR: Final = 1000.0
"""Prior masses above this are scored by a series that keeps their digits."""


class Score(Protocol):
    """A score of stages: a sum over stages, each a function of the sums of its terms."""

    def terms(self, counts: NDArray[Any], prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what adds up over the situations of a stage, shape (..., terms)."""
        ...

    def value(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each stage, more being better, shape (...)."""
        ...


@dataclass(frozen=True)
class Marginal:
    """The log marginal likelihood.

    The prior of a stage is the sum of those of its situations, or, with ``stage_mass``, that
    mass shared equally among its labels.
    """

    stage_mass: float | None = None

    def terms(self, counts: NDArray[Any], prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return counts and prior side by side; the counts alone if stages have one prior."""
        if self.stage_mass is not None:
            return np.asarray(counts, dtype=np.float64)
        return np.concatenate((counts, prior), axis=-1, dtype=np.float64)

    def value(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log marginal likelihood of each stage."""
        if self.stage_mass is not None:
            mass = np.float64(self.stage_mass)
            rising = log_rising(mass / terms.shape[-1], terms).sum(axis=-1)
            return np.asarray(rising - log_rising(mass, terms.sum(axis=-1)))
        counts, prior = np.split(terms, 2, axis=-1)
        rising = log_rising(prior, counts).sum(axis=-1)
        return np.asarray(rising - log_rising(prior.sum(axis=-1), counts.sum(axis=-1)))

    def masses(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the Dirichlet posterior of each stage, shape (..., labels)."""
        if self.stage_mass is not None:
            return np.asarray(terms + self.stage_mass / terms.shape[-1])
        counts, prior = np.split(terms, 2, axis=-1)
        return np.asarray(counts + prior)


@dataclass(frozen=True)
class Penalised:
    """The log likelihood at the (smoothed) shares of a stage, minus a penalty.

    ``penalty`` is the cost of a free parameter: ln(N) / 2 for BIC, 1 for AIC, 0 for the
    likelihood; ``smoothing`` is added to the count of each label when shares are estimated.
    """

    penalty: float
    smoothing: float = 0.0

    def terms(
        self,
        counts: NDArray[Any],
        prior: NDArray[np.float64],  # noqa: ARG002
    ) -> NDArray[np.float64]:
        """Return the counts; the prior plays no part."""
        return np.asarray(counts, dtype=np.float64)

    def value(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the penalised log likelihood of each stage."""
        from scipy.special import xlogy  # takes 0.2 s to import

        n_labels = terms.shape[-1]
        total = terms.sum(axis=-1)
        smoothed = total + n_labels * self.smoothing
        likelihood = xlogy(terms, terms + self.smoothing).sum(axis=-1) - xlogy(total, smoothed)
        fitted: NDArray[np.float64] = likelihood - self.penalty * (n_labels - 1)
        return fitted


def log_marginal_likelihood(
    counts: NDArray[Any], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log probability of the counts of each stage, in any one order.

    It is exactly 0 without counts or with a single label. Its rounding error is that of the
    log gamma function: about 1e-9 for a million counts, 1e-5 for a thousand million.
    """
    rising = log_rising(prior, counts)
    total = log_rising(prior.sum(axis=1), counts.sum(axis=1))
    score: NDArray[np.float64] = rising.sum(axis=1) - total
    return score


def log_rising(
    prior: NDArray[np.float64] | np.float64, counts: NDArray[Any]
) -> NDArray[np.float64]:
    """Return ``log Gamma(a + n) - log Gamma(a)`` without loss of digits where ``a`` is large.

    Beyond ``a = 1000`` by Stirling's series, whose large terms are combined first: the
    error is that of ``n log(a + n)``, not of ``a log(a)``.
    """
    from scipy.special import gammaln  # takes 0.2 s to import

    sizes = np.asarray(counts, dtype=np.float64)
    large = np.asarray(prior > LARGE_PRIOR)
    result: NDArray[np.float64] = np.asarray(gammaln(prior + sizes) - gammaln(prior))
    if large.any():
        large = np.broadcast_to(large, result.shape)
        a: NDArray[np.float64] = np.broadcast_to(prior, result.shape)[large]
        n = np.broadcast_to(sizes, result.shape)[large]
        b = a + n
        series = (1 / b - 1 / a) / 12 - ((1 / b) ** 3 - (1 / a) ** 3) / 360
        result[large] = ((a - 0.5) * np.log1p(n / a) - n) + n * np.log(b) + series
    return result
