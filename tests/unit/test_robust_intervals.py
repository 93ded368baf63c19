"""Intervals that hold whether or not the situations of a stage are alike."""

import numpy as np
import pytest
from scipy.stats import beta, betabinom, norm, t

from cegdb.clustering import Hyperstage, Plan, learn
from cegdb.stages.robust_intervals import (
    correlation,
    own_intervals,
    robust_intervals,
    robust_means,
)


def test_an_interval_of_one_sample_is_that_of_jeffreys() -> None:
    low, high = own_intervals(np.array([[3.0, 17.0], [4.5, 5.5]]), 0.9)
    for row, (x, y) in enumerate([(3, 17), (4.5, 5.5)]):
        assert low[row, 0] == pytest.approx(beta(x + 0.5, y + 0.5).ppf(0.05), rel=1e-9)
        assert high[row, 0] == pytest.approx(beta(x + 0.5, y + 0.5).ppf(0.95), rel=1e-9)
        assert low[row, 1] == pytest.approx(1 - high[row, 0], rel=1e-9)


def test_nobody_of_n_leaves_what_would_be_seen_in_one_sample_of_twenty() -> None:
    low, high = own_intervals(np.array([[0.0, 15.0], [0.0, 0.0]]), 0.95)
    assert low[0].tolist() == pytest.approx([0, 0.05 ** (1 / 15)], rel=1e-9)
    assert high[0].tolist() == pytest.approx([1 - 0.05 ** (1 / 15), 1], rel=1e-9)
    assert low[1].tolist() == [0, 0]
    assert high[1].tolist() == [1, 1]


def test_the_correlation_is_that_of_the_simulated_situations() -> None:
    random = np.random.default_rng(5)
    for rho in (0.02, 0.1, 0.4):
        strength = (1 - rho) / rho
        n = random.integers(10, 60, 4000)
        x = betabinom(n, 0.3 * strength, 0.7 * strength).rvs(random_state=random)
        sizes = np.column_stack((x, n - x)).astype(float)
        assert correlation(sizes) == pytest.approx(rho, rel=0.1)
    alike = random.multinomial(30, [0.2, 0.3, 0.5], size=4000).astype(float)
    assert correlation(alike) < 0.002
    assert correlation(np.array([[3.0, 4.0]])) == 0
    assert correlation(np.array([[0.0, 4.0], [0.0, 9.0]])) == 0
    assert correlation(np.array([[1.0, 0.0], [0.0, 1.0]])) == 0


def test_an_interval_contains_the_printed_probability_and_that_of_its_own_counts() -> None:
    random = np.random.default_rng(8)
    for _ in range(50):
        n, k = int(random.integers(1, 12)), int(random.integers(2, 5))
        sizes = random.multinomial(random.integers(0, 40), np.full(k, 1 / k), size=n).astype(
            float
        )
        group = np.unique(random.integers(0, 3, n), return_inverse=True)[1]
        points = random.dirichlet(np.ones(k), group.max() + 1)
        low, high = robust_intervals(sizes, group, points, 0.95)
        assert ((low >= 0) & (low <= points) & (points <= high) & (high <= 1)).all()
        counts = np.array([sizes[group == g].sum(axis=0) for g in range(len(points))])
        own_low, own_high = own_intervals(counts, 0.95)
        assert (low <= own_low + 1e-12).all()
        assert (high >= own_high - 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.7, 1.5])
def test_intervals_cover_the_truth_where_stages_are_learnt(spread: float) -> None:
    """Credible intervals, given the stages, cover less than half of it where it spreads."""
    random = np.random.default_rng(int(10 * spread))
    n, rows, runs = 20, 50, 150
    covered, given = [], []
    for _ in range(runs):
        base = random.uniform(0.2, 0.8)
        error = np.sqrt(base * (1 - base) / rows)
        true = np.clip(random.normal(base, spread * error, n), 0.01, 0.99)
        x = random.binomial(rows, true)
        sizes = np.column_stack((x, rows - x)).astype(float)
        ids = np.arange(n)
        situations = Hyperstage(
            ids=ids,
            counts=sizes.astype(np.int64),
            bases=np.full((1, 2), 0.5),
            multiplicities=np.ones((n, 1), dtype=np.int64),
            start=ids,
            answers=ids[:, None],
        )
        stage = learn(situations, Plan(stage_mass=1.0)).stage
        group = np.unique(stage, return_inverse=True)[1]
        counts = np.array([sizes[group == g].sum(axis=0) for g in range(group.max() + 1)])
        points = (counts + 0.5) / (counts.sum(axis=1, keepdims=True) + 1)
        target = np.array([true[group == g].mean() for g in range(len(points))])[group]
        low, high = robust_intervals(sizes, group, points, 0.95)
        covered.append(((low[group, 0] <= target) & (target <= high[group, 0])).mean())
        low, high = robust_intervals(sizes, ids, points[group], 0.95)
        covered.append(((low[:, 0] <= true) & (true <= high[:, 0])).mean())
        quantiles = beta(*(counts + 0.5).T).ppf(np.array([[0.025], [0.975]]))
        given.append(((quantiles[0][group] <= true) & (true <= quantiles[1][group])).mean())
    assert np.mean(covered[::2]) > 0.92
    assert np.mean(covered[1::2]) > 0.92
    assert np.mean(given) < 0.8


