"""Clustering of stages against a naive run, exact numbers, and invariances."""

from fractions import Fraction
from math import lgamma, log

import clustering_oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cegdb import clustering
from cegdb.clustering import (
    Marginal,
    Merge,
    Penalised,
    Plan,
    agglomerate,
    interleave,
    log_marginal_likelihood,
)
from cegdb.clustering.null_bootstrap import count_merged

# Dyadic and not, alike and skewed: sums of priors must not depend on the merge order.
BASES = {
    2: [(1, 1), (0.5, 0.5), (1 / 3, 1 / 3), (0.1, 0.7), (4, 4)],
    3: [(1, 1, 1), (0.1, 0.1, 0.1), (1 / 3, 2 / 3, 1), (0.25, 0.25, 0.5)],
    4: [(1, 1, 1, 1), (0.5, 0.5, 0.5, 0.5), (0.1, 0.2, 0.3, 0.4), (3, 1, 1, 3)],
}


class Hyperstage:
    """The arguments of `agglomerate`, and the same for the oracle."""

    def __init__(self, counts, bases, multiplicities, ids, unit=1.0):
        self.counts = np.array(counts, dtype=np.int64)
        self.bases = np.array(bases, dtype=np.float64)
        self.multiplicities = np.array(multiplicities, dtype=np.int64)
        self.ids = np.array(ids, dtype=np.int64)
        self.unit = unit

    def __repr__(self):
        arrays = (self.counts, self.bases, self.multiplicities, self.ids)
        return f"Hyperstage{(*(array.tolist() for array in arrays), self.unit)}"

    @property
    def prior(self):
        return self.multiplicities @ self.bases

    def agglomerate(self, **how):
        arrays = (self.counts, self.bases, self.multiplicities, self.ids)
        return agglomerate(*arrays, unit=self.unit, **how)

    def learn(self, plan, start=None):
        """Return the stages learnt, as lists of ids, by the interface of all methods."""
        order = np.argsort(self.ids)
        ids = self.ids[order]
        situations = clustering.Hyperstage(
            ids=ids,
            counts=self.counts[order],
            bases=self.bases,
            multiplicities=self.multiplicities[order],
            start=ids if start is None else np.array([start[i] for i in ids.tolist()]),
            answers=ids[:, None],
            unit=self.unit,
        )
        return dict(
            zip(ids.tolist(), clustering.learn(situations, plan).stage.tolist(), strict=True)
        )

    def as_dict(self):
        return {
            stage: (tuple(counts), tuple(prior))
            for stage, counts, prior in zip(
                self.ids.tolist(),
                (self.counts * self.unit).tolist(),
                self.prior.tolist(),
                strict=True,
            )
        }

    def reordered(self, order):
        counts, multiplicities = self.counts[order], self.multiplicities[order]
        return Hyperstage(counts, self.bases, multiplicities, self.ids[order], self.unit)


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


def assert_same_merges(merges, expected):
    assert [merge[:2] for merge in merges] == [merge[:2] for merge in expected]
    assert [merge[2] for merge in merges] == pytest.approx(
        [merge[2] for merge in expected], rel=1e-9, abs=1e-9
    )


@pytest.mark.parametrize("seed", range(7))
def test_merges_are_those_of_the_naive_run(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        hyperstage = random_hyperstage(rng)
        expected = clustering_oracle.agglomerate(hyperstage.as_dict())
        assert_same_merges(hyperstage.agglomerate(), expected)


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True)
@given(hyperstages())
def test_merges_of_tiny_counts_are_those_of_the_naive_run(hyperstage):
    expected = clustering_oracle.agglomerate(hyperstage.as_dict())
    assert_same_merges(hyperstage.agglomerate(), expected)


def weighted_hyperstage(rng):
    """Make one of effective counts: multiples of a small unit, of several orders."""
    hyperstage = random_hyperstage(rng)
    hyperstage.unit = 2.0 ** -int(rng.integers(1, 41))
    if rng.random() < 0.5:  # a few weights, so that ties are common
        sizes = rng.choice([0.0, 0.37, 1.0, 2.5], size=hyperstage.counts.shape)
    else:
        sizes = hyperstage.counts * rng.uniform(0.2, 3.0, size=hyperstage.counts.shape)
    hyperstage.counts = np.rint(sizes / hyperstage.unit).astype(np.int64)
    return hyperstage


