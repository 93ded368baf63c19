"""Clustering of stages against a naive run, exact numbers, and invariances."""

from fractions import Fraction
from math import lgamma, log

import ahc_oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cegdb.ahc import Merge, agglomerate, interleave, log_marginal_likelihood

# Dyadic and not, alike and skewed: sums of priors must not depend on the merge order.
BASES = {
    2: [(1, 1), (0.5, 0.5), (1 / 3, 1 / 3), (0.1, 0.7), (4, 4)],
    3: [(1, 1, 1), (0.1, 0.1, 0.1), (1 / 3, 2 / 3, 1), (0.25, 0.25, 0.5)],
    4: [(1, 1, 1, 1), (0.5, 0.5, 0.5, 0.5), (0.1, 0.2, 0.3, 0.4), (3, 1, 1, 3)],
}


class Hyperstage:
    """The arguments of `agglomerate`, and the same for the oracle."""

    def __init__(self, counts, bases, multiplicities, ids):
        self.counts = np.array(counts, dtype=np.int64)
        self.bases = np.array(bases, dtype=np.float64)
        self.multiplicities = np.array(multiplicities, dtype=np.int64)
        self.ids = np.array(ids, dtype=np.int64)

    def __repr__(self):
        arrays = (self.counts, self.bases, self.multiplicities, self.ids)
        return f"Hyperstage{tuple(array.tolist() for array in arrays)}"

    @property
    def prior(self):
        return self.multiplicities @ self.bases

    def agglomerate(self):
        return agglomerate(self.counts, self.bases, self.multiplicities, self.ids)

    def as_dict(self):
        return {
            stage: (tuple(counts), tuple(prior))
            for stage, counts, prior in zip(
                self.ids.tolist(),
                self.counts.tolist(),
                self.prior.tolist(),
                strict=True,
            )
        }

    def reordered(self, order):
        return Hyperstage(
            self.counts[order], self.bases, self.multiplicities[order], self.ids[order]
        )


def uniform(counts, base=1.0):
    n, k = np.shape(counts)
    return Hyperstage(counts, [[base] * k], np.ones((n, 1)), np.arange(n))


def random_hyperstage(rng, *, ids=None, max_rows=9):
    k = int(rng.integers(2, 5))
    n = len(ids) if ids is not None else int(rng.integers(0, max_rows + 1))
    n_bases = int(rng.integers(1, 4))
    top = int(rng.choice([1, 2, 4, 20]))
    multiplicities = np.eye(n_bases)[rng.integers(n_bases, size=n)]
    if rng.random() < 0.2:
        multiplicities = rng.integers(1, 3, size=(n, n_bases))
    return Hyperstage(
        rng.integers(0, top + 1, size=(n, k)),
        rng.permutation(BASES[k])[:n_bases],
        multiplicities,
        rng.permutation(3 * n)[:n] if ids is None else ids,
    )


@st.composite
def hyperstages(draw):
    k = draw(st.integers(2, 4))
    bases = draw(st.lists(st.sampled_from(BASES[k]), min_size=1, max_size=3, unique=True))
    rows = st.tuples(
        st.lists(st.integers(0, 3), min_size=k, max_size=k),
        st.integers(0, len(bases) - 1),
    )
    chosen = draw(st.lists(rows, max_size=8))
    ids = draw(st.permutations(range(len(chosen))))
    return Hyperstage(
        np.reshape([counts for counts, _ in chosen], (len(chosen), k)),
        bases,
        np.eye(len(bases))[[base for _, base in chosen]],
        ids,
    )


def assert_same_merges(found, expected):
    assert [merge[:2] for merge in found] == [merge[:2] for merge in expected]
    assert [merge[2] for merge in found] == pytest.approx(
        [merge[2] for merge in expected], rel=1e-9, abs=1e-9
    )


