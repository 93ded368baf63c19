"""Stages of ordered answers, against every way to cut the situations into segments."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb, fsum, log

import clustering_oracle
import numpy as np
import pytest

from cegdb.clustering import Hyperstage, Plan, learn
from cegdb.clustering.contiguous import best_contiguous, contiguous_prior, order_by_mean

PLANS = [
    Plan("ordinal"),
    Plan("ordinal", structure_prior="size"),
    Plan("ordinal", stage_mass=0.7),
    Plan("ordinal", stage_mass=3.0, structure_prior="size"),
    Plan("ordinal", score="bic", n_rows=100),
    Plan("ordinal", score="bic", n_rows=100, structure_prior="size"),
    Plan("ordinal", score="aic", smoothing=0.5),
    Plan("ordinal", score="log_likelihood"),
]


def random_hyperstage(seed: int) -> Hyperstage:
    """Return up to 9 situations of 2 to 5 labels, uneven masses and scores, some equal."""
    random = np.random.default_rng(seed)
    n, n_labels = int(random.integers(1, 10)), int(random.integers(2, 6))
    counts = random.integers(0, random.choice([2, 6, 40]), (n, n_labels))
    multiplicities = random.integers(1, 4, (n, 2))
    if seed % 3 == 0:
        copied = random.integers(0, n, n)
        counts, multiplicities = counts[copied], multiplicities[copied]
    scores = np.arange(n_labels, dtype=float)
    if seed % 4 == 1:
        scores = random.permutation(scores) * 2.5 - 1
    if seed % 4 == 2 and n_labels > 2:
        scores[random.integers(n_labels)] = np.nan
    ids = 2 + 3 * np.arange(n)
    return Hyperstage(
        ids=ids,
        counts=counts.astype(np.int64),
        bases=random.uniform(0.1, 3, (2, n_labels)),
        multiplicities=multiplicities,
        start=ids,
        answers=ids[:, None],
        unit=0.5 if seed % 5 == 0 else 1.0,
        scores=scores,
    )


def in_order(situations: Hyperstage) -> list[int]:
    """Return the rows by their mean score, in fractions; ties by row."""
    labels = [i for i, score in enumerate(situations.scores) if score == score]

    def mean(row: int) -> Fraction:
        masses = {
            i: Fraction(float(situations.sizes[row, i]))
            + sum(
                int(m) * Fraction(float(base[i]))
                for m, base in zip(
                    situations.multiplicities[row], situations.bases, strict=True
                )
            )
            for i in labels
        }
        total = sum(mass * Fraction(float(situations.scores[i])) for i, mass in masses.items())
        return total / sum(masses.values())

    return sorted(range(len(situations.ids)), key=lambda row: (mean(row), row))


def score_of(plan: Plan):
    """Return the score of a stage in plain Python."""
    if plan.stage_mass is not None:
        return clustering_oracle.one_prior(plan.stage_mass)
    if plan.score == "log_marginal_likelihood":
        return clustering_oracle.log_marginal_likelihood
    return clustering_oracle.penalised(plan.scorer.penalty, plan.smoothing)


def every_cut(situations: Hyperstage, plan: Plan) -> dict[tuple[tuple[int, ...], ...], float]:
    """Return every staging into segments of the order, as rows of each, with its score."""
    order, n, score = in_order(situations), len(situations.ids), score_of(plan)
    sizes, prior = situations.sizes, situations.prior
    found = {}
    for k in range(1, n + 1):
        structure = -log(n * comb(n - 1, k - 1)) if plan.structure_prior == "size" else 0.0
        for cuts in combinations(range(1, n), k - 1):
            blocks = [tuple(sorted(order[a:b])) for a, b in pairwise((0, *cuts, n))]
            values = [
                score(
                    tuple(sizes[list(rows)].sum(axis=0)), tuple(prior[list(rows)].sum(axis=0))
                )
                for rows in blocks
            ]
            found[tuple(sorted(blocks))] = fsum(values) + structure
    return found


@pytest.mark.parametrize("seed", range(300))
def test_no_staging_into_segments_is_better(seed: int) -> None:
    situations, plan = random_hyperstage(seed), PLANS[seed % len(PLANS)]
    stagings = every_cut(situations, plan)
    best = max(stagings.values())
    stage = learn(situations, plan).stage
    rows = {}
    for row, name in enumerate(stage.tolist()):
        rows.setdefault(name, []).append(row)
    assert all(situations.ids[of_stage[0]] == name for name, of_stage in rows.items())
    found = tuple(sorted(map(tuple, rows.values())))
    assert stagings[found] == pytest.approx(best, abs=1e-8)
    fewest = min(len(blocks) for blocks, value in stagings.items() if value >= best - 1e-9)
    assert len(found) == fewest


def test_the_order_of_situations_is_that_of_their_mean_scores() -> None:
    for seed in range(300):
        situations = random_hyperstage(seed)
        assert order_by_mean(situations).tolist() == in_order(situations)
        scaled = replace(situations, scores=situations.scores * 1e-9 + 5)
        assert order_by_mean(scaled).tolist() == in_order(situations)


def test_means_that_are_equal_but_for_rounding_keep_the_order_of_ids() -> None:
    counts = np.array([[3, 3, 3], [1, 1, 1], [7, 7, 7]])
    ids = np.array([1, 2, 3])
    situations = Hyperstage(
        ids=ids,
        counts=counts,
        bases=np.full((1, 3), 0.1),
        multiplicities=np.ones((3, 1), dtype=np.int64),
        start=ids,
        answers=ids[:, None],
        scores=np.array([0.1, 0.2, 0.3]),
    )
    assert order_by_mean(situations).tolist() == [0, 1, 2]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_prior_of_segments_adds_up_to_one(n: int) -> None:
    prior = contiguous_prior(n, "size")[1:]
    probability = [comb(n - 1, k) * np.exp(one) for k, one in enumerate(prior)]
    assert probability == pytest.approx([1 / n] * n)


def test_many_situations_are_cut_where_their_shares_change() -> None:
    """Where numbers of stages are ruled out by bounds, others are as good as all of them."""
    random = np.random.default_rng(5)
    for size in (20, 60):
        share = np.repeat([0.2, 0.5, 0.7], size)
        counts = random.binomial(300, share)
        ids = np.arange(3 * size)
        situations = Hyperstage(
            ids=ids,
            counts=np.column_stack([300 - counts, counts]),
            bases=np.ones((1, 2)),
            multiplicities=np.ones((len(ids), 1), dtype=np.int64),
            start=ids,
            answers=ids[:, None],
            scores=np.array([0.0, 1.0]),
        )
        for plan in PLANS[:6]:
            structure = contiguous_prior(len(ids), plan.structure_prior)
            stage = best_contiguous(situations, plan.scorer, structure)
            order = order_by_mean(situations)
            values = total(situations, plan, stage[order], order, structure)
            # Neither another cut less, nor one elsewhere, nor one more is better.
            cuts = np.flatnonzero(np.diff(stage[order])) + 1
            for other in neighbours(cuts.tolist(), len(ids)):
                segment = np.searchsorted(other, np.arange(len(ids)), side="right")
                assert total(situations, plan, segment, order, structure) <= values + 1e-8


def neighbours(cuts: list[int], n: int):
    """Return cuts with one less, one more, or one moved."""
    for i, cut in enumerate(cuts):
        yield [*cuts[:i], *cuts[i + 1 :]]
        for moved in (cut - 1, cut + 1):
            if 0 < moved < n and moved not in cuts:
                yield sorted([*cuts[:i], moved, *cuts[i + 1 :]])
    for new in set(range(1, n)) - set(cuts):
        yield sorted([*cuts, new])


def total(situations, plan, segment, order, structure) -> float:
    """Return the score of segments of situations in an order, structure prior included."""
    names, member = np.unique(segment, return_inverse=True)
    terms = plan.scorer.terms(situations.sizes, situations.prior)[order]
    sums = np.zeros((len(names), terms.shape[1]))
    np.add.at(sums, member, terms)
    return float(plan.scorer.value(sums).sum() + structure[len(names)])
