"""Small cells are hidden, and no adding and subtracting brings one back."""

from __future__ import annotations

import csv
import itertools
import json
from typing import TYPE_CHECKING, Any

import duckdb
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from oracle import BLANK, NA
from scipy.optimize import Bounds, LinearConstraint, milp
from strategies import run, staged_trees, survey_tables

import cegdb
from cegdb.cli import main
from cegdb.errors import QueryError
from cegdb.small_cells import hidden_flows

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence
    from pathlib import Path

    from cegdb.api import Database, EventTree, StagedTree

    Row = dict[str, Any]

FALLS = """
    select * from (values
        ('north', 'high', 'fall', 3), ('north', 'high', 'none', 40),
        ('north', 'low', 'fall', 12), ('north', 'low', 'none', 60),
        ('south', 'high', 'fall', 9), ('south', 'high', 'none', 30),
        ('south', 'low', 'fall', 11), ('south', 'low', 'none', 70)
    ) as t(area, risk, fall, people)
"""


def falls(db: Database) -> EventTree:
    return db.ingest(FALLS, name="falls", count="people").event_tree(sampling_zeros="none")


def table(found: Any, view: str, min_n: int | None) -> list[Row]:
    names, rows = found.rows(view, min_n=min_n)
    return [dict(zip(names, row, strict=True)) for row in rows]


# -----------------------------------------------------------------------------
# What somebody who adds and subtracts finds out: slow, and knows no network
# -----------------------------------------------------------------------------


class Sums:
    """Unknown whole numbers with sums between them, and the least each can be."""

    def __init__(self) -> None:
        self.least: dict[Hashable, int] = {}
        self.known: dict[Hashable, int] = {}
        self.sums: list[dict[Hashable, int]] = []

    def cell(self, key: Hashable, value: int | None, least: int = 1) -> None:
        self.least[key] = least
        if value is not None:
            self.known[key] = value

    def equal(self, left: Iterable[Hashable], right: Iterable[Hashable]) -> None:
        row: dict[Hashable, int] = {}
        for keys, sign in ((left, 1), (right, -1)):
            for key in keys:
                row[key] = row.get(key, 0) + sign
        self.sums.append(row)

    def range_of(self, wanted: Mapping[Hashable, int]) -> tuple[float, float]:
        """Return the least and the largest that the sum of some cells can be."""
        keys = list(self.least)
        place = {key: i for i, key in enumerate(keys)}
        matrix = np.zeros((len(self.sums), len(keys)))
        for i, row in enumerate(self.sums):
            for key, sign in row.items():
                matrix[i, place[key]] += sign
        low = np.array([self.known.get(key, self.least[key]) for key in keys], dtype=float)
        high = np.array([self.known.get(key, 10_000) for key in keys], dtype=float)
        aim = np.zeros(len(keys))
        for key, sign in wanted.items():
            aim[place[key]] += sign
        found = []
        for sign in (1, -1):
            solved = milp(
                sign * aim,
                constraints=[LinearConstraint(matrix, 0, 0)] if self.sums else [],
                bounds=Bounds(low, high),
                integrality=np.ones(len(keys)),
            )
            assert solved.success
            found.append(sign * solved.fun)
        return found[0], found[1]

    def assert_open(self, keys: Iterable[Hashable]) -> None:
        for key in keys:
            low, high = self.range_of({key: 1})
            assert high - low > 0.5, (key, low)


def assert_hides(true: Sequence[Row], seen: Sequence[Row], column: str, min_n: int) -> None:
    """Small counts are gone; the others, where they are there, are right; zeros stay."""
    for before, after in zip(true, seen, strict=True):
        assert after[column] in (None, before[column])
        if 0 < before[column] < min_n:
            assert after[column] is None
        if before[column] == 0:
            assert after[column] == 0


