"""Methods of learning: plain loops, all set partitions, and what stagedtrees found."""

from dataclasses import replace
from itertools import combinations
from math import inf, log

import numpy as np
import pytest
from datasets import peer
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from cegdb.clustering import Hyperstage, Marginal, Penalised
from cegdb.clustering.backward import bj, csbhc, fbhc, share_distances
from cegdb.clustering.hill_climbing import climb
from cegdb.clustering.segmentation import optimum
from cegdb.clustering.share_clustering import hclust, kmeans
from cegdb.clustering.stage_sums import shares_of, start_stages, sum_by, tie_tolerance
from cegdb.clustering.structure_prior import log_partitions, structure_prior

NAMES = (
    "Asym",
    "PhDArticles",
    "Pokemon",
    "Titanic",
    "artificial_chds",
    "covid_patients",
    "falls",
    "trajectories",
)
SCORES = (Marginal(), Penalised(2.0), Penalised(1.0, smoothing=1.0), Penalised(0.0))
DISTANCES = (
    "manhattan",
    "euclidean",
    "reny",
    "kullback",
    "totvar",
    "hellinger",
    "bhatt",
    "chandarw",
)


def hyperstage_of(counts, start=None, answers=None):
    """Make a hyperstage with priors (1, ..., 1) and ids from 3 in steps of 2."""
    counts = np.asarray(counts, dtype=np.int64)
    ids = 3 + 2 * np.arange(len(counts))
    return Hyperstage(
        ids=ids,
        counts=counts,
        bases=np.ones((1, counts.shape[1])),
        multiplicities=np.ones((len(counts), 1), dtype=np.int64),
        start=ids if start is None else ids[np.asarray(start)],
        answers=np.arange(len(counts))[:, None] if answers is None else np.asarray(answers),
    )


AIC = Penalised(1.0)


@pytest.mark.parametrize(
    "learn",
    [
        lambda three: fbhc(three, AIC),
        lambda three: bj(three, "kullback", threshold=0.1, smoothing=0.0),
        lambda three: optimum(three, AIC, np.zeros(4)),
        lambda three: hclust(three, AIC, "totvar", "complete", None, smoothing=0.0),
        lambda three: kmeans(three, AIC, None, seed=1, smoothing=0.0),
        lambda three: climb(replace(three, start=three.ids[[0, 0, 2]]), AIC, np.zeros(4)),
    ],
)
def test_two_situations_almost_alike_share_a_stage_and_one_apart_does_not(learn):
    three = hyperstage_of([[9, 1], [1, 9], [8, 2]])
    assert learn(three).tolist() == [3, 5, 3]


def test_csbhc_merges_where_an_answer_does_not_matter():
    answers = [[0, 0], [0, 1], [1, 0], [1, 1]]
    four = hyperstage_of([[9, 1], [8, 2], [20, 10], [1, 29]], answers=answers)
    assert csbhc(four, AIC).tolist() == [3, 3, 7, 9]


def test_the_sums_that_all_methods_share():
    three = hyperstage_of([[9, 1], [1, 9], [8, 2]], start=[0, 1, 0])
    assert start_stages(three, AIC).terms.tolist() == [[17, 3], [1, 9]]
    assert sum_by(np.array([1, 0, 1]), np.array([[1.0], [2.0], [4.0]]), 2).tolist() == [
        [2],
        [5],
    ]
    shares = shares_of(np.array([[3.0, 1.0], [0.0, 0.0]]), smoothing=0.0)
    assert shares.tolist() == [[0.75, 0.25], [0.5, 0.5]]
    assert (tie_tolerance(-20.5), tie_tolerance(-1e6)) == (1e-9, 1e-6)
    distances = share_distances(
        np.array([0.5, 0.5]), np.array([[0.5, 0.5], [1, 0]]), "kullback"
    )
    assert distances.tolist() == [0, inf]


