"""Published and worked numbers, through the library; each says where it is from.

W1.1, W2.3 and so on are the worked examples of ``docs/theory.md``, which were checked by
brute force. [SS20] is Shenvi & Smith (2020), PMLR 138:437-448.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import exp, log
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from datasets import survey_file

from cegdb import clustering
from cegdb.demo import DEMOS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cegdb.api import ChainEventGraph, Database, EventTree, StagedTree, Survey
    from cegdb.stages import Hyperstages

    Sound = Callable[[Database], None]


def rows(db: Database, variables: str, *lines: tuple[Sequence[Any], int], **how: Any) -> Survey:
    """Ingest lines with their counts: ``rows(db, "X Y", ("ax", 3), (["a", None], 2))``."""
    cells = [list(line) for line, _ in lines]
    frame = pd.DataFrame(cells, columns=variables.split(), dtype=object)
    frame["people"] = [n for _, n in lines]
    return db.ingest(frame, count="people", **how)


def grown(db: Database, *paths: str) -> EventTree:
    """Return the tree with these leaves, as "a/x/p", 5 rows each; variables X0, X1, ..."""
    words = [path.split("/") for path in paths]
    depth = max(map(len, words))
    lines = [(word + [None] * (depth - len(word)), 5) for word in words]
    return rows(db, " ".join(f"X{i}" for i in range(depth)), *lines).event_tree(
        sampling_zeros="none"
    )


def staged(tree: EventTree, *blocks: str, hyperstages: Any = "variable") -> StagedTree:
    """Give stages as "a = a/x", the situations of a block in one; the root is ""."""
    groups = [
        [tuple(path.strip().split("/")) if path.strip() else () for path in block.split("=")]
        for block in blocks
    ]
    return tree.set_stages(groups, hyperstages=hyperstages, prior="mass")


def counts(tree: EventTree) -> dict[str, int]:
    """Return "a/x" -> n of every edge."""
    word = {0: ""}
    found = {}
    for edge in tree.edges.itertuples():
        word[edge.child_id] = f"{word[edge.parent_id]}/{edge.label}".lstrip("/")
        found[word[edge.child_id]] = edge.n
    return found


def sizes(graph: EventTree | ChainEventGraph) -> tuple[int, int]:
    """Return the number of vertices and of edges."""
    drawn = graph.to_networkx()
    return drawn.number_of_nodes(), drawn.number_of_edges()


def steps(ceg: ChainEventGraph) -> list[tuple[int, int]]:
    """Return vertices and edges of G_0, G_1, ..."""
    return list(ceg.steps[["n_vertices", "n_edges"]].itertuples(index=False, name=None))


def shared_stages(staging: StagedTree) -> set[frozenset[str]]:
    """Return the stages of two situations or more, as sets of shown names."""
    blocks = staging.florets.groupby("stage")["situation"].agg(frozenset)
    return {block for block in blocks if len(block) > 1}


# =============================================================================
# docs/theory.md, section 1: event trees
# =============================================================================


@pytest.mark.slow
@pytest.mark.parametrize(
    ("skipped", "how"),
    [(None, {}), (None, {"blank": "structural"}), ("NA", {})],
    ids=["blank", "blank is structural", "NA declared structural"],
)
def test_w1_1_a_death_truncated_survey(
    db: Database, sound: Sound, skipped: str | None, how: Any
) -> None:
    tree = rows(
        db,
        "X1 X2 X3",
        (["t", "die", skipped], 3),
        (["t", "live", "p"], 4),
        (["t", "live", "q"], 1),
        (["u", "die", skipped], 2),
        (["u", "live", "p"], 5),
        (["u", "live", "q"], 5),
        structural=["NA"] if skipped else [],
    ).event_tree(sampling_zeros="none", **how)
    assert len(tree.situations) == 5
    assert sizes(tree) == (5 + 6, 10)
    assert counts(tree)["t"] == 8
    tree.learn_stages(prior="mass", criterion="score")
    hyperstages = db.sql("select n_situations from cegdb.hyperstage")["n_situations"]
    assert sorted(hyperstages) == [1, 2, 2]
    sound(db)


@pytest.mark.slow
def test_w1_2_not_applicable_is_an_edge_where_it_is_random(db: Database, sound: Sound) -> None:
    """cegpy, from its rows: 5 rows reach s1, whose one edge has 3; probability 1."""
    survey = rows(db, "X1 X2", ("ax", 3), (["a", None], 2), (["b", None], 4))
    tree = survey.event_tree(blank="structural", sampling_zeros="none")
    assert counts(tree) == {"a": 5, "b": 4, "a/x": 3, "a/not applicable": 2}
    sound(db)


@pytest.mark.slow
def test_w1_3_an_edge_is_a_variable_and_a_label(db: Database, sound: Sound) -> None:
    """cegpy merges X3 = n and X2 = n into one edge of 5."""
    survey = rows(
        db, "X1 X2 X3", (["y", "NA", "n"], 2), (["y", "n", "NA"], 3), structural=["NA"]
    )
    tree = survey.event_tree(sampling_zeros="none")
    edges = tree.edges[["source", "variable", "label", "n"]]
    assert list(edges.itertuples(index=False, name=None)) == [
        ("s0", "X1", "y", 5),
        ("s1", "X2", "n", 3),
        ("s1", "X2", "not applicable", 2),
        ("s2", "X3", "n", 2),
    ]
    sound(db)


@pytest.mark.slow
def test_w1_4_rows_stop_at_their_first_missing_answer(db: Database, sound: Sound) -> None:
    survey = rows(
        db,
        "X1 X2 X3",
        ("ax1", 2),
        ("ax?", 3),
        ("a?1", 4),
        ("by0", 1),
        missing=["?"],
    )
    tree = survey.event_tree(sampling_zeros="none")
    assert counts(tree) == {
        "a": 9,
        "b": 1,
        "a/x": 5,
        "b/y": 1,
        "a/x/1": 2,
        "b/y/0": 1,
    }
    situations = tree.situations.set_index("path")["n_stopped"]
    assert situations[situations > 0].to_dict() == {"a": 4, "a -> x": 3}
    sound(db)


# =============================================================================
# docs/theory.md, section 2: positions, in levels by the longest path
# =============================================================================

DEATH = ("t/die", "t/live/p", "t/live/q", "u/die", "u/live/p", "u/live/q")
DEATH_STAGES = ("t = u", "t/live = u/live")


@pytest.mark.slow
def test_w2_1_the_death_tree(db: Database, sound: Sound) -> None:
    """By the paper's text, V^-k by the shortest path, it would have 5 vertices."""
    tree = grown(db, *DEATH)
    heights = db.sql("select height from cegdb.vertices order by vertex_id")["height"]
    assert heights.tolist()[:5] == [3, 2, 2, 0, 1]
    ceg = staged(tree, *DEATH_STAGES).to_ceg(stop="baseline")
    assert (sizes(tree), sizes(ceg)) == ((11, 10), (4, 6))
    lost = [before - after for (before, _), (after, _) in pairwise(steps(ceg))]
    assert lost == [5, 1, 1]
    sound(db)


