"""Many models in one database: right rows, no view walks the others, space comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import sqlalchemy as sa
from database_template import TABLES

import cegdb
from cegdb.demo import DEMOS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cegdb.api import Database

# Views that plain_views.sql has too, each with the column that names the object.
VIEWS = {
    "situations": "tree",
    "florets": "tree",
    "staged_vertices": "staging",
    "staged_florets": "staging",
    "staged_edges": "staging",
    "merges": "staging",
    "stage_pairs": "staging",
    "costagings": "staging",
    "stage_stability": "staging",
    "bootstrap_intervals": "staging",
    "positions": "ceg",
    "ceg_edges": "ceg",
    "situation_positions": "ceg",
}
OTHERS = {
    "vertices": "tree",
    "tree_edges": "tree",
    "stages": "staging",
    "stage_edges": "staging",
    "stage_table": "staging",
    "hyperstage_posteriors": "staging",
    "staged_situations": "staging",
    "position_probability": "ceg",
    "marginals": "ceg",
    "most_probable_paths": "ceg",
}
# DuckDB 1 reads all edges before it walks the paths of one tree, and keeps the deleted rows of
# tables that have keys.
IS_DUCKDB_1 = duckdb.__version__.startswith("1.")
WALKED = {
    "situations",
    "staged_situations",
    "situation_positions",
    "stage_pairs",
    "costagings",
    "stage_stability",
    "bootstrap_intervals",
    "position_probability",
    "marginals",
    "most_probable_paths",
    "stage_table",
}
# The later the answer, the fewer are asked: leaves at every depth.
GATED = """
    select if(i % 3 = 0, 'dead', 'alive') as "at 1",
        if(i % 3 = 0, null, if(i % 7 < 3, 'dead', 'alive')) as "at 2",
        if(i % 3 = 0, null, if(i % 5 < 2, 'ill', 'well')) as state,
        if(i % 3 = 0 or i % 7 < 3, null, if(i % 11 < 4, 'dead', 'alive')) as "at 3"
    from range(900) as t(i)
