"""How probable the stagings of a hyperstage are, and what follows from all of them.

By the programme over sets up to `MAX_EXACT` situations, else from draws of several chains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from cegdb.clustering.all_stagings import (
    best_staging,
    is_member,
    stage_probabilities,
)
from cegdb.clustering.hill_climbing import climb
from cegdb.clustering.hyperstage import name_stages
from cegdb.clustering.methods import Plan, learn, total_score
from cegdb.clustering.scoring import Marginal
from cegdb.clustering.split_merge import sample
from cegdb.clustering.stage_sums import tie_tolerance
from cegdb.clustering.structure_prior import structure_prior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cegdb.clustering.hyperstage import Hyperstage
    from cegdb.clustering.split_merge import Draw
    from cegdb.options import StructurePrior

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

MAX_EXACT: Final = 14
"""Most situations of a hyperstage whose stagings are all looked at for their posterior."""

N_CHAINS: Final = 4
"""Chains of draws: from all situations together, all apart, the stages shown, and at random."""

_MAX_CLIMBING: Final = 200
_MIN_DRAWS: Final = 4_000
_NEGLIGIBLE: Final = 1e-6


@dataclass(frozen=True)
class StagingModel:
    """What makes stagings probable, and how their posterior is found.

    ``stage_mass`` is the prior mass of a stage where it does not depend on its situations;
    ``level`` of the intervals; ``samples`` the draws of each chain, None for fewer of larger
    hyperstages: some 40 s of processor time for 1,000 situations.
    """

    structure: StructurePrior = "flat"
    stage_mass: float | None = None
    level: float = 0.95
    samples: int | None = None
    seed: int = 1

    @property
    def score(self) -> Marginal:
        """The score of a stage."""
        return Marginal(self.stage_mass)


@dataclass(frozen=True)
class Mixing:
    """How far draws can be trusted.

    ``n_draws`` were kept of all chains, which are worth ``effective_size`` independent ones (by
    the log posterior or the number of stages, whichever is less). ``max_difference`` is the
    largest difference between two chains in the probability that two situations share a stage.
    """

    n_chains: int
    n_draws: int
    effective_size: float
    max_difference: float


@dataclass(frozen=True)
class StagingPosterior:
    """How probable the stagings of a hyperstage are.

    Attributes
    ----------
    log_total
        Log of the sum over all stagings of marginal likelihood times structure prior. From
        draws: over the distinct ones drawn, so that it is a lower bound.
    log_shown, log_best
        The log of that product for the stages shown, and for the best known.
    best
        Shape (situations,): the stages of the best known.
    mean_stages
        Expected number of stages.
    together
        Shape (situations, situations): the probability that two share a stage.
    error
        Its Monte Carlo standard error, by the effective sample size or by the differences
        between chains, whichever is larger; None if exact.
    mean, low, high
        Shape (situations, labels): expected probabilities over all stagings, with intervals.
    mixing
        None if exact.
    """

    log_total: float
    log_shown: float
    log_best: float
    best: Numbers
    mean_stages: float
    together: Floats
    error: Floats | None
    mean: Floats
    low: Floats
    high: Floats
    mixing: Mixing | None


def posterior(hyperstage: Hyperstage, model: StagingModel) -> StagingPosterior:
    """Return how probable stagings are; ``hyperstage.start`` are the stages shown.

    Examples
    --------
    >>> from cegdb.clustering import Hyperstage
    >>> ids = np.array([4, 5, 6])
    >>> situations = Hyperstage(
    ...     ids=ids,
    ...     counts=np.array([[9, 1], [1, 9], [8, 2]]),
    ...     bases=np.array([[1.0, 1.0]]),
    ...     multiplicities=np.array([[1], [1], [1]]),
    ...     start=np.array([4, 5, 4]),
    ...     answers=np.array([[0], [1], [2]]),
    ... )
    >>> found = posterior(situations, StagingModel())
    >>> found.together.round(3).tolist()[0]
    [1.0, 0.003, 0.655]
    >>> round(float(np.exp(found.log_shown - found.log_total)), 3)
    0.653
    """
    if len(hyperstage.ids) > MAX_EXACT:
        return sampled_posterior(hyperstage, model)
    return exact_posterior(hyperstage, model)


def exact_posterior(hyperstage: Hyperstage, model: StagingModel) -> StagingPosterior:
    """Return the posterior by the programme over sets of situations."""
    n, score = len(hyperstage.ids), model.score
    structure = structure_prior(n, model.structure)
    log_total, probability = stage_probabilities(hyperstage, score, structure)
    member = is_member(n)
    share = member * probability[:, None]
    best, log_best = _better(hyperstage, best_staging(hyperstage, score, structure), model)
    masses = score.masses(member @ score.terms(hyperstage.sizes, hyperstage.prior))
    # No situations are no stage: any masses do.
    masses[0] = 1.0
    total = masses.sum(axis=1, keepdims=True)
    low, high = np.zeros((2, n, masses.shape[1]))
    for i in range(n):
        rows = _worthwhile(share[:, i])
        low[i], high[i] = _mixture_interval(share[rows, i], masses[rows], model.level)
    return StagingPosterior(
        log_total=log_total,
        log_shown=_log_posterior(hyperstage, model),
        log_best=log_best,
        best=best,
        mean_stages=float(probability.sum()),
        together=np.clip(share.T @ member.astype(np.float64), 0.0, 1.0),
        error=None,
        mean=share.T @ (masses / total),
        low=low,
        high=high,
        mixing=None,
    )


def _better(
    hyperstage: Hyperstage, stage: Numbers, model: StagingModel
) -> tuple[Numbers, float]:
    """Return stages and their log posterior, or those shown if they are as good."""
    found = _log_posterior(replace(hyperstage, start=stage), model)
    shown = _log_posterior(hyperstage, model)
    if shown >= found - tie_tolerance(found):
        return hyperstage.start, shown
    return stage, found


def _log_posterior(hyperstage: Hyperstage, model: StagingModel) -> float:
    """Return the score of the stages that situations start in, with the structure prior."""
    structure = structure_prior(len(hyperstage.ids), model.structure)
    score = total_score(hyperstage, hyperstage.start, model.score)
    return score + float(structure[len(np.unique(hyperstage.start))])


def _worthwhile(share: Floats) -> Numbers:
    """Return the rows of the largest shares, without those that are negligible together."""
    order = np.argsort(-share, kind="stable")
    n = int(np.searchsorted(np.cumsum(share[order]), 1 - _NEGLIGIBLE)) + 1
    return order[:n]


def _mixture_interval(weight: Floats, masses: Floats, level: float) -> tuple[Floats, Floats]:
    """Return quantiles of the mixture of the marginals of Dirichlet distributions.

    By Newton's method, kept within what bisection has left.
    """
    from scipy.special import betainc, betaln

    if masses.shape[1] == 1:
        return np.ones(1), np.ones(1)
    weight = weight[:, None] / weight.sum()
    total = masses.sum(axis=1, keepdims=True)
    rest = total - masses
    log_beta = betaln(masses, rest)
    quantiles = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        low, high = np.zeros(masses.shape[1]), np.ones(masses.shape[1])
        x = (weight * masses / total).sum(axis=0)
        for _ in range(200):
            excess = (weight * betainc(masses, rest, x)).sum(axis=0) - tail
            if np.abs(excess).max() < 1e-9 or (high - low).max() < 1e-12:
                break
            low, high = np.where(excess < 0, x, low), np.where(excess > 0, x, high)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                log_density = (masses - 1) * np.log(x) + (rest - 1) * np.log1p(-x) - log_beta
                newton = x - excess / (weight * np.exp(log_density)).sum(axis=0)
            x = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        quantiles.append(x)
    return quantiles[0], quantiles[1]


def sampled_posterior(hyperstage: Hyperstage, model: StagingModel) -> StagingPosterior:
    """Return the posterior from draws of chains, whose first half is left out."""
    n, score = len(hyperstage.ids), model.score
    n_samples = model.samples or default_samples(n)
    random = np.random.default_rng(model.seed)
    rows = np.arange(n)
    starts = np.stack(
        (
            np.zeros(n, dtype=np.int64),
            rows,
            np.unique(hyperstage.start, return_inverse=True)[1],
            random.integers(0, math.isqrt(n) + 1, n),
        )
    )
    terms = score.terms(hyperstage.sizes, hyperstage.prior)
    structure = structure_prior(n, model.structure)
    draws = sample(terms, score, structure, starts, n_samples, n_samples, random)
    summary = _Draws(n, hyperstage.counts.shape[1], n_samples, model, random)
    for index, reached in enumerate(draws):
        summary.note(reached)
        if index >= n_samples:
            summary.add(reached, index - n_samples)
    tail = 100 * (1 - model.level) / 2
    low, high = np.percentile(summary.probabilities, (tail, 100 - tail), axis=0)
    log_shown = _log_posterior(hyperstage, model)
    best, log_best = _better(hyperstage, _best_known(hyperstage, summary.best, model), model)
    known = summary.log_score
    known[_key(starts[2])] = log_shown
    known[_key(np.unique(best, return_inverse=True)[1])] = log_best
    by_chain = summary.together / n_samples
    together = by_chain.mean(axis=0, dtype=np.float64)
    size = min(effective_size(summary.log_posterior), effective_size(summary.n_stages))
    between = by_chain.std(axis=0, ddof=1) / math.sqrt(N_CHAINS)
    return StagingPosterior(
        log_total=_log_sum(np.array([*known.values()])),
        log_shown=log_shown,
        log_best=log_best,
        best=best,
        mean_stages=float(summary.n_stages.mean()),
        together=together,
        error=np.maximum(between, np.sqrt(together * (1 - together) / size)),
        mean=summary.mean / (N_CHAINS * n_samples),
        low=low,
        high=high,
        mixing=Mixing(
            n_chains=N_CHAINS,
            n_draws=N_CHAINS * n_samples,
            effective_size=size,
            max_difference=float((by_chain.max(axis=0) - by_chain.min(axis=0)).max()),
        ),
    )


def default_samples(n_situations: int) -> int:
    """Return the draws of a chain: fewer of larger hyperstages, for time.

    Examples
    --------
    >>> default_samples(20), default_samples(1000)
    (1000, 40)
    """
    return int(np.clip(40_000 // n_situations, 40, 1_000))


def _best_known(hyperstage: Hyperstage, best: Draw, model: StagingModel) -> Numbers:
    """Return the best of what was drawn and what AHC finds, improved where that is quick."""
    plan = Plan(structure_prior=model.structure, stage_mass=model.stage_mass)
    apart = replace(hyperstage, start=hyperstage.ids)
    found = [name_stages(hyperstage.ids, best.member), learn(apart, plan).stage]
    starts = [replace(hyperstage, start=stage) for stage in found]
    start = max(starts, key=lambda one: _log_posterior(one, model))
    if len(hyperstage.ids) > _MAX_CLIMBING:
        return start.start
    return climb(start, model.score, structure_prior(len(hyperstage.ids), model.structure))


class _Draws:
    """Sums over the draws of several chains."""

    def __init__(
        self,
        n_situations: int,
        n_labels: int,
        n_samples: int,
        model: StagingModel,
        random: np.random.Generator,
    ) -> None:
        self.score = model.score
        self.random = random
        self.log_score: dict[bytes, float] = {}
        self.best: Draw
        self.together = np.zeros((N_CHAINS, n_situations, n_situations), dtype=np.float32)
        self.mean = np.zeros((n_situations, n_labels))
        self.log_posterior = np.zeros((N_CHAINS, n_samples))
        self.n_stages = np.zeros((N_CHAINS, n_samples))
        self.per_draw = -(-_MIN_DRAWS // (N_CHAINS * n_samples))
        shape = (n_samples, N_CHAINS, self.per_draw, n_situations, n_labels)
        self.drawn = np.zeros(shape, dtype=np.float32)

    @property
    def probabilities(self) -> NDArray[np.float32]:
        """Draws of the probabilities of situations, shape (draws, situations, labels)."""
        return self.drawn.reshape(-1, *self.drawn.shape[-2:])

    def note(self, reached: list[Draw]) -> None:
        """Remember which stagings there are, and the best of them."""
        for draw in reached:
            is_first = not self.log_score
            self.log_score[_key(draw.member)] = draw.log_score
            if is_first or draw.log_score > self.best.log_score:
                self.best = draw

    def add(self, reached: list[Draw], index: int) -> None:
        """Add a draw of each chain."""
        for chain, draw in enumerate(reached):
            self.together[chain] += draw.member[:, None] == draw.member
            self.log_posterior[chain, index] = draw.log_score
            self.n_stages[chain, index] = len(draw.terms)
            masses = self.score.masses(draw.terms)
            self.mean += (masses / masses.sum(axis=1, keepdims=True))[draw.member]
            gamma = self.random.standard_gamma(masses, (self.per_draw, *masses.shape))
            total = np.maximum(gamma.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
            self.drawn[index, chain] = (gamma / total)[:, draw.member]


def _key(member: Numbers) -> bytes:
    """Return a name of a staging whose stages are numbered by their first situations."""
    return member.astype(np.int32).tobytes()


def effective_size(draws: Floats) -> float:
    """Return how many independent draws those of several chains are worth.

    ``draws`` has the shape (chains, draws). Positive, decreasing sums of pairs of
    autocorrelations [1]_, with the variance between the chains in them [2]_.

    References
    ----------
    .. [1] C. J. Geyer (1992), Practical Markov chain Monte Carlo. Statistical Science 7,
       473-483.
    .. [2] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Buerkner (2021),
       Rank-normalization, folding, and localization. Bayesian Analysis 16, 667-718.

    Examples
    --------
    >>> random = np.random.default_rng(1)
    >>> 3800 < effective_size(random.normal(size=(4, 1000))) <= 4000
    True
    >>> effective_size(np.repeat([[0.0], [1.0]], 50, axis=1)) < 3
    True
    """
    n_chains, n = draws.shape
    centred = draws - draws.mean(axis=1, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / max(n - 1, 1)
    variance = covariance[0] + draws.mean(axis=1).var(ddof=1)
    if variance <= 1e-18 * max(1.0, float((draws**2).max())):
        return float(n_chains * n)
    correlation = 1 - (within - covariance) / variance
    correlation[0] = 1.0
    pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    n_positive = int(np.argmax(np.append(pairs, -1.0) < 0))
    time = 2 * np.minimum.accumulate(pairs[:n_positive]).sum() - 1
    return float(n_chains * n / max(time, 1.0))


def _log_sum(values: Floats) -> float:
    top = float(values.max())
    return top + math.log(math.fsum(np.exp(values - top)))
