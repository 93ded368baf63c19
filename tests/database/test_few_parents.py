"""Stages from few earlier answers (max_parents), and new rows with histories nobody had."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product
from math import exp, fsum, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import oracle
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from oracle import BLANK
from strategies import StagedSample, run, staged_trees

import cegdb
from cegdb import clustering
from cegdb.cli import main
from cegdb.errors import QueryError, StagingError

sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
from few_parents import simulate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle import Row

    from cegdb.api import Database, EventTree, StagedTree

ZEROS = st.sampled_from(["none", "floret"])


def frame(rows: Sequence[tuple[Row, int]], order: Sequence[str]) -> pd.DataFrame:
    table = [[None if row[v] is BLANK else row[v] for v in order] + [n] for row, n in rows]
    return pd.DataFrame(table, columns=[*order, "n"])


def tree_of(db: Database, sample: StagedSample, **settings: Any) -> EventTree:
    survey = db.ingest(frame(sample.rows, sample.order), count="n")
    return survey.event_tree(sample.order, **settings)


def members(db: Database, staged: StagedTree) -> dict[int, int]:
    """Return the stage of each situation."""
    rows = db.sql(
        "select vertex_id, stage_id from cegdb.stage_member where staging_id = $id",
        {"id": staged.id},
    )
    return dict(zip(rows["vertex_id"].tolist(), rows["stage_id"].tolist(), strict=True))


# =============================================================================
# The best sets, by looking at all of them
# =============================================================================


def history(vertex: oracle.Vertex, variable: str) -> str:
    """Return the answer that leads to a situation; absent and not applicable are one."""
    return dict(vertex.path).get(variable, oracle.NOT_APPLICABLE)


def scores_of_sets(
    tree: oracle.Tree, situations: Sequence[oracle.Vertex], most: int, rule: str, alpha: float
) -> dict[tuple[str, ...], float]:
    """Return the score of every set of variables whose answers differ."""
    differing = [v for v in tree.order if len({history(s, v) for s in situations}) > 1]
    own = oracle.florets(tree, alpha)
    scores = {}
    for size in range(most + 1):
        for parents in combinations(differing, size):
            pooled: dict[tuple[str, ...], oracle.Florets] = {}
            for situation in situations:
                key = tuple(history(situation, v) for v in parents)
                one = own[situation.id]
                pooled[key] = pooled[key] + one if key in pooled else one
            total = 0.0
            for one in pooled.values():
                n_labels = len(one.n)
                mass = {
                    "mass": one.a,
                    "stage": (Fraction(alpha) / n_labels,) * n_labels,
                }[rule]
                total += oracle.log_evidence(mass, one.n)
            scores[parents] = total
    return scores


@pytest.mark.slow
@run(8)
@given(
    sample=staged_trees(max_depth=5, jumps=True),
    zeros=ZEROS,
    most=st.integers(0, 3),
    rule=st.sampled_from(["mass", "stage"]),
)
def test_the_sets_chosen_are_the_best_of_all(
    sample: StagedSample, zeros: str, most: int, rule: str
) -> None:
    tree = oracle.event_tree(sample.rows, sample.order, sampling_zeros=zeros)
    by_hyperstage = defaultdict(list)
    for vertex_id, of in oracle.hyperstages(tree).items():
        by_hyperstage[of].append(tree.by_id[vertex_id])
    with cegdb.open() as db:
        staged = tree_of(db, sample, sampling_zeros=zeros).learn_stages(
            max_parents=most, alpha=3, prior=rule, criterion="score"
        )
        found = staged.parent_sets
        starts: dict[int, Any] = {}
        learnt = [of for of in by_hyperstage.values() if len(of[0].children) > 1]
        assert found["hyperstage_id"].nunique() == len(learnt)
        for situations in learnt:
            expected = scores_of_sets(tree, situations, most, rule, 3)
            rows = found[found["hyperstage_id"] == situations[0].id]
            best = sorted(expected.values(), reverse=True)[:5]
            assert rows["score"].tolist() == pytest.approx(best)
            assert rows["difference"].tolist() == pytest.approx([s - best[0] for s in best])
            for row in rows.itertuples():
                assert row.score == pytest.approx(expected[tuple(row.parents)])
                configurations = {tuple(history(s, v) for v in row.parents) for s in situations}
                assert row.n_configurations == len(configurations)
            chosen = rows.iloc[0]["parents"]
            for s in situations:
                starts[s.id] = (situations[0].id, *(history(s, v) for v in chosen))
        if rule == "mass":
            expected_stages = oracle.ahc(tree, 3, initial=starts).stage
            assert oracle.partition(members(db, staged)) == oracle.partition(expected_stages)
        assert db.check() == []


def test_a_tie_goes_to_fewer_variables_then_to_earlier_ones() -> None:
    answers = np.array([[a, a, b] for a in (1, 2) for b in (5, 6)])
    hyperstage = clustering.Hyperstage(
        ids=np.arange(4),
        counts=np.array([[9, 1], [9, 1], [1, 9], [1, 9]]),
        bases=np.ones((1, 2)),
        multiplicities=np.ones((4, 1), np.int64),
        start=np.arange(4),
        answers=answers,
    )
    sets = clustering.parent_sets(hyperstage, clustering.Marginal(1.0), 2)
    assert [one.columns for one in sets[:3]] == [(0,), (1,), (0, 1)]
    assert sets[0].score == pytest.approx(sets[2].score)


# =============================================================================
# Histories that nobody had
# =============================================================================


def rows_of(counts: Mapping[str, int], names: str = "ABC") -> pd.DataFrame:
    """Return rows from texts of one letter for each answer ('-': blank) and their counts."""
    table = [
        [None if letter == "-" else letter for letter in text] + [n]
        for text, n in counts.items()
    ]
    return pd.DataFrame(table, columns=[*names, "n"])


def staged_rows(db: Database, rows: pd.DataFrame, **settings: Any) -> StagedTree:
    tree = db.ingest(rows, count="n").event_tree(
        sampling_zeros=settings.pop("sampling_zeros", "floret"), blank="structural"
    )
    return tree.learn_stages(prior="stage", alpha=1, **settings)


def log_likelihood(staged: Any, text: str, names: str = "ABC") -> float:
    rows = rows_of({text: 1}, names).drop(columns="n")
    return float(staged.score(rows).mean)


@pytest.mark.slow
def test_a_history_nobody_had_takes_the_stage_of_its_configuration(db: Database) -> None:
    """C depends on B alone; nobody has A = 1 and B = 0."""
    counts = {"00x": 24, "00y": 6, "01x": 3, "01y": 27, "11x": 6, "11y": 24}
    staged = staged_rows(db, rows_of(counts), max_parents=1)
    chosen = staged.parent_sets.query("is_chosen")
    assert chosen["parents"].map(list).tolist() == [[], ["A"], ["B"]]
    expected = log(30.5 / 91) + log(0.5 / 31) + log(24.5 / 31)
    assert log_likelihood(staged, "10x") == pytest.approx(expected)
    assert log_likelihood(staged.to_ceg(), "10x") == pytest.approx(expected)
    # A cell left open: the sum of its answers.
    assert log_likelihood(staged, "10-") == -np.inf  # blank means not applicable here
    open_row = rows_of({"10-": 1}).drop(columns="n")
    assert staged.score(open_row, blank="unknown").mean == pytest.approx(
        log(30.5 / 91) + log(0.5 / 31)
    )


@pytest.mark.slow
def test_a_configuration_nobody_had_takes_the_pooled_rows(db: Database) -> None:
    """C depends on A and B together; nobody has A = 1 and B = 0."""
    counts = {"00x": 30, "01y": 30, "11x": 20}
    staged = staged_rows(db, rows_of(counts), max_parents=2)
    assert staged.parent_sets.query("is_chosen")["parents"].map(list).tolist()[-1] == ["A", "B"]
    expected = log(20.5 / 81) + log(0.5 / 21) + log(50.5 / 81)
    assert log_likelihood(staged, "10x") == pytest.approx(expected)


@pytest.mark.slow
def test_without_parents_every_question_takes_the_pooled_rows(db: Database) -> None:
    counts = {"00x": 24, "00y": 6, "01x": 3, "01y": 27, "11x": 6, "11y": 24}
    for zeros in ("auto", "floret"):
        tree = db.ingest(rows_of(counts), count="n").event_tree(sampling_zeros=zeros)
        staged = tree.learn_stages()
        assert len(staged.stages.query("variable == 'C'")) > 1
        b_after_1 = float(staged.given(A="1").probability(B="0"))
        pooled = log(33.5 / 91)
        if zeros == "auto":  # the tree goes on, to a situation that nobody reached
            pooled = log(float(staged.given(A="1", B="0").probability(C="x")))
        assert log_likelihood(staged, "10x") == pytest.approx(
            log(30.5 / 91) + log(b_after_1) + pooled
        )


@pytest.mark.slow
def test_no_new_row_is_impossible_because_the_tree_stops(db: Database) -> None:
    """Twelve fair coins: the tree ends after answers nobody gave, the questions do not."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame(random.integers(2, size=(1_500, 12))).add_prefix("q")
    tree = db.ingest(rows[:500]).event_tree()
    assert "the tree asks no questions from" in tree.summary
    score = tree.learn_stages().score(rows[500:])
    assert score.n_impossible == 0
    assert score.mean == pytest.approx(-12 * log(2), abs=0.02)


