"""Ordered answers: scores, stages that are neighbours in them, means and cumulative shares."""

from __future__ import annotations

import json
import re
from itertools import combinations, pairwise
from math import comb, log
from typing import TYPE_CHECKING, Any

import clustering_oracle
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import beta, norm, t

import cegdb
from cegdb.cli import main
from cegdb.errors import QueryError, StagingError, SurveyError
from cegdb.graphs.layout import layout
from cegdb.inference.mean_scores import stage_means
from cegdb.report.page.page_data import page_model
from cegdb.report.page.page_reader import Limits
from cegdb.stages import learning

if TYPE_CHECKING:
    from pathlib import Path

    from cegdb import ChainEventGraph, Database, StagedTree, Survey

HEALTH = {"values": {"2": "fair", "1": "poor", "3": "good"}}


def scores(db: Database, survey: Survey) -> dict[str, dict[str, float]]:
    """Return the scores of a survey by variable and label."""
    rows = db.sql(
        "select * from cegdb.scores where survey = $name order by level_id",
        {"name": survey.name},
    )
    found: dict[str, dict[str, float]] = {}
    for row in rows.itertuples():
        found.setdefault(row.variable, {})[row.label] = row.score
    return found


# -----------------------------------------------------------------------------
# Scores in the codebook
# -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"ordered": True}, {"fair": 0, "poor": 1, "good": 2}),
        ({"ordered": "true"}, {"fair": 0, "poor": 1, "good": 2}),
        ({"ordered": True, "missing": ["2"]}, {"poor": 0, "good": 1}),
        ({"ordered": False}, None),
        (
            {"scores": {"poor": 0, "2": 1.5, "good": "-4e1"}},
            {"fair": 1.5, "poor": 0, "good": -40},
        ),
    ],
)
def test_answers_of_an_ordered_variable_have_scores(
    db: Database, entry: dict[str, Any], expected: dict[str, float] | None
) -> None:
    rows = pd.DataFrame({"health": ["1", "2", "3", ""], "sex": ["m", "f", "f", "m"]})
    survey = db.ingest(rows, codebook={"variables": {"health": {**HEALTH, **entry}}})
    assert scores(db, survey) == ({} if expected is None else {"health": expected})
    db.drop("survey", survey.name)
    assert db.sql("select * from cegdb.level_score").empty


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "b.yaml",
            """
variables:
  health: {values: {1: poor, 2: fair, 3: good}, scores: {1: 0, 2: 5, good: 6}}
  age: {ordered: true, bins: [40]}
""",
        ),
        (
            "b.csv",
            """variable,kind,code,label
health,value,1,poor
health,value,2,fair
health,value,3,good
health,score,1,0
health,score,2,5
health,score,good,6
age,bins,,40
age,ordered,,
""",
        ),
    ],
)
def test_scores_are_read_from_yaml_and_csv(
    db: Database, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    rows = pd.DataFrame({"health": ["1", "2", "3"], "age": ["20", "50", "70"]})
    survey = db.ingest(rows, codebook=tmp_path / name)
    expected = {"health": {"poor": 0, "fair": 5, "good": 6}, "age": {"<40": 0, ">=40": 1}}
    assert scores(db, survey) == expected


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"ordered": "yes"}, r"'a': ordered must be true or false, not 'yes'"),
        ({"ordered": 1}, r"'a': ordered must be true or false, not 1"),
        ({"ordered": True, "scores": {"x": 1}}, r"'a' has both ordered and scores\nhint: ord"),
        ({"scores": ["x"]}, r"'a', scores must be a mapping"),
        ({"scores": {"x": "high"}}, r"'a': the score of 'x' must be a number, not 'high'"),
        ({"scores": {"x": True}}, r"'a': the score of 'x' must be a number, not True"),
        ({"scores": {"x": float("nan")}}, r"the score of 'x' must be a number"),
        ({"scores": {"x": None}}, r"the score of 'x' must be a number, not None"),
        (
            {"scores": {"x": 1}},
            r"'a': scores gives no number for 'y'\nhint: its answers are 'x'",
        ),
        (
            {"scores": {"x": 1, "y": 2, "z": 3}},
            r"'a': scores lists 'z', which is not among its",
        ),
        (
            {"scores": {"x": 1, "y": 2, "not known": 3}, "missing": {"9": "not known"}},
            r"'a': scores lists 'not known', which is not among its answers",
        ),
        (
            {"values": {"x": "one", "y": "two"}, "scores": {"x": 1, "one": 2, "y": 2}},
            r"'a': scores gives the answer 'one' two scores",
        ),
    ],
)
def test_wrong_scores_are_refused(db: Database, entry: dict[str, Any], message: str) -> None:
    rows = pd.DataFrame({"a": ["x", "y", "x"]})
    with pytest.raises(SurveyError, match=message):
        db.ingest(rows, codebook={"variables": {"a": entry}})
    assert list(db.surveys) == []


