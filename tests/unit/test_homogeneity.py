"""Tests of homogeneity, and stages that only tests keep apart."""

from itertools import product
from math import comb, fsum

import clustering_oracle
import numpy as np
import pytest

from cegdb.clustering import Hyperstage, Plan, learn
from cegdb.clustering.homogeneity import moments, p_value

LEVEL = 0.05


def hyperstage(counts) -> Hyperstage:
    """Return situations with ids 0, 1, 2, ..."""
    counts = np.asarray(counts, dtype=np.int64)
    ids = np.arange(len(counts))
    return Hyperstage(
        ids=ids,
        counts=counts,
        bases=np.full((1, counts.shape[1]), 0.5),
        multiplicities=np.ones((len(ids), 1), dtype=np.int64),
        start=ids,
        answers=ids[:, None],
    )


def pearson(table) -> float:
    total = sum(map(sum, table))
    columns = [sum(column) for column in zip(*table, strict=True)]
    return fsum(
        (x - sum(row) * c / total) ** 2 / (sum(row) * c / total)
        for row in table
        for x, c in zip(row, columns, strict=True)
        if c
    )


def tables_with_margins(n, successes):
    """Yield every table of two labels with these margins, and how many ways lead to it."""
    for counts in product(*(range(size + 1) for size in n)):
        if sum(counts) == successes:
            ways = 1
            for size, x in zip(n, counts, strict=True):
                ways *= comb(size, x)
            yield [(x, size - x) for size, x in zip(n, counts, strict=True)], ways


@pytest.mark.parametrize(
    ("n", "successes"), [((5, 5), 3), ((3, 4, 2), 4), ((1, 6, 2, 5), 5), ((2, 2), 2)]
)
def test_the_moments_are_those_of_all_tables_with_the_margins(n, successes) -> None:
    every = [(pearson(table), ways) for table, ways in tables_with_margins(n, successes)]
    total = sum(ways for _, ways in every)
    mean = fsum(x * ways for x, ways in every) / total
    variance = fsum((x - mean) ** 2 * ways for x, ways in every) / total
    found = moments(
        np.array([n], dtype=float), np.array([[successes, sum(n) - successes]], dtype=float)
    )
    assert found[0][0] == pytest.approx(mean, rel=1e-12)
    assert found[1][0] == pytest.approx(variance, rel=1e-9, abs=1e-12)


def test_a_single_situation_far_out_is_seen_among_two_hundred() -> None:
    counts = np.tile([10.0, 90.0], (200, 1))
    assert p_value(counts) == 1
    counts[7] = 40, 60
    assert p_value(counts) < 1e-6
    # Pearson's statistic, spread over 199 degrees of freedom, would not have seen this one.
    counts[7] = 26, 74
    x2 = pearson(counts.tolist())
    assert x2 < 199 - 2 * np.sqrt(2 * 199)
    assert p_value(counts) < LEVEL


@pytest.mark.parametrize(
    "counts",
    [[[3.0, 4.0]], [[3.0], [4.0]], [[0.0, 5.0], [0.0, 9.0]], [[0.0, 0.0], [9.0, 1.0]], []],
)
def test_there_is_nothing_to_tell_apart(counts) -> None:
    assert (
        p_value(np.array(counts, dtype=float).reshape(-1, len(counts[0]) if counts else 2)) == 1
    )


def test_effective_counts_are_tested_too() -> None:
    counts = np.array([[20.0, 80.0], [40.0, 60.0]])
    assert p_value(counts) < p_value(counts * 0.5) < p_value(counts * 0.1)
    assert p_value(np.array([[0.3, 0.2], [0.1, 0.9]])) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "rows", "share"),
    [(2, 15, 0.5), (2, 50, 0.5), (2, 200, 0.3), (3, 50, 0.1), (5, 15, 0.3), (20, 5, 0.1)],
)
def test_situations_that_are_alike_are_told_apart_at_most_at_the_level(n, rows, share) -> None:
    random = np.random.default_rng([n, rows])
    runs = 400
    tables = random.multinomial(rows, [share, 1 - share], size=(runs, n)).astype(float)
    rejected = sum(p_value(table, LEVEL) <= LEVEL for table in tables)
    # 99 % of 400 data sets rejected at the level itself are at most 31.
    assert rejected <= 31


def kept_apart(situations: Hyperstage, level: float) -> set[frozenset[int]]:
    """Return the stages that only tests keep apart, from the merges of the naive run."""
    florets = {
        int(i): (tuple(counts), tuple(prior))
        for i, counts, prior in zip(
            situations.ids, situations.counts.tolist(), situations.prior.tolist(), strict=True
        )
    }
    parts: dict[frozenset[int], tuple[frozenset[int], frozenset[int]]] = {}
    block = {i: frozenset([i]) for i in florets}
    for kept, absorbed, _ in clustering_oracle.agglomerate(florets, least=-np.inf):
        whole = block[kept] | block[absorbed]
        parts[whole] = block[kept], block.pop(absorbed)
        block[kept] = whole
    stages, p = set(block.values()), {}
    while True:
        new = {stage for stage in stages if stage not in p}
        for stage in new:
            counts = situations.counts[sorted(stage)].astype(float)
            p[stage] = p_value(counts, level / len(stages))
        worst = min(stages, key=p.__getitem__)
        if p[worst] * len(stages) > level:
            return stages
        stages = stages - {worst} | set(parts[worst])


@pytest.mark.slow
def test_stages_are_those_that_tests_keep_apart() -> None:
    random = np.random.default_rng(11)
    seen = set()
    for _ in range(60):
        n, k = int(random.integers(2, 9)), int(random.integers(2, 4))
        shares = random.dirichlet(np.full(k, random.choice([2.0, 30.0])), n)
        sizes = random.integers(1, random.choice([20, 400]), n)
        situations = hyperstage(
            [random.multinomial(m, p) for m, p in zip(sizes, shares, strict=True)]
        )
        learnt = learn(situations, Plan(significance=LEVEL))
        stages = {
            frozenset(situations.ids[learnt.stage == name].tolist())
            for name in set(learnt.stage.tolist())
        }
        assert stages == kept_apart(situations, LEVEL)
        assert len(learnt.merges) == n - len(stages)
        seen.add(len(stages))
    assert {1, 2, 3} <= seen


def test_the_level_decides_how_much_is_kept_apart() -> None:
    situations = hyperstage([[30, 70], [45, 55], [60, 40], [31, 69], [44, 56]])
    n_stages = [
        len(set(learn(situations, Plan(significance=level)).stage.tolist()))
        for level in (1e-9, 0.01, 0.99)
    ]
    assert n_stages[0] == 1
    assert n_stages == sorted(n_stages)
    assert n_stages[2] > 2