@pytest.mark.slow
def test_new_rows_are_predicted_completed_and_assigned_after_an_unseen_history(
    db: Database,
) -> None:
    counts = {"00x": 24, "00y": 6, "01x": 3, "01y": 27, "11x": 6, "11y": 24}
    ceg = staged_rows(db, rows_of(counts), max_parents=1).to_ceg()
    row = pd.DataFrame({"A": ["1"], "B": ["0"], "C": ["y"]})
    assert ceg.predict(row, "C", probabilities=True)["x"].tolist() == pytest.approx([24.5 / 31])
    # P(B = 0 | A = 1, C = x): B is not open any more, so both branches must be there.
    unseen, seen = 0.5 / 31 * 24.5 / 31, 30.5 / 31 * 9.5 / 61
    given_x = row.assign(C="x")
    table = ceg.predict(given_x, "B", probabilities=True)
    b_after_1 = staged_probability(ceg, "B", "1")
    assert b_after_1 == pytest.approx(30.5 / 31)
    pooled_x = np.exp(log_likelihood(ceg, "11x")) / (30.5 / 91 * b_after_1)
    assert pooled_x == pytest.approx(9.5 / 61)
    assert table["0"].tolist() == pytest.approx([unseen / (unseen + seen)])
    assigned = ceg.assign(row)
    assert assigned.rows["log_likelihood"].tolist() == pytest.approx(
        [log(30.5 / 91) + log(0.5 / 31) + log(6.5 / 31)]
    )
    assert assigned.paths["label"].tolist()[0] == "1"
    completed = ceg.complete(row.assign(C=None), blank="unknown")
    assert completed.rows["completion"].tolist() == ["C = x"]