def assert_tree_is_safe(tree: EventTree, min_n: int) -> None:
    true = table(tree, "vertices", None)
    vertices, edges = table(tree, "vertices", min_n), table(tree, "tree_edges", min_n)
    for column in ("n", "n_stopped"):
        assert_hides(true, vertices, column, min_n)
    assert_hides(table(tree, "tree_edges", None), edges, "n", min_n)
    sums = Sums()
    seen = {row["vertex_id"]: row for row in vertices}
    for row in vertices:
        sums.cell(row["vertex_id"], row["n"])
        sums.cell(("stopped", row["vertex_id"]), row["n_stopped"])
    for edge in edges:
        assert edge["n"] == seen[edge["child_id"]]["n"]
        if edge["share"] is not None:
            above = seen[edge["parent_id"]]
            assert None not in (edge["n"], above["n"], above["n_stopped"])
    for vertex in {edge["parent_id"] for edge in edges}:
        children = [edge["child_id"] for edge in edges if edge["parent_id"] == vertex]
        sums.equal([vertex], [*children, ("stopped", vertex)])
    sums.assert_open(key for key in sums.least if key not in sums.known)
    named = {row["situation"]: row for row in table(tree, "situations", min_n)}
    for row in vertices:
        if row["vertex"] in named:
            for column in ("n", "weight", "n_stopped"):
                assert named[row["vertex"]][column] == row[column]


def assert_ceg_is_safe(staged: StagedTree, min_n: int) -> None:
    ceg = staged.to_ceg()
    true_n = {row["position_id"]: row["n"] for row in table(ceg, "positions", None)}
    positions, edges = table(ceg, "positions", min_n), table(ceg, "ceg_edges", min_n)
    true_edges = table(ceg, "ceg_edges", None)
    assert_hides(table(ceg, "positions", None), positions, "n", min_n)
    assert_hides(true_edges, edges, "n", min_n)
    sums = Sums()
    stopped = dict(true_n)
    for edge in true_edges:
        stopped[edge["source_id"]] -= edge["n"]
    asked = {edge["source_id"] for edge in edges}
    for row in positions:
        sums.cell(row["position_id"], row["n"])
    for edge in edges:
        sums.cell(("edge", edge["source_id"], edge["label"]), edge["n"])
    for position in asked:
        out = [
            ("edge", edge["source_id"], edge["label"])
            for edge in edges
            if edge["source_id"] == position
        ]
        # Nobody is told how many stop; that nobody does may be known.
        sums.cell(("stopped", position), None if stopped[position] else 0, least=0)
        sums.equal([position], [*out, ("stopped", position)])
    for row in positions:
        into = [
            ("edge", edge["source_id"], edge["label"])
            for edge in edges
            if edge["target_id"] == row["position_id"]
        ]
        if into:
            sums.equal([row["position_id"]], into)
    stage = {row["position_id"]: row["stage"] for row in positions}
    seen = {row["position_id"]: row["n"] for row in positions}
    for edge in edges:
        if edge["probability"] is None or edge["probability"] == 1:
            continue
        for other in edges:
            if stage[other["source_id"]] == stage[edge["source_id"]]:
                assert seen[other["source_id"]] is not None
                if other["label"] == edge["label"]:
                    assert other["n"] is not None
    sums.assert_open(
        key
        for key in sums.least
        if key not in sums.known
        and not (isinstance(key, tuple) and key[0] == "stopped" and stopped[key[1]] >= min_n)
    )


def assert_survey_is_safe(db: Database, min_n: int) -> None:
    (survey,) = db.surveys
    levels = table(survey, "variables", min_n)
    assert_hides(table(survey, "variables", None), levels, "n", min_n)
    sums = Sums()
    sums.cell("all", None)
    for row in levels:
        sums.cell(row["level_id"], row["n"])
    for variable in {row["variable_id"] for row in levels}:
        here = [row["level_id"] for row in levels if row["variable_id"] == variable]
        sums.equal(["all"], here)
    sums.assert_open(key for key in sums.least if key not in sums.known and key != "all")


# -----------------------------------------------------------------------------
# Random surveys
# -----------------------------------------------------------------------------


