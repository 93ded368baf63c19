"""The script of a run, in a DuckDB that knows no cegdb, gives the tables of the database."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, note
from hypothesis import strategies as st
from ingest_helpers import NASTY
from oracle import BLANK, MISS, NA, NOT_APPLICABLE, labels
from strategies import death_tree, run, staged_trees, survey_tables, tree_options

import cegdb
from cegdb.cli import main
from cegdb.demo import DEMOS
from cegdb.errors import CegError, GraphError, SqlStepError, StaleError
from cegdb.sqlfiles import in_phase, load, names
from cegdb.trace import trace
from cegdb.tree.path_codes import MAX_CODE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from cegdb.api import ChainEventGraph, Database, Survey

WRITTEN = {BLANK: None, NA: "skip", MISS: "missing"}
TABLES = {
    "tree_id": ("vertex", "edge", "vertex_weight"),
    "staging_id": (
        "hyperstage",
        "stage",
        "stage_member",
        "stage_edge",
        "prior_entry",
        "relabelled_edge",
    ),
    "ceg_id": ("position", "position_member", "ceg_edge"),
}


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    """One database for all examples, each of which replaces the one before."""
    with cegdb.open(threads=2) as db:
        yield db


def ran(script: str) -> duckdb.DuckDBPyConnection:
    """Run a script in a database of its own, statement by statement as a shell does."""
    con = duckdb.connect()
    for statement in duckdb.extract_statements(script):
        assert not statement.named_parameters, statement.query
        con.execute(statement)
    return con


def assert_same(db: Database, ceg: ChainEventGraph, script: str) -> None:
    """Refuse a script whose tables are not those of the database, to the last digit."""
    owners = {
        "ceg_id": ceg.id,
        "staging_id": ceg.staging.id,
        "tree_id": ceg.staging.tree.id,
    }
    con = ran(script)
    for key, tables in TABLES.items():
        for table in tables:
            query = f"select * from cegdb.{table} where {key} = {owners[key]} order by all"  # noqa: S608
            columns, rows = db.rows(query)
            made = con.execute(f"select * from cegdb.{table} order by all")  # noqa: S608
            assert [column[0] for column in made.description] == list(columns)
            assert made.fetchall() == rows, table
    con.close()


def ingest(db: Database, rows: Sequence[Any], variables: Sequence[str], **more: Any) -> Survey:
    columns: dict[str, list[Any]] = {
        v: [WRITTEN.get(row[v], row[v]) for row, _ in rows] for v in variables
    }
    columns["people"] = [n for _, n in rows]
    return db.ingest(
        pd.DataFrame(columns, dtype=object),
        name="it",
        count="people",
        structural=["skip"],
        missing=["missing"],
        replace=True,
        **more,
    )


# A survey that is not stratified: a question asked of some, weights, missing answers.
GATED = """
select
    i % 3 as area,
    if(i % 3 = 0, null, if(i % 7 < 3, 'yes', 'no')) as assessed,
    if(i % 11 = 0, '?', if(i % 5 < 2, 'high', 'low')) as risk,
    if(i % 5 = 4, null, if(i % 4 = 1, 'fall', 'none')) as outcome,
    'never used' as other,
    1 + i % 4 / 8 as w