def test_later_rows_keep_the_scores(db: Database) -> None:
    book = {
        "variables": {
            "a": {"values": {"1": "low", "2": "high"}, "scores": {"1": -1, "high": 5}},
            "b": {"ordered": True},
        }
    }
    survey = db.ingest(pd.DataFrame({"a": ["1", "2"], "b": ["1", "3"]}), codebook=book)
    tree = survey.event_tree("former", sampling_zeros="none")
    survey.append(pd.DataFrame({"a": ["2"], "b": ["2"]}))
    both = {"a": {"low": -1, "high": 5}, "b": {"1": 0, "2": 1, "3": 2}}
    assert scores(db, survey) == both
    with pytest.raises(SurveyError, match="'a': scores gives no number for '3'"):
        survey.append(pd.DataFrame({"a": ["3"], "b": ["2"]}))
    assert scores(db, survey) == both
    survey.refresh(pd.DataFrame({"a": ["2"], "b": ["3"]}))
    assert scores(db, survey)["b"] == {"3": 0}
    assert tree.is_stale
    assert db.check() == []
    db.drop("survey", survey.name)
    assert db.sql("select * from cegdb.level_score").empty


def test_the_settings_of_a_survey_make_its_scores_again(db: Database) -> None:
    book = {"variables": {"a": {"scores": {"x": 0.1, "y": 2}}, "b": {"ordered": True}}}
    rows = pd.DataFrame({"a": ["x", "y"], "b": ["p", "q"]})
    first = db.ingest(rows, "first", codebook=book)
    (settings,) = db.sql("select settings from cegdb.survey where name = 'first'").settings
    again = db.ingest(rows, codebook={"variables": json.loads(settings)["variables"]})
    assert (
        scores(db, again)
        == scores(db, first)
        == {"a": {"x": 0.1, "y": 2}, "b": {"p": 0, "q": 1}}
    )


@pytest.mark.parametrize("form", ["yaml", "csv"])
def test_a_draft_says_that_numbers_in_intervals_are_ordered(
    db: Database, tmp_path: Path, form: Any
) -> None:
    rows = pd.DataFrame({"age": [str(i % 60 + 18) for i in range(600)]})
    book = tmp_path / f"book.{form}"
    book.write_text(db.codebook(rows, form=form))
    assert list(scores(db, db.ingest(rows, codebook=book))["age"].values()) == [0, 1, 2, 3]


# -----------------------------------------------------------------------------
# Stages that are neighbours in their mean score
# -----------------------------------------------------------------------------

BOOK: dict[str, Any] = {
    "variables": {
        "health": {"values": {"1": "poor", "2": "fair", "3": "good"}, "ordered": True},
        "party": {"levels": ["red", "green", "blue"]},
    }
}


def people(seed: int = 1, n: int = 900) -> pd.DataFrame:
    """Return people of eight regions, their party and health."""
    draw = np.random.default_rng(seed)
    region = draw.integers(0, 8, n)
    party = np.array(["red", "green", "blue"])[draw.integers(0, 3, n)]
    health = 1 + draw.binomial(2, np.array([0.2, 0.8, 0.5, 0.2, 0.8, 0.3, 0.55, 0.6])[region])
    smokes = np.array(["no", "yes"])[draw.binomial(1, 0.2 + region / 20)]
    return pd.DataFrame(
        {
            "region": region.astype(str),
            "health": health.astype(str),
            "party": party,
            "smokes": smokes,
        }
    )


def stages_of(staged: StagedTree, variable: str) -> dict[int, int]:
    """Return the stage of each situation of a variable."""
    frame = staged._frame("staged_situations", "staging", "vertex_id")
    frame = frame[frame["variable"] == variable]
    return dict(zip(frame["vertex_id"], frame["stage_id"], strict=True))


def mean_scores(staged: StagedTree, variable: str, alpha: float) -> dict[int, float]:
    """Return the predictive mean of each situation, with this prior mass of each label."""
    florets = staged.tree.edges[staged.tree.edges["variable"] == variable]
    means = {}
    for vertex_id, floret in florets.groupby("parent_id"):
        mass = floret.sort_values("level_id")["n"].to_numpy() + alpha
        means[int(vertex_id)] = float(mass @ np.arange(len(mass)) / mass.sum())
    return means


@pytest.mark.parametrize("structure_prior", ["flat", "size"])
def test_ordinal_stages_are_the_best_neighbours(db: Database, structure_prior: Any) -> None:
    tree = db.ingest(people(), codebook=BOOK).event_tree(
        order=["region", "health"], sampling_zeros="none"
    )
    staged = tree.learn_stages(
        method="ordinal", prior="stage", alpha=3.0, structure_prior=structure_prior
    )
    means = mean_scores(staged, "health", alpha=1.0)
    order = sorted(means, key=lambda vertex: (means[vertex], vertex))
    n = len(order)
    counts = {
        vertex: floret.sort_values("level_id")["n"].to_numpy()
        for vertex, floret in tree.edges.query("variable == 'health'").groupby("parent_id")
    }

    def value(cuts: tuple[int, ...]) -> float:
        blocks = [order[a:b] for a, b in pairwise((0, *cuts, n))]
        total = sum(
            clustering_oracle.log_marginal_likelihood(
                tuple(sum(counts[vertex] for vertex in block).tolist()), (1.0, 1.0, 1.0)
            )
            for block in blocks
        )
        is_size = structure_prior == "size"
        return total - (log(n * comb(n - 1, len(cuts))) if is_size else 0.0)

    every = [cuts for k in range(n) for cuts in combinations(range(1, n), k)]
    best = max(every, key=value)
    stage = stages_of(staged, "health")
    found = tuple(i for i in range(1, n) if stage[order[i]] != stage[order[i - 1]])
    assert found == best
    assert len(set(stage.values())) == len(best) + 1 > 1