def ingested(
    db: Database, rows: Sequence[tuple[Row, int]], order: Sequence[str], counts: Sequence[int]
) -> EventTree:
    """Return the tree of the rows with other counts, dealt out in turn."""
    for name in db.surveys.names():
        db.drop("survey", name)
    words = {BLANK: None, NA: "na"}
    frame = pd.DataFrame(
        [
            [words.get(cells[v], getattr(cells[v], "name", cells[v])) for v in order]
            for cells, _ in rows
        ],
        columns=list(order),
        dtype=object,
    )
    frame["people"] = list(itertools.islice(itertools.cycle(counts), len(rows)))
    survey = db.ingest(frame, name="it", count="people", structural=["na"], missing=["MISS"])
    return survey.event_tree(gate_min_rows=1, sampling_zeros="none")


COUNTS = st.lists(st.sampled_from([1, 1, 2, 3, 4, 5, 7, 20, 100]), min_size=1, max_size=7)
MIN_N = st.sampled_from([2, 3, 5, 10])


@pytest.mark.slow
@run(7, shrinks=False)
@given(table=survey_tables().filter(lambda t: t.rows), counts=COUNTS, min_n=MIN_N)
def test_no_hidden_count_of_a_tree_or_survey_comes_back(
    db: Database, table: Any, counts: list[int], min_n: int
) -> None:
    tree = ingested(db, table.rows, table.order, counts)
    assert_tree_is_safe(tree, min_n)
    assert_survey_is_safe(db, min_n)


@pytest.mark.slow
@run(3, shrinks=False)
@given(sample=staged_trees(max_depth=3, jumps=True), counts=COUNTS, min_n=MIN_N, data=st.data())
def test_no_hidden_count_of_a_ceg_comes_back(
    db: Database, sample: Any, counts: list[int], min_n: int, data: st.DataObject
) -> None:
    tree = ingested(db, sample.rows, sample.order, counts)
    situations = table(tree, "situations", None)
    colours = data.draw(
        st.lists(st.integers(0, 1), min_size=len(situations), max_size=len(situations))
    )
    grouping = [
        {"vertex_id": row["vertex_id"], "stage": f"{row['variable']}{labels}{colour}"}
        for row, colour, labels in zip(situations, colours, tree.florets["labels"], strict=True)
    ]
    staged = tree.set_stages(pd.DataFrame(grouping), prior="mass")
    assert_tree_is_safe(tree, min_n)
    assert_ceg_is_safe(staged, min_n)
    seen = table(staged, "staged_edges", min_n)
    reach = {row["vertex_id"]: row["n"] for row in table(staged, "staged_vertices", min_n)}
    for edge in seen:
        assert edge["n"] == reach[edge["child_id"]]
        if edge["probability"] not in (None, 1):
            for other in seen:
                if other["stage_id"] == edge["stage_id"]:
                    assert reach[other["parent_id"]] is not None
                    assert other["label"] != edge["label"] or other["n"] is not None
    vertices = table(staged, "staged_vertices", min_n)
    for row in table(staged, "stage_table", min_n):
        edges = [edge for edge in seen if edge["stage_id"] == row["stage_id"]]
        given = [edge["n"] for edge in edges if edge["label_id"] == row["label_id"]]
        members = [v["n"] for v in vertices if v["stage_id"] == row["stage_id"]]
        assert row["n"] == (None if None in given else sum(given))
        assert row["n_stage"] == (None if None in members else sum(members))
        probabilities = {e["probability"] for e in edges if e["label_id"] == row["label_id"]}
        assert probabilities == {row["probability"]}


@pytest.mark.slow
@run(60, shrinks=False)
@given(st.data(), MIN_N)
def test_no_hidden_flow_of_any_network_comes_back(data: st.DataObject, min_n: int) -> None:
    n_nodes = data.draw(st.integers(2, 6))
    nodes = st.lists(st.integers(0, n_nodes - 1), min_size=2, max_size=4, unique=True)
    flows: dict[tuple[int, int], int] = {}
    for round_trip in data.draw(st.lists(st.tuples(nodes, COUNTS), min_size=1, max_size=5)):
        way, counts = round_trip
        for ends in zip(way, [*way[1:], way[0]], strict=True):
            flows[ends] = flows.get(ends, 0) + counts[0]
    tail, head = zip(*flows, strict=True)
    counts = list(flows.values())
    hidden = hidden_flows(tail, head, counts, min_n).tolist()
    sums = Sums()
    for ends, n, is_hidden in zip(flows, counts, hidden, strict=True):
        assert is_hidden or n >= min_n
        sums.cell(ends, None if is_hidden else n)
    for node in range(n_nodes):
        sums.equal([e for e in flows if e[0] == node], [e for e in flows if e[1] == node])
    sums.assert_open(key for key in flows if key not in sums.known)