"""
# DuckDB reads one vector of a table before it sees that nothing is wanted of it.
VECTOR = 2048
BULK = {table.name for table in TABLES} - {
    "survey",
    "variable",
    "level",
    "event_tree",
    "staging",
    "ceg",
}


def make_all(db: Database) -> None:
    """Make stratified, truncated and padded trees, stagings learnt, given and relabelled."""
    for name, demo in DEMOS.items():
        survey = db.ingest(demo.select(), name=name, count="people")
        tree = survey.event_tree(impossible=demo.impossible)
        tree.learn_stages(prior="mass", criterion="score").to_ceg()
    gated = db.ingest(GATED, name="gated").event_tree(sampling_zeros="none")
    gated.learn_stages(prior="mass", criterion="score").to_ceg()
    gated.set_stages({(): "a", ("alive",): "b"}, name="given", prior="mass").to_ceg(
        stop="baseline"
    )
    gated.learn_stages(
        name="one word", relabel={("at 2", "dead"): "gone"}, method="ahc", prior="mass"
    ).to_ceg()
    db.stagings["chds"].stability(runs=3)
    db.stagings["chds"].posterior()
    db.stagings["gated"].posterior()
    db.stagings["gated"].stability("parametric", runs=2)
    db.stagings["gated"].intervals("bootstrap", runs=2)


@pytest.fixture(scope="module")
def many() -> Iterator[Database]:
    """Give a database of several models."""
    with cegdb.open() as db:
        make_all(db)
        yield db


def rows(db: Database, view: str, schema: str = "cegdb") -> list[Any]:
    """Return the columns with their types, and all rows of a view, in order."""
    with db._store.reading() as con:
        result = con.execute(f"select * from {schema}.{view} order by all")  # noqa: S608
        columns = [(column[0], str(column[1])) for column in result.description or []]
        return [columns, *result.fetchall()]


def filled(found: list[Any]) -> list[str]:
    """Return rows as text with '' for null, in order."""
    return sorted(repr(row).replace("None", "''") for row in found)


@pytest.mark.slow
def test_views_hold_the_rows_of_their_simplest_form(many: Database) -> None:
    script = Path(__file__).with_name("plain_views.sql").read_text(encoding="utf-8")
    now = {view: rows(many, view) for view in VIEWS}
    assert all(len(found) > 10 for found in now.values())
    with many._store.reading() as con:
        con.execute(script)
    try:
        plain = {view: rows(many, view, "plain") for view in VIEWS}
    finally:
        with many._store.reading() as con:
            con.execute("drop schema plain cascade")
    for view, found in plain.items():
        # DuckDB 1 joined the labels of the root to null, not to ''.
        assert found == now[view] or (IS_DUCKDB_1 and filled(found) == filled(now[view]))
    assert {view: rows(many, view) for view in VIEWS} == now


@pytest.mark.slow
@pytest.mark.parametrize(("view", "kind"), (VIEWS | OTHERS).items())
def test_a_view_of_one_object_is_its_part_of_the_whole(
    many: Database, view: str, kind: str
) -> None:
    of_kind = {"tree": many.trees, "staging": many.stagings, "ceg": many.cegs}[kind]
    sql = f"select * from cegdb.{view} where {kind} = $name order by all"  # noqa: S608
    parts = [row for name in of_kind.names() for row in many.rows(sql, {"name": name})[1]]
    assert sorted(map(repr, parts)) == sorted(map(repr, rows(many, view)[1:]))


def walked(many: Database, tree: str) -> dict[int, list[str]]:
    """Return the labels that lead to each situation, followed from the root in Python."""
    edges = many.rows(
        "select parent_id, child_id, label from cegdb.tree_edges where tree = $tree "
        "order by child_id",
        {"tree": tree},
    )[1]
    paths: dict[int, list[str]] = {0: []}
    for parent, child, label in edges:
        paths[child] = [*paths[parent], label]
    parents = {parent for parent, *_ in edges}
    return {vertex: path for vertex, path in paths.items() if vertex in parents}


@pytest.mark.slow
def test_paths_are_those_of_the_tree(many: Database) -> None:
    for view, kind, of_kind in (
        ("situations", "tree", many.trees),
        ("staged_situations", "staging", many.stagings),
        ("situation_positions", "ceg", many.cegs),
    ):
        for one in of_kind:
            tree = one.name
            if kind != "tree":
                tree = (one.tree if kind == "staging" else one.staging.tree).name
            found = many.rows(
                "select vertex_id, labels, path, situation from "  # noqa: S608
                f"cegdb.{view} where {kind} = $name order by vertex_id",
                {"name": one.name},
            )[1]
            expected = walked(many, tree)
            assert [(row[0], row[1]) for row in found] == sorted(expected.items())
            assert [row[2] for row in found] == [" -> ".join(row[1]) for row in found]
            assert [row[3] for row in found] == [f"s{i}" for i in range(len(found))]


def test_staged_situations_have_the_stages_of_their_vertices(many: Database) -> None:
    assert (
        many.rows(
            "select staging, vertex, stage, variable, n, vertex_id, stage_id "
            "from cegdb.staged_vertices where stage is not null order by all"
        )[1]
        == many.rows(
            "select staging, situation, stage, variable, n, vertex_id, stage_id "
            "from cegdb.staged_situations order by all"
        )[1]
    )


def scanned(plan: Any) -> Iterator[tuple[str, int]]:
    """Return the tables that a plan scans, each with the rows that come out of the scan."""
    if isinstance(plan, list):
        for part in plan:
            yield from scanned(part)
    elif isinstance(plan, dict):
        told = plan.get("extra_info")
        table = str(told.get("Table", "")).split(".")[-1].strip('"') if told else ""
        if table:
            yield table, plan.get("intermediate_rows", plan.get("operator_cardinality"))
        for part in plan.values():
            if isinstance(part, list):
                yield from scanned(part)


@pytest.fixture(scope="module")
def beside() -> Iterator[Database]:
    """Give a small model beside one of thousands of vertices."""
    answers = ", ".join(f"hash(i * 31 + {k} * 1000003) % 3 as q{k}" for k in range(7))
    with cegdb.open() as db:
        tree = db.ingest(f"select {answers} from range(4000) as t(i)", name="big").event_tree(  # noqa: S608
            sampling_zeros="none"
        )
        big = tree.set_stages({}, prior="mass").to_ceg()
        big.given(q0=[0, 1]).save("big given")
        demo = DEMOS["chds"]
        db.ingest(demo.select(), name="small", count="people").event_tree(sampling_zeros="none")
        staged = db.trees["small"].learn_stages(prior="mass", criterion="score")
        staged.stability(runs=2)
        staged.intervals("bootstrap", runs=2)
        staged.to_ceg().given(Admission="Yes").save("given")
        db.trees["small"].learn_stages(
            "small wide", hyperstages="labels", prior="mass", criterion="score"
        ).to_ceg()
        yield db


def scans(db: Database, query: str) -> list[tuple[str, int]]:
    """Return the bulk tables that a query scans, each with the rows it reads there."""
    with db._store.reading() as con:
        con.execute("set threads = 1")
        ((_, text),) = con.execute(f"explain (analyze, format json) {query}").fetchall()
    found = [(table, n) for table, n in scanned(json.loads(text)) if table in BULK]
    assert found
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("view", "kind", "name"),
    [
        *((view, kind, "small") for view, kind in (VIEWS | OTHERS).items()),
        *((view, kind, "given") for view, kind in VIEWS.items() if kind == "ceg"),
    ],
)
def test_a_view_of_one_object_reads_no_rows_of_others(
    beside: Database, view: str, kind: str, name: str
) -> None:
    if IS_DUCKDB_1 and view in WALKED:
        pytest.skip("needs DuckDB 2")
    query = f"select * from cegdb.{view} where {kind} = '{name}' order by all"  # noqa: S608
    # 43 vertices; pairs of situations are scanned once a side. A CEG given evidence has no
    # staging: DuckDB finds that out after the first vector of more rows of stages.
    most = 200 if kind != "ceg" or view in VIEWS else VECTOR
    of_stages = VECTOR if name == "given" else most
    limits = {"stage": of_stages, "stage_edge": of_stages}
    found = scans(beside, query)
    assert [(table, n) for table, n in found if n > limits.get(table, most)] == []


@pytest.mark.parametrize("name", ["small", "small wide", "given"])
@pytest.mark.parametrize(
    "macro",
    [
        "position_probability('{}')",
        "marginals('{}', skip_mixed := true)",
        "most_probable_paths('{}', 3)",
        "event_probability('{}', 'somebody')",
        "conditional_probability('{}', 'somebody', ['Social'])",
    ],
)
def test_a_macro_reads_no_rows_of_other_cegs(beside: Database, macro: str, name: str) -> None:
    with beside._store.reading() as con:
        con.execute("create or replace temp table somebody as select 'High' as Social")
    found = scans(beside, f"from cegdb.{macro.format(name)}")
    assert [(table, n) for table, n in found if n > VECTOR] == []


def test_objects_and_their_findings_are_listed_in_one_statement_each(many: Database) -> None:
    told: list[str] = []
    listen: Callable[..., None] = lambda *args: told.append(args[2])  # noqa: E731
    engine = many._store._engine
    sa.event.listen(engine, "before_cursor_execute", listen)
    found = many.stagings.summaries()
    objects = list(iter(many.stagings))
    sa.event.remove(engine, "before_cursor_execute", listen)
    assert len(told) == 3
    assert [one.name for one in objects] == list(found) == many.stagings.names()
    assert [one.summary for one in objects] == list(found.values())


@pytest.mark.slow
def test_dropping_gives_space_back(tmp_path: Path) -> None:
    answers = ", ".join(f"hash(i * 31 + {k} * 1000003) % 4 as q{k}" for k in range(10))
    file = tmp_path / "many.duckdb"
    used, sizes = [], []

    def after(change: Callable[[Database], object]) -> None:
        with cegdb.open(file) as db:
            change(db)
        sizes.append(file.stat().st_size)
        with cegdb.open(file, read_only=True) as db:
            used.append(db.rows("select used_blocks from pragma_database_size()")[1][0][0])

    def make_big(db: Database) -> None:
        source = f"select {answers} from range(50000) as t(i)"  # noqa: S608
        db.ingest(source, name="big", replace=True).event_tree(sampling_zeros="none")

    after(lambda db: db.ingest(DEMOS["chds"].select(), name="small", count="people"))
    for _ in range(5):
        after(make_big)
    after(lambda db: db.drop("survey", "big"))
    alone, big, *again, dropped = used
    assert max(sizes) <= 2 * sizes[1]
    if not IS_DUCKDB_1:
        assert max(again) <= big + 3
        assert dropped <= alone + 3 < big