def test_other_questions_are_learnt_as_by_ahc(db: Database) -> None:
    tree = db.ingest(people(), codebook=BOOK).event_tree(
        order=["region", "party"], sampling_zeros="none"
    )
    with pytest.raises(
        StagingError, match="needs a question with ordered answers, or with two"
    ):
        tree.learn_stages(method="ordinal", prior="mass")
    assert list(db.stagings) == []
    tree = db.surveys["survey"].event_tree(
        order=["region", "health", "party", "smokes"], sampling_zeros="floret"
    )
    by_ahc, ordinal = (
        tree.learn_stages(prior="mass", criterion="score"),
        tree.learn_stages(method="ordinal", prior="mass"),
    )
    assert stages_of(ordinal, "party") == stages_of(by_ahc, "party")
    assert "ordinal: in 2 hyperstages of ordered answers stages are" in str(ordinal.summary)
    assert ordinal.settings["score"] == "log_marginal_likelihood"
    # Of two answers the order is that of their shares.
    stage = stages_of(ordinal, "smokes")
    prior = ordinal.settings["alpha"] / (8 * 3 * 3 * 2)
    means = mean_scores(ordinal, "smokes", alpha=prior)
    row = [
        stage[vertex] for vertex in sorted(means, key=lambda vertex: (means[vertex], vertex))
    ]
    assert 1 + sum(a != b for a, b in pairwise(row)) == len(set(row))
    assert db.check() == []


def test_labels_without_a_score_play_no_part_in_the_order(db: Database) -> None:
    rows = people()
    rows.loc[::7, "health"] = ""
    book = {"variables": {"health": {**BOOK["variables"]["health"], "missing": ["9"]}}}
    tree = db.ingest(rows, codebook=book).event_tree(
        order=["region", "health"],
        missing_policy="category",
        blank="missing",
        sampling_zeros="none",
    )
    staged = tree.learn_stages(method="ordinal", prior="stage", alpha=4.0)
    means = {}
    for vertex, floret in tree.edges.query("variable == 'health'").groupby("parent_id"):
        mass = (
            floret[floret["label"] != "missing"].sort_values("level_id")["n"].to_numpy() + 1.0
        )
        assert len(floret) == 4
        means[vertex] = mass @ np.arange(3) / mass.sum()
    stage = stages_of(staged, "health")
    row = [
        stage[vertex] for vertex in sorted(means, key=lambda vertex: (means[vertex], vertex))
    ]
    assert 1 + sum(a != b for a, b in pairwise(row)) == len(set(row)) > 1


def test_ordinal_stages_are_learnt_again_and_rebuilt(db: Database) -> None:
    survey = db.ingest(people(), codebook=BOOK)
    staged = survey.event_tree(order=["region", "health"], sampling_zeros="none").learn_stages(
        method="ordinal", prior="mass"
    )
    assert len(staged.stability(runs=20)) == len(staged.stages)
    survey.append(people(seed=2))
    db.rebuild(stages="relearn")
    fresh = db.ingest(pd.concat([people(), people(seed=2)]), "both", codebook=BOOK)
    again = fresh.event_tree(order=["region", "health"], sampling_zeros="none").learn_stages(
        method="ordinal", prior="mass"
    )
    assert stages_of(db.stagings[staged.name], "health") == stages_of(again, "health")
    few = fresh.event_tree(
        order=["party", "smokes", "region", "health"], sampling_zeros="none"
    ).learn_stages(method="ordinal", max_parents=1, prior="mass")
    parents = few.parent_sets.query("variable == 'health' and set_rank == 1")
    assert ["region"] in parents["parents"].map(list).tolist()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"initial": "indep"}, "method 'ordinal' takes no initial stages"),
        ({"relabel": {"poor": "bad"}}, "method 'ordinal' and relabel cannot be given together"),
        ({"criterion": "test"}, "method 'ordinal' has no criterion 'test'"),
        ({"n_stages": 2}, "method 'ordinal' has no n_stages"),
    ],
)
def test_what_ordinal_cannot_do_is_refused(
    db: Database, settings: dict[str, Any], message: str
) -> None:
    tree = db.ingest(people(), codebook=BOOK).event_tree(
        order=["region", "health"], sampling_zeros="none"
    )
    with pytest.raises(StagingError, match=message):
        tree.learn_stages(method="ordinal", **settings)


