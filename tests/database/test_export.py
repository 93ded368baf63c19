"""Graphs and tables as files for other programs: what is read back is what is stored."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, ClassVar

import duckdb
import networkx as nx
import pandas as pd
import pytest
from click.testing import CliRunner
from datasets import case_file
from hypothesis import given
from hypothesis import strategies as st
from latex import compiled
from strategies import run

import cegdb
from cegdb import graphs
from cegdb.cli import main
from cegdb.errors import GraphError, QueryError
from cegdb.graphs.label_text import vertex_label

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
    tree = db.ingest(FALLS, name="falls", count="people").event_tree(sampling_zeros="none")
    staged = tree.set_stages({("north", "low"): "a", ("south", "low"): "a"}, prior="mass")
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


@pytest.mark.slow
@pytest.mark.parametrize(("identity", "name"), CASES)
def test_each_kind_of_file_keeps_every_label_number_and_parallel_edge(
    db: Database, tmp_path: Path, identity: str, name: str
) -> None:
    frame = pd.read_csv(case_file(identity, name), dtype=str, keep_default_na=False)
    crossed = frame[[frame.columns[0]]].merge(frame[[frame.columns[1]]], how="cross")
    ceg = (
        db.ingest(crossed, name="crossed")
        .event_tree(sampling_zeros="none")
        .set_stages({}, prior="mass")
        .to_ceg()
    )
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
        labels = {vertex_label(node, {"variable": v}) for node, v in asked.items()} | {"w_inf"}
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


@pytest.mark.slow
@pytest.mark.parametrize("min_n", [None, 5])
def test_a_file_of_stored_rows_is_that_of_the_networkx_graph(
    db: Database, tmp_path: Path, min_n: int | None
) -> None:
    for found in kinds_of(db):
        graph = found.to_networkx(min_n=min_n)
        for suffix in graphs.GRAPH_FILES:
            stored = found.export(tmp_path / f"stored{suffix}", min_n=min_n).read_bytes()
            part = {".json": "graph", ".cyjs": "data"}.get(suffix)
            known = json.loads(stored)[part].get("findings") if part else None
            with_findings = graph.copy()
            with_findings.graph |= {"findings": known} if known else {}
            made = graphs.write_graph(with_findings, tmp_path / f"a{suffix}").read_bytes()
            assert made == stored
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


@pytest.mark.slow
def test_igraph_takes_the_graph_and_the_file(db: Database, tmp_path: Path) -> None:
    import igraph

    *_, ceg = kinds_of(db)
    stored = Counter(ceg.edges["label"])
    assert Counter(igraph.Graph.from_networkx(ceg.to_networkx()).es["label"]) == stored
    read = igraph.Graph.Read_GraphML(str(ceg.export(tmp_path / "ceg.graphml")))
    assert Counter(read.es["label"]) == stored
    assert read.es["n"] == [float(n) for n in _read_n(tmp_path / "ceg.graphml")]


def _read_n(file: Path) -> list[int]:
    return [data["n"] for data in _data(nx.read_graphml(file, force_multigraph=True))]


@pytest.mark.slow
def test_a_large_graph_is_written_without_a_graph_in_memory(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, ceg = kinds_of(db)
    monkeypatch.setattr(nx, "MultiDiGraph", None)
    for suffix in graphs.GRAPH_FILES:
        assert ceg.export(tmp_path / f"ceg{suffix}").stat().st_size > 500


# -----------------------------------------------------------------------------
# The stage table
# -----------------------------------------------------------------------------

PHRASE = re.compile(r"([A-Za-z]\w*) (?:= ([\w ]+)|in \(([\w ,]+)\))(?:, |$)")


def meant(words: str, asked: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the situations, as answers by variable, that the words tell."""
    found = []
    for sentence in words.split("; "):
        allowed = {
            variable: {one} if one else set(several.split(", "))
            for variable, one, several in PHRASE.findall(sentence)
        }
        assert sentence == "all" or allowed
        found += [
            situation
            for situation in asked
            if all(situation.get(v, "not applicable") in a for v, a in allowed.items())
        ]
    return found