def staged_probability(ceg: Any, variable: str, label: str) -> float:
    return float(ceg.given(A="1").probability({variable: label}))


@pytest.mark.slow
def test_evidence_counts_histories_nobody_had(db: Database) -> None:
    counts = {"00x": 24, "00y": 6, "01x": 3, "01y": 27, "11x": 6, "11y": 24}
    staged = staged_rows(db, rows_of(counts), max_parents=1)
    known = staged.given(C="x")
    total = fsum(exp(log_likelihood(staged, a + b + "x")) for a, b in product("01", repeat=2))
    assert log_likelihood(known, "10x") == pytest.approx(
        log_likelihood(staged, "10x") - log(total)
    )


@pytest.mark.slow
def test_an_intervention_and_positions_stay_with_the_histories_of_the_tree(
    db: Database,
) -> None:
    counts = {"00x": 24, "00y": 6, "01x": 3, "01y": 27, "11x": 6, "11y": 24}
    ceg = staged_rows(db, rows_of(counts), max_parents=1).to_ceg()
    after = ceg.do(A="1")
    assert log_likelihood(after, "11x") == pytest.approx(
        log_likelihood(ceg, "11x") - log(30.5 / 91)
    )
    assert log_likelihood(after, "01x") == -np.inf
    at_root = ceg.given(cegdb.evidence.visits("w0"))
    assert log_likelihood(at_root, "11x") == pytest.approx(log_likelihood(ceg, "11x"))
    given_a = ceg.given(A="1")
    assert log_likelihood(given_a, "10x") == pytest.approx(
        log_likelihood(ceg, "10x") - log(30.5 / 91)
    )


