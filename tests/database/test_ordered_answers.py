"""Ordered answers: scores, stages that are neighbours in them, means and cumulative shares."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from cegdb.errors import SurveyError

if TYPE_CHECKING:
    from pathlib import Path

    from cegdb import Database, Survey

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