from range(240) as t(i)
"""


@pytest.fixture(scope="module")
def gated(db: Database) -> Survey:
    return db.ingest(GATED, "gated", weight="w", missing=["?"])


@pytest.mark.slow
@pytest.mark.parametrize("demo", ["chds", "titanic"])
def test_a_demo_is_made_again(db: Database, demo: Any) -> None:
    found = DEMOS[demo]
    survey = db.ingest(found.select(), demo, count="people")
    tree = survey.event_tree(impossible=found.impossible)
    staged = tree.learn_stages(prior="mass", criterion="score")
    for stop in ("early", "baseline"):
        ceg = staged.to_ceg(stop=stop)
        assert_same(db, ceg, ceg.trace())


ORDER = ["area", "assessed", "risk", "outcome"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"blank": "structural", "missing_policy": "category"},
        {"missing_policy": "complete", "sampling_zeros": "full"},
        {"sampling_zeros": "floret", "impossible": [{"area": "1", "assessed": "yes"}]},
        {"order": ["outcome", "risk"], "add_paths": [["none", "high"]]},
    ],
    ids=lambda settings: ",".join(settings) or "defaults",
)
def test_any_tree_of_a_weighted_survey_is_made_again(
    db: Database,
    gated: Survey,
    settings: dict[str, Any],
) -> None:
    """In several chunks of variables; in one piece if nothing is asked for."""
    if "impossible" in settings:
        settings["impossible"] = [{"area": "0", "assessed": "yes"}]
    tree = gated.event_tree("any", replace=True, **{"order": ORDER, **settings})
    ceg = tree.learn_stages(prior="mass", criterion="score").to_ceg()
    for limit in (40,) if settings else (MAX_CODE, 40):
        assert_same(db, ceg, trace(db._store, ceg.id, max_code=limit))


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"weighting": "none", "deff": {"risk": 1.5}},
        {"weighting": "global", "prior": "floret", "hyperstages": "labels"},
        {"weighting": "total", "prior": "path", "hyperstages": "paper"},
        {"prior": "stage", "alpha": 2.5},
        {"prior": {("1", "yes"): {"high": 1.5, "low": 0.1}}, "alpha": 7},
        {"relabel": {("risk", "high"): "new", (("1",), "no"): "other"}},
        {"hyperstages": [[("1",), ("2",)]], "single_edges": "apart"},
        {"initial": [[("1",), ("2",)]], "frozen": {("0",): "frozen"}, "method": "hc"},
    ],
    ids=",".join,
)
def test_any_learnt_stages_are_made_again(
    db: Database, gated: Survey, settings: dict[str, Any]
) -> None:
    tree = gated.event_tree("staged", order=ORDER, replace=True, sampling_zeros="none")
    ceg = tree.learn_stages(**settings).to_ceg()
    assert_same(db, ceg, ceg.trace())


@pytest.mark.slow
def test_given_stages_keep_their_names(db: Database, gated: Survey) -> None:
    tree = gated.event_tree("named", order=ORDER, replace=True, sampling_zeros="none")
    staged = tree.set_stages(
        {("1",): "it's\none", ("2",): "it's\none", (): "root"}, prior="mass"
    )
    ceg = staged.to_ceg()
    script = ceg.trace()
    assert_same(db, ceg, script)
    assert "'it''s' || chr(10) || 'one'" in script


@pytest.mark.slow
def test_labels_declared_the_same_and_wide_florets(db: Database) -> None:
    book = {"variables": {"b": {"same": [["x", "y"]]}}}
    rows = "('u', 'x', 'p'), ('v', 'y', 'p'), ('u', 'z', 'q'), ('v', 'z', 'q')"
    query = f"select * from (values {rows}) as t(a, b, c)"  # noqa: S608
    survey = db.ingest(query, "same", codebook=book)
    staged = survey.event_tree(sampling_zeros="none").set_stages(
        {("u",): "s", ("v",): "s"}, prior="mass"
    )
    ceg = staged.to_ceg()
    script = trace(db._store, ceg.id, max_bits=1)
    assert "wide_block" in script
    assert_same(db, ceg, script)


@pytest.mark.slow
def test_the_staged_tree_of_a_network_is_made_again(db: Database) -> None:
    found = DEMOS["chds"]
    survey = db.ingest(found.select(), "network", count="people")
    network = survey.event_tree(sampling_zeros="none").set_stages(
        {}, depends={"Events": ["Economic"]}, prior="mass"
    )
    ceg = db.staged_tree(network.to_bayesian_network(), "from network").to_ceg()
    assert_same(db, ceg, ceg.trace())


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["keep", "relearn"])
def test_a_ceg_that_was_rebuilt_is_made_again_and_a_stale_one_is_not(
    db: Database, keep: Any
) -> None:
    survey = db.ingest("select i % 2 as x, i % 3 as y from range(60) t(i)", "wave")
    ceg = (
        survey.event_tree(sampling_zeros="none")
        .learn_stages(initial=[[("0",), ("1",)]], prior="mass", criterion="score")
        .to_ceg()
    )
    survey.append("select i % 3 as x, i % 4 as y from range(40) t(i)")
    with pytest.raises(StaleError, match="is stale: its survey has changed"):
        ceg.trace()
    db.rebuild("wave", stages=keep)
    assert_same(db, ceg, ceg.trace())
    db.drop("survey", "wave")


@pytest.mark.slow
def test_a_ceg_given_evidence_names_the_one_to_trace(gated: Survey) -> None:
    ceg = (
        gated.event_tree("given", order=ORDER, sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    again = ceg.given(risk="high").save("again").given(outcome="fall").save("and again")
    for found in (again, again.parent):
        assert found is not None
        message = r"conditioned on evidence(?s:.*)it comes from: 'given'"
        with pytest.raises(CegError, match=message):
            found.trace()


@pytest.mark.slow
def test_a_situation_that_nobody_reached_is_predicted_again(db: Database) -> None:
    rows = "select * from (values ('n', null), ('n', null), ('n', null), ('y', 'n')) as t(x, y)"
    survey = db.ingest(rows, "s", levels={"y": ["n", "unseen"]})
    ceg = (
        survey.event_tree(order=["x", "y"], sampling_zeros="full")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    more = db.ingest(
        "select i % 2 as x, 1 as y, (i * 7) % 5 // 3 as z from range(40) as t(i)",
        "more",
        levels={"y": [1, 2]},
    )
    other = (
        more.event_tree(sampling_zeros="full")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    assert "unobserved" in set(other.staging.stages["kind"])
    for one in (ceg, other):
        assert_same(db, one, one.trace())


@pytest.mark.slow
@run(3)
@given(staged_trees(jumps=True, cross_variables=True), st.sampled_from(["early", "baseline"]))
def test_random_staged_trees_are_made_again(db: Database, sample: Any, stop: Any) -> None:
    groups = defaultdict(list)
    tree = ingest(db, sample.rows, sample.order).event_tree(
        blank="structural", sampling_zeros="none"
    )
    for path, colour in sample.stage.items():
        groups[colour].append(labels(path))
    ceg = tree.set_stages(list(groups.values()), hyperstages="labels", prior="mass").to_ceg(
        stop=stop
    )
    assert_same(db, ceg, ceg.trace())


@pytest.mark.slow
def test_a_tree_whose_leaves_lie_at_different_depths_is_made_again(db: Database) -> None:
    sample = death_tree()
    tree = ingest(db, sample.rows, sample.order).event_tree(sampling_zeros="none")
    groups = defaultdict(list)
    for path, colour in sample.stage.items():
        groups[colour].append(labels(path))
    ceg = tree.set_stages(list(groups.values()), prior="mass").to_ceg()
    assert len(ceg.positions) == 4
    assert_same(db, ceg, ceg.trace())


@pytest.mark.slow
@run(3)
@given(data=st.data())
def test_random_surveys_are_made_again(db: Database, data: st.DataObject) -> None:
    table = data.draw(survey_tables().filter(lambda table: table.rows))
    order = data.draw(st.permutations(table.order))
    order = order[: data.draw(st.integers(1, len(order)))]
    options = data.draw(tree_options(table._replace(order=order)))
    survey = ingest(db, *table, levels=options.pop("levels"))
    options["add_paths"] = [
        {v: path.get(v, NOT_APPLICABLE) for v in order[: 1 + max(map(order.index, path))]}
        for path in options["add_paths"]
    ]
    try:
        tree = survey.event_tree(order=order, **options)
    except cegdb.CegdbError as error:
        note(str(error))
        return
    ceg = tree.learn_stages(prior="mass", criterion="score").to_ceg()
    assert_same(db, ceg, ceg.trace())


@pytest.mark.slow
@run(2)
@given(st.lists(st.tuples(NASTY, NASTY), min_size=1, max_size=6), NASTY)
def test_any_text_is_written_as_it_is(
    db: Database, rows: list[tuple[str, str]], name: str
) -> None:
    variable = name if name.strip() else "x"
    frame = pd.DataFrame(rows, columns=[variable, f"{variable} 2"])
    try:
        survey = db.ingest(frame, "nasty", replace=True)
        ceg = (
            survey.event_tree(sampling_zeros="none")
            .learn_stages(prior="mass", criterion="score")
            .to_ceg()
        )
    except cegdb.CegdbError as error:
        note(str(error))
        return
    script = ceg.trace()
    assert_same(db, ceg, script)
    assert "\r" not in script


@pytest.mark.slow
def test_large_tables_are_written_beside_the_script(
    db: Database, gated: Survey, tmp_path: Path
) -> None:
    folder = tmp_path / "it's [1]"
    folder.mkdir()
    file = folder / "run *.sql"
    ceg = (
        gated.event_tree("large", order=ORDER, sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    script = ceg.trace(file, max_values=5)
    assert file.read_text(encoding="utf-8") == script
    tables = ["level", f"response_{gated.id}", "situation_stage", "stage_interval"]
    written = {path.name for path in folder.iterdir()}
    assert written == {*(f"run *.{table}.parquet" for table in tables), "run *.sql"}
    assert_same(db, ceg, script)
    for unwritable in (folder, tmp_path / "nowhere" / "x.sql"):
        with pytest.raises(GraphError):
            ceg.trace(unwritable)
    with pytest.raises(
        CegError, match="max_values must be a whole number of 0 or more, not -1"
    ):
        ceg.trace(max_values=-1)


@pytest.mark.slow
def test_a_run_that_gives_other_rows_is_refused(db: Database, gated: Survey) -> None:
    ceg = (
        gated.event_tree("spoilt", order=ORDER, sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    with db._store.writing() as (con, _):
        con.execute(
            "update cegdb.ceg_edge set prior = prior * 1.1 where ceg_id = $ceg_id",
            {"ceg_id": ceg.id},
        )
    with pytest.raises(
        CegError, match=r"rows of cegdb\.ceg_edge that differ from those stored"
    ):
        ceg.trace()


@pytest.mark.slow
def test_each_step_says_what_it_is_for_and_runs_as_shown_on_the_tables_left(
    db: Database, gated: Survey
) -> None:
    before = db.rows("select count(*) from duckdb_tables()")
    ceg = (
        gated.event_tree("headed", order=ORDER, sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
        .to_ceg()
    )
    script = ceg.trace()
    assert db.rows("select count(*) from duckdb_tables()") == before
    heights = re.findall(r"^-- step:    \w+_block \(.*height = (\d)", script, re.MULTILINE)
    assert heights == sorted(heights)
    for start in re.findall(r"^-- step: .*(?:\n--.*)*", script, re.MULTILINE):
        for field in ("purpose", "reads", "writes", "source"):
            assert f"\n-- {field}:" in start
    con = duckdb.connect()
    con.execute(script)
    for name in set(re.findall(r"^-- step:    (\w+)", script, re.MULTILINE)):
        # Of two tables that tree_vertex and others can read, the script has one.
        shown = load(name).prepared().replace("'temp.numbered_", "'temp.reordered_")
        shown = shown.replace("'temp.path_end'", "'temp.path_row'")
        con.execute(shown)
    with pytest.raises(duckdb.CatalogException, match='name "cegdb" already exists'):
        con.execute(script)
    assert con.execute("select count(*) from cegdb.position").fetchall() == [
        (len(ceg.positions),)
    ]


# -----------------------------------------------------------------------------
# The command
# -----------------------------------------------------------------------------


def call(*arguments: object, fails: int = 0) -> Any:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == fails, result.output
    return result


def test_steps_lists_every_phase_and_step() -> None:
    lines = call("steps", "--format", "csv").stdout.splitlines()
    assert lines[0] == "name,phase,purpose,reads,writes"
    assert [line.split(",")[0] for line in lines[1:]] == names()
    assert {line.split(",")[1] for line in lines[1:]} == {step.phase for step in in_phase()}
    for phase in ("40_positions", "positions", "40"):
        listed = call("steps", phase).stdout.splitlines()[1:]
        assert listed == [line for line in lines if ",40_positions," in line]
    assert call("steps", "list", "50").stdout == call("steps", "50_ceg").stdout
    assert "phases are 10_ingest, 20_tree, 30_stages" in call("steps", "ship", fails=4).stderr
    assert "did you mean 20_tree?" in call("steps", "trees", fails=4).stderr
    assert "Did you mean trace?" in call("steps", "tracee", "a.duckdb", "a", fails=2).stderr
    assert "give only one of PHASE" in call("steps", "50", "--show", "block", fails=2).stderr


@pytest.mark.parametrize("name", names())
def test_a_step_shown_is_parsed_by_duckdb(name: str) -> None:
    shown = load(name).prepared()
    kinds = [statement.type for statement in duckdb.extract_statements(shown)]
    assert kinds == [duckdb.StatementType.PREPARE, duckdb.StatementType.EXECUTE]


def test_steps_shows_one_step() -> None:
    shown = call("steps", "--show", "layer_block").stdout
    assert "\nprepare layer_block as\n-- step:    layer_block" in shown
    assert "\n--   position_of: made by steps stage_situation, layer_member\n" in shown
    error = call("steps", "--show", "layerblock", fails=4).stderr
    assert "did you mean layer_block" in error
    with pytest.raises(SqlStepError, match="cegdb steps lists all"):
        load("x")


@pytest.mark.slow
def test_the_example_of_the_help_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call("demo", "--db", "demo.duckdb")
    said = call("steps", "trace", "demo.duckdb", "chds", "-o", "pipeline.sql")
    assert said.stderr == "script: pipeline.sql\n"
    script = (tmp_path / "pipeline.sql").read_text(encoding="utf-8")
    assert call("steps", "trace", "demo.duckdb", "chds").stdout == script
    with cegdb.open("demo.duckdb", read_only=True) as db:
        assert_same(db, db.cegs["chds"], script)
    assert (
        "no CEG named 'x'; available: 'chds'"
        in call("steps", "trace", "demo.duckdb", "x", fails=3).stderr
    )
    help_ = call("steps", "--help").stdout
    assert "trace" in help_
    assert "PHASE" in help_