def test_scores_and_structure_priors_by_hand():
    pair = Marginal().terms(np.array([[3, 1], [2, 2]]), np.ones((2, 2)))
    assert np.exp(Marginal().value(pair)) == pytest.approx([1 / 20, 1 / 30])
    assert np.exp(Marginal().value(pair.sum(axis=0))) == pytest.approx(2 / 770)
    fitted = AIC.value(AIC.terms(np.array([[3, 1]]), np.ones((1, 2))))
    assert fitted == pytest.approx([3 * log(3 / 4) + log(1 / 4) - 1])
    assert np.exp(log_partitions(4)) == pytest.approx([0, 1, 7, 6, 1])
    assert np.exp(structure_prior(3, "size"))[1:] == pytest.approx([1 / 3, 1 / 9, 1 / 3])


def random_hyperstage(seed, n_labels=None, size=None, *, full=False):
    """Make a hyperstage over binary answers; counts are small, so that ties are common."""
    rng = np.random.default_rng(seed)
    n_labels = n_labels or int(rng.integers(2, 4))
    size = size or int(rng.integers(1, 13))
    counts = rng.poisson(rng.choice([1.0, 4.0, 30.0], (size, n_labels)))
    counts[counts.sum(axis=1) == 0, 0] = 1
    start = np.arange(size)
    if not full:
        _, first, member = np.unique(
            rng.integers(0, size, size), return_index=True, return_inverse=True
        )
        start = first[member]
    cells = np.sort(rng.choice(16, size, replace=False)) if size <= 16 else np.arange(size)
    answers = (cells[:, None] >> np.arange(3, -1, -1)) & 1
    return hyperstage_of(counts, start, answers)


def rows_of(stage):
    """Return lists of rows, one a stage, in order of their smallest."""
    return [np.flatnonzero(stage == name) for name in dict.fromkeys(stage.tolist())]


def score_of(hyperstage, score, stage):
    terms = score.terms(hyperstage.sizes, hyperstage.prior)
    sums = np.array([terms[rows].sum(axis=0) for rows in rows_of(stage)])
    return float(score.value(sums).sum())


def named(hyperstage, blocks):
    """Return the staging with these blocks of rows."""
    stage = np.empty(len(hyperstage.ids), dtype=np.int64)
    for rows in blocks:
        stage[rows] = hyperstage.ids[min(rows)]
    return stage


def start_blocks(hyperstage):
    return [rows.tolist() for rows in rows_of(hyperstage.start)]


def partition(labels):
    blocks = {}
    for row, label in enumerate(labels):
        blocks.setdefault(label, []).append(row)
    return sorted(map(tuple, blocks.values()))


# Plain loops.


def plain_fbhc(hyperstage, score):
    terms = score.terms(hyperstage.sizes, hyperstage.prior)

    def value(rows):
        return float(score.value(terms[rows].sum(axis=0, keepdims=True))[0])

    blocks = sorted(start_blocks(hyperstage), key=min)

    def first_pair():
        for i in range(1, len(blocks)):
            for j in range(i):
                gain = value(blocks[i] + blocks[j]) - value(blocks[i]) - value(blocks[j])
                if gain >= -1e-9:
                    return i, j
        return None

    while pair := first_pair():
        absorbed = blocks.pop(pair[0])
        blocks[pair[1]] += absorbed
    return named(hyperstage, blocks)


def plain_csbhc(hyperstage, score):
    answers = hyperstage.answers
    n_variables = answers.shape[1]
    stage = hyperstage.start.copy()
    contexts = []
    for j in reversed(range(n_variables)):
        others = [*range(j + 1, n_variables), *range(j)]
        groups = {}
        for row, path in enumerate(answers.tolist()):
            groups.setdefault(tuple(path[o] for o in others), []).append(row)
        contexts += [groups[key] for key in sorted(groups)]
    while True:
        now = score_of(hyperstage, score, stage)
        best, taken = now + 1e-9, None
        for rows in contexts:
            tried = stage.copy()
            joined = np.isin(stage, stage[rows])
            tried[joined] = stage[joined].min()
            value = score_of(hyperstage, score, tried)
            if value > best:
                best, taken = value + 1e-9, tried
        if taken is None:
            return stage
        stage = taken