def halves(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw 200 situations of five rows, with shares of 0.1 or 0.85, and group like counts."""
    true = np.where(np.arange(200) < 100, 0.1, 0.85)
    x = random.binomial(5, true)
    group = np.searchsorted([2, 4], x, side="right")
    return true, np.column_stack((x, 5 - x)).astype(float), group


def test_intervals_cover_where_groups_overlap() -> None:
    """Of those with two or three of five, half have 0.1 and half 0.85: none has their share."""
    random = np.random.default_rng(2)
    missed_alone = missed = missed_mean = 0
    for _ in range(60):
        true, sizes, group = halves(random)
        counts = np.array([sizes[group == g].sum(axis=0) for g in range(3)])
        points = counts / counts.sum(axis=1, keepdims=True)
        target = np.array([true[group == g].mean() for g in range(3)])
        low, high = robust_intervals(sizes, group, points, 0.95)
        missed += int(((low[:, 0] > target) | (target > high[:, 0])).sum())
        low, high = robust_means(sizes, group, np.array([1.0, 0.0]), points[:, 0], 0.95)
        missed_mean += int(((low > target) | (target > high)).sum())
        low, high = own_intervals(counts, 0.95)
        missed_alone += int(((low[:, 0] > target) | (target > high[:, 0])).sum())
    assert missed_alone > 0.2 * 180
    assert missed < 0.08 * 180
    assert missed_mean < 0.08 * 180


def test_groups_far_apart_have_the_intervals_of_their_rows() -> None:
    sizes = np.array([[10.0, 990], [12, 988], [900, 100], [905, 95], [895, 105]])
    group = np.array([0, 0, 1, 1, 1])
    counts = np.array([sizes[group == g].sum(axis=0) for g in range(2)])
    points = counts / counts.sum(axis=1, keepdims=True)
    low, high = robust_intervals(sizes, group, points, 0.95)
    own_low, own_high = own_intervals(counts, 0.95)
    assert low == pytest.approx(own_low, rel=0.03)
    assert high == pytest.approx(own_high, rel=0.03)


def test_the_interval_of_a_mean_is_that_of_rows_that_vary_as_much() -> None:
    sizes, worth = np.array([[5.0, 9.0, 6.0], [0.0, 15.0, 0.0]]), np.array([0, 0.25, 1])
    mean, n = sizes[0] @ worth / 20, 20
    variance = (sizes[0] @ worth**2 / n - mean**2) / (n - 1)
    size = mean * (1 - mean) / variance * (norm.ppf(0.975) / t.ppf(0.975, n - 1)) ** 2
    own = beta(mean * size + 0.5, (1 - mean) * size + 0.5)
    low, high = robust_means(sizes, np.array([0, 1]), worth, np.array([mean, 0.25]), 0.95)
    unseen = 1 - 0.05 ** (1 / 15)
    assert low.tolist() == pytest.approx([own.ppf(0.025), 0.25 * (1 - unseen)], rel=1e-9)
    assert high.tolist() == pytest.approx([own.ppf(0.975), 0.25 + unseen * 0.75], rel=1e-9)
    nobody = robust_means(np.zeros((1, 3)), np.array([0]), worth, np.array([0.4]), 0.95)
    assert [ends.tolist() for ends in nobody] == [[0], [1]]


@pytest.mark.parametrize("rho", [0.0, 0.05, 0.3])
def test_the_mean_of_two_answers_is_the_share_of_the_second_one(rho: float) -> None:
    random = np.random.default_rng(3)
    share = np.full(12, 0.3)
    if rho:
        share = random.beta(0.3 * (1 - rho) / rho, 0.7 * (1 - rho) / rho, 12)
    x = random.binomial(40_000, share)
    sizes = np.column_stack((40_000 - x, x)).astype(float)
    group = np.arange(12) // 3
    counts = np.array([sizes[group == g].sum(axis=0) for g in range(4)])
    points = counts / counts.sum(axis=1, keepdims=True)
    low, high = robust_intervals(sizes, group, points, 0.95)
    found = robust_means(sizes, group, np.array([0.0, 1.0]), points[:, 1], 0.95)
    assert found[0] == pytest.approx(low[:, 1], rel=1e-4)
    assert found[1] == pytest.approx(high[:, 1], rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.7, 1.5])
@pytest.mark.parametrize("rows", [12, 50])
def test_intervals_of_means_cover_the_truth_where_stages_are_learnt(
    spread: float, rows: int
) -> None:
    random = np.random.default_rng(int(10 * spread) + rows)
    n, runs, worth = 20, 150, np.array([0.0, 0.3, 0.7, 1.0])
    covered = []
    for _ in range(runs):
        base = random.dirichlet(np.full(4, 2.0))
        noise = random.normal(0, spread * np.sqrt(base * (1 - base) / rows), (n, 4))
        true = np.clip(base + noise, 0.005, None)
        true /= true.sum(axis=1, keepdims=True)
        sizes = np.array([random.multinomial(rows, one) for one in true]).astype(float)
        ids = np.arange(n)
        situations = Hyperstage(
            ids=ids,
            counts=sizes.astype(np.int64),
            bases=np.full((1, 4), 0.25),
            multiplicities=np.ones((n, 1), dtype=np.int64),
            start=ids,
            answers=ids[:, None],
            scores=worth,
        )
        stage = learn(situations, Plan(stage_mass=1.0, method="ordinal")).stage
        group = np.unique(stage, return_inverse=True)[1]
        counts = np.array([sizes[group == g].sum(axis=0) for g in range(group.max() + 1)])
        points = (counts + 0.25) @ worth / (counts.sum(axis=1) + 1)
        target = np.array([(true[group == g] @ worth).mean() for g in range(len(points))])
        low, high = robust_means(sizes, group, worth, points, 0.95)
        covered.append(((low <= target) & (target <= high))[group].mean())
    assert np.mean(covered) > 0.92