@pytest.mark.slow
def test_w2_2_a_chain_is_its_own_ceg(db: Database, sound: Sound) -> None:
    tree = grown(db, "x/y")
    staging = staged(tree)
    early = staging.to_ceg()
    assert sizes(early) == (3, 2)
    assert steps(early) == [(3, 2)] * 2  # stopped at r = 1: there is one leaf
    assert "stopped early" in early.summary
    assert steps(staging.to_ceg(stop="baseline")) == [(3, 2)] * 3
    sound(db)


@pytest.mark.slow
def test_w2_3_nine_vertices(db: Database, sound: Sound) -> None:
    """The smallest tree (florets of 1 edge or more) that the paper's text gets wrong."""
    tree = grown(db, "a/d", "a/l/p", "b/d", "b/l/p")
    ceg = staged(tree, "a = b", "a/l = b/l").to_ceg()
    assert (sizes(tree)[0], sizes(ceg)) == (9, (4, 5))
    assert sorted(Counter(ceg.edges["source"]).values()) == [1, 2, 2]
    sound(db)


@pytest.mark.slow
def test_spec_2_1_a_fixpoint_within_levels_by_the_shortest_path_is_no_remedy(
    db: Database,
) -> None:
    """11 vertices; the truth has 5, that remedy 6."""
    tree = grown(db, "a/d", "a/l/m/p", "b/d", "b/l/m/p")
    ceg = staged(tree, "a = b", "a/l = b/l", "a/l/m = b/l/m").to_ceg()
    assert (sizes(tree)[0], sizes(ceg)[0]) == (11, 5)