@pytest.mark.parametrize("seed", range(7))
def test_merges_are_those_of_the_naive_run(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        hyperstage = random_hyperstage(rng)
        expected = ahc_oracle.agglomerate(hyperstage.as_dict())
        assert_same_merges(hyperstage.agglomerate(), expected)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(hyperstages())
def test_merges_of_tiny_counts_are_those_of_the_naive_run(hyperstage):
    expected = ahc_oracle.agglomerate(hyperstage.as_dict())
    assert_same_merges(hyperstage.agglomerate(), expected)


@pytest.mark.parametrize(("k", "mean", "base"), [(2, 2, 1), (2, 40, 0.5), (3, 1, 1 / 3)])
def test_many_stages_of_equal_content_merge_as_in_the_naive_run(k, mean, base):
    rng = np.random.default_rng(k)
    hyperstage = uniform(rng.poisson(mean, (45, k)), base).reordered(rng.permutation(45))
    expected = ahc_oracle.agglomerate(hyperstage.as_dict())
    assert_same_merges(hyperstage.agglomerate(), expected)


def test_content_that_went_and_comes_back_merges_as_in_the_naive_run():
    hyperstage = Hyperstage(
        [[1, 1], [2, 2], [1, 0], [1, 1], [0, 0], [2, 2], [2, 1], [0, 1], [0, 0]],
        [[0.5, 0.5]],
        [[1], [2], [1], [1], [2], [1], [2], [2], [1]],
        range(9),
    )
    expected = ahc_oracle.agglomerate(hyperstage.as_dict())
    assert_same_merges(hyperstage.agglomerate(), expected)


def test_scores_of_worked_example_6_1():
    scores = log_marginal_likelihood(np.array([[3, 1]]), np.array([[1.0, 1.0]]))
    assert scores.tolist() == pytest.approx([log(1 / 20)], abs=1e-14)


@pytest.mark.parametrize(
    ("one", "other", "bayes_factor"),
    [
        ((3, 1), (2, 2), 120 / 77),
        ((3, 1), (0, 5), 2 / 11),
        ((0, 0), (3, 1), 8 / 7),
        ((0, 0), (5, 0), 9 / 14),
        ((0, 0), (2, 2), 9 / 7),
        ((1, 0), (1, 0), 6 / 5),
    ],
)
def test_bayes_factors_of_worked_example_6_1(one, other, bayes_factor):
    counts = np.array([one, other, np.add(one, other)])
    prior = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]])
    first, second, both = log_marginal_likelihood(counts, prior)
    assert both - first - second == pytest.approx(log(bayes_factor), abs=1e-13)

    merges = uniform([one, other]).agglomerate()
    assert merges == (
        [Merge(0, 1, pytest.approx(log(bayes_factor), abs=1e-13))] if bayes_factor > 1 else []
    )


def test_scores_are_those_of_the_formula():
    rng = np.random.default_rng(3)
    counts = rng.poisson(20, (50, 4))
    prior = rng.uniform(0.01, 5, (50, 4))
    expected = [
        ahc_oracle.log_marginal_likelihood(tuple(n), tuple(a))
        for n, a in zip(counts.tolist(), prior.tolist(), strict=True)
    ]
    scores = log_marginal_likelihood(counts, prior)
    assert scores.shape == (50,)
    assert scores.tolist() == pytest.approx(expected, rel=1e-12)


def test_no_counts_or_one_label_score_exactly_zero():
    prior = np.array([[0.1, 0.7, 1e-5], [1e6, 1 / 3, 2.0]])
    assert log_marginal_likelihood(np.zeros((2, 3), dtype=np.int64), prior).tolist() == [
        0.0,
        0.0,
    ]
    single = log_marginal_likelihood(np.array([[7], [10**9]]), np.array([[0.3], [5.0]]))
    assert single.tolist() == [0.0, 0.0]
    assert log_marginal_likelihood(np.zeros((0, 2), dtype=np.int64), np.ones((0, 2))).shape == (
        0,
    )


@pytest.mark.parametrize(
    "counts",
    [
        np.zeros((0, 2)),
        [[3, 1]],
        [[3, 1], [0, 5]],
        np.zeros((5, 3)),
        [[4], [4], [9]],
        [[30, 0, 0], [0, 30, 0], [0, 0, 30]],
    ],
    ids=["no rows", "one row", "apart", "no counts", "one label", "three apart"],
)
def test_nothing_to_merge_gives_no_merges(counts):
    assert uniform(counts).agglomerate() == []


def test_ties_go_to_the_smallest_ids():
    twins = uniform([[1, 0]] * 4 + [[0, 1]] * 2)
    hyperstage = Hyperstage(twins.counts, twins.bases, twins.multiplicities, [9, 7, 5, 3, 8, 1])
    # Each pair of equals gains 6/5; (1, 8) is before (3, 5).
    merges = [merge[:2] for merge in hyperstage.agglomerate()]
    assert merges[0] == (1, 8)
    assert_same_merges(hyperstage.agglomerate(), ahc_oracle.agglomerate(hyperstage.as_dict()))


def test_order_of_rows_and_of_labels_changes_nothing():
    rng = np.random.default_rng(11)
    for _ in range(40):
        hyperstage = random_hyperstage(rng, max_rows=30)
        merges = hyperstage.agglomerate()
        order = rng.permutation(len(hyperstage.ids))
        # To the bit.
        assert hyperstage.reordered(order).agglomerate() == merges
        labels = rng.permutation(hyperstage.bases.shape[1])
        relabelled = Hyperstage(
            hyperstage.counts[:, labels],
            hyperstage.bases[:, labels],
            hyperstage.multiplicities,
            hyperstage.ids,
        )
        assert_same_merges(relabelled.agglomerate(), merges)