@pytest.mark.slow
@run(4)
@given(data=st.data(), most=st.none() | st.integers(0, 3), zeros=ZEROS)
def test_the_probabilities_of_all_rows_add_up_to_1(
    data: st.DataObject, most: int | None, zeros: str
) -> None:
    """Questions behind gates included; an answer that is not asked is 'not applicable'.

    Without ``max_parents`` every cell has an answer: blank ones are unknown there.
    """
    names = "ABCDE"
    has_blanks = most is not None
    gated = has_blanks and data.draw(st.booleans())
    rows = data.draw(
        st.lists(st.text("01", min_size=5, max_size=5), min_size=1, max_size=12, unique=True)
    )
    if gated:  # D is asked only where B = 1
        rows = list({row if row[1] == "1" else f"{row[:3]}-{row[4]}" for row in rows})
    with cegdb.open() as db:
        levels = {name: ["0", "1"] for name in names}
        survey = db.ingest(rows_of(dict.fromkeys(rows, 5), names), count="n", levels=levels)
        blank: Any = "structural" if has_blanks else "auto"
        tree = survey.event_tree(sampling_zeros=zeros, blank=blank)
        staged = tree.learn_stages(max_parents=most, prior="stage", criterion="score")
        everything = pd.DataFrame(
            [
                [None if a == "-" else a for a in row]
                for row in product("01-" if has_blanks else "01", repeat=5)
            ],
            columns=list(names),
        )
        scores = staged.assign(everything).rows["log_likelihood"]
        assert fsum(np.exp(scores)) == pytest.approx(1)
        open_row = pd.DataFrame([[None] * 5], columns=list(names))
        assert staged.score(open_row, blank="unknown").mean == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_a_question_behind_a_gate_is_not_asked_after_an_unseen_history(db: Database) -> None:
    """S (smokes) opens the gate of N (how many); the history A = 1, S = n is new."""
    counts = {"0nx-": 40, "0yxm": 20, "0yxf": 20, "1yxm": 15, "1yyf": 15, "0nyf": 0}
    counts.pop("0nyf")
    rows = rows_of(counts, "ASCN")
    staged = staged_rows(db, rows, max_parents=2)
    not_asked = exp(log_likelihood(staged, "1nx-", "ASCN"))
    asked = sum(exp(log_likelihood(staged, f"1nx{n}", "ASCN")) for n in "mf")
    assert not_asked > 0
    assert asked > 0
    # Of 40 who do not smoke none was asked: half a row for each of the two cases.
    assert asked / (asked + not_asked) == pytest.approx(0.5 / 41)


@pytest.mark.slow
def test_a_whole_tree_and_a_tree_with_unseen_histories_say_the_same(db: Database) -> None:
    """Every configuration of the parents was seen, so nothing is left to pooled rows."""
    rows = simulate(3, k=8, n=300, n_scored=200)
    survey = db.ingest(rows.learnt)
    scores = []
    for zeros in ("floret", "full"):
        tree = survey.event_tree(sampling_zeros=zeros)
        staged = tree.learn_stages(max_parents=2, prior="stage", criterion="score")
        scores.append(staged.assign(rows.scored).rows["log_likelihood"].to_numpy())
        assert "never observed" not in staged.summary
    assert np.isfinite(scores[0]).all()
    assert scores[0] == pytest.approx(scores[1])


