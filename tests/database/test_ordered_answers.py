"""Ordered answers: scores, stages that are neighbours in them, means and cumulative shares."""

from __future__ import annotations

import json
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
from cegdb.stages import learning

if TYPE_CHECKING:
    from pathlib import Path

    from cegdb import Database, StagedTree, Survey

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
        for shares in (EVEN, SKEWED, PEAKED)
        for n in (10, 60, 300)
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