# -----------------------------------------------------------------------------
# Which others are hidden
# -----------------------------------------------------------------------------


def floret(*counts: int) -> tuple[list[int], list[int], list[int]]:
    """Return the flow of a tree with one floret: the root first, then its edges."""
    return [0, *[1] * len(counts)], [1, *[0] * len(counts)], [sum(counts), *counts]


@pytest.mark.parametrize(
    ("counts", "min_n", "hidden"),
    [
        ((50, 60), 5, ()),
        ((4, 7, 50), 5, (1, 2)),
        ((4, 0, 50, 50), 5, (1, 3)),
        ((4, 3, 50), 5, (1, 2)),
        ((1, 1, 50), 5, (1, 2, 3)),  # the two add up to 2, and neither is 0
        ((1, 1), 2, (0, 1, 2)),
        ((4, 0), 5, (0, 1)),
        ((0, 0), 5, ()),
        ((4, 7, 50), 1, ()),
    ],
)
def test_the_next_smallest_of_a_floret_is_hidden_too(
    counts: tuple[int, ...], min_n: int, hidden: tuple[int, ...]
) -> None:
    found = hidden_flows(*floret(*counts), min_n)
    assert tuple(np.flatnonzero(found).tolist()) == hidden


def test_a_flow_that_joins_two_rings_of_hidden_ones_is_not_left_alone() -> None:
    # Each end has two hidden flows or more, but 2 -> 3 is what comes back from 3 to 2.
    tail = [1, 2, 7, 3, 4, 5, 2, 3]
    head = [2, 7, 1, 4, 5, 3, 3, 2]
    n = [4, 4, 4, 4, 4, 4, 3, 3]
    assert hidden_flows(tail, head, n, 5).all()
    tail, head, n = [*tail[:7], 3, 8], [*head[:7], 8, 2], [*n[:7], 3, 3]
    assert hidden_flows(tail, head, n, 5).all()
    # 60 from 2 to 3 in all, of which 57 another way, and 60 back at once.
    tail, head, n = [*tail[:7], 2, 9, 3], [*head[:7], 9, 3, 2], [*n[:7], 57, 57, 60]
    found = hidden_flows(tail, head, n, 5).tolist()
    assert found[:7] == [True] * 7
    assert found[7:] == [True, True, False]


def test_what_leads_on_from_a_hidden_edge_is_hidden_as_far_as_it_gives_it_away(
    db: Database,
) -> None:
    tree = falls(db)
    seen = {(e["source"], e["label"]): e["n"] for e in table(tree, "tree_edges", 5)}
    assert [key for key, n in seen.items() if n is None] == [
        ("s3", "fall"),  # 3
        ("s3", "none"),  # 43 - 40
    ]
    shares = {(e["source"], e["label"]): e["share"] for e in table(tree, "tree_edges", 5)}
    assert shares["s3", "fall"] is None
    assert shares["s4", "fall"] == 12 / 72


def test_those_who_stop_count_as_one_more_answer(db: Database) -> None:
    rows = "('u', 'p', 20), ('u', 'q', 9), ('u', null, 2), ('v', 'p', 40)"
    survey = db.ingest(
        f"select * from (values {rows}) as t(a, b, people)",  # noqa: S608
        count="people",
    )
    tree = survey.event_tree(blank="missing", sampling_zeros="none")
    seen = {v["vertex"]: (v["n"], v["n_stopped"]) for v in table(tree, "vertices", 3)}
    assert seen["s1"] == (31, None)
    edges = {(e["source"], e["label"]): e for e in table(tree, "tree_edges", 3)}
    assert (edges["s1", "p"]["n"], edges["s1", "q"]["n"]) == (20, None)
    assert edges["s1", "p"]["share"] is None  # 20 / 29, and 31 - 29 stopped


