"""All stagings at once, against every partition written out."""

from math import exp, fsum, log

import clustering_oracle
import numpy as np
import pytest

from cegdb.clustering import Hyperstage, Plan, learn, log_probability, programme_size

PLANS = [
    Plan("exact"),
    Plan("exact", structure_prior="size"),
    Plan("exact", score="bic", n_rows=100),
    Plan("exact", score="bic", n_rows=100, structure_prior="size"),
    Plan("exact", score="aic", smoothing=0.5),
    Plan("exact", score="log_likelihood"),
    Plan("exact", stage_mass=0.7),
    Plan("exact", stage_mass=3.0, structure_prior="size"),
]


def hyperstage(counts, bases, multiplicities) -> Hyperstage:
    """Return situations with ids 2, 5, 8, ..."""
    ids = 2 + 3 * np.arange(len(counts))
    return Hyperstage(
        ids=ids,
        counts=np.asarray(counts, dtype=np.int64),
        bases=np.asarray(bases, dtype=np.float64),
        multiplicities=np.asarray(multiplicities, dtype=np.int64),
        start=ids,
        answers=ids[:, None],
    )


def random_hyperstage(seed: int, max_situations: int) -> Hyperstage:
    """Return 1 to 5 labels, uneven masses, and equal florets in every third."""
    random = np.random.default_rng(seed)
    n, n_labels = int(random.integers(1, max_situations + 1)), int(random.integers(1, 6))
    counts = random.integers(0, random.choice([2, 6, 40]), (n, n_labels))
    multiplicities = random.integers(1, 4, (n, 2))
    if seed % 3 == 0:
        copied = random.integers(0, n, n)
        counts, multiplicities = counts[copied], multiplicities[copied]
    return hyperstage(counts, random.uniform(0.1, 3, (2, n_labels)), multiplicities)


def every_staging(situations: Hyperstage, plan: Plan):
    """Return every staging as blocks of row numbers, with its score."""
    n = len(situations.ids)
    if plan.stage_mass is not None:
        score = clustering_oracle.one_prior(plan.stage_mass)
    elif plan.score == "log_marginal_likelihood":
        score = clustering_oracle.log_marginal_likelihood
    else:
        score = clustering_oracle.penalised(plan.scorer.penalty, plan.smoothing)

    def log_structure(m):
        return -log(n * clustering_oracle.n_partitions(n, m))

    florets = [
        (tuple(counts), tuple(prior))
        for counts, prior in zip(
            situations.counts.tolist(), situations.prior.tolist(), strict=True
        )
    ]
    return list(
        clustering_oracle.all_stagings(
            florets,
            log_structure if plan.structure_prior == "size" else lambda _: 0.0,
            score,
        )
    )


def score_of(stage, stagings):
    """Return the score of the staging that has these stages."""
    rows = {}
    for row, name in enumerate(stage.tolist()):
        rows.setdefault(name, []).append(row)
    wanted = sorted(rows.values())
    (value,) = (value for blocks, value in stagings if sorted(map(sorted, blocks)) == wanted)
    return value


def check(seed: int, max_situations: int) -> None:
    """Compare what is best and how probable it is, by two priors and one of the other plans."""
    situations = random_hyperstage(seed, max_situations)
    for plan in [*PLANS[:2], PLANS[2 + seed % len(PLANS[2:])]]:
        stagings = every_staging(situations, plan)
        check_best(situations, plan, stagings)
        if plan.score == "log_marginal_likelihood":
            check_probability(situations, plan, stagings)


def check_best(situations: Hyperstage, plan: Plan, stagings) -> None:
    stage = learn(situations, plan).stage
    if situations.counts.shape[1] == 1:
        assert stage.tolist() == situations.start.tolist()
        return
    best = max(value for _, value in stagings)
    ties = [len(blocks) for blocks, value in stagings if value >= best - 1e-9]
    assert score_of(stage, stagings) == pytest.approx(best, abs=1e-8)
    assert len(set(stage.tolist())) in ties
    if programme_size(situations, plan):
        assert len(set(stage.tolist())) == min(ties)


def check_probability(situations: Hyperstage, plan: Plan, stagings) -> None:
    """Compare the probability of the best staging, and of that of one stage."""
    top = max(value for _, value in stagings)
    log_total = top + log(fsum(exp(value - top) for _, value in stagings))
    for stage in (learn(situations, plan).stage, np.full_like(situations.ids, 2)):
        found = log_probability(situations, stage, plan)
        if situations.counts.shape[1] == 1:
            assert found == 0
            continue
        assert found == pytest.approx(score_of(stage, stagings) - log_total, abs=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_all_partitions_of_up_to_five_situations(seed: int) -> None:
    check(seed, max_situations=5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_all_partitions_of_up_to_eight_situations(seed: int) -> None:
    check(1000 + seed, max_situations=8)


def test_a_score_far_below_zero_has_a_probability() -> None:
    situations = hyperstage([[10**9, 3 * 10**9], [10**9, 10**9]], [[1.0, 1.0]], [[1], [1]])
    assert log_probability(situations, np.array([2, 5]), Plan("exact")) == 0
    assert log_probability(situations, np.array([2, 2]), Plan("exact")) < -1e8


def test_equal_shares_count_once_only_where_that_is_proved() -> None:
    situations = hyperstage([[1, 2, 3], [2, 4, 6], [3, 2, 1]], [[1.0] * 3], [[1]] * 3)
    assert programme_size(situations, Plan("exact", score="bic", n_rows=10)) == 2
    assert programme_size(situations, Plan("exact")) == 3
    by_size = Plan("exact", score="bic", n_rows=10, structure_prior="size")
    assert programme_size(situations, by_size) == 3
