"""Scores of stages, on arrays.

A stage is a row of counts ``n_1 ... n_k`` (one a label) with a Dirichlet prior
``a_1 ... a_k``. Two scores are known: the log marginal likelihood of the counts [1]_, and
their log likelihood less a penalty for each stage (BIC and AIC, halved and turned so that
more is better). Both are functions of sums over the situations of the stage, its terms.

References
----------
.. [1] Freeman, G. and Smith, J. Q. (2011). Bayesian MAP model selection of chain
   event graphs. Journal of Multivariate Analysis 102(7), 1152-1165.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from cegdb.clustering.stage_sums import name_stages

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEEP: Final = 1000.0
"""Prior masses above this are scored by a series that keeps their digits."""


@dataclass(frozen=True)
class Hyperstage:
    """The situations of one hyperstage: what a stage of it can be made of.

    Attributes
    ----------
    ids
        Shape (situations,), the situations, ascending.
    counts
        Shape (situations, labels), whole numbers, not negative: rows by label, in units.
    bases
        Shape (bases, labels), above 0: the distinct prior vectors.
    multiplicities
        Shape (situations, bases), whole numbers: the prior of situation ``i`` is
        ``multiplicities[i] @ bases``. So equal contents are equal to the bit.
    start
        Shape (situations,), the stage each starts in, named by its smallest situation.
    answers
        Shape (situations, variables): the answers on the way from the root, as codes of
        each variable, -1 where it was not asked.
    unit
        What 1 in ``counts`` stands for, a power of 2: effective counts of weighted
        surveys are multiples of a small one, so that their sums are exact too.
    """

    ids: NDArray[np.int64]
    counts: NDArray[np.int64]
    bases: NDArray[np.float64]
    multiplicities: NDArray[np.int64]
    start: NDArray[np.int64]
    answers: NDArray[np.int64]
    unit: float = 1.0

    @property
    def sizes(self) -> NDArray[np.float64]:
        """The counts in respondents."""
        sizes: NDArray[np.float64] = self.counts * np.float64(self.unit)
        return sizes

    @property
    def prior(self) -> NDArray[np.float64]:
        """The prior of each situation, shape (situations, labels)."""
        return self.multiplicities @ self.bases

    def part(
        self,
        rows: NDArray[np.int64],
        counts: NDArray[np.int64] | None = None,
        *,
        unit: float | None = None,
    ) -> Hyperstage:
        """Return some of the situations, with these counts if they are others.

        Those that started in one stage still do; it is named by the smallest left.
        """
        ids = self.ids[rows]
        return replace(
            self,
            ids=ids,
            counts=self.counts[rows] if counts is None else counts,
            multiplicities=self.multiplicities[rows],
            start=name_stages(ids, self.start[rows]),
            answers=self.answers[rows],
            unit=self.unit if unit is None else unit,
        )


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

    Examples
    --------
    >>> score = Marginal()
    >>> terms = score.terms(np.array([[3, 1], [2, 2]]), np.ones((2, 2)))
    >>> score.value(terms).round(6), score.value(terms.sum(axis=0)).round(6)
    (array([-2.995732, -3.401197]), np.float64(-5.953243))
    """

    def terms(self, counts: NDArray[Any], prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return counts and prior side by side."""
        return np.concatenate((counts, prior), axis=-1, dtype=np.float64)

    def value(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log marginal likelihood of each stage."""
        counts, prior = np.split(terms, 2, axis=-1)
        rising: NDArray[np.float64] = log_rising(prior, counts).sum(axis=-1)
        total: NDArray[np.float64] = log_rising(prior.sum(axis=-1), counts.sum(axis=-1))
        return rising - total


@dataclass(frozen=True)
class Penalised:
    """The log likelihood at the (smoothed) shares of a stage, less a penalty for it.

    Attributes
    ----------
    penalty
        What each free parameter costs: ln(N) / 2 for BIC, 1 for AIC, 0 for the likelihood.
    smoothing
        Added to the count of each label of a stage when its shares are estimated.

    Examples
    --------
    >>> score = Penalised(penalty=1.0)
    >>> score.value(score.terms(np.array([[3, 1]]), np.ones((1, 2)))).round(6)
    array([-3.249341])
    """

    penalty: float
    smoothing: float = 0.0

    def terms(
        self,
        counts: NDArray[Any],
        prior: NDArray[np.float64],  # noqa: ARG002
    ) -> NDArray[np.float64]:
        """Return the counts; no prior has a part in it."""
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
    """Score stages: log probability of their counts, in any one order.

    Parameters
    ----------
    counts
        Shape (stages, labels), not negative.
    prior
        Dirichlet parameters, same shape, above 0.

    Returns
    -------
    NDArray[np.float64]
        One value a stage; exactly 0 if it has no counts, or a single label.

    Notes
    -----
    The rounding error is that of the log gamma function: about 1e-9 for a million
    counts, 1e-5 for a thousand million.

    Examples
    --------
    Three and one, uniform prior: 1/20.

    >>> np.exp(log_marginal_likelihood(np.array([[3, 1]]), np.ones((1, 2)))).round(12)
    array([0.05])
    """
    rising = log_rising(prior, counts)
    total = log_rising(prior.sum(axis=1), counts.sum(axis=1))
    score: NDArray[np.float64] = rising.sum(axis=1) - total
    return score


def log_rising(prior: NDArray[np.float64], counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return ``log Gamma(a + n) - log Gamma(a)`` without loss where ``a`` is large.

    Parameters
    ----------
    prior, counts
        ``a`` above 0 and ``n`` not below 0, of one shape.

    Notes
    -----
    Beyond ``a = 1000`` by Stirling's series, whose large terms are taken together first:
    the error is that of ``n log(a + n)``, not of ``a log(a)``.

    Examples
    --------
    >>> log_rising(np.array([2.0, 1e12]), np.array([3, 1])).round(6)
    array([ 3.178054, 27.631021])
    >>> log_rising(np.float64(1e12), np.int64(1)).round(6).item()
    27.631021
    """
    from scipy.special import gammaln  # takes 0.2 s to import

    sizes = np.asarray(counts, dtype=np.float64)
    large = np.asarray(prior > STEEP)
    result: NDArray[np.float64] = np.asarray(gammaln(prior + sizes) - gammaln(prior))
    if large.any():
        a, n = np.asarray(prior)[large], sizes[large]
        b = a + n
        series = (1 / b - 1 / a) / 12 - ((1 / b) ** 3 - (1 / a) ** 3) / 360
        result[large] = ((a - 0.5) * np.log1p(n / a) - n) + n * np.log(b) + series
    return result
