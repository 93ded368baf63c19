"""Every SQL file is well formed, says what it writes, and is used."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pytest
from low_limits import ceg_of_lists, tree_in_chunks

import cegdb
from cegdb import sqlfiles
from cegdb.errors import SqlStepError
from cegdb.evidence import visits
from cegdb.graphs.overview import overview
from cegdb.networks import Network
from cegdb.report.words.report_data import read_report_data
from cegdb.small_cells import views
from cegdb.sqlfiles import Step, Steps, load, names, parse, recording, registered

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]

TEMP_TABLES = """
    select table_name from duckdb_tables() where temporary
    union all
    select view_name from duckdb_views() where temporary
"""

HEADER = """-- step:    one
-- mode:    create
-- purpose: An example.
-- reads:   nothing
-- writes:  one(x)
-- params:  x INTEGER, any number
-- source:  serves this test
"""


@pytest.mark.parametrize("name", names())
def test_a_step_is_well_formed_and_qualifies_every_table(name: str) -> None:
    step = load(name)
    assert step.name == name
    body = "\n".join(line for line in step.sql.splitlines() if not line.startswith("--"))
    body = re.sub(r"'[^']*'", "''", body)
    ctes = set(re.findall(r"\b(\w+)(?:\([\w, ]+\))? as (?:materialized )?\(", body))
    for table in re.findall(r"(?<!distinct )\b(?:from|join)\s+([a-z_.]+)\b(?!\()", body):
        assert table.startswith(("cegdb.", "temp.")) or table in {*ctes, "lateral"}, table
    assert ";" not in body
    # DuckDB before 2.0 compares first: value ->> ('path' = 'text').
    assert not re.search(r"->>? '[^']*' *(=|<|>|in\b|is\b|like\b)", step.sql)


@pytest.mark.parametrize("name", names())
def test_a_parameter_that_names_a_table_has_an_example(name: str) -> None:
    step = load(name)
    for parameter in re.findall(r"query_table\(\$(\w+)\)", step.sql):
        assert step.example(parameter) != "''", "name a table in its description"


def _headings(page: str, pattern: str) -> set[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return set(re.findall(pattern, text, re.MULTILINE))


@pytest.mark.parametrize("name", names())
def test_the_source_of_a_step_names_a_paper_a_section_or_what_it_serves(name: str) -> None:
    theory = _headings("theory.md", r"^#{2,3} (\d+(?:\.\d+)?\.? .*)$")
    architecture = _headings("architecture.md", r"^## (.*)$")
    for source in load(name).header["source"].replace("\n", " ").split(";"):
        text = source.strip()
        if section := re.match(
            r"docs/theory\.md, section ([\d.]+) \((.*?(?:\(\d+\))?)\)", text
        ):
            assert {f"{section[1]}. {section[2]}", f"{section[1]} {section[2]}"} & theory, text
        elif section := re.match(r"docs/architecture\.md, section ([\w ]+)", text):
            assert any(section[1].startswith(title) for title in architecture), text
        else:
            assert re.match(r"serves |.*\(\d{4}\)", text), text


def _writes(step: Step, columns: list[str]) -> bool:
    """Return whether a header names these columns; ``...`` stands for variables."""
    match = re.search(r"\(([^)]*)\)", step.header["writes"].replace("\n", " "))
    assert match is not None
    written = [column.strip() for column in match[1].split(",")]
    if "..." not in written:
        return columns == written
    i = written.index("...")
    first, last = written[:i], written[i + 1 :]
    return columns[:i] == first and columns[len(columns) - len(last) :] == last


class _Checker:
    """Checks each step just before it runs, when the tables it reads are there."""

    def __init__(self) -> None:
        self.ran_steps: set[str] = set()
        self.shown_steps: set[str] = set()

    def on_step(
        self, con: duckdb.DuckDBPyConnection, step: Step, params: Mapping[str, sqlfiles.Value]
    ) -> None:
        if step.name not in self.ran_steps:
            self.ran_steps.add(step.name)
            query = f"select * from ({step.sql}) limit 0"  # noqa: S608
            columns = con.execute(query, dict(params) or None).description
            assert _writes(step, [column[0] for column in columns or []]), step.name
        if step.name not in self.shown_steps:
            examples = [step.example(name) for name in step.params]
            tables = {row[0] for row in con.execute(TEMP_TABLES).fetchall()}
            if tables.issuperset(step.needs(examples)):
                self.shown_steps.add(step.name)
                con.execute(step.prepared())
                con.execute(f"deallocate {step.name}")

    def on_statement(self, name: str, sql: str, purpose: str) -> None:
        pass

    def on_table(self, con: duckdb.DuckDBPyConnection, table: str, purpose: str) -> None:
        pass


@pytest.mark.slow
def test_every_step_is_run_writes_the_columns_its_header_names_and_runs_as_shown(
    tmp_path: Path,
) -> None:
    checker = _Checker()
    rows = ", ".join(
        f"('{a}', {b}, '{c}', 1.5)"
        for a in "uv"
        for b in ("null", "'x'", "'y'")
        for c in ("p", "q", "?")
        for _ in range(2)
    )
    with recording(checker), cegdb.open() as db:
        query = f"select * from (values {rows}) as t(a, b, c, w)"  # noqa: S608
        survey = db.ingest(query, weight="w", missing=["?"])
        db.ingest(query, "clustered", columns=["b", "c"], cluster="a", missing=["?"])
        db.codebook("select 't' || i as many, i % 2 as few from range(1200) t(i)")
        with pytest.raises(cegdb.CegdbError, match="numbers with decimals are weights"):
            db.ingest(query, count="w")
        db.ingest("select 'x' as a, 2 as n", "counted", count="n")
        db.ingest(query, "closed", codebook={"gates": {"b": "a = 'u'"}}, missing=["?"])
        ordered = {"variables": {"c": {"ordered": True}}}
        db.ingest(query, "ordered", codebook=ordered, missing=["?"]).event_tree(
            sampling_zeros="none"
        ).learn_stages(method="ordinal", prior="mass")
        never = "if(i < 100, 'u', 'v') as a, if(i < 100 or i % 2 = 0, 'x', 'y') as b"
        db.ingest(f"select {never} from range(300) as t(i)", "presumed").event_tree()  # noqa: S608
        survey.search_orders(["b", "c"])
        survey.explore("c")
        tree = tree_in_chunks(
            survey,
            50,
            sampling_zeros="floret",
            add_paths=[["u", "x", "p"]],
        )
        survey.event_tree("zeros", sampling_zeros="auto").learn_stages(
            prior="mass", criterion="score"
        ).intervals()
        staged = tree.learn_stages(
            initial=[[("u", "x"), ("v", "x")]],
            relabel={"x": "z"},
            prior="mass",
            criterion="score",
        )
        tree.learn_stages(initial=staged, prior="mass", criterion="score")
        ceg = staged.to_ceg()
        ceg.recover()
        ceg.cuts()
        ceg.report.page(tmp_path / "page.html")
        survey.test_independence("c", "b", given=["a"])
        ceg.given(b="z").save("given").given(visits("w1")).save("given both")
        db.cegs["given"].rows("ceg_edges", min_n=5)
        ceg.effect("a", {"c": "p"}, given_staging=True, draws=2)
        for found in (survey, tree, staged, ceg):
            for view in views(found.kind):
                assert found.rows(view, min_n=5)[0] == found.rows(view)[0]
        for found in (tree, staged, ceg):
            found.overview(top_variables=1)
            found.overview(top_variables=1, min_n=5)
            with pytest.raises(cegdb.CegdbError, match="a picture holds at most 0"):
                overview(found._store, found.kind, found.id, collapse_below=2, most=0)
        staged.to_ceg(stop="baseline")
        lists = ceg_of_lists(staged)
        read_report_data(lists._store, lists.id, limit=20, most_compared=1)
        tree.learn_stages(method="csbhc", prior="path", hyperstages="paper")
        tree.set_stages({}, prior={("u",): 1.5}).to_ceg()
        other = tree.set_stages({("u",): "s", ("v",): "s"}, hyperstages="labels", prior="mass")
        ceg.report.text("analyst")
        db.compare()
        db.compare(other, staged)
        staged.diff(other)
        db.report.comparison(staged, other)
        staged.inclusion(other)
        staged.cid(other)
        staged.stability(runs=2)
        staged.averaged()
        staged.intervals("robust")
        staged.intervals("bootstrap", runs=2)
        staged.plot.costaging("c", min_n=2)
        staged.plot.costaging("c", other)
        staged.plot.difference(other)
        plain = survey.event_tree(name="plain", sampling_zeros="none").learn_stages(
            prior="mass", criterion="score"
        )
        plain.plot.dendrogram(min_n=2)
        plain.plot.situations("b")
        plain.plot.flow()
        plain.to_ceg().plot.flow()
        gated = "select * from (values ('u', null, 'p'), ('v', 'x', 'p')) as t(a, b, c)"
        jumped = db.ingest(gated, "gated").event_tree(blank="structural", sampling_zeros="none")
        jumped.learn_stages(prior="mass", criterion="score").to_ceg().complete(
            "select 'u' as a"
        )
        tree_in_chunks(survey, 50, "complete", missing_policy="complete", sampling_zeros="full")
        ceg.assign(query)
        staged.probability(c="p")
        staged.complete("select 'u' as a")
        relabelled = tree.learn_stages(
            "renamed", relabel={"p": "first"}, prior="mass", criterion="score"
        )
        relabelled.probability(c="first")
        relabelled.assign(query)
        staged.assign(query)
        staged.predict(query, "c")
        ceg.classify(query, "c")
        book = {"variables": {"c": {"same": [["p", "q"]]}}}
        with pytest.raises(cegdb.CegdbError, match="declared the same"):
            db.ingest(query, "same", weight="w", missing=["?"], codebook=book).event_tree(
                sampling_zeros="none"
            )
        with pytest.raises(cegdb.CegdbError, match="labels"):
            tree.set_stages({("u",): "s", ("u", "x"): "s"}, prior="mass")
        with pytest.raises(cegdb.CegdbError, match=r"the labels are 'x', 'y'"):
            tree.set_stages({("u", "w"): "s"}, prior="mass")
        with pytest.raises(cegdb.CegdbError, match=r"the labels are 'u', 'v', 'x', 'y', "):
            tree.set_stages({}, relabel={"w": "x"}, prior="mass")
        tree.set_stages("select 0 as vertex_id, 's' as stage", prior="mass")
        tree.set_stages(
            {}, prior="select 1 as vertex_id, unnest(['x', 'y']) as label, 2 as prior"
        )
        tree.learn_stages(frozen={("u",): "s"}, prior="mass", criterion="score").stability(
            runs=1
        )
        tree.learn_stages(
            frozen="select 1 as vertex_id, 's' as stage", prior="mass", criterion="score"
        )
        tree.template(tmp_path / "stages.csv")
        by_hand = tree.set_stages(tmp_path / "stages.csv", depends={"c": ["a"]}, prior="mass")
        db.staged_tree(by_hand.to_bayesian_network(), "network")
        levels = {"x": ["a", "b"], "y": ["c", "d"]}
        tables = {"x": {(): [0.5, 0.5]}, "y": {("a",): [0.5, 0.5]}}
        with pytest.raises(cegdb.CegdbError, match="no probabilities of 'y' after b"):
            db.staged_tree(Network("gap", {"x": [], "y": ["x"]}, levels, tables))
        by_hand.join("u1", "u2").split("u1").full()
        by_hand.rename({"u1": "first"})
        with pytest.raises(cegdb.CegdbError, match="'x' at"):
            tree.set_stages({}, relabel={(("u", "x"), "x"): "z"}, prior="mass")
        late = db.ingest(
            "from (values ('0', '0', 'x', 9), ('0', '1', 'y', 9), ('1', '1', 'x', 9)) "
            "as t(a, b, c, n)",
            "late",
            count="n",
        )
        sparse = late.event_tree(sampling_zeros="floret").learn_stages(max_parents=1)
        sparse.score("select '1' as a, '0' as b, 'x' as c")
        survey.event_tree(name="weighed", sampling_zeros="none").learn_stages(
            weighting="global", prior="mass", criterion="score"
        )
        tree.learn_stages(name="split", prior="mass", criterion="score").indep().split(
            "u1", [["s1"]]
        )
        again = db.ingest(query, "again", weight="w", missing=["?"])
        grown = again.event_tree(sampling_zeros="floret")
        grown.learn_stages(prior="mass", criterion="score").to_ceg().given(visits("w1")).save()
        grown.learn_stages("few of them", max_parents=1, prior="mass", criterion="score")
        again.append("select 'v' as a, 'x' as b, 'r' as c, 2 as w")
        db.rebuild()
        assert db.check() == []
    assert checker.ran_steps == set(names())
    assert checker.shown_steps == set(names())


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("1/one.sql", HEADER + "select $x as x", "not named NNN_step.sql"),
        ("1/010_two.sql", HEADER + "select $x as x", "calls the step 'one'"),
        ("1/010_one.sql", "select 1", "header lacks step, mode, purpose, reads, writes and"),
        ("1/010_one.sql", HEADER.replace("create", "update") + "select $x as x", "mode 'upd"),
        ("1/010_one.sql", HEADER + "select $y as x", r"declares params \['x'\] and uses"),
        ("1/010_one.sql", HEADER + "select $x as x; select 2", "must hold one SELECT"),
        ("1/010_one.sql", HEADER + "drop table x", "is not one SELECT"),
        ("1/010_one.sql", HEADER + "selec $x as x", "is not one SELECT"),
    ],
)
def test_a_malformed_file_is_refused_with_its_fault(path: str, text: str, message: str) -> None:
    with pytest.raises(SqlStepError, match=message):
        parse(path, text)


def test_unknown_step_lists_the_known_ones() -> None:
    with pytest.raises(SqlStepError, match=r"no step named 'layer'") as caught:
        load("layer")
    assert "layer_block" in str(caught.value)


def test_wrong_parameters_name_those_of_the_header() -> None:
    with (
        Steps(duckdb.connect()) as steps,
        pytest.raises(
            SqlStepError, match=r"takes \['height', 'n_bits'\], got \[\]\nhint: see the"
        ),
    ):
        steps.run("layer_block")


def test_a_failing_step_is_reported_with_name_sql_and_message() -> None:
    with (
        Steps(duckdb.connect()) as steps,
        pytest.raises(SqlStepError, match=r"(?s)'layer_member' failed.*block.*unnest"),
    ):
        steps.run("layer_member", height=1)


def test_an_error_over_arrays_is_the_one_that_broke_the_transaction() -> None:
    con = duckdb.connect()
    con.execute("begin")
    with (
        pytest.raises(duckdb.InvalidInputException, match="first of all"),
        registered(con, "numbers", {"x": np.arange(3)}),
    ):
        con.execute("select error('first of all') from numbers")
    con.execute("rollback")
    assert con.execute("select count(*) from duckdb_views() where not internal").fetchall() == [
        (0,)
    ]


def test_a_step_is_run_by_its_mode_only() -> None:
    with Steps(duckdb.connect()) as steps:
        with pytest.raises(SqlStepError, match="fetched, not run"):
            steps.run("tree_size", tree_id=1)
        with pytest.raises(SqlStepError, match="run, not fetched"):
            steps.fetch("layer_block", height=1)


def test_temp_tables_are_dropped_at_the_end() -> None:
    con = duckdb.connect()
    with Steps(con) as steps:
        steps.create("mine", "select 1 as x")
    assert con.execute("select count(*) from duckdb_tables()").fetchall() == [(0,)]


def test_a_shown_step_runs_in_a_shell() -> None:
    con = duckdb.connect()
    con.execute(
        "create temp table staged_edge(vertex_id int, height int, stage_id int, n int, "
        "digit int, child_id int)"
    )
    con.execute(
        "create temp table position_of(vertex_id int, position_id int, position_index int)"
    )
    shown = load("layer_block").prepared()
    assert con.execute(shown).fetchall() == []