def skewed_hyperstage(rng):
    """Make one whose situations each have a prior of their own, none symmetric."""
    n, k = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    counts = rng.poisson(rng.choice([0.5, 3.0, 40.0]), (n, k))
    bases = rng.choice([0.01, 0.3, 1.0, 2.7, 9.0], size=(n, k))
    return Hyperstage(counts, bases, np.eye(n), rng.permutation(3 * n)[:n])


@pytest.mark.parametrize("make", [weighted_hyperstage, skewed_hyperstage])
def test_merges_with_weights_or_own_priors_are_those_of_the_naive_run(make):
    rng = np.random.default_rng(17)
    for _ in range(150):
        hyperstage = make(rng)
        expected = clustering_oracle.agglomerate(hyperstage.as_dict())
        assert_same_merges(hyperstage.agglomerate(), expected)


def test_merges_of_empty_situations_are_those_of_the_naive_run():
    rng = np.random.default_rng(23)
    for _ in range(100):
        hyperstage = random_hyperstage(rng)
        hyperstage.counts[rng.random(len(hyperstage.ids)) < 0.5] = 0
        expected = clustering_oracle.agglomerate(hyperstage.as_dict())
        assert_same_merges(hyperstage.agglomerate(), expected)


SCORES = {
    "marginal": (None, clustering_oracle.log_marginal_likelihood),
    "one prior": (Marginal(0.8), clustering_oracle.one_prior(0.8)),
    "large prior": (Marginal(2e4), clustering_oracle.one_prior(2e4)),
    "bic": (Penalised(2.3), clustering_oracle.penalised(2.3)),
    "aic, smoothed": (Penalised(1.0, 1.0), clustering_oracle.penalised(1.0, 1.0)),
}


@pytest.mark.parametrize("score", SCORES)
def test_merges_by_the_rule_of_bhc_are_those_of_the_naive_run(score):
    """Also while nothing is lost; of ties the largest (larger id, smaller id)."""
    ours, naive = SCORES[score]
    rng = np.random.default_rng(29)
    how = {"least": -1e-9, "last_wins": True}
    for _ in range(100):
        hyperstage = random_hyperstage(rng)
        expected = clustering_oracle.agglomerate(hyperstage.as_dict(), score=naive, **how)
        assert_same_merges(hyperstage.agglomerate(score=ours, **how), expected)


def test_bhc_takes_the_last_of_ties_and_merges_for_nothing():
    twins = Hyperstage([[1, 0]] * 4 + [[0, 1]] * 2, [[1, 1]], [[1]] * 6, [9, 7, 5, 3, 8, 1])
    how = {"score": Penalised(0.0), "least": -1e-9, "last_wins": True}
    # Each pair of equals gains 0; of the first ones (9, 7) is after (9, 5), ... and (8, 1).
    merges = [merge[:2] for merge in twins.agglomerate(**how)]
    assert merges == [(7, 9), (1, 8), (5, 7), (3, 5)]


def stages_after(merges, ids):
    stage = {int(i): int(i) for i in ids}
    for kept, absorbed, *_ in merges:
        stage = {i: kept if name == absorbed else name for i, name in stage.items()}
    return stage


def blocks(stage):
    return {frozenset(i for i in stage if stage[i] == name) for name in stage.values()}


@pytest.mark.parametrize("score", ["log_marginal_likelihood", "bic"])
def test_structure_prior_by_size_takes_the_best_of_all_cuts(score):
    plan = Plan(score=score, structure_prior="size", n_rows=100.0)
    naive = clustering_oracle.log_marginal_likelihood
    if score == "bic":
        naive = clustering_oracle.penalised(log(100.0) / 2)
    rng = np.random.default_rng(31)
    for make in [random_hyperstage, weighted_hyperstage, skewed_hyperstage] * 50:
        hyperstage = make(rng)
        n = len(hyperstage.ids)
        if n < 2:
            continue
        expected = clustering_oracle.best_cut(
            hyperstage.as_dict(),
            lambda m, n=n: -log(n * clustering_oracle.n_partitions(n, m)),
            naive,
        )
        assert blocks(hyperstage.learn(plan)) == blocks(stages_after(expected, hyperstage.ids))


