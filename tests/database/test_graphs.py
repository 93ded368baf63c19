"""Graphs: rows to networkx, DOT text that shows labels literally, pictures, files."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from xml.etree import ElementTree

import networkx as nx
import pytest

from cegdb import graphs
from cegdb.errors import GraphError, MissingExtraError
from cegdb.graphs import ceg_graph, to_dot, tree_graph, write_graph
from cegdb.graphs.graphviz import graphviz
from cegdb.graphs.label_text import vertex_label
from cegdb.pictures import draw, svg

SVG = "{http://www.w3.org/2000/svg}"

COLONS = ["08:00", "12:30", "a:b", "c,d", "e;f"]
KEYWORDS = ["node", "edge", "subgraph", "Node", "graph", "digraph", "strict", "1a-2b"]
MARKUP = ["<18", ">65", "18<=x<65", "<18>", "R&D", "<b>big</b>", "&amp;", "{x|y}"]
QUOTES = [
    '"yes"',
    "it's",
    "two\nlines",
    "日本",
    "C:\\new",
    "ends\\",
    "\\N",
    "tab\there",
]
SCRIPTS = [
    "\u05e9\u05dc\u05d5\u05dd 12",  # right to left
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629: \u0646\u0639\u0645",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 family",
    "\ufeffmarked",
    "%",
    "-40b",
    'charset="x"',
    "charset=",
    "&#65;",
    '\\"',
    "\\\\n",
    "-->",
    "]]>",
]
LONG = ["x" * 300, "Not Referred & Not Treated " * 11, "e\u0301" * 150]
CONTROLS = ["bell\x07", "\x1b[31m", "form\x0cfeed", "\ufffe"]
LINES = ["cr\rlf", "dos\r\n", "\nfirst", "a\n\nb", "sep\u2028x", "nel\x85x", "\n"]
WIDTHLESS = ["", " ", "\u200b", "\u3164", "\x80"]
WRITABLE = COLONS + KEYWORDS + MARKUP + QUOTES + SCRIPTS + LONG + LINES + WIDTHLESS
HOSTILE = WRITABLE + CONTROLS


def edge_row(source, target, label, **columns):
    row = {"source": source, "target": target, "label": label, "variable": "answer"}
    return row | {"n": 3, "weight": None, "prior": 0.5, "probability": 0.25} | columns


def fan(labels, name="fan", variable="answer"):
    """Return a CEG of one floret with parallel edges."""
    positions = [
        {
            "position": "w0",
            "position_id": 0,
            "stage": "u0",
            "variable": variable,
            "height": 1,
            "n": 3 * len(labels),
            "n_situations": 1,
            "colour": None,
        },
        {"position": "w_inf", "position_id": 1, "stage": None, "variable": None},
    ]
    return ceg_graph(name, positions, [edge_row("w0", "w_inf", x) for x in labels])


def tree(labels, stage="u0", colour="#1f78b4", **columns):
    """Return a staged tree: each branch of the root has the two same branches."""
    vertices = [{"vertex": "s0", "vertex_id": 0, "variable": "first", "stage": "u9"}]
    edges = []
    for number, label in enumerate(labels, start=1):
        situation = {"vertex": f"s{number}", "vertex_id": number, "variable": "second"}
        vertices.append(situation | {"stage": stage, "colour": colour})
        edges.append(edge_row("s0", f"s{number}", label, **columns))
        for answer in ("no", "yes"):
            leaf = f"l{len(edges)}"
            vertices.append({"vertex": leaf, "vertex_id": 100 + len(edges)})
            edges.append(edge_row(f"s{number}", leaf, answer, **columns))
    return tree_graph("tree", vertices, edges)


def parsed(text):
    import pygraphviz

    found = pygraphviz.AGraph()
    found.from_string(text)
    return found


def unescaped(text):
    return re.sub(r"\\(.)", lambda match: match[1], text, flags=re.DOTALL)


def dot_labels(text):
    """Return the key and the label of each edge of the DOT text, unescaped."""
    string = r'"((?:[^"\\]|\\.)*)"'
    found = re.findall(rf" -> .*?\[key={string}, label={string}\];", text, re.DOTALL)
    shown = [re.sub(r"\\n", "\n", "\n" + label.replace("\\\\", "\0")) for _, label in found]
    return [
        (unescaped(key), label[1:].replace('\\"', '"').replace("\0", "\\"))
        for (key, _), label in zip(found, shown, strict=True)
    ]


def edge_texts(document):
    """Return the lines that each edge shows in an SVG."""
    root = ElementTree.fromstring(document)  # noqa: S314
    lines = {}
    for group in root.iter(f"{SVG}g"):
        what, *place = (group.get("id") or "").split("-")
        if what == "edge":
            text = group.find(f"{SVG}text").text or ""
            # The second of two spaces is written as a no-break space.
            lines.setdefault(int(place[0]), []).append(text.replace("\xa0", " "))
    return [lines[number] for number in sorted(lines)]


def bare(label):
    """Return the label without spaces; control characters are symbols."""
    bare_label = re.sub(r"[\s\x85\u2028]", "", label.replace("\x0c", "\u240c"))
    symbols = {code: 0x2400 + code for code in range(32)} | {0xFFFE: 0xFFFD}
    return bare_label.translate(symbols)


# Rows to networkx


def test_rows_become_typed_attributes_and_none_is_left_out():
    graph = fan(["no", "yes"])
    assert graph.graph == {"name": "fan", "kind": "ceg"}
    assert graph.nodes["w_inf"] == {"position_id": 1}
    expected = {"label": "yes", "variable": "answer", "n": 3}
    expected |= {"prior": 0.5, "probability": 0.25}
    assert graph.edges["w0", "w_inf", "yes"] == expected


def test_numbers_of_other_types_become_int_and_float():
    import numpy as np

    row = edge_row("s0", "l0", "a", n=np.int64(4), weight=np.float32(0.5), prior=1)
    graph = tree_graph("t", [{"vertex": "s0"}, {"vertex": "l0"}], [row])
    data = graph.edges["s0", "l0", "a"]
    assert [type(data[key]) for key in ("n", "weight", "prior")] == [int, float, float]
    row["weight"] = float("nan")
    graph = tree_graph("t", [{"vertex": "s0"}, {"vertex": "l0"}], [row])
    assert "weight" not in graph.edges["s0", "l0", "a"]


def test_order_of_rows_is_kept():
    graph = fan(["b", "c", "a"])
    assert [key for _, _, key in graph.edges(keys=True)] == ["b", "c", "a"]
    assert list(graph) == ["w0", "w_inf"]


def test_kind_of_a_tree_says_whether_it_has_stages():
    assert tree(["a"]).graph["kind"] == "staged_tree"
    assert tree_graph("t", [{"vertex": "s0"}], []).graph["kind"] == "event_tree"


def test_unknown_end_of_an_edge_is_refused():
    with pytest.raises(GraphError, match=r"s0 -> l7 of 't' ends at an unknown vertex: l7"):
        tree_graph("t", [{"vertex": "s0"}], [edge_row("s0", "l7", "a")])


def test_repeated_rows_are_refused():
    with pytest.raises(GraphError, match=r"w0 -> w_inf of 'fan' with label 'a' occurs"):
        fan(["a", "b", "a"])
    with pytest.raises(GraphError, match=r"vertex 's0' of 't' occurs twice"):
        tree_graph("t", [{"vertex": "s0"}, {"vertex": "s0"}], [])


# DOT


@pytest.mark.parametrize("graph", [fan(HOSTILE), tree(HOSTILE)], ids=["ceg", "tree"])
def test_dot_of_hostile_labels_parses_with_the_same_size(graph):
    found = parsed(to_dot(graph))
    assert len(found.nodes()) == graph.number_of_nodes()
    assert len(found.edges()) == graph.number_of_edges()


def test_dot_gives_the_labels_back():
    found = dot_labels(to_dot(fan(HOSTILE), edge_info="none"))
    assert [key for key, _ in found] == HOSTILE
    labels = [bare(label.replace("&amp;", "&")) for _, label in found]
    assert labels == [bare(label) for label in HOSTILE]


@pytest.mark.parametrize("label", [x for x in HOSTILE if x not in ("", "%")])
def test_graphviz_reads_the_key_of_an_edge_as_the_label(label):
    # libcgraph calls an edge whose key begins with % nameless.
    ((_, _, key),) = parsed(to_dot(fan([label]))).edges(keys=True)
    assert unescaped(key) == label


def test_hostile_names_of_graph_and_variable_are_only_names():
    name = 'n"\\ --> ]; charset= <svg &amp; \n\x01'
    graph = fan(["a"], name=name, variable='v "<&\\n>" ;\n')
    assert len(parsed(to_dot(graph)).nodes()) == 2
    root = ElementTree.fromstring(svg(graph))  # noqa: S314
    assert 'v "<&\\n>" ;' in [text.text for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.314159, "0.314"),
        (0.5, "0.500"),
        (0.9994, "0.999"),
        (0.99951, "0.9995"),
        (0.99999, ">0.9999"),
        (0.00031, "0.0003"),
        (1e-9, "<0.0001"),
        (1.0, "1"),
        (1 - 1e-16, "1"),
        (0.0, "0"),
    ],
)
def test_probability_has_sensible_digits(value, shown):
    ((_, label), *_) = dot_labels(to_dot(tree(["a"], probability=value)))
    assert label == f"a\n {shown} "


@pytest.mark.parametrize(
    ("edge_info", "shown"),
    [
        ("count", "\n 1,234,567 "),
        ("prior", "\n 0.333 "),
        ("posterior", "\n 1,234,567.333 "),
        ("none", ""),
    ],
)
def test_edge_shows_what_is_asked_for(edge_info, shown):
    graph = tree(["a"], n=1_234_567, prior=1 / 3)
    assert dot_labels(to_dot(graph, edge_info=edge_info))[0] == ("a", f"a{shown}")


def test_small_prior_is_not_shown_as_zero():
    text = to_dot(tree(["a"], prior=0.000123), edge_info="prior")
    assert dot_labels(text)[0][1] == "a\n 0.00012 "


def test_edge_without_the_number_shows_its_label():
    text = to_dot(tree(["a"], prior=None, probability=None))
    assert {label for _, label in dot_labels(text)} == {"a", "no", "yes"}


def test_unknown_edge_info_lists_the_choices():
    with pytest.raises(
        GraphError, match=r"(?s)unknown value 'odds' for edge_info.*count.*none"
    ):
        to_dot(tree(["a"]), edge_info="odds")


def test_shared_stage_is_filled_and_a_single_situation_is_white():
    both = to_dot(tree(["a", "b"]))
    assert both.count('fillcolor="#1f78b4", fontcolor="#ffffff"') == 2
    row = {"position": "w0", "stage": "u0", "colour": "#ffffff"}
    assert "fillcolor" not in to_dot(ceg_graph("c", [row], [])).split("];")[3]


def test_sink_and_leaves_are_distinct():
    assert '"w_inf" [label="w∞", shape="doublecircle"' in to_dot(fan(["a"]))
    assert '"l1" [label="l1", color="gray"]' in to_dot(tree(["a"]))


def test_long_label_is_wrapped_at_spaces_and_not_within_a_character():
    text = to_dot(fan(["Not Referred & Not Treated (no more asked)", "e\u0301" * 40]))
    (_, words), (_, accents) = dot_labels(text)
    assert words.split("\n")[:2] == [
        "Not Referred &amp; Not Treated ",
        "(no more asked)",
    ]
    assert not any(unicodedata.combining(line[0]) for line in accents.split("\n"))


def test_dot_has_no_limit_of_size():
    graph = fan([str(number) for number in range(graphs.MAX_DRAWN_EDGES + 1)])
    assert to_dot(graph).count(" -> ") == graphs.MAX_DRAWN_EDGES + 1


# Pictures


@pytest.mark.slow
@pytest.mark.parametrize("build", [fan, tree], ids=["ceg", "tree"])
def test_svg_shows_hostile_labels_literally(build):
    graph = build(HOSTILE)
    shown = edge_texts(svg(graph, edge_info="count"))
    assert {lines.pop() for lines in shown} == {"3"}
    labels = [bare("".join(lines)) for lines in shown]
    assert labels == [bare(key) for *_, key in graph.edges(keys=True)]


def test_svg_shows_short_labels_exactly():
    labels = COLONS + KEYWORDS + MARKUP + SCRIPTS + ["  two  spaces "]
    shown = edge_texts(svg(fan(labels), edge_info="none"))
    assert shown == [[label] for label in labels]


def test_newline_in_a_label_is_a_new_line_of_the_picture():
    assert edge_texts(svg(fan(["two\nlines"]))) == [["two", "lines", "0.250"]]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_lines_without_width_are_drawn(suffix, tmp_path):
    graph = fan([*LINES, *WIDTHLESS, "after"])
    assert draw(graph, tmp_path / f"a.{suffix}").stat().st_size > 500


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "magic"),
    [
        ("svg", b"<?xml"),
        ("SVG", b"<?xml"),
        ("png", b"\x89PNG\r\n\x1a\n"),
        ("pdf", b"%PDF-"),
        ("dot", b'digraph "fan" {'),
    ],
)
def test_picture_is_of_the_kind_named_and_the_same_twice(suffix, magic, tmp_path):
    graph = fan(["no", "yes", "日本"])
    one, two = tmp_path / f"one.{suffix}", str(tmp_path / f"two.{suffix}")
    assert draw(graph, one) == one
    content = one.read_bytes()
    assert content.startswith(magic)
    assert draw(graph, two).read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"one.{suffix}",
        f"two.{suffix}",
    ]


def test_svg_file_is_xml_without_versions(tmp_path):
    path = draw(fan(["a"]), tmp_path / "a.svg")
    assert ElementTree.parse(path).getroot().tag == f"{SVG}svg"  # noqa: S314
    assert "matplotlib v" not in path.read_text(encoding="utf-8").lower()


def test_svg_for_a_notebook_is_one_element():
    text = svg(fan(["a"]))
    assert text.startswith("<svg ")
    assert text.endswith("</svg>\n")


def test_graph_with_many_nodes_is_drawn_without_a_word(capfd):
    graphviz("digraph {" + "; ".join(f"n{number}" for number in range(1_100)) + "}", "json")
    assert "Warning: graph has" not in "".join(capfd.readouterr())


def test_too_large_a_picture_is_refused_with_a_way_out(tmp_path):
    match = r"has 3 edges, and a picture holds at most 2\nhint: .*a \.dot or \.graphml"
    with pytest.raises(GraphError, match=match):
        draw(fan(["a", "b", "c"]), tmp_path / "a.svg", most_edges=2)
    assert draw(fan(["a", "b", "c"]), tmp_path / "a.dot", most_edges=2).exists()


def test_picture_without_pygraphviz_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    with pytest.raises(MissingExtraError, match=r'pip install "cegdb\[draw\]"'):
        draw(fan(["a"]), tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []
    assert draw(fan(["a"]), tmp_path / "a.dot").exists()


# Files


@pytest.mark.parametrize("path", ["a.gif", "a", ".svg"])
def test_unknown_suffix_lists_the_known_ones(path):
    with pytest.raises(GraphError, match=r"\.svg, \.pdf, \.png, \.dot or \.tex"):
        draw(fan(["a"]), path)
    with pytest.raises(GraphError, match=r"\.graphml, \.gexf, \.cyjs, \.json or \.dot"):
        write_graph(fan(["a"]), path)


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(GraphError, match=r"no folder '.*nowhere' to write to"):
        write_graph(fan(["a"]), tmp_path / "nowhere" / "a.json")


def test_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(_, target):
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr("pathlib.Path.replace", full)
    (tmp_path / "a.json").write_text("before")
    with pytest.raises(GraphError, match=r"cannot write '.*a\.json': No space left"):
        write_graph(fan(["a"]), tmp_path / "a.json")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "before"


def test_folder_is_no_file_to_write(tmp_path):
    (tmp_path / "a.json").mkdir()
    with pytest.raises(GraphError, match=r"a\.json' is a folder, not a file"):
        write_graph(fan(["a"]), tmp_path / "a.json")


def test_json_gives_the_graph_back(tmp_path):
    for graph in (fan(HOSTILE), tree(HOSTILE)):
        path = write_graph(graph, tmp_path / "a.json")
        content = json.loads(path.read_text(encoding="utf-8"))
        again = nx.node_link_graph(content, edges="edges")
        assert nx.utils.graphs_equal(again, graph)
        assert again.graph == graph.graph
        assert list(again.edges(keys=True)) == list(graph.edges(keys=True))


def test_graphml_gives_nodes_labels_types_and_parallel_edges_back(tmp_path):
    for graph in (fan(WRITABLE), tree(WRITABLE)):
        path = write_graph(graph, tmp_path / "a.graphml")
        again = nx.read_graphml(path, force_multigraph=True)
        for name, data in again.nodes(data=True):
            assert data.pop("label") == vertex_label(name, data)
        assert dict(again.nodes(data=True)) == dict(graph.nodes(data=True))
        edges = list(graph.edges(data=True))
        assert sorted(again.edges(data=True), key=str) == sorted(edges, key=str)
        assert again.graph.items() >= graph.graph.items()
        types = {
            type(value) for _, _, data in again.edges(data=True) for value in data.values()
        }
        assert types == {str, int, float}


def test_graphml_edge_ids_are_unique(tmp_path):
    path = write_graph(tree(["no", "01", "1"]), tmp_path / "a.graphml")
    root = ElementTree.parse(path)  # noqa: S314
    ids = [element.get("id") for element in root.iter() if element.tag.endswith("}edge")]
    assert ids == [f"e{number}" for number in range(9)]


@pytest.mark.parametrize("label", CONTROLS)
def test_graphml_refuses_what_xml_cannot_hold(label, tmp_path):
    code = f"U\\+{ord(next(c for c in label if c < ' ' or c == chr(0xFFFE))):04X}"
    match = rf"label .* of edge w0 -> w_inf has the character {code}, .*\n.*\.json"
    with pytest.raises(GraphError, match=match):
        write_graph(fan([label]), tmp_path / "a.graphml")
    assert list(tmp_path.iterdir()) == []


def test_graphml_refusal_names_a_variable_too(tmp_path):
    with pytest.raises(GraphError, match=r"variable 'v\\x01' of w0 has the character U\+0001"):
        write_graph(fan(["a"], variable="v\x01"), tmp_path / "a.graphml")


@pytest.mark.parametrize("suffix", ["json", "graphml", "dot"])
def test_graph_file_is_the_same_twice_and_the_graph_unchanged(suffix, tmp_path):
    graph, untouched = fan(WRITABLE), fan(WRITABLE)
    one = write_graph(graph, tmp_path / f"one.{suffix}").read_bytes()
    assert write_graph(graph, tmp_path / f"two.{suffix}").read_bytes() == one
    assert nx.utils.graphs_equal(graph, untouched)
    assert graph.graph == untouched.graph