# -----------------------------------------------------------------------------
# Files, pictures, the command line
# -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file that all read, and nobody writes."""
    path = tmp_path_factory.mktemp("small") / "falls.duckdb"
    with cegdb.open(path) as db:
        tree = falls(db)
        tree.set_stages(
            {(): "root", ("north", "low"): "a", ("south", "low"): "a"}, prior="mass"
        ).to_ceg()
    return path


def call(*arguments: object, fails: int = 0) -> Any:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == fails, result.output
    return result


@pytest.mark.slow
def test_a_ceg_is_written_alike_in_every_kind_of_file(file: Path, tmp_path: Path) -> None:
    with cegdb.open(file, read_only=True) as db:
        ceg = db.cegs["falls"]
        expected = {
            (e["source"], e["label"]): (e["n"], e["probability"])
            for e in table(ceg, "ceg_edges", 5)
        }
        places = {p["position"]: p["n"] for p in table(ceg, "positions", 5)}
        assert {n for n, _ in expected.values()} >= {None}
        for suffix in (".csv", ".parquet", ".json", ".graphml", ".dot", ".svg"):
            if suffix != ".svg":
                call("export", file, "falls", "-o", tmp_path / f"out{suffix}", "--min-n", 5)
            if suffix in (".dot", ".svg"):
                out = tmp_path / f"picture{suffix}"
                call("draw", file, "falls", "-o", out, "--min-n", 5, "--edge-info", "count")
                text = out.read_text()
                mark = ">…<" if suffix == ".svg" else " … "
                assert text.count(mark) == sum(n is None for n, _ in expected.values())
    with (tmp_path / "out.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {(r["source"], r["label"]): r["n"] for r in rows} == {
        key: "" if n is None else str(n) for key, (n, _) in expected.items()
    }
    found = duckdb.sql(
        f"select source, label, n, probability from '{tmp_path / 'out.parquet'}'"  # noqa: S608
    ).fetchall()
    assert {(s, label): (n, p) for s, label, n, p in found} == expected
    for graph in (
        nx.node_link_graph(json.loads((tmp_path / "out.json").read_text()), edges="edges"),
        nx.read_graphml(tmp_path / "out.graphml", force_multigraph=True),
    ):
        assert graph.graph["min_n"] == 5
        assert dict(graph.nodes(data="n")) == places
        assert {
            (source, data["label"]): (data.get("n"), data.get("probability"))
            for source, _, data in graph.edges(data=True)
        } == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tree", "staging", "ceg"])
@pytest.mark.parametrize("info", ["probability", "count", "prior", "posterior", "none"])
def test_a_picture_shows_a_mark_for_what_it_hides_and_else_the_same(
    file: Path, tmp_path: Path, kind: str, info: str
) -> None:
    def lines(*more: object) -> list[str]:
        out = tmp_path / "picture.dot"
        call("draw", file, "falls", "--kind", kind, "-o", out, "--edge-info", info, *more)
        return out.read_text().splitlines()

    plain, hiding = lines(), lines("--min-n", 5)
    changed = [after for before, after in zip(plain, hiding, strict=True) if before != after]
    assert all(" … " in line for line in changed)
    tells = ["probability", "count", *(["posterior"] if kind == "ceg" else [])]
    assert bool(changed) == (info in tells)
    if info == "count":
        assert lines("--min-n", 1) == plain