def test_orders_are_not_searched_by_ordinal_stages(db: Database) -> None:
    survey = db.ingest(people(), codebook=BOOK)
    with pytest.raises(StagingError, match="unknown value 'ordinal' for method"):
        survey.search_orders(["region", "health"], method="ordinal")


def test_too_many_situations_in_an_order_are_refused(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "MAX_ORDERED", 7)
    tree = db.ingest(people(), codebook=BOOK).event_tree(
        order=["region", "health"], sampling_zeros="none"
    )
    with pytest.raises(StagingError, match=r"up to 7 situations in an order; 8, such as"):
        tree.learn_stages(method="ordinal", prior="mass")


# -----------------------------------------------------------------------------
# Means and cumulative shares
# -----------------------------------------------------------------------------


def jeffreys(share: float, size: float) -> tuple[float, float]:
    a, b = share * size + 0.5, (1 - share) * size + 0.5
    return float(beta.ppf(0.025, a, b)), float(beta.ppf(0.975, a, b))


def counted(rows: list[tuple[Any, ...]], *names: str) -> pd.DataFrame:
    """Return a frame of rows with a count."""
    return pd.DataFrame(rows, columns=[*names, "n"])


def test_means_and_cumulative_shares_are_those_of_the_rows(db: Database) -> None:
    rows = [("a", "1", 5), ("a", "2", 9), ("a", "3", 6), ("b", "1", 30), ("b", "3", 10)]
    book = {"variables": {"y": {"scores": {"1": -1, "2": 0, "3": 3}}}}
    survey = db.ingest(counted(rows, "g", "y"), count="n", codebook=book)
    staged = survey.event_tree(sampling_zeros="full").full(alpha=1e-9)
    ceg = staged.to_ceg()
    frame = staged.means(by="g")
    assert list(frame) == ["g", "variable", "mean", "low", "high", "n"]
    pd.testing.assert_frame_equal(ceg.means("y", by=["g"]), frame)
    pd.testing.assert_frame_equal(
        ceg.given(g="b").means(by="g"), frame[1:].reset_index(drop=True)
    )
    for row, shares in zip(frame.itertuples(), ([5, 9, 6], [30, 0, 10]), strict=True):
        n, p = sum(shares), np.array(shares) / sum(shares)
        at = np.array([0, 0.25, 1])  # the scores on a scale from 0 to 1
        mean = p @ at
        error = (p @ at**2 - mean**2) / (n - 1) * (t.ppf(0.975, n - 1) / norm.ppf(0.975)) ** 2
        ends = jeffreys(mean, mean * (1 - mean) / error)
        assert (row.mean, row.low, row.high) == pytest.approx(
            [-1 + 4 * x for x in (mean, *ends)], abs=1e-6
        )
        assert row.n == n
    assert ceg.means(interval=None)["mean"].tolist() == pytest.approx([(-35 + 48) / 60])
    found = staged.cumulative(by="g")
    assert found["label"].tolist() == ["1", "2", "3"] * 2
    assert found["score"].tolist() == [-1, 0, 3] * 2
    shares = [5 / 20, 14 / 20, 1, 30 / 40, 30 / 40, 1]
    assert found["probability"].tolist() == pytest.approx(shares, abs=1e-9)
    assert found["n"].tolist() == [20] * 3 + [40] * 3
    for row in found.itertuples():
        ends = (1, 1) if row.label == "3" else jeffreys(row.probability, row.n)
        assert (row.low, row.high) == pytest.approx(ends, abs=1e-6)


def test_means_are_over_the_answers_that_have_a_score(db: Database) -> None:
    rows = [
        ("a", "1", 5),
        ("a", "2", 5),
        ("a", "9", 90),
        ("b", "", 40),
        ("c", "1", 6),
        ("c", "2", 2),
    ]
    book = {"variables": {"y": {"ordered": True, "missing": {"9": "refused"}}}}
    survey = db.ingest(counted(rows, "g", "y"), count="n", codebook=book)
    tree = survey.event_tree(missing_policy="category", sampling_zeros="none")
    frame = tree.full(alpha=1e-9).means(by="g")
    assert frame["g"].tolist() == ["a", "c"]
    assert frame["mean"].tolist() == pytest.approx([0.5, 0.25])
    assert frame["n"].tolist() == [10, 8]
    assert tree.full(alpha=1e-9).means()["n"].tolist() == [18]


def test_where_all_gave_one_answer_the_mean_is_open_as_far_as_the_rows_allow(
    db: Database,
) -> None:
    rows = [("a", "2", 15), ("b", "1", 9), ("b", "3", 9), ("c", "1", 30)]
    book = {"variables": {"y": {"levels": ["1", "2", "3"], "ordered": True}}}
    survey = db.ingest(counted(rows, "g", "y"), count="n", codebook=book)
    for zeros in ("none", "full"):
        staged = survey.event_tree(sampling_zeros=zeros).full(alpha=1e-9)
        frame = staged.means(by="g").set_index("g")
        unseen = 1 - 0.05 ** (1 / np.array([15, 30]))
        a, c = frame.loc["a"], frame.loc["c"]
        assert (a["mean"], a.low, a.high) == pytest.approx(
            (1, 1 - unseen[0], 1 + unseen[0]), abs=1e-6
        )
        assert (c["mean"], c.low, c.high) == pytest.approx((0, 0, 2 * unseen[1]), abs=1e-6)
    # What is known of the answer itself is certain.
    known = staged.given(y="3").means(by="g")
    assert known[["mean", "low", "high"]].to_numpy().ravel().tolist() == [2.0] * 3 * len(known)
    assert staged.given(y="3").cumulative()["high"].tolist() == [0, 0, 1]


