"""The posterior of stagings, against every partition written out, and draws against sums."""

from dataclasses import replace
from math import exp, fsum, log, sqrt

import numpy as np
import pytest
from scipy.stats import beta
from test_all_stagings import every_staging, hyperstage, random_hyperstage

from cegdb.clustering import Plan, StagingModel, posterior
from cegdb.clustering.all_stagings import is_member, stage_probabilities
from cegdb.clustering.hyperstage import name_stages
from cegdb.clustering.posterior import effective_size, exact_posterior, sampled_posterior
from cegdb.clustering.scoring import Marginal
from cegdb.clustering.structure_prior import log_partitions, structure_prior

MODELS = [
    StagingModel(),
    StagingModel("size"),
    StagingModel(stage_mass=0.7, level=0.8),
    StagingModel("size", stage_mass=3.0),
]


def check(seed: int, max_situations: int) -> None:
    """Compare all that follows from every partition of a random hyperstage, by one model."""
    situations, model = random_hyperstage(seed, max_situations), MODELS[seed % len(MODELS)]
    random = np.random.default_rng(seed)
    n, n_labels = situations.counts.shape
    shown = name_stages(situations.ids, random.integers(0, n, n))
    situations = replace(situations, start=shown)
    plan = Plan("exact", structure_prior=model.structure, stage_mass=model.stage_mass)
    stagings = every_staging(situations, plan)
    top = max(value for _, value in stagings)
    log_total = top + log(fsum(exp(value - top) for _, value in stagings))
    together, mean = np.zeros((n, n)), np.zeros((n, n_labels))
    mean_stages, members = 0.0, [[] for _ in range(n)]
    for blocks, value in stagings:
        probability = exp(value - log_total)
        mean_stages += probability * len(blocks)
        for block in blocks:
            together[np.ix_(block, block)] += probability
            prior = situations.prior[block].sum(axis=0)
            if model.stage_mass is not None:
                prior = np.full(n_labels, model.stage_mass / n_labels)
            masses = situations.counts[block].sum(axis=0) + prior
            mean[block] += probability * masses / masses.sum()
            for i in block:
                members[i].append((probability, masses))
    found = exact_posterior(situations, model)
    assert found.log_total == pytest.approx(log_total, abs=1e-9)
    assert found.log_best == pytest.approx(top, abs=1e-8)
    shown_blocks = sorted(np.flatnonzero(shown == name).tolist() for name in set(shown))
    (log_shown,) = (v for b, v in stagings if sorted(map(sorted, b)) == shown_blocks)
    assert found.log_shown == pytest.approx(log_shown, abs=1e-8)
    assert found.mean_stages == pytest.approx(mean_stages, rel=1e-9)
    assert found.together == pytest.approx(together, abs=1e-9)
    assert found.mean == pytest.approx(mean, abs=1e-9)
    if n_labels == 1:
        assert (found.low == 1).all()
        assert (found.high == 1).all()
        return
    for i in range(n):
        weight = np.array([probability for probability, _ in members[i]])
        masses = np.array([masses for _, masses in members[i]])
        rest = masses.sum(axis=1, keepdims=True) - masses
        for ends, tail in ((found.low, 1 - model.level), (found.high, 1 + model.level)):
            below = weight @ beta.cdf(ends[i], masses, rest)
            assert below == pytest.approx(np.full(n_labels, tail / 2), abs=3e-6)


@pytest.mark.parametrize("seed", range(20))
def test_the_sums_over_all_partitions_of_up_to_five_situations(seed: int) -> None:
    check(seed, max_situations=5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(90))
def test_the_sums_over_all_partitions_of_up_to_eight_situations(seed: int) -> None:
    check(2000 + seed, max_situations=8)