@pytest.mark.slow
def test_answers_that_are_the_same_are_the_same_after_an_unseen_history(db: Database) -> None:
    rows = rows_of({"00x": 20, "01y": 20, "11y": 10, "11x": 10, "01z": 5})
    book = {"variables": {"C": {"recode": {"z": "y"}}}}
    tree = db.ingest(rows, count="n", codebook=book).event_tree(sampling_zeros="floret")
    staged = tree.learn_stages(max_parents=2, prior="stage", criterion="score")
    assert log_likelihood(staged, "10z") == log_likelihood(staged, "10y") > -np.inf


@pytest.mark.slow
def test_too_many_open_answers_are_refused_in_one_message(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cegdb.inference import unseen_histories

    monkeypatch.setattr(unseen_histories, "_MOST_STATES", 2)
    rows = simulate(1, k=8, n=60, n_scored=1)
    tree = db.ingest(rows.learnt).event_tree(sampling_zeros="floret")
    staged = tree.learn_stages(max_parents=3, prior="mass", criterion="score")
    blank = rows.scored.astype(object).assign(**dict.fromkeys(rows.scored.columns))
    with pytest.raises(QueryError, match=r"more than 2\nhint: leave fewer answers open"):
        staged.score(blank, blank="unknown")


# =============================================================================
# Settings, summaries, and what becomes of a staging
# =============================================================================


def eight_questions(db: Database) -> None:
    """Make a tree of eight questions with two answers each."""
    rows = simulate(3, k=8, n=300, n_scored=1)
    db.ingest(rows.learnt, name="q").event_tree(sampling_zeros="floret")


OF_BINARY = pytest.mark.holds(made_by=eight_questions)


@pytest.fixture
def binary(db: Database) -> EventTree:
    return db.trees["q"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_parents": -1}, "max_parents must be a whole number of 0 or more, not -1"),
        ({"max_parents": 1.5}, "max_parents must be a whole number of 0 or more, not 1.5"),
        (
            {"max_parents": 2, "initial": "indep"},
            "max_parents and initial stages cannot be given together\n.* leave initial out",
        ),
        (
            {"max_parents": 2, "frozen": {("0",): "a"}},
            "max_parents and frozen stages cannot be given together\n.* leave frozen out",
        ),
        (
            {"max_parents": 2, "relabel": {"0": "no"}},
            "max_parents and relabel cannot be given together\nhint: recode the answers",
        ),
    ],
)
@OF_BINARY
def test_settings_that_do_not_go_together_get_one_message(
    binary: EventTree, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(StagingError, match=message):
        binary.learn_stages(**settings)


def test_too_many_sets_are_refused_with_the_number_that_fits(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clustering, "MAX_SETS", 40)
    rows = simulate(3, k=8, n=300, n_scored=1)
    tree = db.ingest(rows.learnt).event_tree(sampling_zeros="floret")
    with pytest.raises(
        StagingError,
        match=r"max_parents=4 has 57 sets of the 6 variables before 'q06' to compare; at most "
        r"40 are\nhint: use max_parents=2, or a tree with fewer variables",
    ):
        tree.learn_stages(max_parents=4, prior="mass", criterion="score")


def test_method_exact_says_how_many_configurations_are_too_many(db: Database) -> None:
    random = np.random.default_rng(1)
    levels = [str(i) for i in range(6)]
    a, b = random.integers(6, size=(2, 40_000))
    c = random.random(40_000) < random.random((6, 6))[a, b]
    rows = pd.DataFrame({"a": a, "b": b, "c": c.astype(int)}).astype(str)
    tree = db.ingest(rows, levels={"a": levels, "b": levels}).event_tree(sampling_zeros="none")
    with pytest.raises(
        StagingError,
        match=r"up to 16 configurations of parents; 36, such as .* may share stages here\n"
        r"hint: use method='ahc' or method='hc', a smaller max_parents, or",
    ):
        tree.learn_stages(
            max_parents=2, method="exact", score="log_marginal_likelihood", prior="stage"
        )
    staged = tree.learn_stages(
        max_parents=1, method="exact", score="log_marginal_likelihood", prior="stage"
    )
    assert "exact: no other staging of the parents' configurations has a better" in (
        staged.summary
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", ["auto", "bhc", "fbhc", "csbhc", "bj", "hc", "hclust", "kmeans", "exact"]
)
@OF_BINARY
def test_every_method_starts_from_configurations(
    db: Database, binary: EventTree, method: str
) -> None:
    staged = binary.learn_stages(max_parents=2, method=method, prior="mass")
    stage = members(db, staged)
    answers = {
        row.vertex_id: dict(zip(binary.settings["order"], row.labels, strict=False))
        for row in binary.situations.itertuples()
    }
    parents = staged.parent_sets.query("is_chosen").set_index("variable")["parents"]
    of_configuration = defaultdict(set)
    for row in binary.situations.itertuples():
        key = tuple(answers[row.vertex_id][name] for name in parents[row.variable])
        of_configuration[row.variable, key].add(stage[row.vertex_id])
    assert all(len(stages) == 1 for stages in of_configuration.values())


@OF_BINARY
def test_the_summary_tells_the_parents_and_close_calls(binary: EventTree) -> None:
    staged = binary.learn_stages(max_parents=3, prior="stage", criterion="score")
    sets = staged.parent_sets
    sizes = sets.query("is_chosen")["parents"].map(len).tolist()
    close = len(sets.query("set_rank == 2 and difference > -3"))

    def of(size: int) -> str:
        return f"{sizes.count(size)} hyperstages"

    assert (
        f"  at most 3 earlier variables: 1 hyperstage depends on none, {of(1)} depend on 1, "
        f"{of(2)} depend on 2, 1 hyperstage depends on 3; in {close} the runner-up is within 3 "
        "of the best score (see parent_sets)" in staged.summary.splitlines()
    )


@pytest.mark.slow
@OF_BINARY
def test_the_report_says_how_stages_were_limited(binary: EventTree) -> None:
    ceg = binary.learn_stages(max_parents=3, prior="mass", criterion="score").to_ceg()
    text = " ".join(str(ceg.report.text("paper")).split())
    assert (
        "The stages of a variable depend on at most 3 earlier variables: the set with the best "
        "score was chosen, and situations with the same answers to it started as one stage."
    ) in text


@pytest.mark.slow
def test_learning_warns_where_most_histories_were_seen_once_or_twice(db: Database) -> None:
    survey = db.ingest(simulate(3, k=12, n=300, n_scored=1).learnt)
    tree = survey.event_tree(sampling_zeros="floret")
    n = tree.florets["counts"].map(sum)
    note = (
        f"note: {(n <= 2).sum():,} of {len(n):,} histories were seen only once or twice, too "
        "rarely to learn their stages: new rows are predicted badly; learn from fewer earlier "
        "answers (max_parents=3, --max-parents 3)"
    )
    assert note in tree.learn_stages(prior="mass", criterion="score").summary.splitlines()
    few = tree.learn_stages(max_parents=3, prior="mass", criterion="score").summary
    assert "seen only once or twice" not in few
    assert "sampling_zeros" not in few
    assert "(sampling_zeros='none'), so new rows with it have probability 0; build" in (
        survey.event_tree(sampling_zeros="none")
        .learn_stages(max_parents=3, prior="mass", criterion="score")
        .summary
    )


@OF_BINARY
def test_learning_does_not_warn_where_histories_are_common(binary: EventTree) -> None:
    assert "once or twice" not in binary.learn_stages(prior="mass", criterion="score").summary


@pytest.mark.slow
@OF_BINARY
def test_replicates_choose_the_parents_again(binary: EventTree) -> None:
    staged = binary.learn_stages(max_parents=2, prior="stage", criterion="score")
    stability = staged.stability(runs=3)
    assert len(stability) == len(staged.stages)
    intervals = staged.intervals("bootstrap", runs=3)
    assert intervals["low"].notna().all()


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["keep", "relearn"])
@OF_BINARY
def test_a_rebuild_keeps_the_parents_or_chooses_them_again(
    db: Database, binary: EventTree, rule: str
) -> None:
    rows = simulate(3, k=8, n=300, n_scored=400)
    staged = binary.learn_stages("few", max_parents=2, prior="stage", criterion="score")
    before = staged.parent_sets.drop(columns=["hyperstage_id", "n_situations"])
    db.surveys["q"].append(rows.scored)
    db.rebuild(stages=rule)
    again = db.stagings["few"]
    assert again.settings["max_parents"] == 2
    after = again.parent_sets.drop(columns=["hyperstage_id", "n_situations"])
    if rule == "keep":
        pd.testing.assert_frame_equal(before, after)
        # A new situation has the stage of its configuration, none of its own.
        assert len(again.stages) == 17
    else:
        fresh = again.tree.learn_stages(max_parents=2, prior="stage", criterion="score")
        pd.testing.assert_frame_equal(
            after.drop(columns="staging"),
            fresh.parent_sets[after.columns].drop(columns="staging"),
        )
    assert again.score(simulate(3, k=8, n=300, n_scored=900).scored).n_impossible == 0
    assert db.check() == []