def test_intervals_given_the_staging_are_those_of_the_posterior(db: Database) -> None:
    rows = [
        ("a", "1", 5),
        ("a", "2", 9),
        ("a", "3", 6),
        ("b", "1", 4),
        ("b", "2", 9),
        ("b", "3", 5),
    ]
    book = {"variables": {"y": {"ordered": True}}}
    survey = db.ingest(counted(rows, "g", "y"), count="n", codebook=book)
    staged = survey.event_tree(order=["g", "y"], sampling_zeros="none").indep(
        prior="stage", alpha=3
    )
    frame = staged.means(by="g", given_staging=True)
    mass = np.array([9, 18, 11]) + 1.0
    p, at = mass / mass.sum(), np.array([0, 0.5, 1])
    mean = p @ at
    size = mean * (1 - mean) / ((p @ at**2 - mean**2) / (mass.sum() + 1)) - 1
    ends = [2 * float(beta.ppf(q, mean * size, (1 - mean) * size)) for q in (0.025, 0.975)]
    for row in frame.itertuples():
        assert (row.mean, row.low, row.high) == pytest.approx((2 * mean, *ends), abs=1e-6)


def test_two_answers_are_ordered_in_any_case(db: Database) -> None:
    staged = (
        db.ingest(people(), codebook=BOOK)
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
    )
    mean = staged.means("smokes", by="region")
    share = staged.distribution("smokes", by="region").query("smokes == 'yes'")
    assert mean["mean"].tolist() == pytest.approx(share["probability"].tolist())
    assert staged.means()["variable"].tolist() == ["health"]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda s: s.means("party"),
            r"'party' are not ordered\nhint: the ordered .* 'health', 'sm",
        ),
        (lambda s: s.means("helth"), r"'helth'"),
        (lambda s: s.means("health", by="health"), r"'health' is named twice"),
        (
            lambda s: s.cumulative("health", by="label"),
            r"a variable is named 'label', like a col",
        ),
        (
            lambda s: s.means(by="health"),
            r"has no ordered variable\nhint: declare in a codebook",
        ),
    ],
)
def test_what_has_no_order_is_refused(db: Database, ask: Any, message: str) -> None:
    rows = people().assign(label=lambda frame: frame["party"])
    staged = (
        db.ingest(rows, codebook=BOOK)
        .event_tree(
            order=["region", "health", "party", "smokes", "label"], sampling_zeros="none"
        )
        .learn_stages(prior="mass", criterion="score")
    )
    with pytest.raises(QueryError, match=message):
        ask(staged)


def test_relabelled_answers_without_a_score_are_refused(db: Database) -> None:
    tree = db.ingest(people(), codebook=BOOK).event_tree(
        order=["region", "health"], sampling_zeros="none"
    )
    staged = tree.learn_stages(
        relabel={("health", "poor"): "bad"}, prior="mass", criterion="score"
    )
    with pytest.raises(
        QueryError, match="'bad', to which answers to 'health' were relabelled, has"
    ):
        staged.means()


def coverage(db: Database, shares: list[list[float]], n: int, n_sets: int) -> dict[str, float]:
    """Return how often intervals of means and cumulative shares hold the truth."""
    draw = np.random.default_rng(n)
    weight, truth = np.array([0.6, 0.4]), np.array(shares)
    rows = [
        (f"s{number:03}", str(group), str(label), count)
        for number in range(n_sets)
        for group, size in enumerate(draw.multinomial(n, weight))
        for label, count in enumerate(draw.multinomial(size, truth[group]))
        if count
    ]
    book = {"variables": {"y": {"levels": ["0", "1", "2", "3"], "ordered": True}}}
    survey = db.ingest(
        counted(rows, "set", "g", "y"), "s", count="n", codebook=book, replace=True
    )
    staged = survey.event_tree(sampling_zeros="full").full()
    means, cumulative = staged.means(by="set"), staged.cumulative(by="set")
    assert (means["low"] <= means["mean"]).all()
    assert (means["mean"] <= means["high"]).all()
    mean, up_to = float(weight @ truth @ np.arange(4)), (weight @ truth).cumsum()
    up_to_label = cumulative["score"].map(dict(enumerate(up_to)))
    is_open = cumulative["score"] < 3
    return {
        "mean": ((means["low"] <= mean) & (mean <= means["high"])).mean(),
        "cumulative": (
            (cumulative["low"] <= up_to_label) & (up_to_label <= cumulative["high"])
        )[is_open].mean(),
    }