def plain_distance(x, y, distance):
    """Return the distance of two rows of shares, or infinity."""
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if a or b]
    if distance in {"manhattan", "totvar"}:
        return sum(abs(a - b) for a, b in pairs)
    if distance == "euclidean":
        return sum((a - b) ** 2 for a, b in pairs) ** 0.5
    if distance == "hellinger":
        return sum((a**0.5 - b**0.5) ** 2 for a, b in pairs)
    if distance == "bhatt":
        overlap = sum((a * b) ** 0.5 for a, b in pairs)
        return max(-log(overlap), 0.0) if overlap else inf
    if any(a == 0 or b == 0 for a, b in pairs):
        return inf
    if distance == "kullback":
        return sum(a * log(a / b) + b * log(b / a) for a, b in pairs)
    if distance == "reny":
        return log(sum(a * a / b for a, b in pairs)) + log(sum(b * b / a for a, b in pairs))
    return log(max(a / b for a, b in pairs)) - log(min(a / b for a, b in pairs))


def plain_bj(hyperstage, distance, threshold, smoothing):
    blocks = sorted(start_blocks(hyperstage), key=min)

    def shares(rows):
        counts = hyperstage.sizes[rows].sum(axis=0) + smoothing
        return (counts / counts.sum()).tolist()

    while len(blocks) > 1:
        apart = {
            (i, j): plain_distance(shares(blocks[i]), shares(blocks[j]), distance)
            for i, j in combinations(range(len(blocks)), 2)
        }
        nearest = min(apart.values())
        if not nearest < threshold:
            break
        i, j = min(pair for pair in apart if apart[pair] <= nearest * (1 + 1e-9) + 1e-14)
        absorbed = blocks.pop(j)
        blocks[i] += absorbed
    return named(hyperstage, blocks)


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_fbhc_equals_the_plain_loop(score):
    for seed in range(120):
        hyperstage = random_hyperstage(seed)
        assert fbhc(hyperstage, score).tolist() == plain_fbhc(hyperstage, score).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_csbhc_equals_the_plain_loop(score):
    for seed in range(60):
        hyperstage = random_hyperstage(seed)
        assert csbhc(hyperstage, score).tolist() == plain_csbhc(hyperstage, score).tolist()


@pytest.mark.parametrize("distance", DISTANCES)
def test_bj_equals_the_plain_loop(distance):
    for seed in range(60):
        hyperstage = random_hyperstage(seed)
        smoothing = (0.0, 0.5)[seed % 2]
        threshold = (0.05, 0.3)[seed // 2 % 2]
        stage = bj(hyperstage, distance, threshold, smoothing)
        expected = plain_bj(hyperstage, distance, threshold, smoothing)
        assert stage.tolist() == expected.tolist()


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_distances_equal_the_plain_ones(data):
    counts = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)
    rows = np.array(data.draw(st.lists(counts, min_size=2, max_size=4)), dtype=float)
    shares = rows / rows.sum(axis=1, keepdims=True)
    for distance in DISTANCES:
        distances = share_distances(shares[0], shares, distance)
        expected = [plain_distance(shares[0], other, distance) for other in shares.tolist()]
        assert distances == pytest.approx(expected, abs=1e-12)


def test_an_unknown_distance_is_refused():
    with pytest.raises(ValueError, match=r"distance 'cosine' is none of \('kullback'"):
        bj(hyperstage_of([[1, 2], [2, 1]]), "cosine", 0.1, 0.0)
    with pytest.raises(ValueError, match=r"distance 'cosine' is none of \('totvar'"):
        hclust(hyperstage_of([[1, 2], [2, 1]]), Marginal(), "cosine", "complete", 1, 0.0)


@pytest.mark.slow
def test_fbhc_joins_stages_with_more_prior_than_a_thousand():
    hyperstage = hyperstage_of(np.tile([30, 70], (1500, 1)))
    assert np.unique(fbhc(hyperstage, Marginal())).tolist() == [3]