@OF_BINARY
def test_a_renamed_copy_has_the_parents_too(binary: EventTree) -> None:
    staged = binary.learn_stages(max_parents=2, prior="stage", criterion="score")
    copy = staged.rename({"u1": "first"})
    assert len(copy.parent_sets) == len(staged.parent_sets) > 0
    joined = staged.join("u1", "u2")
    assert joined.parent_sets.empty


@pytest.mark.slow
def test_the_command_line_learns_from_few_parents(tmp_path: Path) -> None:
    rows = simulate(3, k=6, n=200, n_scored=1).learnt
    rows.to_csv(tmp_path / "q.csv", index=False)
    store = str(tmp_path / "q.duckdb")
    runner = CliRunner()
    run_settings = ["--sampling-zeros", "floret", "--max-parents", "2", "--db", store]
    result = runner.invoke(main, ["run", str(tmp_path / "q.csv"), *run_settings])
    assert result.exit_code == 0, result.output
    assert "  at most 2 earlier variables: " in result.stderr
    query = "select variable, parents from cegdb.parent_sets where is_chosen and staging = 'q'"
    shown = runner.invoke(main, ["sql", store, query, "--format", "json"])
    sets = json.loads(shown.stdout)
    assert [one["variable"] for one in sets] == [f"q0{i}" for i in range(6)]
    assert sets[0]["parents"] == []
    learnt = runner.invoke(main, ["learn-stages", store, "q", "--max-parents", "1"])
    assert "  at most 1 earlier variable: " in learnt.stderr
    traced = runner.invoke(
        main, ["steps", "trace", store, "q", "-o", str(tmp_path / "trace.sql")]
    )
    assert traced.exit_code == 0, traced.output


@pytest.mark.slow
def test_new_rows_come_close_to_the_truth(db: Database) -> None:
    rows = simulate(2, k=10, n=1_000, n_scored=2_000)
    score = db.ingest(rows.learnt).event_tree().learn_stages(max_parents=3).score(rows.scored)
    assert score.n_impossible == 0
    assert rows.truth - 0.05 < score.mean < rows.truth + 0.01


@pytest.mark.slow
def test_15_questions_come_within_0_05_a_row_of_the_truth(db: Database) -> None:
    losses = []
    for seed in range(3):
        rows = simulate(seed)
        staged = db.ingest(rows.learnt).event_tree().learn_stages(max_parents=3)
        losses.append(rows.truth - staged.score(rows.scored).mean)
    assert np.mean(losses) < 0.05