EVEN = [[0.2, 0.3, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4]]
SKEWED = [[0.9, 0.07, 0.02, 0.01], [0.8, 0.1, 0.06, 0.04]]
PEAKED = [[0.02, 0.9, 0.06, 0.02], [0.05, 0.8, 0.1, 0.05]]


# Of 250 data sets: two and a half standard errors of a coverage of 92 % are 4.3 %.
LEAST = 0.92 - 0.043


def test_intervals_of_few_rows_hold_the_truth(db: Database) -> None:
    assert min(coverage(db, EVEN, 20, n_sets=250).values()) >= LEAST


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say(db: Database) -> None:
    found = pd.DataFrame(
        coverage(db, shares, n, n_sets=250)
        for shares, n in ((EVEN, 60), (SKEWED, 10), (SKEWED, 300), (PEAKED, 10))
    )
    assert found.to_numpy().min() >= LEAST
    assert found.mean().between(0.94, 0.98).all()


def test_the_commands_print_means_and_cumulative_shares(tmp_path: Path) -> None:
    file = str(tmp_path / "clinic.duckdb")
    with cegdb.open(file) as db:
        db.ingest(people(), "clinic", codebook=BOOK).event_tree(
            sampling_zeros="none"
        ).learn_stages(prior="mass", criterion="score").to_ceg()
        expected = db.cegs["clinic"].means(by="party")
    words = ["means", file, "clinic", "health", "--by", "party", "--format", "json"]
    found = json.loads(CliRunner().invoke(main, words).stdout)
    assert [row["mean"] for row in found] == pytest.approx(expected["mean"].tolist(), abs=1e-6)
    words = ["cumulative", file, "clinic", "--given", "party=red", "--format", "json"]
    rows = json.loads(CliRunner().invoke(main, words).stdout)
    assert [row["label"] for row in rows] == ["poor", "fair", "good"]


# -----------------------------------------------------------------------------
# Stages and positions in the order of their means, in plots, lists and words
# -----------------------------------------------------------------------------

CLINIC: dict[str, Any] = {
    "variables": {
        "pain": {"scores": {"none": 0, "some": 1.5, "much": 5}},
        "mood": {"levels": ["low", "fair", "good"], "ordered": True},
    }
}


PAIN = {"variables": {"pain": CLINIC["variables"]["pain"]}}


def clinic(db: Database, **settings: Any) -> ChainEventGraph:
    """Return a CEG of four groups, pain and mood: the mean falls, then rises by group."""
    pain = {"a": (10, 20, 70), "b": (70, 25, 5), "c": (40, 30, 30), "d": (25, 50, 25)}
    mood = {"none": (0, 1, 4), "some": (4, 1, 0), "much": (1, 3, 1)}
    rows = [
        (group, label, answer, n * k)
        for group, counts in pain.items()
        for label, n in zip(("none", "some", "much"), counts, strict=True)
        for answer, k in zip(("low", "fair", "good"), mood[label], strict=True)
    ]
    frame = counted(rows, "group", "pain", "mood")
    survey = db.ingest(frame[frame["n"] > 0], "clinic", count="n", codebook=CLINIC)
    return survey.event_tree().learn_stages(**settings).to_ceg()


def stages_by_mean(ceg: ChainEventGraph, variable: str) -> dict[str, float]:
    """Return the mean score of each stage of a variable by the views, lowest first."""
    book = CLINIC["variables"][variable]
    scores = book.get("scores") or {"low": 0, "fair": 1, "good": 2}
    edges = ceg.staging.stage_edges.query(f"variable == '{variable}'")
    means = {
        stage: float(floret["probability"] @ floret["label"].map(scores))
        for stage, floret in edges.groupby("stage")
    }
    return dict(sorted(means.items(), key=lambda one: one[1]))


def positions_by_mean(ceg: ChainEventGraph, variable: str) -> list[str]:
    """Return the positions of a variable, those of the lowest mean score first."""
    place = list(stages_by_mean(ceg, variable))
    rows = ceg.positions.query(f"variable == '{variable}'")
    return sorted(rows["position"], key=lambda w: place.index(stage_at(ceg, w)))


def stage_at(ceg: ChainEventGraph, position: str) -> str:
    return str(ceg.positions.set_index("position").loc[position, "stage"])


def heights(figure: Any, names: list[str]) -> list[float]:
    """Return how far from the top texts stand that begin with some names."""
    drawn = {
        text.get_text().split("\n")[0].split(" ")[0]: text.get_window_extent().y1
        for axes in figure.axes
        for text in axes.texts
    }
    return [-drawn[name] for name in names]


def test_scores_put_the_answers_in_order_unless_levels_do(db: Database) -> None:
    rows = counted([("none", 1), ("some", 1), ("much", 1)], "pain")
    first = db.ingest(rows, count="n", codebook=PAIN, name="scored")
    assert first.variables["label"].tolist()[:3] == ["none", "some", "much"]
    entry = {**PAIN["variables"]["pain"], "levels": ["much", "some", "none"]}
    second = db.ingest(
        rows, count="n", codebook={"variables": {"pain": entry}}, name="declared"
    )
    assert second.variables["label"].tolist()[:3] == ["much", "some", "none"]
    first.append(counted([("some", 2), ("none", 3)], "pain"))
    assert first.variables["label"].tolist()[:3] == ["none", "some", "much"]


