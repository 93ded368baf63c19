"""Graphs and tables as files for other programs: what is read back is what is stored."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import networkx as nx
import pandas as pd
import pytest

from cegdb import graphs
from cegdb.graphs.xml import node_label

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cegdb import Database

FALLS = """
    select * from (values
        ('north', 'high', 'fall', 3), ('north', 'high', 'none', 40),
        ('north', 'low', 'fall', 12), ('north', 'low', 'none', 60),
        ('south', 'high', 'fall', 9), ('south', 'high', 'none', 30),
        ('south', 'low', 'fall', 11), ('south', 'low', 'none', 70)
    ) as t(area, risk, fall, people)
"""
CASES = [
    ("D01", "colon_labels.csv"),
    ("D01", "keyword_labels.csv"),
    ("D03", "markup_labels.csv"),
    ("D04", "quote_labels.csv"),
]


def kinds_of(db: Database) -> list[Any]:
    """Return a tree, a staging with shared stages and its CEG, of a small survey."""
    tree = db.ingest(FALLS, name="falls", count="people").event_tree()
    staged = tree.set_stages({("north", "low"): "a", ("south", "low"): "a"})
    return [tree, staged, staged.to_ceg()]


# -----------------------------------------------------------------------------
# Graph files
# -----------------------------------------------------------------------------


def of_gexf(file: Path) -> nx.MultiDiGraph[str]:
    found = nx.read_gexf(file, version="1.3")
    return nx.MultiDiGraph(found)


READERS: dict[str, Callable[[Path], nx.MultiDiGraph[str]]] = {
    ".graphml": lambda file: nx.read_graphml(file, force_multigraph=True),
    ".gexf": of_gexf,
    ".cyjs": lambda file: nx.cytoscape_graph(json.loads(file.read_text(encoding="utf-8"))),
    ".json": lambda file: nx.node_link_graph(
        json.loads(file.read_text(encoding="utf-8")), edges="edges"
    ),
}


@pytest.mark.parametrize(("case", "name"), CASES)
def test_each_kind_of_file_keeps_every_label_number_and_parallel_edge(
    db: Database, shared: Path, tmp_path: Path, case: str, name: str
) -> None:
    file = shared / "cases" / "files" / case / name
    frame = pd.read_csv(file, dtype=str, keep_default_na=False)
    crossed = frame[[frame.columns[0]]].merge(frame[[frame.columns[1]]], how="cross")
    ceg = db.ingest(crossed, name="crossed").event_tree().set_stages({}).to_ceg()
    edges = ceg.edges
    assert edges.duplicated(["source", "target"]).any()
    columns = ["source", "target", "label", "n", "probability"]
    stored = Counter(edges[columns].itertuples(index=False, name=None))
    places = ceg.positions.set_index("position")
    for suffix, read in READERS.items():
        graph = read(ceg.export(tmp_path / f"ceg{suffix}"))
        found = Counter(
            (source, target, data["label"], data["n"], data["probability"])
            for source, target, data in graph.edges(data=True)
        )
        assert found == stored, suffix
        assert dict(graph.nodes(data="n")) == places["n"].to_dict()
        shown = {data.get("label") for _, data in graph.nodes(data=True)}
        asked = places["variable"].dropna()
        labels = {node_label(node, {"variable": v}) for node, v in asked.items()} | {"w_inf"}
        assert shown == ({None} if suffix == ".json" else labels)
        values = [
            value
            for data in (*dict(graph.nodes(data=True)).values(), *_data(graph))
            for value in data.values()
            if not isinstance(value, dict)  # viz of GEXF
        ]
        assert {type(value) for value in values} <= {str, int, float}


def _data(graph: nx.MultiDiGraph[str]) -> list[dict[str, Any]]:
    return [data for *_, data in graph.edges(data=True)]


@pytest.mark.parametrize("min_n", [None, 5])
def test_a_file_of_stored_rows_is_that_of_the_networkx_graph(
    db: Database, tmp_path: Path, min_n: int | None
) -> None:
    for found in kinds_of(db):
        graph = found.to_networkx(min_n=min_n)
        for suffix in graphs.GRAPH_FILES:
            stored = found.export(tmp_path / f"stored{suffix}", min_n=min_n).read_bytes()
            assert graphs.write_graph(graph, tmp_path / f"a{suffix}").read_bytes() == stored
            assert b"None" not in stored


def test_numbers_are_typed_and_what_is_never_there_is_not_declared(
    db: Database, tmp_path: Path
) -> None:
    _, staged, ceg = kinds_of(db)
    text = ceg.export(tmp_path / "ceg.graphml").read_text()
    assert '<key id="e_n" for="edge" attr.name="n" attr.type="long"/>' in text
    assert '<key id="e_low" for="edge" attr.name="low" attr.type="double"/>' in text
    assert "weight" not in text
    assert '<y:NodeLabel xml:space="preserve">w0 area</y:NodeLabel>' in text
    shared_colour = staged.stages.query("n_situations > 1")["colour"].item()
    assert text.count(f'<y:Fill color="{shared_colour}"') == 1  # the two are one position
    gexf = staged.export(tmp_path / "staged.gexf").read_text()
    assert gexf.count("<viz:color ") == 2


def test_igraph_takes_the_graph_and_the_file(db: Database, tmp_path: Path) -> None:
    igraph = pytest.importorskip("igraph", reason="python-igraph is not installed")
    *_, ceg = kinds_of(db)
    stored = Counter(ceg.edges["label"])
    assert Counter(igraph.Graph.from_networkx(ceg.to_networkx()).es["label"]) == stored
    read = igraph.Graph.Read_GraphML(str(ceg.export(tmp_path / "ceg.graphml")))
    assert Counter(read.es["label"]) == stored
    assert read.es["n"] == [float(n) for n in _read_n(tmp_path / "ceg.graphml")]


def _read_n(file: Path) -> list[int]:
    return [data["n"] for data in _data(nx.read_graphml(file, force_multigraph=True))]


def test_a_large_graph_is_written_without_a_graph_in_memory(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, ceg = kinds_of(db)
    monkeypatch.setattr(nx, "MultiDiGraph", None)
    for suffix in graphs.GRAPH_FILES:
        assert ceg.export(tmp_path / f"ceg{suffix}").stat().st_size > 500