@pytest.mark.parametrize("method", ["ahc", "bhc"])
def test_learning_from_given_stages_merges_them_as_the_naive_run(method):
    rng = np.random.default_rng(37)
    for _ in range(60):
        hyperstage = random_hyperstage(rng)
        start = {}
        for i in sorted(hyperstage.ids.tolist()):
            start[i] = int(rng.choice([*set(start.values()), i]))
        pooled = {}
        for i, stage in hyperstage.as_dict().items():
            name = start[i]
            pooled[name] = (
                clustering_oracle.merged(pooled[name], stage) if name in pooled else stage
            )
        is_bhc = method == "bhc"
        how = {"least": -1e-9, "last_wins": True} if is_bhc else {}
        expected = stages_after(clustering_oracle.agglomerate(pooled, **how), hyperstage.ids)
        learnt = hyperstage.learn(Plan(method=method), start)
        assert learnt == {i: expected[start[i]] for i in learnt}


@pytest.mark.parametrize(
    ("method", "score", "structure_prior"),
    [
        ("ahc", "log_marginal_likelihood", "flat"),
        ("ahc", "log_marginal_likelihood", "size"),
        ("ahc", "one prior", "flat"),
        ("ahc", "one prior", "size"),
        ("ahc", "bic", "flat"),
        ("ahc", "bic", "size"),
        ("bhc", "aic", "flat"),
    ],
)
def test_merging_many_replicates_at_once_leaves_as_many_stages(method, score, structure_prior):
    """Of counts large enough to have no ties."""
    if score == "one prior":
        plan = Plan(method=method, stage_mass=1.5, structure_prior=structure_prior)
    else:
        plan = Plan(method=method, score=score, structure_prior=structure_prior, n_rows=5e3)
    rng = np.random.default_rng(41)
    for n in (2, 3, 8, 25):
        k = int(rng.integers(2, 5))
        prior = rng.choice([0.1, 0.4, 1.0, 3.0], size=(n, k))
        shares = rng.dirichlet(np.full(k, 60.0), n)
        counts = np.array(
            [[rng.multinomial(300 + 37 * i, shares[i]) for i in range(n)] for _ in range(12)]
        )
        n_stages = count_merged(counts, prior, plan).tolist()
        each = [Hyperstage(run, prior, np.eye(n), np.arange(n)).learn(plan) for run in counts]
        assert n_stages == [len(set(stage.values())) for stage in each]
        assert n < 25 or len(set(n_stages)) > 1


@pytest.mark.parametrize(("k", "mean", "base"), [(2, 2, 1), (2, 40, 0.5), (3, 1, 1 / 3)])
def test_many_stages_of_equal_content_merge_as_in_the_naive_run(k, mean, base):
    rng = np.random.default_rng(k)
    hyperstage = uniform(rng.poisson(mean, (45, k)), base).reordered(rng.permutation(45))
    expected = clustering_oracle.agglomerate(hyperstage.as_dict())
    assert_same_merges(hyperstage.agglomerate(), expected)


def test_content_that_went_and_comes_back_merges_as_in_the_naive_run():
    hyperstage = Hyperstage(
        [[1, 1], [2, 2], [1, 0], [1, 1], [0, 0], [2, 2], [2, 1], [0, 1], [0, 0]],
        [[0.5, 0.5]],
        [[1], [2], [1], [1], [2], [1], [2], [2], [1]],
        range(9),
    )
    expected = clustering_oracle.agglomerate(hyperstage.as_dict())
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
        clustering_oracle.log_marginal_likelihood(tuple(n), tuple(a))
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
    assert_same_merges(
        hyperstage.agglomerate(), clustering_oracle.agglomerate(hyperstage.as_dict())
    )


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.5, 3, 50])
def test_gains_add_up_and_no_gain_is_left(mean):
    # More stages than the naive run has time for.
    hyperstage = uniform(np.random.default_rng(5).poisson(mean, (1500, 2)))
    merges = hyperstage.agglomerate()
    stages = hyperstage.as_dict()
    before = sum(clustering_oracle.log_marginal_likelihood(*stage) for stage in stages.values())
    for kept, absorbed, gain in merges:
        assert kept < absorbed
        assert gain > 1e-9
        stages[kept] = clustering_oracle.merged(stages[kept], stages.pop(absorbed))
    after = sum(clustering_oracle.log_marginal_likelihood(*stage) for stage in stages.values())
    assert after - before == pytest.approx(sum(merge[2] for merge in merges), rel=1e-9)
    assert not clustering_oracle.agglomerate(stages)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_interleaved_runs_are_one_global_run(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        ids = np.array_split(rng.permutation(24), rng.integers(2, 5))
        together = [random_hyperstage(rng, ids=part) for part in ids]
        expected = clustering_oracle.agglomerate(*(each.as_dict() for each in together))
        merges = interleave([each.agglomerate() for each in together])
        assert_same_merges(merges, expected)


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