@pytest.mark.slow
@run(4)
@given(
    rows=st.lists(
        st.tuples(
            *[st.sampled_from(["p", "q", "r", None])] * 3, st.sampled_from(["no", "yes"])
        ),
        min_size=3,
        max_size=25,
    ),
    colours=st.lists(st.integers(0, 1), min_size=7, max_size=7),
)
def test_the_words_of_a_stage_tell_its_situations_and_no_others(
    rows: list[tuple[str | None, ...]], colours: list[int]
) -> None:
    with cegdb.open() as db:
        frame = pd.DataFrame(rows, columns=["A", "B", "C", "D"], dtype=object)
        tree = db.ingest(frame, name="it").event_tree(
            blank="structural", gate_min_rows=1, sampling_zeros="none"
        )
        situations = tree.situations
        grouping = pd.DataFrame(
            {
                "vertex_id": situations["vertex_id"],
                "stage": [
                    f"{row.variable}{labels}{colours[row.vertex_id % 7]}"
                    for row, labels in zip(
                        situations.itertuples(), tree.florets["labels"], strict=True
                    )
                ],
            }
        )
        staged = tree.set_stages(grouping, prior="mass")
        edges = tree.edges.set_index("child_id")
        answers: dict[int, dict[str, str]] = {0: {}}
        for child, edge in edges.sort_index().iterrows():
            answers[child] = {**answers[edge.parent_id], edge.variable: edge.label}
        asked: dict[str, list[dict[str, str]]] = {}
        for row in situations.itertuples():
            asked.setdefault(row.variable, []).append(answers[row.vertex_id])
        table = staged.stage_table
        stage_of = staged.florets.set_index("vertex_id")["stage"]
        for stage, lines in table.groupby("stage"):
            (words,) = set(lines["situations"])
            own = [answers[v] for v in stage_of.index[stage_of == stage]]
            told, _, more = words.partition(" and ")
            found = meant(told, asked[lines["variable"].iloc[0]])
            assert all(found.count(one) == 1 and one in own for one in found)
            assert len(found) + int(more.removesuffix(" more") or 0) == len(own)


@pytest.mark.slow
def test_the_stage_table_has_the_numbers_of_the_other_views(db: Database) -> None:
    _, staged, _ = kinds_of(db)
    table = staged.stage_table
    columns = ["stage", "label", "n", "prior", "share", "probability", "low", "high"]
    pd.testing.assert_frame_equal(table[columns], staged.stage_edges[columns])
    of_stage = table.drop_duplicates("stage").set_index("stage")
    stages = staged.stages.set_index("stage")
    assert of_stage["n_stage"].to_dict() == stages["n"].to_dict()
    assert of_stage["n_situations"].to_dict() == stages["n_situations"].to_dict()
    assert of_stage["situations"].tolist() == [
        "all",
        "area = north",
        "area = south",
        "area = north, risk = high",
        "risk = low",
        "area = south, risk = high",
    ]


@pytest.mark.slow
def test_the_stage_table_tells_nothing_that_the_staged_tree_hides(db: Database) -> None:
    _, staged, _ = kinds_of(db)
    names, rows = staged.rows("stage_table", min_n=5)
    seen = [dict(zip(names, row, strict=True)) for row in rows]
    whole = staged.stage_table.to_dict("records")
    hidden = [(row["stage"], row["label"]) for row in seen if row["n"] is None]
    assert hidden == [("u3", "fall"), ("u3", "none")]
    vertices = dict(zip(*_columns(staged, "staged_vertices", "vertex_id", "n"), strict=True))
    edges = list(
        zip(*_columns(staged, "staged_edges", "stage_id", "label", "child_id"), strict=True)
    )
    for row, full in zip(seen, whole, strict=True):
        parts = [
            vertices[child]
            for stage, label, child in edges
            if (stage, label) == (row["stage_id"], row["label"])
        ]
        assert row["n"] == (None if None in parts else sum(parts))
        assert row["probability"] in (None, full["probability"])
        assert (row["probability"] is None) == (row["stage"] == "u3")
    assert "…" in staged.stage_table_text("markdown", min_n=5)
    assert "| 3 |" in staged.stage_table_text()
    assert "| 3 |" not in staged.stage_table_text(min_n=5)


