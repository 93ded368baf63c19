"""Event trees: orders too long for one path code, and settings that are refused."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Literal

import oracle
import pandas as pd
import pytest
from low_limits import tree_in_chunks

import cegdb
from cegdb.errors import SurveyError, TreeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cegdb import Database, EventTree, StagedTree, Survey

ROWS = """
    select * from (values
        ('n', 'yes', 'high', 5), ('n', 'yes', 'low', 4), ('n', 'no', null, 6),
        ('s', 'yes', 'high', 3), ('s', 'no', null, 7)
    ) as t(area, asked, risk, people)
"""


def edges_of(db: Database, tree: EventTree) -> list[tuple[int, int, str, int]]:
    found = db.sql(
        "select e.parent_id, e.child_id, l.label, e.n from cegdb.edge as e "
        "inner join cegdb.level as l using (level_id) where e.tree_id = $id order by child_id",
        {"id": tree.id},
    )
    return list(found.itertuples(index=False, name=None))


def oracle_edges(tree: oracle.Tree) -> list[tuple[int, int, str, int]]:
    return sorted(
        (vertex.id, child, label, tree.by_id[child].n)
        for vertex in tree.vertices.values()
        for label, child in vertex.children.items()
    )


@pytest.fixture(scope="module")
def wide_rows() -> list[dict[str, str | None]]:
    """60 rows of 60 questions, some asked only after some answers: far beyond 2^62."""
    draw = random.Random(3)  # noqa: S311
    rows: list[dict[str, str | None]] = []
    for _ in range(30):
        row: dict[str, str | None] = {}
        for k in range(60):
            skipped = k % 7 == 3 and row[f"q{k - 1}"] == "a"
            row[f"q{k}"] = None if skipped else draw.choice("aaabcd")
        rows.append(row)
    return rows + rows[:10] * 3


@pytest.fixture(scope="module")
def wide(wide_rows: list[dict[str, str | None]]) -> Iterator[tuple[Database, Survey]]:
    """Give a survey of these rows, and its database, of which each test replaces the tree."""
    with cegdb.open() as db:
        yield db, db.ingest(pd.DataFrame(wide_rows, dtype=object), name="wide")


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"sampling_zeros": "none"},
        {"sampling_zeros": "auto"},
        {"blank": "structural", "sampling_zeros": "none"},
        {"blank": "structural", "sampling_zeros": "floret"},
        {"blank": "missing", "missing_policy": "complete", "sampling_zeros": "none"},
        {"missing_policy": "category", "sampling_zeros": "floret"},
    ],
    ids=str,
)
def test_sixty_variables_equal_the_oracle(
    wide: tuple[Database, Survey],
    wide_rows: list[dict[str, str | None]],
    settings: dict[str, Any],
) -> None:
    db, survey = wide
    order = list(wide_rows[0])
    tree = survey.event_tree(**settings, replace=True)
    rows = [
        {name: oracle.BLANK if cell is None else cell for name, cell in row.items()}
        for row in wide_rows
    ]
    expected = oracle.event_tree(rows, order, **settings)
    assert edges_of(db, tree) == oracle_edges(expected)
    assert db.check() == []


@pytest.mark.slow
def test_sixty_variables_go_on_to_a_ceg(wide: tuple[Database, Survey]) -> None:
    db, survey = wide
    tree = survey.event_tree(blank="structural", replace=True, sampling_zeros="none")
    ceg = tree.learn_stages(prior="mass", criterion="score").to_ceg()
    assert len(ceg.positions) < len(tree.situations)
    assert db.check() == []


@pytest.mark.slow
def test_an_impossible_path_across_far_variables_is_refused(
    db: Database, wide_rows: list[dict[str, str | None]]
) -> None:
    survey = db.ingest(pd.DataFrame(wide_rows, dtype=object), levels={"q0": [*"abcd", "e"]})
    with pytest.raises(TreeError, match=r"names 'q0' and 'q59', which are too far apart"):
        survey.event_tree(sampling_zeros="floret", impossible=[{"q0": "e", "q59": "a"}])
    with pytest.raises(TreeError, match=r"'full' would make up to 5\.3e\+35 leaves"):
        survey.event_tree(sampling_zeros="full")
    assert len(db.trees) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"blank": "na"}, "unknown value 'na' for blank"),
        ({"missing_policy": "drop"}, "unknown value 'drop' for missing_policy"),
        ({"sampling_zeros": "all"}, "unknown value 'all' for sampling_zeros"),
        ({"gate_min_rows": 0}, "gate_min_rows must be a whole number of 1 or more, not 0"),
        ({"order": "area"}, "order must be a list, not the text 'area'"),
        ({"order": []}, "order names no variable"),
        ({"order": ["area", "risk", "area"]}, "order lists 'area' more than once"),
        ({"add_paths": [{}]}, "add_paths has a path without labels"),
        ({"add_paths": ["n"]}, "add_paths contains the text 'n' instead of a path"),
        ({"add_paths": [["n", "yes", "low", "x"]]}, "add_paths has a path of 4 labels"),
        ({"add_paths": [{"area": "w"}]}, "'area' has no label 'w'; available: 'n', 's'\nhint"),
        (
            {"add_paths": [{"area": "s", "risk": "low"}]},
            "leaves out 'asked', but 10 respondents who start like it answer that question",
        ),
        (
            {"impossible": [("s", "no")]},
            "the path area = s, asked = no is declared impossible, but 7 respondents have it",
        ),
        (
            {"impossible": [{"risk": "low"}], "add_paths": [["s", "yes", "low"]]},
            "the path risk = low is declared impossible, but 4 respondents have it",
        ),
    ],
    ids=str,
)
def test_a_bad_setting_is_refused_before_any_work(
    db: Database, settings: dict[str, Any], message: str
) -> None:
    survey = db.ingest(ROWS, count="people")
    with pytest.raises(TreeError) as caught:
        survey.event_tree(**settings)
    assert message in str(caught.value)
    assert len(db.trees) == 0


def test_an_unknown_variable_in_order_is_refused(db: Database) -> None:
    survey = db.ingest(ROWS, count="people", name="mine")
    with pytest.raises(
        SurveyError, match=r"no variable 'rsk' in survey 'mine'; available: .*\nhint: .*'risk'"
    ):
        survey.event_tree(order=["area", "rsk"], sampling_zeros="none")


def test_any_order_and_subset_of_variables_can_be_built(db: Database) -> None:
    survey = db.ingest(ROWS, count="people")
    assert len(survey.event_tree(order=["risk"], sampling_zeros="none").edges) == 2
    assert survey.event_tree(order=["asked", " AREA "], sampling_zeros="none").edges[
        "n"
    ].tolist() == [
        13,
        12,
        6,
        7,
        9,
        3,
    ]
    assert len(db.trees) == 2


@pytest.mark.slow
def test_a_hand_added_path_has_no_rows_and_counts_as_an_answer(db: Database) -> None:
    survey = db.ingest(ROWS, count="people")
    tree = survey.event_tree(
        add_paths=[{"area": "s", "asked": "yes", "risk": "low"}], sampling_zeros="none"
    )
    edges = tree.edges
    unseen = edges[edges["n"] == 0]
    assert unseen["label"].tolist() == ["low"]
    assert unseen["share"].tolist() == [0.0]
    assert "1 vertex added that nobody reached" in tree.summary
    staged = tree.learn_stages(prior="mass", criterion="score")
    assert (staged.stage_edges["probability"] > 0).all()
    assert db.check() == []


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["prefix", "category"])
@pytest.mark.parametrize("zeros", ["floret", "full"])
def test_where_nobody_answered_a_question_its_answers_are_added(
    db: Database, policy: Literal["prefix", "category"], zeros: Literal["floret", "full"]
) -> None:
    rows = "select * from (values ('a', '?', 8), ('b', 'x', 3), ('b', 'y', 2)) as t(q, r, n)"
    survey = db.ingest(rows, name="rows", count="n", missing=["?"])
    observed = survey.event_tree(missing_policy=policy, sampling_zeros="none")
    tree = survey.event_tree("zeros", missing_policy=policy, sampling_zeros=zeros)
    assert len(tree.edges) == len(observed.edges) + 2
    assert tree.edges[tree.edges["n"] == 0]["label"].tolist() == ["x", "y"]
    ceg = tree.learn_stages(prior="mass", criterion="score").to_ceg()
    assert 0 < ceg.given({"q": "a"}).probability({"r": "x"}) < 1
    if policy == "prefix":
        assert "Nothing is said about r of people with q “a”: the data have no answer." in (
            ceg.report.text()
        )
    assert db.check() == []


def test_missing_answers_are_told_by_variable_and_history(db: Database) -> None:
    rows = """
        select * from (values
            ('y', 'a', 'p', 6), ('y', null, 'q', 3), ('n', null, 'p', 8), ('n', null, null, 2),
            ('y', '?', 'q', 1), ('y', 'b', null, 2)
        ) as t(x, y, z, n)
    """
    survey = db.ingest(rows, count="n", missing=["?"])
    tree = survey.event_tree(sampling_zeros="none")
    summary = details(tree)
    assert summary["missing"] == {
        "rows_with_a_missing_answer": 8,
        "rows_that_answer_later": 4,
        "share_monotone": 1 - 4 / 22,
    }
    assert summary["histories"]["y"] == {
        "n": 2,
        "shown": [
            {"history": "x = n", "rows": 10, "decided": 10, "as": "not applicable"},
            {"history": "x = y", "rows": 12, "decided": 4, "as": "missing"},
        ],
    }
    assert summary["histories"]["z"]["shown"][0]["history"] == "x = n, y = not applicable"
    assert tree.findings()["sentence"][0].startswith(
        "8 of 22 respondents (36 %) count only up to a missing answer; 4 of them have later "
    )
    complete = details(survey.event_tree(missing_policy="complete", sampling_zeros="none"))
    assert complete["missing"]["rows_with_a_missing_answer"] == 8
    assert (
        details(survey.event_tree(missing_policy="category", sampling_zeros="none"))["missing"]
        == {}
    )


def test_histories_are_told_across_chunks_of_variables(
    db: Database,
) -> None:
    rows = """
        select * from (values
            ('y', 'a', 'u', 'p', 6), ('y', 'a', 'v', null, 3), ('n', 'b', null, 'p', 8)
        ) as t(x, y, z, w, n)
    """
    told = details(tree_in_chunks(db.ingest(rows, count="n"), 30))
    assert told["histories"]["z"]["shown"] == [
        {"history": "x = n, y = b", "rows": 8, "decided": 8, "as": "not applicable"}
    ]
    assert told["histories"]["w"]["shown"] == [
        {"history": "x = y, y = a, z = v", "rows": 3, "decided": 3, "as": "missing"}
    ]
    assert told["missing"]["rows_that_answer_later"] == 0


@pytest.mark.slow
def test_variables_with_most_hyperstages_are_named_and_the_others_counted(
    db: Database,
) -> None:
    frame = pd.DataFrame({"x": list("abc"), **{f"y{i}": ["p", "q", "p"] for i in range(8)}})
    frame = pd.concat([frame, frame.assign(y5=["q", "q", "p"])])
    found = (
        db.ingest(frame)
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .findings()
    )
    found = found[found["finding"] == "absent_answer"]
    named = found["variable"].dropna().tolist()
    assert found["sentence"].iloc[0] == (
        "'y5' has 3 hyperstages: 2 situations lack some of its answers, and situations with "
        "different answers cannot share a stage"
    )
    assert found["n"].iloc[0] == 4
    assert named == ["y5", "y0", "y1", "y2", "y3"]
    assert found["sentence"].iloc[-1] == "3 more variables have several hyperstages"
    few = (
        db.ingest(frame)
        .event_tree(order=["x", "y1", "y2"], sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .findings()
    )
    assert (few["finding"] == "absent_answer").sum() == 2


def details(made: EventTree | StagedTree) -> Any:
    return made._row()["summary"]