def test_plots_have_stages_and_positions_in_the_order_of_their_means(db: Database) -> None:
    ceg = clinic(db)
    staged = ceg.staging
    means = stages_by_mean(ceg, "pain")
    assert list(means) != sorted(means, key=lambda stage: int(stage[1:]))
    picture = staged.plot.probabilities("pain")
    assert "on a scale from 0 (none) to 5 (much)" in picture.caption
    first, *others = picture.figure.axes
    assert [one.get_xlabel() for one in (first, others[0])] == ["score", "probability"]
    heads = [text.get_text() for text in picture.figure.texts]
    assert [head for head in heads if head in CLINIC["variables"]["pain"]["scores"]] == [
        "none", "some", "much"
    ]  # fmt: skip
    lines = [np.asarray(line.get_xdata(), dtype=float) for line in first.lines]
    assert [one.item() for one in lines[1::2]] == pytest.approx(list(means.values()))
    of_groups = ceg.means("pain", by="group").sort_values("mean")  # a stage for each group
    assert [one.tolist() for one in lines[::2]] == [
        pytest.approx([row.low, row.high], abs=1e-6) for row in of_groups.itertuples()
    ]
    flow = ceg.plot.flow()
    assert "Positions of pain and mood stand in the order" in flow.caption
    for variable in ("pain", "mood"):
        found = heights(flow.figure, positions_by_mean(ceg, variable))
        assert found == sorted(found)
        found = heights(staged.plot.flow().figure, list(stages_by_mean(ceg, variable)))
        assert found == sorted(found)


def test_figures_have_positions_in_the_order_of_their_means(db: Database) -> None:
    ceg = clinic(db)
    graph = ceg.overview()
    boxes = layout(graph, lambda lines, **_: (40.0, 12.0 * len(lines))).boxes
    y = {box.name: box.y for box in boxes}
    for variable in ("pain", "mood"):
        order = positions_by_mean(ceg, variable)
        assert len(order) > 2
        assert [y[name] for name in order] == sorted(y[name] for name in order)
        means = list(stages_by_mean(ceg, variable).values())
        assert [graph.nodes[name]["mean"] for name in order] == pytest.approx(means)
    caption = ceg.figure().caption
    assert "Positions of pain and mood stand in the order of their mean score" in caption
    assert "mean" not in ceg.to_networkx().nodes["w1"]
    model = page_model(ceg._store, ceg.id, None, Limits())
    names = [one["name"] for one in model["ceg"]["positions"]]
    drawn = [node["y"] for node in model["ceg"]["drawing"]["nodes"]]
    for variable in ("pain", "mood"):
        order = positions_by_mean(ceg, variable)
        assert [name for name in names if name in order] == order
        at = [drawn[names.index(name)] for name in order]
        assert at == sorted(at)
        stages = [one for one in model["stages"] if one["variable"] == variable]
        assert [one["name"] for one in stages] == list(stages_by_mean(ceg, variable))
        for one, mean in zip(stages, stages_by_mean(ceg, variable).values(), strict=True):
            said, rest = one["average"].removeprefix("On average ").split(" (", 1)
            assert said == f"{mean:.{len(said.split('.')[1])}f}"
            assert f"; n = {one['n']:,}) on a scale from 0 " in rest
    assert [one["average"] for one in model["stages"] if one["variable"] == "group"] == [None]


def test_reports_give_the_mean_of_each_stage_lowest_first(db: Database) -> None:
    ceg = clinic(db)
    text = ceg.report.text()
    assert text.count("Averages are on a scale from 0 (none) to 5 (much).") == 1
    assert text.count("Averages are on a scale from 0 (low) to 2 (good).") == 1
    for variable in ("pain", "mood"):
        part = text.split(f"\n## {variable}\n")[1].split("\n## ")[0]
        said = re.findall(r"On average ([\d.]+) \(", part)
        means = stages_by_mean(ceg, variable).values()
        assert said == [
            f"{mean:.{len(one.split('.')[1])}f}" for one, mean in zip(said, means, strict=True)
        ]
    (row,) = ceg.given(group="b").means("pain").itertuples()  # a stage of its own
    ends = f"{row.low:.2f} to {row.high:.2f}"
    assert f"On average {row.mean:.2f} ({ends}; n = 500)." in text
    analyst = ceg.report.text("analyst")
    rows = re.findall(r"\| *mean score *\| *([\d,]+) *\|.*?\| *([\d.]+) *\|", analyst)
    expected = [
        f"{mean:.3f}"
        for name in ("pain", "mood")
        for mean in stages_by_mean(ceg, name).values()
    ]
    assert [mean for _, mean in rows] == expected
    listed = re.findall(r"^\| *(w\d+) ", analyst, re.MULTILINE)
    order = [*positions_by_mean(ceg, "pain"), *positions_by_mean(ceg, "mood")]
    assert listed == ["w0", *order]
    order_of_table = (
        "Their order is that of the mean score, on a scale from 0 (none) to 5 (much)."
    )
    assert order_of_table in analyst


