"""``cegdb check``: silent on good databases, and each check fails on a bad one.

Every fault is made by SQL in a transaction on one good database, and rolled back.
"""
# ruff: noqa: S608  (the SQL is spliced from the constants below)

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import pytest

import cegdb
from cegdb.evidence import avoids
from cegdb.sqlfiles import Steps, load, names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cegdb.api import Database

    Sound = Callable[[Database], None]

COLUMNS = ["invariant", "kind", "name", "row_id", "detail"]
ROW_CHECKS = ["check_response_row", "check_response_cell"]
CHECKS = [name for name in names() if name.startswith("check_") and name not in ROW_CHECKS]


class Fault(NamedTuple):
    """What breaks an invariant, and the name of the object it is found in."""

    step: str
    invariant: str
    name: str | None
    sql: str


# -----------------------------------------------------------------------------
# Good databases
# -----------------------------------------------------------------------------


def people() -> pd.DataFrame:
    """Return falls-like rows: structural blanks, missing answers, sampling zeros.

    Only those at high risk are treated or not; one combination has no falls, one has
    nobody; some leave the last question blank, some of those at high risk stop before.
    """
    rows: list[tuple[str, str, str | None, str | None, int]] = []
    for housing, size in (("community", 40), ("hospital", 44)):
        rows += [
            (housing, "high", "treated", "fall", size),
            (housing, "high", "treated", "no fall", 2 * size),
            (housing, "high", "untreated", "no fall", size // 2),
            (housing, "low", None, "fall", size // 4),
            (housing, "low", None, "no fall", 3 * size),
            (housing, "low", None, None, 3),
            (housing, "high", "?", None, 2),
        ]
    rows.append(("community", "high", "untreated", "fall", 9))
    rows.append(("nursing home", "high", "treated", "no fall", 7))
    columns = ["housing", "risk", "treatment", "fall", "number"]
    return pd.DataFrame(rows, columns=columns)


def fill(db: Database) -> None:
    """Make surveys, trees, stagings and CEGs; those with id 1 are broken later."""
    survey = db.ingest(
        people(),
        name="people",
        count="number",
        missing=["?"],
        levels={"risk": ["high", "low", "not assessed"]},
    )
    falls = survey.event_tree("falls", sampling_zeros="none")
    learnt = falls.learn_stages("learnt", prior="mass", criterion="score")
    graph = learnt.to_ceg("graph")
    fallers = graph.given(fall="fall").save("fallers")
    fallers.given(avoids("w2")).save("fallers elsewhere")
    learnt.stability(runs=3)
    learnt.posterior()
    learnt.intervals("bootstrap", runs=3)
    given = falls.set_stages(
        {("community", "high"): "a", ("hospital", "high"): "a"}, "given", prior="mass"
    )
    given.to_ceg("given")
    given.to_ceg("given in full", stop="baseline")
    falls.learn_stages(
        "any variable", hyperstages="labels", prior="mass", criterion="score"
    ).to_ceg("any variable")

    other = db.ingest("select null as x, 'a' as y, 'b' as z from range(9)", name="other")
    trees = [
        survey.event_tree("weighted", sampling_zeros="none"),
        survey.event_tree("every level", sampling_zeros="full"),
        survey.event_tree("all answers", sampling_zeros="floret"),
        survey.event_tree("complete", missing_policy="complete", sampling_zeros="none"),
        survey.event_tree(
            "missing is an answer",
            order=["fall", "treatment", "risk"],
            missing_policy="category",
            blank="missing",
            sampling_zeros="none",
        ),
        other.event_tree("root only", order=["x"], sampling_zeros="none"),
        other.event_tree("chain", sampling_zeros="none"),
    ]
    for tree in trees:
        tree.learn_stages(f"{tree.name}, learnt", prior="mass", criterion="score").to_ceg(
            f"{tree.name}, learnt"
        )
        tree.set_stages({}, f"{tree.name}, given", prior="mass").to_ceg(
            f"{tree.name}, given", stop="baseline"
        )
    falls.learn_stages(
        "relabelled",
        relabel={("fall", "fall"): "a fall", (("nursing home",), "high"): "low"},
        prior="mass",
        criterion="score",
    ).to_ceg("relabelled")
    weigh(db)


def weigh(db: Database) -> None:
    """Give each respondent in the tree ``weighted`` the weight 0.3."""
    tree = "tree_id = (select tree_id from cegdb.event_tree where name = 'weighted')"
    staging = f"staging_id in (select staging_id from cegdb.staging where {tree})"
    ceg = f"ceg_id in (select ceg_id from cegdb.ceg where {staging})"
    tables = {"vertex": tree, "edge": tree, "stage_edge": staging, "ceg_edge": ceg}
    for table, where in tables.items():
        run(db, f"update cegdb.{table} set weight = 0.3 * n where {where}")


def run(db: Database, sql: str) -> None:
    """Run a statement on the connection that the checks use."""
    with db._store.reading() as con:
        con.execute(sql)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the file of the good database, to be copied."""
    file = tmp_path_factory.mktemp("check") / "good.duckdb"
    with cegdb.open(file) as database:
        fill(database)
    return file


@pytest.fixture(scope="module")
def good(stored: Path) -> Iterator[Database]:
    """Give the good database; who breaks it rolls back."""
    with cegdb.open(shutil.copy(stored, stored.with_name("broken.duckdb"))) as database:
        yield database


@pytest.fixture
def broken(good: Database) -> Iterator[Database]:
    """Give the good database in a transaction that is rolled back."""
    run(good, "begin")
    try:
        yield good
    finally:
        run(good, "rollback")


def test_an_empty_database_is_good(db: Database, sound: Sound) -> None:
    sound(db)


@pytest.mark.slow
def test_good_surveys_trees_stagings_and_cegs_are_good(good: Database, sound: Sound) -> None:
    kinds = good.sql("select distinct kind from cegdb.stage")["kind"]
    assert set(kinds) == {"learnt", "given", "single_edge", "unobserved"}
    sizes = good.sql(
        "select (select sum(n_stopped) from cegdb.vertex) as stopped, "
        "(select count(*) from cegdb.edge where n = 0) as zeros, "
        "(select count(*) from cegdb.ahc_merge) as merges"
    )
    assert (sizes > 0).all(axis=None)
    sound(good)


def test_a_file_opened_read_only_is_checked(stored: Path, tmp_path: Path, sound: Sound) -> None:
    with cegdb.open(shutil.copy(stored, tmp_path), read_only=True) as db:
        sound(db)


def test_an_attached_database_is_not_checked(
    stored: Path, tmp_path: Path, db: Database, sound: Sound
) -> None:
    file = shutil.copy(stored, tmp_path)
    run(db, f"attach '{file}' as other")
    run(db, "delete from other.cegdb.survey")
    sound(db)


@pytest.mark.slow
def test_dropping_leaves_a_good_database(stored: Path, tmp_path: Path, sound: Sound) -> None:
    with cegdb.open(shutil.copy(stored, tmp_path)) as db:
        db.drop("ceg", "given in full")
        db.drop("staging", "any variable")
        db.drop("tree", "every level")
        sound(db)
        db.drop("survey", "people")
        sound(db)
        assert db.trees.names() == ["root only", "chain"]


# -----------------------------------------------------------------------------
# Faults
# -----------------------------------------------------------------------------

LAST_LEAF = "(select max(vertex_id) from cegdb.vertex where tree_id = 1)"
WEIGHTED = "(select tree_id from cegdb.event_tree where name = 'weighted')"
WEIGHTED_STAGES = "(select staging_id from cegdb.staging where name = 'weighted, learnt')"
WEIGHTED_CEG = "(select ceg_id from cegdb.ceg where name = 'weighted, learnt')"
SHARED_STAGE = """(
    select min(stage_id) from cegdb.stage where staging_id = 1 and n_situations > 1
)"""
SHARED_POSITION = """(
    select min(position_id) from cegdb.position
    where ceg_id = 1 and n_situations > 1 and stage_id is not null
)"""
RELABELLED = "(select staging_id from cegdb.staging where name = 'relabelled')"
FIRST_FALL = f"""(
    select min(child_id) from cegdb.relabelled_edge
    where label = 'a fall' and staging_id = {RELABELLED}
)"""
SINK = "(select position_id from cegdb.position where ceg_id = 1 and stage_id is null)"

TREE_FAULTS = [
    Fault(
        "check_tree_size",
        "edges are one fewer than vertices",
        "falls",
        "delete from cegdb.edge where tree_id = 1 and child_id = 1",
    ),
    *(
        Fault(
            "check_tree_size",
            "the catalog has the size of a tree",
            "falls",
            f"update cegdb.event_tree set {size} = {size} + 1 where tree_id = 1",
        )
        for size in ("n_vertices", "n_situations", "n_leaves", "height")
    ),
    Fault(
        "check_tree_size",
        "the catalog has the size of a tree",
        "falls",
        "delete from cegdb.vertex where tree_id = 1",
    ),
    Fault(
        "check_vertex_id",
        "vertex ids run from 0 without gaps",
        "falls",
        f"update cegdb.vertex set vertex_id = 1000 where tree_id = 1 and vertex_id = {LAST_LEAF}",  # noqa: E501
    ),
    Fault(
        "check_vertex_id",
        "a vertex id is used once",
        "falls",
        "insert into cegdb.vertex select * from cegdb.vertex "
        "where tree_id = 1 and vertex_id = 3",
    ),
    Fault(
        "check_vertex_id",
        "vertex ids go breadth first in level order",
        "falls",
        "update cegdb.edge set level_id = 4 - level_id where tree_id = 1 and parent_id = 0",
    ),
    Fault(
        "check_vertex_id",
        "vertex ids go breadth first in level order",
        "falls",
        "update cegdb.edge set parent_id = 3 where tree_id = 1 and parent_id = 1",
    ),
    Fault(
        "check_tree_shape",
        "each vertex but the root has one parent",
        "falls",
        "update cegdb.edge set child_id = 1 where tree_id = 1 and child_id = 2",
    ),
    Fault(
        "check_tree_shape",
        "each vertex but the root has one parent",
        "falls",
        "update cegdb.edge set child_id = 0 where tree_id = 1 and child_id = 2",
    ),
    Fault(
        "check_tree_shape",
        "the root alone has depth 0",
        "falls",
        "update cegdb.vertex set depth = 0 where tree_id = 1 and vertex_id = 1",
    ),
    Fault(
        "check_tree_shape",
        "the root alone has depth 0",
        "falls",
        "update cegdb.vertex set depth = depth + 1 where tree_id = 1",
    ),
    Fault(
        "check_tree_shape",
        "both ends of an edge are vertices",
        "falls",
        "update cegdb.edge set parent_id = 1000 where tree_id = 1 and child_id = 1",
    ),
    Fault(
        "check_tree_shape",
        "both ends of an edge are vertices",
        "falls",
        "update cegdb.edge set child_id = 1000 where tree_id = 1 and child_id = 1",
    ),
    Fault(
        "check_tree_shape",
        "a child is one edge deeper than its parent",
        "falls",
        "update cegdb.vertex set depth = depth + 1 where tree_id = 1 and vertex_id = 3",
    ),
    Fault(
        "check_height",
        "height is 1 more than that of the highest child, 0 on a leaf",
        "falls",
        "update cegdb.vertex set height = 2 where tree_id = 1 and vertex_id = 0",
    ),
    Fault(
        "check_height",
        "height is 1 more than that of the highest child, 0 on a leaf",
        "root only",
        "update cegdb.vertex set height = 1 where tree_id = "
        "(select tree_id from cegdb.event_tree where name = 'root only')",
    ),
    Fault(
        "check_height",
        "situations alone have a variable and edges",
        "falls",
        "update cegdb.vertex set variable_id = null where tree_id = 1 and vertex_id = 0",
    ),
    Fault(
        "check_height",
        "situations alone have a variable and edges",
        "falls",
        f"update cegdb.vertex set variable_id = 1 where tree_id = 1 and vertex_id = {LAST_LEAF}",  # noqa: E501
    ),
    Fault(
        "check_floret",
        "the edges of a floret answer its variable",
        "falls",
        "update cegdb.vertex set variable_id = 2 where tree_id = 1 and vertex_id = 0",
    ),
    Fault(
        "check_floret",
        "the labels of a floret differ",
        "falls",
        "update cegdb.edge set level_id = 1 where tree_id = 1 and parent_id = 0",
    ),
    Fault(
        "check_tree_count",
        "rows at a situation go on or stop",
        "falls",
        "update cegdb.vertex set n_stopped = n_stopped + 1 where tree_id = 1 and vertex_id = 0",
    ),
    Fault(
        "check_tree_count",
        "no row stops at a leaf",
        "falls",
        f"update cegdb.vertex set n_stopped = 1 where tree_id = 1 and vertex_id = {LAST_LEAF}",
    ),
    Fault(
        "check_tree_count",
        "the rows of an edge reach its child",
        "falls",
        "update cegdb.edge set n = n + 1 where tree_id = 1 and child_id = 1",
    ),
    Fault(
        "check_tree_count",
        "each row of a tree starts at the root and ends once",
        "falls",
        "update cegdb.event_tree set n = n - 1 where tree_id = 1",
    ),
    Fault(
        "check_tree_count",
        "each row of a tree starts at the root and ends once",
        "falls",
        f"update cegdb.vertex set n = n + 1 where tree_id = 1 and vertex_id = {LAST_LEAF}",
    ),
    Fault(
        "check_tree_count",
        "a tree has no more rows than its survey",
        "falls",
        "update cegdb.survey set n = n - 1 where survey_id = 1",
    ),
    Fault(
        "check_tree_weight",
        "weights are not negative",
        "weighted",
        f"update cegdb.vertex set weight = -weight where tree_id = {WEIGHTED}",
    ),
    *(
        Fault(
            "check_tree_weight",
            "an edge weighs what its child does",
            "weighted",
            f"update cegdb.edge set weight = {weight} "
            f"where tree_id = {WEIGHTED} and child_id = 1",
        )
        for weight in ("weight + 0.000000000001", "null")
    ),
    *(
        Fault(
            "check_tree_weight",
            "a situation weighs what its floret does, and what stops there",
            "weighted",
            f"update cegdb.vertex set weight = {weight} "
            f"where tree_id = {WEIGHTED} and vertex_id = 0",
        )
        for weight in ("weight + 0.000000000001", "weight / 2", "null")
    ),
    Fault(
        "check_tree_weight",
        "a situation weighs what its floret does, and what stops there",
        "weighted",
        "update cegdb.vertex as v set weight = "
        "(select sum(e.weight) - 0.1 from cegdb.edge as e "
        "where e.tree_id = v.tree_id and e.parent_id = v.vertex_id) "
        f"where v.tree_id = {WEIGHTED} and v.n_stopped > 0",
    ),
]

STAGING_FAULTS = [
    Fault(
        "check_stage_member",
        "a situation has exactly one stage",
        "learnt",
        "delete from cegdb.stage_member where staging_id = 1 and vertex_id = 0",
    ),
    Fault(
        "check_stage_member",
        "a situation has exactly one stage",
        "learnt",
        "insert into cegdb.stage_member values (1, 0, 1)",
    ),
    Fault(
        "check_stage_member",
        "only situations have stages",
        "learnt",
        f"insert into cegdb.stage_member select 1, {LAST_LEAF}, 0",
    ),
    Fault(
        "check_stage_member",
        "only situations have stages",
        "learnt",
        "insert into cegdb.stage_member values (1, 1000, 0)",
    ),
    Fault(
        "check_stage",
        "a stage is named by its smallest situation",
        "learnt",
        f"delete from cegdb.stage_member where staging_id = 1 and vertex_id = {SHARED_STAGE}",
    ),
    *(
        Fault(
            "check_stage",
            "the sizes of a stage are those of its situations",
            "learnt",
            sql,
        )
        for sql in (
            "update cegdb.stage set n = n + 1 where staging_id = 1 and stage_id = 0",
            "update cegdb.stage set n_situations = 0 where staging_id = 1 and stage_id = 0",
            "delete from cegdb.stage where staging_id = 1 and stage_id = 0",
            "insert into cegdb.stage values (1, 1000, 0, 0, 0, 'white', 'learnt', null)",
        )
    ),
    Fault(
        "check_stage",
        "a stage has one row",
        "learnt",
        "insert into cegdb.stage select * from cegdb.stage "
        "where staging_id = 1 and stage_id = 0",
    ),
    Fault(
        "check_hyperstage",
        "a hyperstage is named by its smallest situation",
        "learnt",
        "update cegdb.hyperstage set hyperstage_id = 1000 "
        "where staging_id = 1 and hyperstage_id = 0; "
        "update cegdb.stage set hyperstage_id = 1000 "
        "where staging_id = 1 and hyperstage_id = 0",
    ),
    *(
        Fault(
            "check_hyperstage",
            "the size of a hyperstage is that of its stages",
            "learnt",
            sql,
        )
        for sql in (
            (
                "update cegdb.hyperstage set n_situations = 2 "
                "where staging_id = 1 and hyperstage_id = 0"
            ),
            "delete from cegdb.hyperstage where staging_id = 1 and hyperstage_id = 0",
            "insert into cegdb.hyperstage values (1, 1000, 1, [], 0)",
            "update cegdb.stage set hyperstage_id = 1000 where staging_id = 1 and stage_id = 0",
        )
    ),
    *(
        Fault(
            "check_hyperstage",
            "the variable of a hyperstage is that of its situations",
            "learnt",
            f"update cegdb.hyperstage set variable_id = {variable} "
            "where staging_id = 1 and hyperstage_id = 0",
        )
        for variable in ("2", "null")
    ),
    Fault(
        "check_hyperstage",
        "the variable of a hyperstage is that of its situations",
        "any variable",
        "update cegdb.stage set hyperstage_id = 0 where staging_id = "
        "(select staging_id from cegdb.staging where name = 'any variable')",
    ),
    *(
        Fault(
            "check_hyperstage_label",
            "the situations of a hyperstage have its labels",
            "learnt",
            sql,
        )
        for sql in (
            (
                "update cegdb.hyperstage set labels = list_append(labels, 'x') "
                "where staging_id = 1 and hyperstage_id = 0"
            ),
            (
                "update cegdb.hyperstage set labels = labels[2:] "
                "where staging_id = 1 and hyperstage_id = 0"
            ),
            "update cegdb.stage set hyperstage_id = 0 where staging_id = 1",
            "update cegdb.stage_member set stage_id = 0 where staging_id = 1 and vertex_id = 1",
        )
    ),
    *(
        Fault(
            "check_stage_edge",
            "the rows of a stage are those of its situations",
            name,
            sql,
        )
        for name, sql in (
            (
                "learnt",
                "update cegdb.stage_edge set n = n + 1 where staging_id = 1 and stage_id = 0",
            ),
            ("learnt", "delete from cegdb.stage_edge where staging_id = 1 and stage_id = 0"),
            (
                "learnt",
                (
                    "insert into cegdb.stage_edge values "
                    "(1, 0, 1000, 1, 0, null, null, 0, null, null)"
                ),
            ),
            (
                "weighted, learnt",
                (
                    "update cegdb.stage_edge set weight = weight + 0.000000000001 "
                    f"where staging_id = {WEIGHTED_STAGES}"
                ),
            ),
        )
    ),
    Fault(
        "check_stage_edge",
        "a stage has a label once",
        "learnt",
        "insert into cegdb.stage_edge select * from cegdb.stage_edge "
        "where staging_id = 1 and stage_id = 0",
    ),
    *(
        Fault(
            "check_stage_edge",
            "the kind of a stage fits its edges",
            "learnt",
            f"update cegdb.stage set kind = '{kind}' where staging_id = 1 and stage_id = 0",
        )
        for kind in ("single_edge", "unobserved")
    ),
    Fault(
        "check_relabelled_edge",
        "a label is given once to an edge of the tree",
        "relabelled",
        f"update cegdb.relabelled_edge set child_id = 1000 where staging_id = {RELABELLED} "
        "and label = 'low'",
    ),
    Fault(
        "check_relabelled_edge",
        "a label is given once to an edge of the tree",
        "relabelled",
        "insert into cegdb.relabelled_edge from cegdb.relabelled_edge",
    ),
    Fault(
        "check_relabelled_edge",
        "a label given to an edge is not the one it has in the tree",
        "relabelled",
        "update cegdb.relabelled_edge as r set label_id = l.label_id from cegdb.edge as e "
        "inner join cegdb.level as l using (level_id) "
        "where e.tree_id = 1 and r.child_id = e.child_id",
    ),
    Fault(
        "check_relabelled_edge",
        "labels given to edges do not join siblings",
        "relabelled",
        "update cegdb.relabelled_edge as r set label_id = l.label_id from cegdb.edge as e "
        "inner join cegdb.edge as s using (tree_id, parent_id) "
        "inner join cegdb.level as l on s.level_id = l.level_id "
        "where e.tree_id = 1 and r.child_id = e.child_id and s.child_id <> e.child_id",
    ),
    *(
        Fault(
            "check_relabelled_edge",
            "a label given to edges has the id of its text",
            "relabelled",
            f"update cegdb.relabelled_edge set {change} where staging_id = {RELABELLED} "
            f"and {where}",
        )
        for change, where in (
            ("label = 'tall'", "label = 'low'"),
            ("label_id = label_id + 1", "label = 'low'"),
            ("label = 'low'", "label = 'a fall'"),
            ("label = 'b'", f"child_id = {FIRST_FALL}"),
        )
    ),
    Fault(
        "check_stage_edge",
        "the rows of a stage are those of its situations",
        "relabelled",
        f"delete from cegdb.relabelled_edge where staging_id = {RELABELLED}",
    ),
    Fault(
        "check_hyperstage_label",
        "the situations of a hyperstage have its labels",
        "relabelled",
        f"delete from cegdb.relabelled_edge where staging_id = {RELABELLED}",
    ),
    *(
        Fault(
            "check_stage_probability",
            "the probabilities of a stage sum to 1",
            "learnt",
            f"update cegdb.stage_edge set probability = {probability} "
            "where staging_id = 1 and stage_id = 0",
        )
        for probability in ("probability + 1e-8", "'nan'")
    ),
    Fault(
        "check_stage_probability",
        "the shares of a stage sum to 1",
        "learnt",
        "update cegdb.stage_edge set share = share - 1e-8 "
        "where staging_id = 1 and stage_id = 0",
    ),
    *(
        Fault(
            "check_stage_probability",
            "probabilities and intervals lie from 0 to 1",
            "learnt",
            f"update cegdb.stage_edge set {change} where staging_id = 1 and stage_id = 0",
        )
        for change in (
            "probability = -0.1",
            "probability = 1.1",
            "low = -0.1",
            "high = 1.1",
            "low = high, high = low",
        )
    ),
    Fault(
        "check_stage_probability",
        "each edge of several has an interval",
        "learnt",
        "update cegdb.stage_edge set low = null where staging_id = 1 and stage_id = 0",
    ),
    Fault(
        "check_stage_probability",
        "each edge of several has an interval",
        "chain, learnt",
        "update cegdb.stage_edge set low = 0 where staging_id = "
        "(select staging_id from cegdb.staging where name = 'chain, learnt')",
    ),
    *(
        Fault(
            "check_stage_probability",
            "an interval contains its probability",
            name,
            f"update cegdb.{change} where {kind}_id = 1",
        )
        for kind, name, change in (
            ("staging", "learnt", "stage_edge set low = (probability + high) / 2"),
            ("staging", "learnt", "stage_edge set high = (probability + low) / 2"),
            ("ceg", "graph", "ceg_edge set low = (probability + high) / 2"),
            ("ceg", "graph", "ceg_edge set high = (probability + low) / 2"),
        )
    ),
    *(
        Fault(
            "check_stage_probability",
            "prior masses are above 0",
            "learnt",
            f"update cegdb.stage_edge set prior = {prior} where staging_id = 1",
        )
        for prior in ("0", "-prior", "'nan'", "'infinity'")
    ),
    *(
        Fault(
            "check_merge",
            "a merge raises the score",
            "learnt",
            f"update cegdb.ahc_merge set log_bayes_factor = {factor} where staging_id = 1",
        )
        for factor in ("0", "-1", "'nan'")
    ),
    Fault(
        "check_merge",
        "merges are numbered from 1 without gaps",
        "learnt",
        "update cegdb.ahc_merge set step = step - 1 where staging_id = 1",
    ),
    *(
        Fault(
            "check_merge",
            "a merge keeps the smaller stage and absorbs the other for good",
            "learnt",
            sql,
        )
        for sql in (
            (
                "update cegdb.ahc_merge set kept_id = absorbed_id, absorbed_id = kept_id "
                "where staging_id = 1"
            ),
            (
                "insert into cegdb.ahc_merge select staging_id, 99, kept_id, absorbed_id, 1 "
                "from cegdb.ahc_merge where staging_id = 1"
            ),
            (
                "insert into cegdb.ahc_merge select staging_id, 99, absorbed_id, 1000, 1 "
                "from cegdb.ahc_merge where staging_id = 1"
            ),
        )
    ),
    Fault(
        "check_merge",
        "merged situations are in one stage",
        "learnt",
        "insert into cegdb.ahc_merge values (1, 99, 0, 1, 1)",
    ),
    Fault(
        "check_merge",
        "merged situations are in one stage",
        "given",
        "insert into cegdb.ahc_merge select staging_id, 1, 1000, 1001, 1 "
        "from cegdb.staging where name = 'given'",
    ),
    *(
        Fault(
            "check_staging_size",
            "the catalog has the size of a staging",
            "learnt",
            f"update cegdb.staging set {size} = {size} + 1 where staging_id = 1",
        )
        for size in ("n_hyperstages", "n_stages", "df")
    ),
    *(
        Fault(
            "check_bootstrap", "pairs are counted over the runs of a bootstrap", "learnt", sql
        )
        for sql in (
            "update cegdb.situation_pair set n_together = n_runs + 1",
            "update cegdb.situation_pair set n_runs = 4",
            "update cegdb.situation_pair set vertex_id = other_id, other_id = vertex_id",
            "delete from cegdb.stage_bootstrap",
        )
    ),
    *(
        Fault(
            "check_bootstrap",
            "pairs belong to one hyperstage, and agree with the staging",
            "learnt",
            sql,
        )
        for sql in (
            "update cegdb.situation_pair set is_together = not is_together",
            "update cegdb.situation_pair set vertex_id = 0",
            "update cegdb.situation_pair set other_id = 1000",
        )
    ),
    *(
        Fault("check_bootstrap", "a bootstrap has all its pairs", "learnt", sql)
        for sql in (
            "delete from cegdb.situation_pair",
            "update cegdb.stage_bootstrap set n_pairs = n_pairs + 1",
        )
    ),
    *(
        Fault(
            "check_bootstrap",
            "an interval goes from low to high within 0 and 1",
            "learnt",
            f"update cegdb.bootstrap_interval set {column} = {value}",
        )
        for column, value in (("low", "-0.1"), ("high", "1.1"), ("low", "'nan'"), ("high", "0"))
    ),
    *(
        Fault(
            "check_posterior", "pairs belong to one hyperstage with a posterior", "learnt", sql
        )
        for sql in (
            "update cegdb.costaging set vertex_id = 0",
            "update cegdb.costaging set other_id = 1000",
            "update cegdb.costaging set vertex_id = other_id, other_id = vertex_id",
            "update cegdb.costaging set method = 'sampled'",
            "delete from cegdb.hyperstage_posterior",
        )
    ),
    *(
        Fault("check_posterior", "a posterior has all its pairs", "learnt", sql)
        for sql in (
            "delete from cegdb.costaging",
            "update cegdb.hyperstage_posterior set n_situations = n_situations + 1",
        )
    ),
    *(
        Fault(
            "check_posterior",
            "the best staging known is as good as the one shown, and all hold it",
            "learnt",
            f"update cegdb.hyperstage_posterior set {column} = {value}",
        )
        for column, value in (
            ("log_shown", "log_best + 0.1"),
            ("log_total", "log_best - 1"),
            ("n_stages_best", "n_situations + 1"),
            ("mean_stages", "n_situations + 1"),
            ("mean_stages", "0.5"),
            ("n_draws", "100"),
            ("log_total", "'nan'"),
        )
    ),
]

CEG_FAULTS = [
    *(
        Fault("check_position_member", "a vertex has exactly one position", "graph", sql)
        for sql in (
            "delete from cegdb.position_member where ceg_id = 1 and vertex_id = 0",
            "insert into cegdb.position_member values (1, 0, 1)",
        )
    ),
    Fault(
        "check_position_member",
        "the members of a position are vertices",
        "graph",
        "insert into cegdb.position_member values (1, 1000, 0)",
    ),
    *(
        Fault("check_position", "a position is named by its smallest vertex", "graph", sql)
        for sql in (
            f"delete from cegdb.position_member where ceg_id = 1 and vertex_id = {SHARED_POSITION}",  # noqa: E501
            "insert into cegdb.position values (1, 1000, 0, 1, 0, 0)",
        )
    ),
    *(
        Fault(
            "check_position",
            "the sizes of a position are those of its members",
            "graph",
            sql,
        )
        for sql in (
            "update cegdb.position set n = n + 1 where ceg_id = 1 and position_id = 0",
            "update cegdb.position set n_situations = 2 where ceg_id = 1 and position_id = 0",
            "delete from cegdb.position where ceg_id = 1 and position_id = 0",
            f"delete from cegdb.position_member where ceg_id = 1 and vertex_id = {LAST_LEAF}",
        )
    ),
    Fault(
        "check_position",
        "the members of a position have its height",
        "graph",
        "update cegdb.position set height = 9 where ceg_id = 1 and position_id = 0",
    ),
    Fault(
        "check_position",
        "the members of a position have its height",
        "graph",
        f"update cegdb.position_member set position_id = {SINK} "
        "where ceg_id = 1 and vertex_id = 1",
    ),
    Fault(
        "check_position",
        "positions refine stages",
        "graph",
        "update cegdb.position set stage_id = 1 where ceg_id = 1 and position_id = 0",
    ),
    Fault(
        "check_position",
        "positions refine stages",
        "graph",
        "update cegdb.stage_member set stage_id = 0 where staging_id = 1 "
        "and vertex_id = (select max(vertex_id) from cegdb.position_member "
        f"where ceg_id = 1 and position_id = {SHARED_POSITION})",
    ),
    Fault(
        "check_position",
        "a position has one row",
        "graph",
        "insert into cegdb.position select * from cegdb.position "
        "where ceg_id = 1 and position_id = 0",
    ),
    *(
        Fault("check_sink", "a CEG has one sink", "graph", sql)
        for sql in (
            "update cegdb.position set stage_id = null where ceg_id = 1 and position_id = 0",
            "delete from cegdb.position where ceg_id = 1 and stage_id is null",
        )
    ),
    *(
        Fault(
            "check_sink",
            "the sink alone has no stage, height 0 and no edges",
            "graph",
            sql,
        )
        for sql in (
            "update cegdb.position set height = 1 where ceg_id = 1 and stage_id is null",
            "update cegdb.position set height = 0 where ceg_id = 1 and position_id = 0",
            "delete from cegdb.ceg_edge where ceg_id = 1 and source_id = 0",
            f"update cegdb.ceg_edge set source_id = {SINK} where ceg_id = 1 and source_id = 0",
        )
    ),
    *(
        Fault(
            "check_ceg_edge",
            "the rows of a CEG edge are those of its situations",
            name,
            sql,
        )
        for name, sql in (
            ("graph", "update cegdb.ceg_edge set n = n + 1 where ceg_id = 1"),
            ("graph", "delete from cegdb.ceg_edge where ceg_id = 1 and source_id = 0"),
            (
                "graph",
                (
                    f"update cegdb.ceg_edge set target_id = {SINK} where ceg_id = 1 "
                    "and source_id = 0"
                ),
            ),
            (
                "weighted, learnt",
                (
                    "update cegdb.ceg_edge set weight = weight + 0.000000000001 "
                    f"where ceg_id = {WEIGHTED_CEG}"
                ),
            ),
        )
    ),
    Fault(
        "check_ceg_edge",
        "the members of a position go to the same positions",
        "graph",
        "update cegdb.position_member set position_id = 0 where ceg_id = 1 and vertex_id = 1",
    ),
    *(
        Fault(
            "check_ceg_floret",
            "the probabilities of a position sum to 1",
            "graph",
            f"update cegdb.ceg_edge set probability = {probability} where ceg_id = 1",
        )
        for probability in ("probability - 1e-8", "'nan'")
    ),
    *(
        Fault("check_ceg_floret", "a CEG edge has the probability of its stage", "graph", sql)
        for sql in (
            (
                "update cegdb.ceg_edge set probability = probability + 1e-15 "
                "where ceg_id = 1 and source_id = 0"
            ),
            (
                "update cegdb.stage_edge set probability = probability + 1e-15 "
                "where staging_id = 1 and stage_id = 0"
            ),
            "update cegdb.ceg_edge set source_id = 1000 where ceg_id = 1 and source_id = 0",
        )
    ),
    Fault(
        "check_ceg_floret",
        "the labels of a position differ",
        "graph",
        f"insert into cegdb.ceg_edge select * replace ({SINK} as target_id) "
        "from cegdb.ceg_edge where ceg_id = 1 and source_id = 0",
    ),
    Fault(
        "check_ceg_floret",
        "the prior masses of a stage are shared among its positions",
        "graph",
        "update cegdb.ceg_edge set prior = prior * 1.00000001 where ceg_id = 1",
    ),
    Fault(
        "check_reduced",
        "no two positions have one stage and floret",
        "graph",
        "insert into cegdb.position select 1, 1000, stage_id, height, n, n_situations "
        f"from cegdb.position where ceg_id = 1 and position_id = {SHARED_POSITION}; "
        "insert into cegdb.ceg_edge select * replace (1000 as source_id) "
        f"from cegdb.ceg_edge where ceg_id = 1 and source_id = {SHARED_POSITION}",
    ),
    *(
        Fault(
            "check_path",
            "a position has as many vertices of a depth as paths from the root",
            "graph",
            sql,
        )
        for sql in (
            "update cegdb.ceg_edge set target_id = 2 where ceg_id = 1 and target_id = 1",
            "delete from cegdb.ceg_edge where ceg_id = 1 and source_id = 1",
            f"delete from cegdb.position_member where ceg_id = 1 and vertex_id = {LAST_LEAF}",
            (
                "update cegdb.position_member set position_id = 1 where ceg_id = 1 "
                "and vertex_id = 0"
            ),
        )
    ),
    *(
        Fault("check_path", "an edge of a CEG leads to a lower position", "graph", sql)
        for sql in (
            "update cegdb.ceg_edge set target_id = source_id where ceg_id = 1",
            (
                "update cegdb.ceg_edge set source_id = target_id, target_id = source_id "
                "where ceg_id = 1"
            ),
            "update cegdb.ceg_edge set target_id = 1000 where ceg_id = 1 and source_id = 0",
        )
    ),
    *(
        Fault(
            "check_ceg_size",
            "the catalog has the size of a CEG",
            "graph",
            f"update cegdb.ceg set {size} = {size} + 1 where ceg_id = 1",
        )
        for size in ("n_vertices", "n_edges")
    ),
    *(
        Fault(
            "check_step",
            "the steps of a CEG are numbered from 0, with one height each",
            "graph",
            f"update cegdb.merge_step set {change} where ceg_id = 1",
        )
        for change in ("step = step + 1", "height = height + 1")
    ),
    *(
        Fault("check_step", "the steps begin at the tree and end at the CEG", "graph", sql)
        for sql in (
            "delete from cegdb.merge_step where ceg_id = 1",
            "delete from cegdb.merge_step where ceg_id = 1 and step = 0",
            "delete from cegdb.merge_step where ceg_id = 1 and step > 1",
            "update cegdb.merge_step set n_vertices = n_vertices + 1 where ceg_id = 1",
            "update cegdb.merge_step set n_edges = n_edges + 1 where ceg_id = 1",
        )
    ),
    *(
        Fault(
            "check_step",
            "a step removes what it merges",
            "graph",
            f"update cegdb.merge_step set {change} where ceg_id = 1 and step = 1",
        )
        for change in (
            "n_vertices = n_vertices + 1",
            "n_edges = n_edges + 1",
            (
                "n_positions = n_situations + 1, "
                "n_vertices = n_vertices + 1 + n_situations - n_positions"
            ),
        )
    ),
    *(
        Fault(
            "check_step",
            "a step merges the situations of its height",
            "graph",
            "update cegdb.merge_step set n_situations = n_situations + 1, "
            f"n_positions = n_positions + 1 where ceg_id = 1 and step = {step}",
        )
        for step in (1, 2)
    ),
]

OWNED = {
    "survey": ["variable"],
    "tree": ["vertex", "edge"],
    "staging": [
        "hyperstage",
        "stage",
        "stage_member",
        "stage_edge",
        "ahc_merge",
        "stage_bootstrap",
        "situation_pair",
        "bootstrap_interval",
        "costaging",
        "hyperstage_posterior",
    ],
    "ceg": ["position", "position_member", "ceg_edge", "merge_step"],
}
OWNER_FAULTS = [
    *(
        Fault(
            "check_owner",
            "rows belong to an object",
            None,
            f"insert into cegdb.{table} select * replace (1000 as {kind}_id) "
            f"from cegdb.{table} where {kind}_id = 1",
        )
        for kind, tables in OWNED.items()
        for table in tables
        if table != "variable"
    ),
    Fault(
        "check_owner",
        "rows belong to an object",
        None,
        "insert into cegdb.relabelled_edge select * replace (1000 as staging_id) "
        f"from cegdb.relabelled_edge where staging_id = {RELABELLED}",
    ),
    *(
        Fault(
            "check_owner",
            "rows belong to an object",
            None,
            f"delete from cegdb.{table} where {key} = 1",
        )
        for table, key in (
            ("survey", "survey_id"),
            ("event_tree", "tree_id"),
            ("staging", "staging_id"),
            ("ceg", "ceg_id"),
        )
    ),
    *(
        Fault("check_parent", "an object is built on one that exists", name, sql)
        for name, sql in (
            ("falls", "delete from cegdb.survey where survey_id = 1"),
            ("learnt", "delete from cegdb.event_tree where tree_id = 1"),
            ("graph", "delete from cegdb.staging where staging_id = 1"),
            ("graph", "update cegdb.ceg set staging_id = null where ceg_id = 1"),
            ("graph", "update cegdb.ceg set parent_ceg_id = 1000 where ceg_id = 1"),
        )
    ),
    Fault(
        "check_parent",
        "superseded rows have a survey that superseded them",
        "people",
        "update cegdb.survey set superseded_by = 1000 where survey_id = 1",
    ),
    Fault(
        "check_parent",
        "a level belongs to a variable",
        None,
        "delete from cegdb.variable where variable_id = 1",
    ),
    *(
        Fault(
            "check_reference",
            "variables, levels and labels are those of the survey",
            name,
            f"update cegdb.{table} set {key} = 1000 where {owner} = 1 and {key} = 1",
        )
        for name, table, key, owner in (
            ("falls", "vertex", "variable_id", "tree_id"),
            ("falls", "edge", "level_id", "tree_id"),
            ("learnt", "hyperstage", "variable_id", "staging_id"),
            ("learnt", "stage_edge", "label_id", "staging_id"),
            ("graph", "ceg_edge", "label_id", "ceg_id"),
        )
    ),
    Fault(
        "check_reference",
        "variables, levels and labels are those of the survey",
        "falls",
        "update cegdb.event_tree set survey_id = 2 where tree_id = 1",
    ),
]

#: A CEG given evidence.
GIVEN = "(select ceg_id from cegdb.ceg where name = 'fallers')"

GIVEN_FAULTS = [
    Fault(
        "check_owner",
        "rows belong to an object",
        None,
        "insert into cegdb.ceg_stage values (1000, 0, 1, 1, 1, '#ffffff')",
    ),
    *(
        Fault(step, invariant, "fallers", sql)
        for step, invariant, sql in (
            (
                "check_position_member",
                "a vertex has at most one position",
                f"insert into cegdb.position_member values ({GIVEN}, 1, 0)",
            ),
            (
                "check_parent",
                "a CEG given evidence shows the tree of its parent",
                "update cegdb.ceg set root_staging_id = 2 where name = 'fallers'",
            ),
            (
                "check_reference",
                "variables, levels and labels are those of the survey",
                f"update cegdb.ceg_stage set variable_id = 1000 where ceg_id = {GIVEN}",
            ),
            *(
                ("check_ceg_stage", "the sizes of a stage are those of its positions", sql)
                for sql in (
                    f"update cegdb.ceg_stage set n = n + 1 where ceg_id = {GIVEN}",
                    f"update cegdb.ceg_stage set n_situations = 9 where ceg_id = {GIVEN}",
                    f"delete from cegdb.ceg_stage where ceg_id = {GIVEN}",
                    f"insert into cegdb.ceg_stage values ({GIVEN}, 1000, 1, 1, 1, '#ffffff')",
                )
            ),
            *(
                ("check_ceg_stage", "a stage has the variable of its situations", sql)
                for sql in (
                    f"update cegdb.ceg_stage set variable_id = null where ceg_id = {GIVEN}",
                    f"update cegdb.ceg_stage set variable_id = 2 where ceg_id = {GIVEN}",
                )
            ),
            (
                "check_ceg_stage",
                "a stage has one vector of probabilities",
                f"update cegdb.position set stage_id = 0 where height > 0 and ceg_id = {GIVEN}",
            ),
            (
                "check_given",
                "vertices that can be reached are reached from the root",
                f"delete from cegdb.position_member where ceg_id = {GIVEN} and vertex_id = 1",
            ),
            *(
                ("check_given", "leaves, and these alone, are in the sink", sql)
                for sql in (
                    f"update cegdb.position_member set position_id = 0 where ceg_id = {GIVEN}",
                    f"update cegdb.position set stage_id = null where ceg_id = {GIVEN}",
                )
            ),
            (
                "check_given",
                "the height of a position is its longest path",
                f"update cegdb.position set height = 9 where ceg_id = {GIVEN} and height = 2",
            ),
            *(
                (
                    "check_given",
                    "a CEG has evidence if and only if it has a parent",
                    f"update cegdb.ceg set {change} where name = 'fallers'",
                )
                for change in (
                    "evidence = null",
                    "probability = null",
                    "probability = 0",
                    "probability = 5.5",
                    "relative_likelihood = 5.5",
                    "probability = null, relative_likelihood = 0",
                )
            ),
        )
    ),
]

SURVEY_FAULTS = [
    Fault(
        "check_level",
        "variables are numbered from 1 without gaps",
        "people",
        "update cegdb.variable set ordinal = 9 where variable_id = 1",
    ),
    Fault(
        "check_level",
        "the same text has the same label id",
        "people",
        "update cegdb.level set label_id = 1000 where variable_id = 1 and kind = 'blank'",
    ),
    Fault(
        "check_level",
        "a label id stands for one text, or several that are declared the same",
        "people",
        "update cegdb.level set label_id = 1 where variable_id = 1",
    ),
    *(
        Fault(
            "check_level",
            "codes and ids of levels run side by side from 1",
            "people",
            sql,
        )
        for sql in (
            "delete from cegdb.level where variable_id = 1",
            "delete from cegdb.level where variable_id = 1 and code = 1",
            "delete from cegdb.level where variable_id = 1 and code = 2",
            "update cegdb.level set code = 9 where variable_id = 1 and code = 1",
            "update cegdb.level set level_id = 1000 where variable_id = 1 and code = 1",
        )
    ),
    *(
        Fault(
            "check_level",
            "a variable has one level blank and one structural",
            "people",
            f"update cegdb.level set kind = '{kind}' where variable_id = 1",
        )
        for kind in ("blank", "structural", "value")
    ),
    Fault(
        "check_level",
        "each respondent has one cell of a variable",
        "people",
        "update cegdb.level set n = n + 1 where level_id = 1",
    ),
    *(
        Fault(
            "check_level",
            "each answer of an ordered variable has a score, and nothing else has one",
            None if level_id == "9999" else "people",
            f"insert into cegdb.level_score select {level_id}, 0 from cegdb.level limit 1",
        )
        for level_id in (
            "1",
            "(select min(level_id) from cegdb.level where kind = 'blank')",
            "9999",
        )
    ),
    Fault(
        "check_response_table",
        "a survey has its table of rows",
        "people",
        "drop table cegdb.response_1",
    ),
    Fault(
        "check_response_table",
        "a table of rows has its survey",
        None,
        "create table cegdb.response_7 as select * from cegdb.response_1",
    ),
    *(
        Fault(
            "check_response_table",
            "a table of rows has a column for each variable",
            "people",
            f"alter table cegdb.response_1 {change}",
        )
        for change in ("drop v2", "drop v1", "drop n", "add v9 integer", "add x integer")
    ),
    Fault(
        "check_response_row",
        "the rows of a survey are distinct",
        "people",
        "insert into cegdb.response_1 select * from cegdb.response_1 limit 1",
    ),
    *(
        Fault(
            "check_response_row",
            "a row of a survey stands for at least one respondent",
            "people",
            f"update cegdb.response_1 set n = {n} where v1 = 1",
        )
        for n in ("0", "-n", "null")
    ),
    *(
        Fault("check_response_row", "the catalog has the size of a survey", "people", sql)
        for sql in (
            "update cegdb.response_1 set n = n + 1",
            "delete from cegdb.response_1",
            "update cegdb.survey set n = n + 1 where survey_id = 1",
            "update cegdb.survey set n_distinct = n_distinct + 1 where survey_id = 1",
        )
    ),
    *(
        Fault("check_response_cell", "a level has the count of its cells", "people", sql)
        for sql in (
            "update cegdb.response_1 set n = n + 1 where v2 = 1",
            "update cegdb.response_1 set v2 = 77",
            "update cegdb.level set n = 1 where level_id = 1",
            "delete from cegdb.level where level_id = 1",
        )
    ),
]

FAULTS = [
    *SURVEY_FAULTS,
    *TREE_FAULTS,
    *STAGING_FAULTS,
    *CEG_FAULTS,
    *GIVEN_FAULTS,
    *OWNER_FAULTS,
]
# One step does not find those of rows alone: they are looked at for the survey that it blames.
WHOLE = {fault for fault in FAULTS if fault.step in ROW_CHECKS}


def check_one(db: Database, step: str) -> list[dict[str, object]]:
    """Return the violations of one check."""
    with db._store.reading() as con, Steps(con) as steps:
        return [dict(zip(COLUMNS, row, strict=True)) for row in steps.fetch(step)]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.step}: {fault.sql}")
def test_a_fault_is_found_and_named(fault: Fault, broken: Database) -> None:
    assert f"'{fault.invariant}' as invariant" in load(fault.step).sql
    run(broken, fault.sql)
    found = broken.check() if fault in WHOLE else check_one(broken, fault.step)
    assert (fault.invariant, fault.name) in {(row["invariant"], row["name"]) for row in found}
    for row in found:
        assert list(row) == COLUMNS
        assert isinstance(row["row_id"], int | None)
        assert row["kind"] in ("survey", "tree", "staging", "ceg")
        assert isinstance(row["detail"], str)
        assert row["detail"]
    unhurt = {"other", "chain", "root only"} - {fault.name}
    assert not unhurt & {row["name"] for row in found}


def test_a_violation_says_where_and_what(broken: Database) -> None:
    run(broken, "update cegdb.edge set n = 5 where tree_id = 1 and child_id = 3")
    assert {
        "invariant": "the rows of an edge reach its child",
        "kind": "tree",
        "name": "falls",
        "row_id": 3,
        "detail": "5 rows take the edge to vertex 3, 7 reach it",
    } in broken.check()


def test_the_whole_check_runs_each_step(
    broken: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(broken, "update cegdb.edge set n = 5 where tree_id = 1 and child_id = 3")
    fetch = Steps.fetch
    found: dict[tuple[str, Any], list[tuple[Any, ...]]] = {}

    def told(steps: Steps, name: str, **params: Any) -> list[tuple[Any, ...]]:
        found[name, params.get("survey_id")] = fetch(steps, name, **params)
        return found[name, params.get("survey_id")]

    monkeypatch.setattr(Steps, "fetch", told)
    rows = [tuple(row.values()) for row in broken.check()]
    surveys = found.pop(("checkable_survey", None))
    of_rows = {(name, survey_id) for name in ROW_CHECKS for (survey_id,) in surveys}
    assert found.keys() == {(name, None) for name in CHECKS} | of_rows
    assert len(surveys) == 2
    assert rows
    assert rows == [row for each in found.values() for row in each]


def test_no_check_is_without_a_fault_it_finds() -> None:
    steps = [*CHECKS, *ROW_CHECKS]
    assert {fault.step for fault in FAULTS} == set(steps)
    written = {
        (step, invariant)
        for step in steps
        for invariant in re.findall(r"'([^']+)' as invariant", load(step).sql)
    }
    assert {(fault.step, fault.invariant) for fault in FAULTS} == written


@pytest.mark.parametrize("step", [*CHECKS, *ROW_CHECKS])
def test_checks_have_the_same_columns_and_only_read(step: str) -> None:
    found = load(step)
    assert found.path.startswith("checks/90_check/")
    assert found.mode == "fetch"
    assert found.header["writes"] == f"{step}({', '.join(COLUMNS)})"
    assert bool(found.params) == (step in ROW_CHECKS)


def test_all_steps_of_the_folder_are_run() -> None:
    here = [name for name in names() if load(name).path.startswith("checks/90_check/")]
    assert here == [*CHECKS, "checkable_survey", *ROW_CHECKS]