@pytest.mark.parametrize("mean", [0.5, 3, 50])
def test_gains_add_up_and_no_gain_is_left(mean):
    # More stages than the naive run has time for.
    hyperstage = uniform(np.random.default_rng(5).poisson(mean, (1500, 2)))
    merges = hyperstage.agglomerate()
    stages = hyperstage.as_dict()
    before = sum(ahc_oracle.log_marginal_likelihood(*stage) for stage in stages.values())
    for kept, absorbed, gain in merges:
        assert kept < absorbed
        assert gain > 1e-9
        stages[kept] = ahc_oracle.merged(stages[kept], stages.pop(absorbed))
    after = sum(ahc_oracle.log_marginal_likelihood(*stage) for stage in stages.values())
    assert after - before == pytest.approx(sum(merge[2] for merge in merges), rel=1e-9)
    assert not ahc_oracle.agglomerate(stages)


@pytest.mark.parametrize("seed", range(4))
def test_interleaved_runs_are_one_global_run(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        ids = np.array_split(rng.permutation(24), rng.integers(2, 5))
        together = [random_hyperstage(rng, ids=part) for part in ids]
        expected = ahc_oracle.agglomerate(*(each.as_dict() for each in together))
        found = interleave([each.agglomerate() for each in together])
        assert_same_merges(found, expected)


def test_interleave_takes_the_smallest_ids_of_a_tie_and_keeps_runs_in_order():
    runs = [
        [Merge(4, 5, 1.0), Merge(4, 6, 3.0)],
        [],
        [Merge(2, 9, 1.0 - 5e-10), Merge(1, 2, 1.0 + 5e-10)],
        [Merge(7, 8, 0.5)],
    ]
    assert [merge[:2] for merge in interleave(runs)] == [
        (2, 9),
        (1, 2),
        (4, 5),
        (4, 6),
        (7, 8),
    ]
    assert interleave([]) == []


@pytest.mark.parametrize("base", [1e-300, 1e-12, 1e-3, 1e3, 1e9])
def test_extreme_priors_give_finite_scores(base):
    counts = np.random.default_rng(1).poisson(5, (30, 3))
    assert np.isfinite(log_marginal_likelihood(counts, np.full((30, 3), base))).all()
    gains = [merge.log_bayes_factor for merge in uniform(counts, base).agglomerate()]
    assert np.isfinite(gains).all()


def test_large_counts_are_scored_without_overflow():
    score = log_marginal_likelihood(np.array([[10**9, 1]]), np.array([[1.0, 1.0]]))
    n = 10**9
    # lgamma of 1e9 is about 2e10, so about 1e-5 is left of its 16 digits.
    assert score[0] == pytest.approx(lgamma(n + 1) - lgamma(n + 3), abs=1e-4)
    merges = uniform([[10**9, 10**9], [10**9, 10**9], [10**9, 1]]).agglomerate()
    assert [merge[:2] for merge in merges] == [(0, 1)]


@pytest.mark.parametrize("alpha", [999.0, 1001.0, 1e4, 1e6, 1e9, 1e12, 1e15, 1e100, 1e300])
def test_a_large_prior_loses_no_digits(alpha: float) -> None:
    counts = np.array([[3, 1, 0], [40, 2, 8], [0, 0, 0]])
    prior = np.array([[0.5, 0.25, 0.25]]).repeat(3, axis=0) * alpha
    exact = []
    for row, of_row in zip(counts.tolist(), prior.tolist(), strict=True):
        value, mass, total = Fraction(1), sum(map(Fraction, of_row)), 0
        for n, a in zip(row, of_row, strict=True):
            for i in range(n):
                value *= (Fraction(a) + i) / (mass + total)
                total += 1
        exact.append(log(value.numerator) - log(value.denominator))
    assert log_marginal_likelihood(counts, prior).tolist() == pytest.approx(exact, abs=1e-11)


@pytest.mark.parametrize("alpha", [1e9, 1e12, 1e15, 1e200])
def test_a_large_prior_makes_no_merges_out_of_noise(alpha: float) -> None:
    """Two situations of one and one: the exact gain is about 1 / alpha."""
    merges = agglomerate(
        counts=np.array([[1, 1], [1, 1]]),
        bases=np.array([[alpha / 4, alpha / 4]]),
        multiplicities=np.array([[1], [1]]),
        ids=np.array([1, 2]),
    )
    gain = 2 / alpha
    assert [merge.log_bayes_factor for merge in merges] == pytest.approx(
        [gain] if gain > 1e-9 else [], rel=1e-3
    )