@pytest.mark.slow
def test_without_min_n_or_with_1_nothing_is_hidden(file: Path, tmp_path: Path) -> None:
    with cegdb.open(file, read_only=True) as db:
        for found, views in (
            (db.surveys["falls"], ["variables"]),
            (db.trees["falls"], ["vertices", "tree_edges", "situations"]),
            (
                db.stagings["falls"],
                ["stage_table", "staged_vertices", "staged_edges"],
            ),
            (db.cegs["falls"], ["positions", "ceg_edges"]),
        ):
            for view in views:
                whole = found.rows(view)
                assert found.rows(view, min_n=1) == whole
                sql = f"from cegdb.{view} where {found.kind} = 'falls'"
                assert db.rows(sql)[0] == whole[0]
                assert sorted(map(str, db.rows(sql)[1])) == sorted(map(str, whole[1]))
        ceg = db.cegs["falls"]
        assert "min_n" not in ceg.to_networkx().graph
        ceg.export(tmp_path / "a.csv")
        ceg.export(tmp_path / "b.csv", min_n=1)
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
        temps = "select count(*) from duckdb_tables() where temporary"
        with db._store.reading() as con:
            assert con.execute(temps).fetchall() == [(0,)]


def test_show_prints_any_view_without_small_cells_and_no_summary(file: Path) -> None:
    shown = call("show", file, "falls", "--kind", "tree", "--min-n", 5)
    assert shown.stdout.splitlines()[0] == "source,label,target,n,share"
    assert "s3,fall,l0,," in shown.stdout
    assert shown.stderr == ""
    assert "event tree" in call("show", file, "falls", "--kind", "tree").stderr
    found = json.loads(
        call(
            "show",
            file,
            "falls",
            "--view",
            "positions",
            "--min-n",
            50,
            "--format",
            "json",
        ).stdout
    )
    assert None in {row["n"] for row in found}
    whole = call("show", file, "falls", "--view", "positions")
    assert "CEG 'falls'" in whole.stderr
    assert "None" not in call("show", file, "falls", "--kind", "survey", "--min-n", 500).stdout


@pytest.mark.slow
def test_run_hides_small_cells_of_its_table_and_picture(tmp_path: Path) -> None:
    source = tmp_path / "falls.csv"
    duckdb.sql(f"copy ({FALLS}) to '{source}' (header)")
    out = tmp_path / "falls.dot"
    run = ("run", source, "--count", "people", "--draw", out, "--edge-info", "count")
    shown = call(*run, "--min-n", 1000)
    assert {row["n"] for row in csv.DictReader(shown.stdout.splitlines())} == {""}
    assert " … " in out.read_text()
    assert call(*run, "--min-n", 1).stdout == call(*run).stdout


@pytest.mark.slow
@pytest.mark.parametrize("min_n", [0, -3, 2.5, True, "5"])
def test_a_min_n_that_is_no_whole_number_from_1_is_refused(
    db: Database, tmp_path: Path, min_n: Any
) -> None:
    ceg = falls(db).learn_stages(prior="mass", criterion="score").to_ceg()
    for call_it in (
        lambda: ceg.draw(tmp_path / "a.dot", min_n=min_n),
        lambda: ceg.to_networkx(min_n=min_n),
        lambda: ceg.export(tmp_path / "a.csv", min_n=min_n),
        lambda: ceg.rows("ceg_edges", min_n=min_n),
    ):
        with pytest.raises(QueryError, match=r"min_n must be a whole number of 1 or more"):
            call_it()
    assert list(tmp_path.iterdir()) == []


def test_min_n_is_refused_in_words_on_the_command_line(file: Path) -> None:
    refused = call(
        "export", file, "falls", "-o", file.with_suffix(".csv"), "--min-n", 0, fails=3
    )
    assert (
        "error: min_n must be a whole number of 1 or more, not 0\nhint: counts from 1"
        in refused.stderr
    )
    call("draw", file, "falls", "-o", "a.svg", "--min-n", "few", fails=2)
    call("sql", file, "from cegdb.ceg_edges", "--min-n", 5, fails=2)
    assert "use show, export or draw with --min-n" in " ".join(
        call("sql", "--help").stdout.split()
    )


def test_a_view_that_is_not_the_objects_is_refused(file: Path) -> None:
    refused = call("show", file, "falls", "--view", "florets", "--min-n", 5, fails=3)
    assert (
        "CEG 'falls' has no view 'florets'\nhint: it has positions, ceg_edges" in refused.stderr
    )