def check_draws(seed: int, n: int, samples: int) -> None:
    """Compare draws with the exact values, within the error they state."""
    random, model = np.random.default_rng(seed), replace(MODELS[seed % 4], samples=samples)
    n_labels = int(random.integers(2, 5))
    groups = random.dirichlet(np.ones(n_labels), 3)[random.integers(0, 3, n)]
    counts = np.array([random.multinomial(random.integers(5, 80), one) for one in groups])
    bases = random.uniform(0.2, 1, (2, n_labels))
    situations = hyperstage(counts, bases, random.integers(1, 3, (n, 2)))
    found, exact = sampled_posterior(situations, model), exact_posterior(situations, model)
    size = found.mixing.effective_size
    assert size > 30
    # Errors of five standard deviations, and where next to nothing was drawn.
    error = 5 * np.sqrt(exact.together * (1 - exact.together) / size) + 5 / size
    assert (np.abs(found.together - exact.together) < error).all()
    assert found.mixing.max_difference < 10 / sqrt(size)
    assert found.mean == pytest.approx(exact.mean, abs=2 / sqrt(size))
    assert np.abs(found.low - exact.low).max() < 3 / sqrt(size)
    assert np.abs(found.high - exact.high).max() < 3 / sqrt(size)
    assert found.mean_stages == pytest.approx(exact.mean_stages, abs=5 * sqrt(n / size))
    assert found.log_total <= exact.log_total + 1e-8
    assert found.log_best == pytest.approx(exact.log_best, abs=1e-8)
    assert found.log_shown == pytest.approx(exact.log_shown, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_draws_agree_with_the_sums_within_their_error(seed: int) -> None:
    check_draws(seed, n=6, samples=150)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [6, 9, 10])
def test_many_draws_agree_with_the_sums_of_up_to_twelve_situations(seed: int) -> None:
    check_draws(seed, n=7 + seed % 6, samples=400)


@pytest.mark.slow
def test_larger_hyperstages_are_sampled_and_smaller_ones_are_not() -> None:
    counts = np.tile([[8, 2], [2, 8]], (8, 1))
    situations = hyperstage(counts, [[1.0, 1.0]], np.ones((16, 1)))
    found = posterior(situations, StagingModel(samples=20))
    assert (found.mixing.n_chains, found.mixing.n_draws) == (4, 80)
    assert found.error.shape == (16, 16)
    again = posterior(situations, StagingModel(samples=20))
    assert np.array_equal(found.together, again.together)
    assert np.array_equal(found.low, again.low)
    assert posterior(situations.subset(np.arange(14)), StagingModel()).mixing is None


def test_chains_that_stay_apart_are_worth_few_draws() -> None:
    random = np.random.default_rng(5)
    alike = random.normal(size=(4, 500))
    assert effective_size(alike) > 1500
    assert effective_size(alike + 5 * np.arange(4)[:, None]) < 8
    slow = np.cumsum(random.normal(size=(4, 500)), axis=1)
    assert effective_size(slow) < 40
    assert effective_size(np.full((4, 500), -1234.5)) == 2000


def drawn_partition(random: np.random.Generator, n: int, *, is_flat: bool) -> list[int]:
    """Draw a partition from the prior: uniformly, or by the number of its blocks first."""
    if is_flat:
        # The blocks of n situations in urns, as many as a Poisson number of them (Stam 1983).
        k = np.arange(1, 60)
        weight = np.exp(n * np.log(k) - np.cumsum(np.log(k)))
        return random.integers(0, random.choice(k, p=weight / weight.sum()), n).tolist()
    left, member = int(random.integers(1, n + 1)), []
    for m in range(n, 0, -1):
        # Situation m is alone among the first m in S(m - 1, k - 1) of their S(m, k) partitions.
        if random.random() < exp(log_partitions(m - 1)[left - 1] - log_partitions(m)[left]):
            left -= 1
            member.append(left)
        else:
            member.append(int(random.integers(left)))
    return member


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["flat", "size"])
def test_of_pairs_with_a_probability_of_some_nine_in_ten_nine_in_ten_are_alike(
    structure: str,
) -> None:
    random, n = np.random.default_rng(11), 6
    score, prior = Marginal(2.0), structure_prior(n, structure)
    alike, stated = [], []
    for _ in range(400):
        member = np.array(drawn_partition(random, n, is_flat=structure == "flat"))
        share = random.beta(1.0, 1.0, 2 * n)[member]
        counts = random.binomial(60, share)
        situations = hyperstage(
            np.column_stack((counts, 60 - counts)), [[1.0, 1.0]], np.ones((n, 1))
        )
        probability = stage_probabilities(situations, score, prior)[1]
        member_of = is_member(n).astype(float)
        found = (member_of * probability[:, None]).T @ member_of
        first, second = np.triu_indices(n, 1)
        chosen = (found[first, second] >= 0.8) & (found[first, second] <= 0.95)
        alike += (member[first] == member[second])[chosen].tolist()
        stated += found[first, second][chosen].tolist()
    assert len(alike) > 150
    assert 0.80 <= np.mean(alike) <= 0.95
    assert np.mean(alike) == pytest.approx(np.mean(stated), abs=0.05)