@pytest.mark.slow
def test_spec_2_2_stopping_by_depth_would_be_wrong(db: Database) -> None:
    """The smallest, n = 6: root -> {a, b}; a -> leaf; b -> x -> leaf; a, x in one stage."""
    tree = grown(db, "a/y", "b/x/y")
    ceg = staged(tree, "a = b/x", hyperstages="labels").to_ceg()
    assert sizes(tree)[0] == 6
    by_path = ceg.situation_positions.set_index("path")["position"]
    assert by_path["a"] == by_path["b -> x"]


@pytest.mark.slow
def test_style_1_three_positions_where_the_shortest_path_keeps_four(db: Database) -> None:
    """Tree r:{a:v1,b:v2}, v_i:{x:leaf,y:s_i}, s_i:{p:leaf,q:leaf} with v1~v2, s1~s2."""
    tree = grown(db, "a/x", "a/y/p", "a/y/q", "b/x", "b/y/p", "b/y/q")
    ceg = staged(tree, "a = b", "a/y = b/y").to_ceg()
    assert ceg.positions["position"].tolist() == ["w0", "w1", "w2", "w_inf"]


# =============================================================================
# docs/theory.md, sections 3 and 4: recovery, sizes
# =============================================================================


@pytest.mark.slow
def test_w3_1_unrolling_a_ceg(db: Database) -> None:
    ceg = staged(grown(db, "0/0", "0/1", "1/0", "1/1"), "0 = 1").to_ceg()
    assert sizes(ceg) == (3, 4)
    tree = ceg.recover()
    assert len(tree) == 7
    copies = tree.query("depth == 1")["stage_id"].tolist()
    assert copies == [1, 1]


@pytest.mark.slow
def test_w4_1_the_printed_bounds_are_false(db: Database) -> None:
    """One ternary floret; [SS20] prints the bounds 0 (vertices) and -3 (edges)."""
    tree = grown(db, "a", "b", "c")
    (n_tree, k_tree), (n_ceg, k_ceg) = sizes(tree), sizes(staged(tree).to_ceg())
    assert (n_tree - n_ceg, k_tree - k_ceg) == (2, 0)


def test_w4_2_a_complete_binary_tree_with_a_stage_a_depth(db: Database) -> None:
    tree = grown(db, *("/".join(format(i, "03b")) for i in range(8)))
    ceg = staged(tree, "0 = 1", "0/0 = 0/1 = 1/0 = 1/1").to_ceg()
    assert (sizes(tree), sizes(ceg)) == ((15, 14), (4, 6))


@pytest.mark.slow
def test_w4_3_the_death_tree(db: Database) -> None:
    tree = grown(db, *DEATH)
    ceg = staged(tree, *DEATH_STAGES).to_ceg()
    assert (sizes(tree), sizes(ceg)) == ((11, 10), (4, 6))
    assert Counter(tree.florets["n_edges"]) == {2: 5}
    assert sizes(tree)[0] - len(tree.florets) == 6
    assert Counter(Counter(ceg.edges["source"]).values()) == {2: 3}


# =============================================================================
# docs/theory.md, section 6: scores and clustering
# =============================================================================


@pytest.mark.parametrize(
    ("one", "other", "factor"),
    [
        ((3, 1), (2, 2), 120 / 77),
        ((3, 1), (0, 5), 2 / 11),
        ((0, 0), (3, 1), 8 / 7),
        ((0, 0), (5, 0), 9 / 14),
        ((0, 0), (2, 2), 9 / 7),
        ((1, 0), (1, 0), 6 / 5),
    ],
)
def test_w6_1_bayes_factors(one: Any, other: Any, factor: float) -> None:
    n, ones = np.array([one, other, np.add(one, other)]), np.ones((2, 2))
    prior = np.vstack([ones, ones.sum(axis=0)])
    score = clustering.log_marginal_likelihood(n, prior)
    assert exp(score[2] - score[0] - score[1]) == pytest.approx(factor, rel=1e-12)
    merges = clustering.agglomerate(n[:2], ones[:1], np.ones((2, 1), int), np.arange(2))
    if factor > 1:
        assert merges == [(0, 1, pytest.approx(log(factor), rel=1e-12))]
    else:
        assert merges == []