def _columns(staged: Any, view: str, *columns: str) -> list[list[Any]]:
    names, rows = staged.rows(view, min_n=5)
    return [[row[names.index(column)] for row in rows] for column in columns]


HOSTILE = [
    "<script>alert(1)</script>",
    "a|b\\|c",
    "$x_1$ & 50% #1 ~ ^{2}",
    "\\input{/etc/passwd}",
    "&amp; *bold* _it_ `code` [a](b) ![c](d) :smile:",
    "'it's' \"quoted\" --- ,, <<",
    "two\nlines\tand tab",
    "[1] first",
    "* star",
    "\u05e9\u05dc\u05d5\u05dd 12",
    "\x07bell\x1b[31m",
    "\U0001f469 family",
    "x" * 300,
]


@pytest.fixture
def hostile(db: Database) -> Any:
    frame = pd.DataFrame({"<b>Q|1</b> $a$": HOSTILE * 2, "Z": ["no", "yes"] * len(HOSTILE)})
    return (
        db.ingest(frame, name="h & <i>")
        .event_tree(sampling_zeros="none")
        .set_stages({}, prior="mass")
    )


def visible(text: str) -> str:
    return re.sub(r"[\x00-\x1f]", lambda found: chr(0x2400 + ord(found[0])), text)


def test_hostile_labels_show_literally_in_markdown(hostile: Any) -> None:
    import markdown_it

    page = (
        markdown_it.MarkdownIt("commonmark").enable("table").render(hostile.stage_table_text())
    )
    cells = _cells(page)
    assert set(map(visible, HOSTILE)) <= set(cells)


def test_hostile_labels_show_literally_in_html(hostile: Any, tmp_path: Path) -> None:
    text = hostile.stage_table_text("html")
    assert "<script>" not in text
    assert set(map(visible, HOSTILE)) <= set(_cells(text))
    page = hostile.export(tmp_path / "s.html", table="stage_table").read_text(encoding="utf-8")
    assert text in page
    assert "<title>stage_table of h &amp; &lt;i&gt;</title>" in page


def _cells(page: str) -> list[str]:
    class Cells(HTMLParser):
        found: ClassVar[list[str]] = []

        def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
            assert tag in {"table", "caption", "thead", "tbody", "tr", "td", "th", "p"}
            self.found.append("")

        def handle_data(self, data: str) -> None:
            self.found[-1] += data

    parser = Cells()
    parser.found.clear()
    parser.feed(page)
    return [cell.removesuffix("\n") for cell in parser.found]


LATEX = r"""\documentclass{article}
PACKAGES
\usepackage{booktabs, longtable, array}
\begin{document}\footnotesize
\input{table.tex}
\input{plain.tex}
\end{document}
"""


