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

from cegdb.errors import StagingError, SurveyError
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
    tree = survey.event_tree("former")
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
    tree = db.ingest(people(), codebook=BOOK).event_tree(order=["region", "health"])
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
    tree = db.ingest(people(), codebook=BOOK).event_tree(order=["region", "party"])
    with pytest.raises(
        StagingError, match="needs a question with ordered answers, or with two"
    ):
        tree.learn_stages(method="ordinal")
    assert list(db.stagings) == []
    tree = db.surveys["survey"].event_tree(
        order=["region", "health", "party", "smokes"], sampling_zeros="floret"
    )
    by_ahc, ordinal = tree.learn_stages(), tree.learn_stages(method="ordinal")
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
        order=["region", "health"], missing_policy="category", blank="missing"
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
    staged = survey.event_tree(order=["region", "health"]).learn_stages(method="ordinal")
    assert len(staged.stability(runs=20)) == len(staged.stages)
    survey.append(people(seed=2))
    db.rebuild(stages="relearn")
    fresh = db.ingest(pd.concat([people(), people(seed=2)]), "both", codebook=BOOK)
    again = fresh.event_tree(order=["region", "health"]).learn_stages(method="ordinal")
    assert stages_of(db.stagings[staged.name], "health") == stages_of(again, "health")
    few = fresh.event_tree(order=["party", "smokes", "region", "health"]).learn_stages(
        method="ordinal", max_parents=1
    )
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
    tree = db.ingest(people(), codebook=BOOK).event_tree(order=["region", "health"])
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
    tree = db.ingest(people(), codebook=BOOK).event_tree(order=["region", "health"])
    with pytest.raises(StagingError, match=r"up to 7 situations in an order; 8, such as"):
        tree.learn_stages(method="ordinal")