# The exact optimum.


def set_partitions(size):
    """Return all set partitions of some rows, each a list of bit masks."""
    partitions = [[]]
    for row in range(size):
        bit = 1 << row
        partitions = [
            grown
            for blocks in partitions
            for grown in (
                *(
                    [*blocks[:i], block | bit, *blocks[i + 1 :]]
                    for i, block in enumerate(blocks)
                ),
                [*blocks, bit],
            )
        ]
    return partitions


@pytest.fixture(scope="module")
def partitions():
    """Give, by size, the matrix of partitions x subsets, and their numbers of blocks."""
    matrices = {}
    for size in range(1, 9):
        found = set_partitions(size)
        matrix = np.zeros((len(found), 1 << size), dtype=np.float32)
        for row, blocks in enumerate(found):
            matrix[row, blocks] = 1
        matrices[size] = matrix.astype(np.float64), matrix.sum(axis=1).astype(np.int64)
    return matrices


def all_scores(hyperstage, score, structure, partitions):
    """Return the score and the number of stages of each set partition."""
    size = len(hyperstage.ids)
    matrix, n_blocks = partitions[size]
    subsets = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1
    value = score.value(subsets @ score.terms(hyperstage.sizes, hyperstage.prior))
    value[0] = 0.0
    return matrix @ value + structure[n_blocks], n_blocks


