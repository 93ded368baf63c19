"""The distribution of one more situation: as uncertain as the others differ."""

from __future__ import annotations

from math import exp, fsum, lgamma, log

import numpy as np
import pytest
from scipy.special import betaincinv

from cegdb.stages.unobserved import predictive_mass


def by_hand(counts: list[list[float]]) -> list[float]:
    """Sum over a grid of correlations, in plain Python."""
    n_labels = len(counts[0])
    grid = [1e-5 * (0.1 / 1e-5) ** (i / 39) for i in range(40)]
    grid += [0.11 + i * 0.88 / 88 for i in range(89)]
    rows = [sum(one) for one in counts]
    weights, means = [], []
    for i, rho in enumerate(grid):
        mass = 1 / rho - 1
        weight = [(mass + 1) / (n + mass) for n in rows]
        total = fsum(w * n for w, n in zip(weight, rows, strict=True)) + 0.5 * n_labels
        mean = [
            (fsum(w * one[k] for w, one in zip(weight, counts, strict=True)) + 0.5) / total
            for k in range(n_labels)
        ]
        logs = fsum(
            lgamma(mass)
            - lgamma(mass + n)
            + fsum(
                lgamma(c + mass * m) - lgamma(mass * m) for c, m in zip(one, mean, strict=True)
            )
            for one, n in zip(counts, rows, strict=True)
        )
        width = np.gradient(grid)[i]
        weights.append(logs + log(width))
        means.append(mean)
    largest = max(weights)
    posterior = [exp(w - largest) for w in weights]
    whole = fsum(posterior)
    posterior = [p / whole for p in posterior]
    rho = fsum(p * r for p, r in zip(posterior, grid, strict=True))
    spread = min(rho * (1 + 1 / len(counts)) + (1 - rho) / sum(rows), 0.99)
    return [
        (1 / spread - 1) * fsum(p * mean[k] for p, mean in zip(posterior, means, strict=True))
        for k in range(n_labels)
    ]


@pytest.mark.parametrize(
    "counts",
    [[[2.0, 8.0]], [[1.0, 9.0], [6.0, 4.0], [1.0, 9.0]], [[3.0, 0.0, 5.0], [0.5, 0.25, 7.0]]],
)
def test_the_distribution_is_the_sum_over_correlations(counts: list[list[float]]) -> None:
    assert predictive_mass(np.array(counts)).tolist() == pytest.approx(by_hand(counts))


def test_situations_without_rows_say_nothing() -> None:
    assert predictive_mass(np.zeros((3, 4))).tolist() == [1.0] * 4
    some = np.array([[5.0, 5.0], [2.0, 8.0]])
    more = np.vstack([some, np.zeros((7, 2))])
    assert predictive_mass(more).tolist() == predictive_mass(some).tolist()


def test_many_distinct_situations_have_the_correlation_of_their_moments() -> None:
    random = np.random.default_rng(3)
    share = random.beta(2.0, 6.0, 8_000)
    sizes = random.integers(500, 1_500, 8_000)
    counts = random.binomial(sizes, share)
    mass = predictive_mass(np.column_stack([counts, sizes - counts]).astype(float))
    assert mass == pytest.approx([2.0, 6.0], rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_situations", "n_rows", "correlation"),
    [(3, 100, 0.1), (5, 15, 0.05), (20, 15, 0.0), (20, 200, 0.02), (60, 50, 0.1)],
)
def test_its_interval_contains_the_share_of_a_new_situation(
    n_situations: int, n_rows: int, correlation: float
) -> None:
    random = np.random.default_rng(11)
    n_sets, n_hits = 400, 0
    for _ in range(n_sets):
        share = random.uniform(0.05, 0.95)
        true = np.full(n_situations + 1, share)
        if correlation:
            mass = 1 / correlation - 1
            true = random.beta(mass * share, mass * (1 - share), n_situations + 1)
        counts = random.binomial(n_rows, true[:-1])
        a, b = predictive_mass(np.column_stack([counts, n_rows - counts]).astype(float))
        low, high = betaincinv(a, b, [0.025, 0.975])
        n_hits += low <= true[-1] <= high
    # 92 % less three standard errors
    assert n_hits >= 0.88 * n_sets
