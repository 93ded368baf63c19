"""Overviews: they draw what the tables hold, and count what they collapse."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import BLANK
from strategies import run, staged_trees

from cegdb.errors import GraphError
from cegdb.graphs import MAX_DRAWN_EDGES, to_dot
from cegdb.graphs import overview as room

if TYPE_CHECKING:
    from pathlib import Path

    from strategies import StagedSample

    from cegdb.api import Database, StagedTree
    from cegdb.graphs.networkx_graphs import Graph

HOSTILE = [
    "<b>",
    "</script>",
    '"',
    "$x_1$",
    "\\input{a}",
    "&amp;",
    "\u05d0",
    "x" * 300,
    "\x07",
    "\n",
]
SAMPLES = st.one_of(staged_trees(jumps=True), staged_trees(jumps=True, cross_variables=True))
COUNTS = st.lists(st.integers(1, 30), min_size=3, max_size=9)
BOUNDS = st.tuples(
    st.one_of(st.none(), st.integers(1, 60)), st.sampled_from([None, None, 1, 2, 3, 9])
)


def made(db: Database, sample: StagedSample, counts: list[int]) -> StagedTree:
    rows = [
        [None if row[v] is BLANK else row[v] for v in sample.order] + [counts[i % len(counts)]]
        for i, (row, _) in enumerate(sample.rows)
    ]
    import pandas as pd

    frame = pd.DataFrame(rows, columns=[*sample.order, "people"], dtype=object)
    survey = db.ingest(frame, name="s", count="people", replace=True)
    tree = survey.event_tree(blank="structural", replace=True, sampling_zeros="none")
    stages = {
        tuple(label for _, label in path): stage.replace("{", "").replace("}", "")
        for path, stage in sample.stage.items()
    }
    return tree.set_stages(stages, hyperstages="labels", replace=True, prior="mass")


def variables_asked(whole: Graph, order: list[str]) -> list[str]:
    asked = {data.get("variable") for _, data in whole.nodes(data=True)}
    return [variable for variable in order if variable in asked]


def situations(whole: Graph) -> set[str]:
    return {node for node in whole if whole.out_degree(node)}


# -----------------------------------------------------------------------------
# Slow and obvious
# -----------------------------------------------------------------------------


def expected_tree(whole: Graph, asked: list[str], below: int | None, top: int | None) -> Any:
    """Return the drawn vertices, and the collapsed nodes as parent -> what they stand for."""
    first = asked[:top]
    people = dict(whole.nodes(data="n"))
    drawn: set[str] = set()
    collapsed: Counter[tuple[Any, ...]] = Counter()

    def is_small(node: str) -> bool:
        return below is not None and people[node] < below

    def add(parent: str, children: list[str]) -> None:
        under = [nx.descendants(whole, child) | {child} for child in children]
        n_hidden = len(set().union(*under) & situations(whole))
        labels = [label for c in children for label in whole[parent][c]]
        told = tuple(labels) if len(labels) == 1 else len(labels)
        collapsed[parent, told, n_hidden, sum(people[c] for c in children)] += 1

    def visit(node: str) -> None:
        drawn.add(node)
        few = [child for child in whole[node] if is_small(child)]
        if len(few) == 1 and not whole.out_degree(few[0]):
            drawn.add(few.pop())
        for child in whole[node]:
            if child in drawn or child in few:
                continue
            if not whole.out_degree(child) or whole.nodes[child]["variable"] in first:
                visit(child)
            else:
                add(node, [child])
        if few:
            add(node, few)

    visit("s0" if "s0" in whole else "l0")
    return drawn, collapsed


def drawn_tree(graph: Graph) -> Any:
    """Return an overview in the same form."""
    drawn, collapsed = set(), Counter()
    for node, data in graph.nodes(data=True):
        if "n_hidden" not in data:
            drawn.add(node)
            continue
        ((parent, _, edge),) = graph.in_edges(node, data=True)
        assert edge["n"] == data["n"]
        told = edge.get("n_labels") or (edge["label"],)
        collapsed[parent, told, data["n_hidden"], data["n"]] += 1
    return drawn, collapsed


def columns_of(ceg: Any, order: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in ceg.situation_positions.itertuples():
        found[row.position] = max(found.get(row.position, 0), order.index(row.variable))
    return found


def expected_ceg(
    whole: Graph, column: dict[str, int], n_columns: int, below: int | None, top: int | None
) -> dict[str, str]:
    """Return position -> itself, or the column it is collapsed in."""
    kept = min(top or n_columns, n_columns)
    people = dict(whole.nodes(data="n"))
    large = {w for w in column if w == "w0" or below is None or people[w] >= below}
    last = max((column[w] for w in large), default=0)
    if last + 1 < min(kept, n_columns - 1):
        kept = last + 1
    members = defaultdict(list)
    place = {"w_inf": "w_inf"}
    for w in column:
        if w == "w0" or (w in large and column[w] < kept):
            place[w] = w
        else:
            place[w] = f"in {column[w]}" if column[w] < kept else "after"
            members[place[w]].append(w)
    for name, found in members.items():
        if len(found) == 1 and name != "after":
            place[found[0]] = found[0]
    return place


# -----------------------------------------------------------------------------
# Against it
# -----------------------------------------------------------------------------


@pytest.mark.slow
@run(2)
@given(sample=SAMPLES, counts=COUNTS, data=st.data())
def test_an_overview_is_as_it_says(
    database: Database, sample: StagedSample, counts: list[int], data: st.DataObject
) -> None:
    staged = made(database, sample, counts)
    tree, ceg = staged.tree, staged.to_ceg(replace=True)
    wholes = {found: found.to_networkx() for found in (tree, staged, ceg)}
    asked = variables_asked(wholes[tree], sample.order)
    columns = columns_of(ceg, asked)
    for found in (tree, staged, staged):
        below, top = data.draw(BOUNDS)
        graph = found.overview(collapse_below=below, top_variables=top)
        assert_tree_is_right(graph, wholes[found], asked, below, top)
    for _ in range(3):
        below, top = data.draw(BOUNDS)
        graph = ceg.overview(collapse_below=below, top_variables=top)
        place = expected_ceg(wholes[ceg], columns, len(asked), below, top)
        assert_ceg_is_right(graph, wholes[ceg], place, asked)
    assert_sizes_are_right(staged, data)
    below, min_n = data.draw(st.integers(1, 60)), data.draw(st.integers(2, 30))
    assert_tells_no_hidden_count(staged, below, min_n)
    assert_tells_no_hidden_count(ceg, below, min_n)


def assert_tree_is_right(
    graph: Graph, whole: Graph, asked: list[str], below: int | None, top: int | None
) -> None:
    drawn, collapsed = drawn_tree(graph)
    assert (drawn, collapsed) == expected_tree(whole, asked, below, top)
    hidden = sum(n for _, n in graph.nodes(data="n_hidden", default=0))
    assert graph.graph["n_drawn"] == len(drawn & situations(whole))
    assert graph.graph["n_drawn"] + hidden == graph.graph["n_all"] == len(situations(whole))
    assert all(graph.nodes[node] == whole.nodes[node] for node in drawn)
    for source, target, key, data in graph.edges(keys=True, data=True):
        if target in drawn:
            assert data == whole.edges[source, target, key]
        assert "n_labels" not in data or "probability" not in data


def assert_ceg_is_right(
    graph: Graph, whole: Graph, place: dict[str, str], asked: list[str]
) -> None:
    order = {node: i for i, node in enumerate(graph)}
    if graph.graph["n_hidden"]:
        assert all(order[source] < order[target] for source, target in graph.edges())
    assert nx.is_directed_acyclic_graph(graph)
    drawn = {node for node, data in graph.nodes(data=True) if "n_hidden" not in data}
    assert drawn == {w for w in whole if place[w] == w}
    shown = {node: node for node in drawn}
    for node in graph:
        if node.startswith("hidden after "):
            shown[node] = "after"
        elif node not in drawn:
            shown[node] = f"in {asked.index(node.removeprefix('hidden in '))}"
    people: Counter[tuple[str, str]] = Counter()
    arrived: Counter[str] = Counter()
    for source, target, n in whole.edges(data="n"):
        if place[source] != place[target]:
            people[place[source], place[target]] += n
            arrived[place[target]] += n
    found: Counter[tuple[str, str]] = Counter()
    for source, target, key, data in graph.edges(keys=True, data=True):
        found[shown[source], shown[target]] += data["n"]
        if source in drawn and target in drawn:
            assert data == whole.edges[source, target, key]
        assert "probability" not in data or (source in drawn and "n_labels" not in data)
    assert found == people
    members = Counter(place[w] for w in whole)
    for node in set(graph) - drawn:
        assert graph.nodes[node]["n_hidden"] == members[shown[node]]
        assert graph.nodes[node]["n"] == arrived[shown[node]]
    hidden = sum(n for _, n in graph.nodes(data="n_hidden", default=0))
    assert graph.graph["n_drawn"] + hidden == graph.graph["n_all"] == len(whole) - 1


def assert_sizes_are_right(staged: StagedTree, data: st.DataObject) -> None:
    """The number of edges is known before they are drawn."""
    with room.open_graph(staged._store, "staging", staged.id) as source:
        sizes = source.sizes()
    low, high, n_edges = data.draw(st.sampled_from(sizes))
    below = data.draw(st.integers(low + 1, high))
    assert staged.overview(collapse_below=below).number_of_edges() == n_edges


def assert_tells_no_hidden_count(found: Any, below: int, min_n: int) -> None:
    """A vertex with a hidden count is collapsed, and so are the people of its node."""
    whole = found.to_networkx(min_n=min_n)
    graph = found.overview(collapse_below=below, min_n=min_n)
    root = next(iter(graph))
    for node, told in graph.nodes(data=True):
        if "n_hidden" in told:
            assert ("n" in told) == ("pe" in told["text"].replace("position", ""))
            arriving = [data for *_, data in graph.in_edges(node, data=True)]
            assert ("n" in told) == all("n" in data for data in arriving)
            continue
        assert told == whole.nodes[node]
        if "n" not in told and node != root and found.kind == "staging":
            assert whole.out_degree(node) == 0  # a leaf alone
    for source, target, edge in graph.edges(data=True):
        if "n_labels" in edge and found.kind == "staging":
            drawn = {
                key
                for _, t in graph.out_edges(source)
                if t != target
                for key in graph[source][t]
            }
            members = [
                t for _, t, key in whole.out_edges(source, keys=True) if key not in drawn
            ]
            assert len(members) == edge["n_labels"]
            assert ("n" in edge) == all("n" in whole.nodes[member] for member in members)


# -----------------------------------------------------------------------------
# Examples
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_what_fits_is_drawn_whole(db: Database) -> None:
    survey = db.ingest("select i % 2 as x, i % 3 as y from range(30) t(i)")
    staged = survey.event_tree(sampling_zeros="none").learn_stages(
        prior="mass", criterion="score"
    )
    for found in (staged.tree, staged, staged.to_ceg()):
        whole, graph = found.to_networkx(), found.overview()
        assert dict(graph.nodes(data=True)) == dict(whole.nodes(data=True))
        assert list(graph.edges(keys=True, data=True)) == list(
            whole.edges(keys=True, data=True)
        )
        assert graph.graph["n_hidden"] == 0
        assert "collapse_below" not in graph.graph


@pytest.mark.slow
def test_a_bound_is_chosen_where_a_picture_cannot_hold_all(db: Database) -> None:
    columns = "i % 4 as a, i % 5 as b, i % 7 as c, i % 11 as d, i % 13 as e"
    wide = f"select {columns} from range(20020) t(i)"  # noqa: S608
    staged = db.ingest(wide).event_tree(sampling_zeros="none").set_stages({}, prior="mass")
    for found in (staged.tree, staged, staged.to_ceg()):
        graph = found.overview()
        assert graph.graph["is_chosen"]
        assert room.FEW_EDGES[0] <= graph.number_of_edges() <= room.FEW_EDGES[1]
        assert 500 < graph.graph["collapse_below"] <= 1_000
        assert graph.graph["n_drawn"] > 20
        with pytest.raises(
            GraphError, match=f"at most {MAX_DRAWN_EDGES:,}\\n.*collapse_below="
        ):
            found.overview(collapse_below=2)


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (1, 1, 1),
        (9_613, 38_751, 10_000),
        (613, 640, 620),
        (1, 999, 500),
        (41, 49, 45),
        (7, 9, 7),
    ],
)
def test_a_chosen_bound_is_round(low: int, high: int, found: int) -> None:
    assert room._round_number(low, high) == found


@pytest.mark.slow
def test_a_caption_tells_that_hidden_numbers_are_collapsed(db: Database) -> None:
    rows = (
        "select * from (values ('n', 'h', 'f', 1), ('n', 'h', 'o', 40), ('n', 'l', 'f', 4), "
        "('n', 'l', 'o', 60), ('s', 'h', 'f', 3), ('s', 'h', 'o', 30), ('s', 'l', 'f', 11), "
        "('s', 'l', 'o', 70), ('w', 'l', 'o', 1)) as t(area, risk, fall, people)"
    )
    tree = db.ingest(rows, name="hidden", count="people").event_tree(sampling_zeros="none")
    why = "not drawn (fewer than 3 people or a number left out)"
    assert why in tree.figure(min_n=5, collapse_below=3).caption
    assert "not drawn (fewer than 3 people)" in tree.figure(collapse_below=3).caption


@pytest.mark.parametrize("bound", [0, -3, 2.5, True, "5"])
@pytest.mark.parametrize("name", ["collapse_below", "top_variables"])
def test_a_bound_that_is_no_whole_number_is_refused(
    database: Database, name: str, bound: Any
) -> None:
    tree = database.ingest("select 1 as x", name="one", replace=True).event_tree(
        replace=True, sampling_zeros="none"
    )
    with pytest.raises(GraphError, match=f"{name} must be a whole number of 1 or more, not "):
        tree.overview(**{name: bound})


@pytest.mark.slow
def test_a_ceg_given_evidence_has_an_overview(db: Database) -> None:
    survey = db.ingest("select i % 2 as x, i % 3 as y, i % 5 as z from range(60) t(i)")
    ceg = (
        survey.event_tree(sampling_zeros="none")
        .set_stages({}, prior="mass")
        .to_ceg()
        .given(y="1")
        .save("given")
    )
    graph = ceg.overview(top_variables=1)
    assert [data["text"] for _, data in graph.nodes(data=True) if "text" in data]
    assert graph.graph["n_drawn"] == 1


@pytest.mark.slow
def test_hostile_labels_stay_as_they_are(db: Database, tmp_path: Path) -> None:
    import pandas as pd

    rows = [(a, b) for a in HOSTILE for b in HOSTILE for _ in range(1 + len(a) % 3)]
    frame = pd.DataFrame(rows, columns=["<x>", '"y"'])
    staged = (
        db.ingest(frame)
        .event_tree(sampling_zeros="none")
        .learn_stages(prior="mass", criterion="score")
    )
    graph = staged.overview(collapse_below=15)
    whole = staged.to_networkx()
    drawn = [edge for edge in graph.edges(keys=True) if "n_hidden" not in graph.nodes[edge[1]]]
    assert all(whole.has_edge(*edge) for edge in drawn)
    assert 'style="rounded,dashed"' in to_dot(graph)
    from cegdb.pictures import draw

    assert draw(graph, tmp_path / "hostile.svg").stat().st_size > 1_000


@pytest.mark.slow
def test_more_labels_than_a_picture_holds_are_collapsed_below_a_number_of_people(
    db: Database,
) -> None:
    """All positions have fewer people: the bound chosen is near theirs, and not endless."""
    survey = db.ingest("select 'n' || i % 2500 as a, i % 2 as b from range(5000) t(i)")
    ceg = survey.event_tree(sampling_zeros="none").set_stages({}, prior="mass").to_ceg()
    found = ceg.overview()
    assert found.number_of_edges() < 10
    assert 5_000 < found.graph["collapse_below"] <= 50_010