def binary_case(seed):
    """Return up to 8 binary rows, with zeros, multiples of other rows and repeated rows."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    counts = rng.poisson(rng.choice([0.7, 3.0, 20.0, 200.0], (size, 2)))
    again = rng.random(size) < 0.3
    counts[again] = counts[rng.integers(0, size, size)][again] * rng.integers(1, 3)
    counts[counts.sum(axis=1) == 0, int(rng.integers(2))] = 1
    hyperstage = hyperstage_of(counts)
    bic = log(counts.sum() + 1) / 2
    return hyperstage, Penalised((bic, 1.0)[seed % 2]), rng


@pytest.mark.slow
def test_the_optimum_equals_that_over_all_set_partitions(partitions):
    for seed in range(1000):
        hyperstage, score, _ = binary_case(seed)
        flat = np.zeros(len(hyperstage.ids) + 1)
        stage = optimum(hyperstage, score, flat)
        scores, n_blocks = all_scores(hyperstage, score, flat, partitions)
        best = scores.max()
        assert score_of(hyperstage, score, stage) == pytest.approx(best, abs=1e-8)
        assert len(np.unique(stage)) == n_blocks[scores >= best - 1e-9].min()


@pytest.mark.slow
def test_the_optimum_under_a_structure_prior_equals_that_over_all(partitions):
    for seed in range(300):
        hyperstage, score, rng = binary_case(seed)
        size = len(hyperstage.ids)
        structure = rng.normal(0, (0.3, 3.0, 30.0)[seed % 3], size + 1)
        structure -= logsumexp(structure)
        stage = optimum(hyperstage, score, structure)
        scores, _ = all_scores(hyperstage, score, structure, partitions)
        value = score_of(hyperstage, score, stage) + structure[len(np.unique(stage))]
        assert value == pytest.approx(scores.max(), abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_the_same_with_the_number_of_stages_as_state(seed):
    rng = np.random.default_rng(seed)
    size = 300
    total = rng.integers(5, 400, size)
    share = rng.choice([0.2, 0.3, 0.5, 0.8], size) if seed % 2 else rng.random(size)
    first = rng.binomial(total, share)
    hyperstage = hyperstage_of(np.column_stack((first, total - first)))
    score = Penalised(log(total.sum()) / 2)
    slope = -0.7 * np.arange(size + 1)
    with_slope = optimum(hyperstage, score, slope)
    dearer = Penalised(score.penalty + 0.7)
    flat = optimum(hyperstage, dearer, np.zeros(size + 1))
    assert score_of(hyperstage, dearer, with_slope) == pytest.approx(
        score_of(hyperstage, dearer, flat), abs=1e-7
    )


def test_shares_that_no_double_tells_apart_are_in_order():
    large = 3**37
    counts = [[large, large + 1], [large + 1, large + 2], [2 * large, 2 * large + 2], [1, 9]]
    stage = optimum(hyperstage_of(counts), Penalised(0.0), np.zeros(5))
    assert stage[0] == stage[2]


@pytest.mark.parametrize(
    ("counts", "score", "message"),
    [
        ([[1, 2, 3]], Penalised(1.0), r"needs 2 labels, got 3"),
        ([[1, 2]], Penalised(1.0, smoothing=0.5), r"needs smoothing 0, got 0\.5"),
    ],
)
def test_the_optimum_refuses_what_is_not_proved(counts, score, message):
    with pytest.raises(ValueError, match=message):
        optimum(hyperstage_of(counts), score, np.zeros(len(counts) + 1))


def test_situations_without_counts_cost_nothing_at_the_optimum():
    stage = optimum(
        hyperstage_of([[0, 0], [9, 1], [1, 9], [0, 0]]), Penalised(1.0), np.zeros(5)
    )
    assert len(set(stage)) == 2
    assert stage[0] == stage[2] == stage[3]
    assert len(set(optimum(hyperstage_of([[0, 0]] * 3), Penalised(1.0), np.zeros(4)))) == 1


# Hill climbing.


@pytest.mark.slow
def test_climbing_ends_where_no_move_or_merge_is_better():
    for seed in range(60):
        hyperstage = random_hyperstage(seed)
        score = SCORES[seed % 4]
        size = len(hyperstage.ids)
        structure = np.random.default_rng(seed).normal(0, (0.0, 1.0)[seed // 4 % 2], size + 1)

        def objective(stage, hyperstage=hyperstage, score=score, structure=structure):
            return score_of(hyperstage, score, stage) + structure[len(np.unique(stage))]

        stage = climb(hyperstage, score, structure)
        best = objective(stage)
        assert best >= objective(hyperstage.start) - 1e-9
        assert stage.tolist() == named(hyperstage, rows_of(stage)).tolist()
        for row in range(size):
            for other in [*np.unique(stage), -1]:
                moved = stage.copy()
                moved[row] = other
                assert objective(moved) <= best + 1e-8
        for one, other in combinations(np.unique(stage), 2):
            assert objective(np.where(stage == one, other, stage)) <= best + 1e-8


@pytest.mark.slow
def test_climbing_finds_most_optima(partitions):
    n_found = 0
    for seed in range(100):
        hyperstage, score, _ = binary_case(seed)
        flat = np.zeros(len(hyperstage.ids) + 1)
        best = all_scores(hyperstage, score, flat, partitions)[0].max()
        value = score_of(hyperstage, score, climb(hyperstage, score, flat))
        assert value <= best + 1e-8
        n_found += value >= best - 1e-8
    assert n_found >= 99


@pytest.mark.parametrize("is_full", [True, False])
def test_climbing_from_either_end_finds_three_stages_of_three_hundred(is_full):
    rng = np.random.default_rng(5)
    planted = rng.integers(0, 3, 300)
    shares = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]])
    counts = np.array([rng.multinomial(200, shares[p]) for p in planted])
    start = None if is_full else np.zeros(300, dtype=np.int64)
    score = Penalised(60.0)  # that of BIC splits a hundred situations alike
    stage = climb(hyperstage_of(counts, start), score, np.zeros(301))
    assert partition(stage) == partition(planted)


def test_climbing_goes_on_with_more_prior_than_a_thousand():
    hyperstage = hyperstage_of(np.tile([[30, 70], [70, 30]], (4, 1)))
    hyperstage = replace(hyperstage, bases=np.array([[900.0, 900.0]]))
    stage = climb(hyperstage, Marginal(), np.zeros(9))
    start = score_of(hyperstage, Marginal(), hyperstage.start)
    assert score_of(hyperstage, Marginal(), stage) >= start


def test_climbing_moves_situations_alike_together():
    counts = np.tile([[2, 1], [1, 3], [0, 4], [5, 0]], (500, 1))
    start = np.zeros(2000, dtype=np.int64)
    hyperstage = hyperstage_of(counts, start)
    score, flat = Penalised(log(counts.sum()) / 2), np.zeros(2001)
    assert partition(climb(hyperstage, score, flat)) == partition(np.arange(2000) % 4)
    assert partition(optimum(hyperstage, score, flat)) == partition(np.arange(2000) % 4)


# Clusters of shares.


def test_hclust_takes_the_best_cut_of_all():
    for seed in range(60):
        hyperstage = random_hyperstage(seed)
        n_start = len(np.unique(hyperstage.start))
        score = SCORES[seed % 3]
        settings_ = (("totvar", "hellinger", "euclidean")[seed % 3], "complete")
        cuts = [hclust(hyperstage, score, *settings_, n, 0.0) for n in range(1, n_start + 1)]
        assert [len(np.unique(cut)) for cut in cuts] == list(range(1, n_start + 1))
        scores = [score_of(hyperstage, score, cut) for cut in cuts]
        best = next(i for i, found in enumerate(scores) if found >= max(scores) - 1e-9)
        open_number = hclust(hyperstage, score, *settings_, None, 0.0)
        assert open_number.tolist() == cuts[best].tolist()
        for finer, coarser in zip(cuts[1:], cuts, strict=False):
            assert len(set(zip(finer, coarser, strict=True))) == len(np.unique(finer))


def test_kmeans_gives_as_many_stages_as_asked_and_the_same_again():
    for seed in range(8):
        hyperstage = random_hyperstage(seed, full=True)
        shares = hyperstage.sizes / hyperstage.sizes.sum(axis=1, keepdims=True)
        most = len(np.unique(np.sqrt(shares), axis=0))
        for n_stages in (1, 2, 3, 5):
            stage = kmeans(hyperstage, Penalised(1.0), n_stages, seed, 0.0)
            assert len(np.unique(stage)) == min(n_stages, most)
            again = kmeans(hyperstage, Penalised(1.0), n_stages, seed, 0.0)
            assert stage.tolist() == again.tolist()


def test_kmeans_chooses_the_number_of_stages_by_the_score():
    rng = np.random.default_rng(1)
    planted = np.arange(60) % 3
    first = rng.binomial(300, np.array([0.1, 0.5, 0.9])[planted])
    hyperstage = hyperstage_of(np.column_stack((first, 300 - first)))
    stage = kmeans(hyperstage, Penalised(15.0), None, 7, 0.0)
    assert partition(stage) == partition(planted)


@pytest.mark.parametrize("size", [1, 2])
def test_one_or_two_situations_are_no_trouble(size):
    hyperstage = hyperstage_of([[3, 1], [2, 2]][:size])
    score = Penalised(5.0)
    flat = np.zeros(size + 1)
    for stage in (
        fbhc(hyperstage, score),
        csbhc(hyperstage, score),
        bj(hyperstage, "manhattan", 2.0, 0.0),
        climb(hyperstage, score, flat),
        optimum(hyperstage, score, flat),
        hclust(hyperstage, score, "totvar", "complete", None, 0.0),
        kmeans(hyperstage, score, None, 0, 0.0),
    ):
        assert stage.tolist() == [3] * size


# What stagedtrees found, on arrays made from its own counts.


def hyperstages_of(reference, *, full=True):
    """Yield hyperstage and stages of each variable, without what was never observed."""
    for level, variable in enumerate(reference["order"]):
        seen = [
            (identity, situation)
            for identity, situation in enumerate(reference["situations"])
            if situation["variable"] == variable and any(situation["counts"])
        ]
        ids = np.array([identity for identity, _ in seen])
        counts = np.array([situation["counts"] for _, situation in seen])
        codes = [
            [
                reference["levels"][earlier].index(label)
                for earlier, label in zip(reference["order"], situation["path"], strict=False)
            ]
            for _, situation in seen
        ]
        hyperstage = Hyperstage(
            ids=ids,
            counts=counts,
            bases=np.ones((1, counts.shape[1])),
            multiplicities=np.ones((len(ids), 1), dtype=np.int64),
            start=ids if full else np.full(len(ids), ids[0]),
            answers=np.array(codes, dtype=np.int64).reshape(len(ids), level),
        )
        yield hyperstage, [situation["stage"] for _, situation in seen]


def score_like(reference):
    return Penalised(log(reference["nobs"]) / 2, reference["lambda"])


METHODS = {
    "fbhc": fbhc,
    "csbhc": csbhc,
    "bj": lambda h, s: bj(h, "kullback", 0.1, s.smoothing),
    "bj_l1": lambda h, s: bj(h, "kullback", 0.1, s.smoothing),
    "bj_hellinger_l1": lambda h, s: bj(h, "hellinger", 0.1, s.smoothing),
    "hclust": lambda h, s: hclust(h, s, "totvar", "complete", None, s.smoothing),
    "hclust_k2": lambda h, s: hclust(h, s, "totvar", "complete", 2, s.smoothing),
    "hclust_k2_l1": lambda h, s: hclust(h, s, "totvar", "complete", 2, s.smoothing),
}


@pytest.mark.parametrize("algorithm", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_stages_and_scores_equal_those_of_stagedtrees(name, algorithm):
    expected = peer("stagedtrees")[name][algorithm]
    score = score_like(expected)
    likelihood, df = 0.0, 0
    for hyperstage, theirs in hyperstages_of(expected):
        ours = METHODS[algorithm](hyperstage, score)
        assert partition(ours) == partition(theirs)
        likelihood += score_of(hyperstage, Penalised(0.0, score.smoothing), ours)
        df += len(np.unique(ours)) * (hyperstage.counts.shape[1] - 1)
    unseen = {s["variable"] for s in expected["situations"] if not any(s["counts"])}
    df += sum(len(expected["levels"][variable]) - 1 for variable in unseen)
    assert df == expected["df"]
    assert likelihood == pytest.approx(expected["logLik"], abs=1e-6)
    bic = df * log(expected["nobs"]) - 2 * likelihood
    assert bic == pytest.approx(expected["BIC"], abs=1e-6)


# Of PhDArticles stagedtrees' climb from the full tree is not among the references.
CLIMBED = [("hc_full", name) for name in NAMES if name != "PhDArticles"]
CLIMBED += [("hc_indep", name) for name in NAMES]


@pytest.mark.parametrize(("algorithm", "name"), CLIMBED)
def test_climbing_scores_at_least_as_stagedtrees_does(algorithm, name):
    expected = peer("stagedtrees")[name][algorithm]
    score = score_like(expected)
    for hyperstage, theirs in hyperstages_of(expected, full=algorithm == "hc_full"):
        stage = climb(hyperstage, score, np.zeros(len(hyperstage.ids) + 1))
        ours = 2 * score_of(hyperstage, score, stage)
        assert ours >= 2 * score_of(hyperstage, score, np.array(theirs)) - 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_no_staging_of_stagedtrees_is_better_than_the_optimum(name):
    best = {}
    for algorithm, expected in peer("stagedtrees")[name].items():
        if algorithm.startswith(("all_orders", "search")):
            continue
        score = Penalised(log(expected["nobs"]) / 2)
        for number, (hyperstage, theirs) in enumerate(hyperstages_of(expected)):
            if hyperstage.counts.shape[1] != 2:
                continue
            if number not in best:
                flat = np.zeros(len(hyperstage.ids) + 1)
                best[number] = score_of(hyperstage, score, optimum(hyperstage, score, flat))
            assert best[number] >= score_of(hyperstage, score, np.array(theirs)) - 1e-7
    assert best