def test_w6_1_the_score_of_three_and_one() -> None:
    (score,) = clustering.log_marginal_likelihood(np.array([[3, 1]]), np.ones((1, 2)))
    assert score == pytest.approx(log(1 / 20), rel=1e-12)
    assert score == pytest.approx(-2.995732, abs=5e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other", "factor"),
    [((3, 1), (2, 2), 120 / 77), ((3, 1), (0, 5), 2 / 11), ((1, 0), (1, 0), 6 / 5)],
)
def test_w6_1_bayes_factors_of_a_survey(
    db: Database, sound: Sound, one: Any, other: Any, factor: float
) -> None:
    """With alpha 4 at the root each of the two florets below has prior (1, 1)."""
    lines = [
        (answers, n)
        for first, floret in (("a", one), ("b", other))
        for answers, n in ((first + "x", floret[0]), (first + "y", floret[1]))
    ]
    survey = rows(db, "X Y", *lines, levels={"Y": ["x", "y"]})
    learnt = survey.event_tree(sampling_zeros="floret").learn_stages(
        alpha=4, prior="mass", criterion="score"
    )
    expected = [log(factor)] if factor > 1 else []
    assert learnt.merges["log_bayes_factor"].tolist() == pytest.approx(expected, rel=1e-12)
    sound(db)