@pytest.mark.parametrize("program", ["lualatex", "pdflatex"])
def test_latex_compiles_and_shows_labels_literally(
    hostile: Any, tmp_path: Path, program: str
) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed")
    packages = "" if program == "lualatex" else "\\usepackage[T1]{fontenc}"
    source = tmp_path / "it.tex"
    source.write_text(LATEX.replace("PACKAGES", packages))
    hostile.export(tmp_path / "table.tex", table="stage_table")
    hostile.export(tmp_path / "plain.tex", table="stage_edges")
    done = compiled(source, program, "booktabs.sty", "longtable.sty", "array.sty")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull \\hbox" not in done.stdout
    assert "Missing character" not in (tmp_path / "it.log").read_text(errors="replace")
    shown = subprocess.run(
        ["pdftotext", "-layout", "it.pdf", "-"],  # noqa: S607
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    flat = re.sub(r"\s+", "", shown)
    for label in HOSTILE[:6]:
        assert re.sub(r"\s+", "", label) in flat, label
    assert "[U+05DC]" in flat  # the font has no Hebrew


# -----------------------------------------------------------------------------
# Any table
# -----------------------------------------------------------------------------


@pytest.mark.slow
def test_every_table_and_view_of_every_object_can_be_written(
    db: Database, tmp_path: Path
) -> None:
    tree, staged, ceg = kinds_of(db)
    (survey,) = db.surveys
    for found in (survey, tree, staged, ceg):
        assert len(found.tables) > 3
        for table in found.tables:
            file = found.export(tmp_path / "rows.parquet", table=table)
            key = found.kind if f"{found.kind}_id" != _first(db, table) else f"{found.kind}_id"
            value = found.name if key == found.kind else found.id
            count = f"select count(*) from cegdb.{table} where {key} = $value"  # noqa: S608
            rows = duckdb.sql(f"select count(*) from '{file}'").fetchall()  # noqa: S608
            assert rows == db.rows(count, {"value": value})[1]
    assert survey.export(tmp_path / "r.csv", table=f"response_{survey.id}").exists()
    view = ceg.export(tmp_path / "p.json", table=" Positions")
    assert db.kind_of("Positions") == "ceg"
    assert [row["position"] for row in json.loads(view.read_text())][-1] == "w_inf"
    listed = pd.read_csv(tree.export(tmp_path / "f.csv", table="florets"))
    assert list(map(json.loads, listed["labels"])) == [list(x) for x in tree.florets["labels"]]
    assert (
        ceg.export(tmp_path / "m.md", table="merge_steps").read_text().count("\n")
    ) == 4 + len(ceg.steps)


def _first(db: Database, table: str) -> str:
    return db.rows(f"select * from cegdb.{table} limit 0")[0][0]  # noqa: S608


def test_a_table_that_an_object_has_not_is_refused(db: Database, tmp_path: Path) -> None:
    _, staged, ceg = kinds_of(db)
    with pytest.raises(
        QueryError,
        match=r"CEG 'falls' has no table or view 'stages'\nhint: did you mean 'ceg_stage",
    ):
        ceg.export(tmp_path / "a.csv", table="stages")
    with pytest.raises(
        QueryError, match=r"stages cannot be exported with small cells hidden\nhint"
    ):
        staged.export(tmp_path / "a.csv", table="stages", min_n=5)
    with pytest.raises(
        GraphError, match=r"unknown file type '\.docx' \(a\.docx\)\nhint: a graph is"
    ):
        staged.export(tmp_path / "a.docx", table="stages")
    with pytest.raises(GraphError, match="unknown value 'word' for form"):
        staged.stage_table_text("word")
    with pytest.raises(QueryError, match="no object has a table or view 'x'"):
        db.kind_of("x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_command_finds_whose_table_it_is(tmp_path: Path) -> None:
    file = tmp_path / "falls.duckdb"
    with cegdb.open(file) as db:
        kinds_of(db)
    for words in (
        ["--table", "stage_table", "-o", "s.tex"],
        ["--table", "variables", "-o", "v.json"],
        ["--kind", "staging", "-o", "t.gexf", "--min-n", "5"],
        ["--kind", "survey", "-o", "s.csv"],
    ):
        out = tmp_path / words[words.index("-o") + 1]
        words[words.index("-o") + 1] = str(out)
        result = CliRunner().invoke(main, ["export", str(file), "falls", *words])
        assert result.exit_code == 0, result.output
        assert out.stat().st_size > 50