def test_an_explanation_says_how_high_the_last_answer_is_on_average(db: Database) -> None:
    ceg = clinic(db)
    (row,) = ceg.means("mood").itertuples()
    sentences = dict(ceg._explained().sections)["Answers to mood"]
    assert sentences[1] == (
        f"mood is on average {row.mean:.2f} ({row.low:.2f} to {row.high:.2f}; n = 2,000) on a "
        "scale from 0 (low) to 2 (good)"
    )
    lowest, *_, highest = positions_by_mean(ceg, "mood")
    assert sentences[2].startswith(f"mood is on average highest at {highest} (n = ")
    assert f"; lowest at {lowest} (n = " in sentences[2]
    assert f"(in stage {stage_at(ceg, highest)}: " in sentences[2]
    other = ceg.given(group="b").save("given-b")
    (row,) = other.means("mood").itertuples()
    said = dict(other._explained().sections)["Answers to mood"]
    assert said[1].startswith(f"mood is on average {row.mean:.2f} ({row.low:.2f} to ")
    assert "in stage" not in said[2]
    plain = other.report.text()
    assert re.findall(r"On average [\d.]+ \(n = \d+\)\.", plain)
    assert "Averages are on a scale from 0 (low) to 2 (good)." in plain
    one_answer = ceg.given(pain="none").save("no-pain").report.text()
    assert "on a scale from 0 (none)" not in one_answer


def test_hidden_stages_have_no_mean_and_come_last(db: Database) -> None:
    shares = {"a": (10, 20, 70), "b": (70, 27, 3), "c": (40, 40, 20), "d": (2, 8, 90)}
    shares |= {"e": (25, 25, 50), "f": (50, 50, 20)}
    rows = [
        (group, label, n)
        for group, counts in shares.items()
        for label, n in zip(("none", "some", "much"), counts, strict=True)
    ]
    survey = db.ingest(counted(rows, "group", "pain"), count="n", codebook=PAIN)
    ceg = survey.event_tree().full().to_ceg()
    text = ceg.report.text("analyst", min_n=5, markdown=False)
    part = text.split("\nStages\n")[1].split("\nPositions\n")[0]
    groups = [one for one in part.split("Stage: ")[1:] if "Variable: pain" in one]
    names = [one.split(";")[0] for one in groups]
    shown = [one.split(";")[0] for one in groups if "mean score" in one]
    assert 1 < len(shown) < len(names)
    assert names[: len(shown)] == shown
    assert shown == [stage for stage in stages_by_mean(ceg, "pain") if stage in shown]
    axes = ceg.staging.plot.probabilities("pain", min_n=5).figure.axes[0]
    assert len(axes.lines) == 2 * len(shown)
    assert [text.get_text() for text in axes.texts] == ["…"] * (len(names) - len(shown))


def test_a_single_answer_is_as_certain_as_the_others_are_impossible(db: Database) -> None:
    rows = [("a", "much", 15), ("b", "none", 40), ("b", "some", 40), ("b", "much", 40)]
    survey = db.ingest(counted(rows, "g", "pain"), count="n", codebook=PAIN)
    scores = {"pain": {"none": 0.0, "some": 1.5, "much": 5.0}}
    for impossible, low in (([], 5 * 0.05 ** (1 / 15)), (["none", "some"], None)):
        tree = survey.event_tree(
            sampling_zeros="none" if not impossible else "auto",
            impossible=[{"g": "a", "pain": label} for label in impossible],
        )
        staged = tree.full()
        means = stage_means(db._store, staged.id, scores).values()
        (of_a,) = [mean for mean in means if mean.mean == 5]
        assert of_a.low == (None if low is None else pytest.approx(low))
        text = staged.to_ceg().report.text()
        (sentence,) = [line for line in text.splitlines() if "15 people with g “a”" in line]
        assert "On average" not in sentence


def test_means_outlive_a_change_of_the_survey_that_weights_come_from(db: Database) -> None:
    rows = counted(
        [("a", "none", 9), ("a", "much", 6), ("b", "some", 5), ("b", "much", 5)], "g", "pain"
    )
    rows["w"] = 2.0
    survey = db.ingest(rows, count="n", weight="w", codebook=PAIN)
    ceg = survey.event_tree().learn_stages(weighting="global").to_ceg()
    means = [mean for _, mean in sorted(stages_by_mean(ceg, "pain").items())]
    assert re.findall(r"On average [\d.]+ \([\d.]+ to [\d.]+; n = \d+\)", ceg.report.text())
    survey.append(rows)
    said = re.findall(r"On average ([\d.]+) \(n = \d+\)", ceg.report.text())
    assert sorted(said) == sorted(f"{mean:.1f}" for mean in means)
    assert " is on average " in str(ceg.explain())