# Collazo, Görgen & Smith (2018), Chain Event Graphs, figure 7.5, and the published code
# of [SS20]: the stages of CHDS with several situations, in their numbering, which is ours.
CHDS = {
    frozenset({"s3", "s4", "s5"}),
    frozenset({"s7", "s10", "s13", "s15", "s18"}),
    frozenset({"s8", "s11", "s14", "s16", "s17"}),
    frozenset({"s9", "s12"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("hyperstages", ["variable", "labels"])
def test_w6_2_chds(db: Database, sound: Sound, hyperstages: Hyperstages) -> None:
    """The same for hyperstages {s0 | s1, s2 | ...} and {s0, s1, s2 | ...}."""
    tree = db.ingest(DEMOS["chds"].select(), name="chds", count="people").event_tree(
        sampling_zeros="none"
    )
    assert sizes(tree) == (43, 42)
    assert len(tree.situations) == 19
    learnt = tree.learn_stages(like="cegpy", alpha=3, hyperstages=hyperstages)
    assert shared_stages(learnt) == CHDS
    assert len(learnt.stages) == 8
    assert learnt.log_marginal_likelihood == pytest.approx(-2478.49, abs=5e-3)
    assert learnt.log_marginal_likelihood == pytest.approx(-2478.4897, abs=6e-5)
    ceg = learnt.to_ceg()
    assert sizes(ceg) == (10, 21)
    # The published staging, given by hand, has the same score and CEG.
    by_name = tree.situations.set_index("situation")["labels"]
    groups = [
        [tuple(by_name[name]) for name in sorted(block)] for block in sorted(CHDS, key=min)
    ]
    by_hand = tree.set_stages(groups, alpha=3, prior="mass")
    assert by_hand.log_marginal_likelihood == learnt.log_marginal_likelihood
    assert sizes(by_hand.to_ceg()) == (10, 21)
    sound(db)


# =============================================================================
# Public data
# =============================================================================

# docs/theory.md, sections 1 (data anchors) and 6 (W6.2, W6.3); the numbers of iris,
# Hayes-Roth and probe_4labels are the oracle's (tests/peers/test_oracle.py).
PUBLIC = [
    ("chds", 3, (43, 19, {4}), 8, -2478.4897, (10, 21)),
    ("falls_cegpy", 4, (51, 23, {3, 4}), 11, -68671.5969, (12, 25)),
    ("medical", 3, (45, 21, {4}), 10, -30091.3531, (15, 30)),
    ("iris", 3, (77, 52, {5}), 21, -446.8486, (25, 45)),
    ("hayes_roth", 4, (202, 124, {5}), 24, -636.3280, (49, 112)),
    ("probe_4labels", None, (27, 11, {3}), 4, -1941.1520, (6, 14)),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "alpha", "of_tree", "n_stages", "score", "of_ceg"),
    PUBLIC,
    ids=[name for name, *_ in PUBLIC],
)
def test_public_data(
    db: Database,
    sound: Sound,
    name: str,
    alpha: float | None,
    of_tree: tuple[int, int, set[int]],
    n_stages: int,
    score: float,
    of_ceg: tuple[int, int],
) -> None:
    tree = db.ingest(survey_file(name)).event_tree(sampling_zeros="none")
    vertices = db.sql("select * from cegdb.vertices")
    depths = set(vertices[vertices["variable"].isna()]["depth"])
    assert (len(vertices), len(tree.situations), depths) == of_tree
    learnt = tree.learn_stages(like="cegpy", alpha=alpha, hyperstages="variable")
    assert len(learnt.stages) == n_stages
    assert learnt.log_marginal_likelihood == pytest.approx(score, abs=6e-5)
    ceg = learnt.to_ceg()
    assert sizes(ceg) == of_ceg
    assert steps(ceg)[-1] == of_ceg
    sound(db)


# [SS20] table 1; its |V| of iris, Hayes-Roth, balance and glass rests on rounding noise, and
# the numbers of exact arithmetic are those of tests/data/README.md: alpha by default,
# situations, height, |V| with single-edge situations apart, |V| with them together.
TABLE_1 = [
    ("iris", 3, 52, 5, 51, 25),
    ("hayes_roth", 4, 124, 5, 117, 49),
    ("balance_scale", 5, 327, 5, 178, 70),
    ("glass", 6, 636, 10, 615, 216),
    ("chds", 3, 19, 4, 10, 10),
    ("falls", 2, 39, 6, 27, 20),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "alpha", "n_situations", "height", "apart", "together"),
    TABLE_1,
    ids=[name for name, *_ in TABLE_1],
)
def test_table_1_of_the_paper(
    db: Database,
    name: str,
    alpha: float,
    n_situations: int,
    height: int,
    apart: int,
    together: int,
) -> None:
    """By the paper's hyperstages; `tests/benchmarks/table1.py` prints it with the times."""
    tree = db.ingest(survey_file(name)).event_tree(like="paper")
    assert len(tree.situations) == n_situations
    assert tree.situations["height"].max() == height
    for rule, n_vertices in (("apart", apart), ("together", together)):
        learnt = tree.learn_stages(like="paper", single_edges=rule)
        assert learnt.settings["alpha"] == alpha
        for stop in ("early", "baseline"):
            assert sizes(learnt.to_ceg(stop=stop))[0] == n_vertices
    by_variable = tree.learn_stages(like="cegpy", alpha=alpha, hyperstages="variable")
    assert sizes(by_variable.to_ceg())[0] == together


@pytest.mark.slow
def test_w6_3_asym_with_stages_across_variables(db: Database, sound: Sound) -> None:
    """``docs/theory.md``, section 1: 28 vertices, 15 situations, 13 leaves; W6.3: the rest."""
    tree = db.ingest(survey_file("Asym")).event_tree(sampling_zeros="none")
    assert (sizes(tree)[0], len(tree.situations)) == (28, 15)
    learnt = tree.learn_stages(like="cegpy", alpha=2)
    assert len(learnt.stages) == 6
    assert learnt.log_marginal_likelihood == pytest.approx(-2410.9087, abs=6e-5)
    assert sizes(learnt.to_ceg())[0] == 11
    sound(db)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "alpha", "n_stages", "score", "n_vertices"),
    [("falls_cegpy", 4, 11, -68671.5969, 12), ("medical", 3, 10, -30091.3531, 15)],
)
def test_w6_3_by_labels(
    db: Database,
    name: str,
    alpha: float,
    n_stages: int,
    score: float,
    n_vertices: int,
) -> None:
    tree = db.ingest(survey_file(name)).event_tree(sampling_zeros="none")
    learnt = tree.learn_stages(like="cegpy", alpha=alpha)
    assert len(learnt.stages) == n_stages
    assert learnt.log_marginal_likelihood == pytest.approx(score, abs=6e-5)
    assert sizes(learnt.to_ceg())[0] == n_vertices
