"""Figures of graphs: layout, columns, marks, captions, TikZ, sizes; plots are in test_plots."""

from __future__ import annotations

import re

import pytest
from latex import compiled
from test_graphs import HOSTILE, MARKUP, QUOTES, fan, tree

from cegdb.graphs import ceg_graph
from cegdb.graphs.layout import layout
from cegdb.pictures import graph_figure, to_tikz
from cegdb.pictures.captions import graph_caption
from cegdb.pictures.tikz import latex_line


def size(lines, *, bold=False):
    width = 7.0 if bold else 6.0
    return (width * max(map(len, lines), default=0), 10.0 * len(lines))


def chain(*variables, back=False):
    """Return a CEG that asks the variables one after the other, some on two paths."""
    places = [f"w{i}" for i in range(len(variables))]
    positions = [
        {"position": p, "variable": v, "n": 10} for p, v in zip(places, variables, strict=True)
    ]
    ends = [*places[1:], "w_inf"]
    edges = [
        {"source": p, "target": end, "label": label, "n": 5}
        for p, end in zip(places, ends, strict=True)
        for label in ("no", "yes")
    ]
    if back:
        edges[1]["target"] = "w_inf"
    return ceg_graph("chain", [*positions, {"position": "w_inf", "n": 10}], edges)


def test_each_variable_has_a_column_of_its_own():
    found = layout(chain("Risk", "Treatment", "Fall"), size)
    assert [column.lines for column in found.columns] == [("Risk",), ("Treatment",), ("Fall",)]
    at = {box.name: box.x for box in found.boxes}
    assert [at["w0"], at["w1"], at["w2"]] == [column.x for column in found.columns]
    assert at["w_inf"] == max(at.values())


def test_variables_in_contradictory_orders_share_columns_and_name_themselves():
    positions = [
        {"position": "w0", "variable": "Start"},
        {"position": "w1", "variable": "A"},
        {"position": "w2", "variable": "B"},
        {"position": "w3", "variable": "B"},
        {"position": "w4", "variable": "A"},
        {"position": "w_inf"},
    ]
    ends = [("w0", "w1"), ("w0", "w2"), ("w1", "w3"), ("w2", "w4"), ("w3", "w_inf")]
    edges = [
        {"source": a, "target": b, "label": f"{a}{b}"} for a, b in [*ends, ("w4", "w_inf")]
    ]
    found = layout(ceg_graph("both", positions, edges), size)
    assert [column.lines for column in found.columns] == [("Start",), ("A", "B"), ("B", "A")]
    assert [box.lines for box in found.boxes][1:3] == [("w1", "A"), ("w2", "B")]


def test_boxes_and_labels_do_not_overlap():
    long = ["a", "bb", "a label of some length " * 12]
    for graph in (fan([str(i) for i in range(12)]), tree(long), tree(long[::-1])):
        found = layout(graph, size)
        rectangles = [(b.x, b.y, b.width, b.height) for b in found.boxes]
        rectangles += [(c.x, c.y, c.width, c.height) for c in found.curves]
        for i, (x, y, width, height) in enumerate(rectangles):
            assert width / 2 - 0.01 <= x <= found.width - width / 2 + 0.01
            assert height / 2 - 0.01 <= y <= found.height - height / 2 + 0.01
            for u, v, w, h in rectangles[:i]:
                assert abs(x - u) > (width + w) / 2 - 0.5 or abs(y - v) > (height + h) / 2 - 0.5


def test_curves_begin_at_the_source_and_end_at_the_target():
    found = layout(chain("Risk", "Treatment", "Fall"), size)
    at = {box.name: box for box in found.boxes}
    for curve in found.curves:
        assert len(curve.points) % 3 == 1
        for name, (x, y) in ((curve.source, curve.points[0]), (curve.target, curve.points[-1])):
            box = at[name]
            assert abs(x - box.x) <= box.width / 2 + 1.5
            assert abs(y - box.y) <= box.height / 2 + 1.5


def test_lines_are_as_wide_as_the_people_of_all():
    found = layout(chain("Risk"), size)
    assert {curve.line_width for curve in found.curves} == {3.5}


def test_figure_has_the_width_asked_for_and_says_when_text_shrinks():
    graph = chain("Risk", "Treatment", "Fall")
    wide, narrow = (graph_figure(graph, width_mm=mm) for mm in (170, 40))
    assert wide.figure.get_size_inches()[0] * 25.4 == pytest.approx(170)
    assert "Reduced to fit" not in wide.caption
    assert narrow.figure.get_size_inches()[0] * 25.4 == pytest.approx(40)
    assert re.search(
        r"Reduced to fit: text is [1-6]\.\d pt, too small to read in print\.$", narrow.caption
    )


@pytest.mark.slow
def test_figure_of_a_long_tree_is_no_longer_than_a_pdf_may_be():
    picture = graph_figure(tree([str(i) for i in range(250)]), font_size=20)
    assert picture.figure.get_size_inches()[1] == pytest.approx(200)
    assert re.search(r"Reduced to fit: text is \d\.\d pt\.$", picture.caption)


def test_caption_tells_what_is_there_and_no_more():
    plain = graph_caption(chain("Risk"), edge_info="none")
    assert "probability" not in plain
    assert "stage" not in plain
    told = graph_caption(tree(["a"]), edge_info="count")
    assert "the number of people who gave it" in told
    assert "show their stage (such as u0)" in told


@pytest.mark.parametrize("suffix", ["svg", "pdf", "png"])
def test_figure_is_the_same_twice_and_describes_itself(suffix, tmp_path):
    one, two = tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
    for path in (one, two):
        graph_figure(fan(["a$x_1$b", "<b>"])).save(path)
    assert one.read_bytes() == two.read_bytes()
    said = "Chain Event Graph"
    assert any(said.encode(code) in one.read_bytes() for code in ("utf-8", "utf-16-be"))


def test_no_label_is_a_formula(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError(args, kwargs)

    monkeypatch.setattr("matplotlib.mathtext.MathTextParser.parse", refuse)
    assert "$x_1$" in graph_figure(fan(["a$x_1$b", "$$"]))._repr_svg_()


def test_latex_shows_specials_literally():
    assert latex_line(r"\input{a} $x_1$ 5% #1 a&b ~^") == (
        r"\textbackslash{}input\{a\} \$x\_1\$ 5\% \#1 a\&b \textasciitilde{}"
        r"\textasciicircum{}"
    )
    assert latex_line(" a  b") == "~a~ b"


def test_tikz_styles_have_names_and_the_graph_uses_them():
    text = to_tikz(tree(["a", "b"]))
    for style in ("situation", "leaf", "edge", "edge label", "variable", "stage 0"):
        assert f"ceg/{style}/.style" in text
        assert text.count(f"ceg/{style}") > 1
    assert "RequireTUTeX" not in text
    assert "\n\\RequireTUTeX" in to_tikz(fan(["שלום"]))


PICTURE = ("standalone.cls", "tikz.sty", "iftex.sty", "textcomp.sty", "lmodern.sty")


def test_tikz_compiles_with_pdflatex(tmp_path):
    source = tmp_path / "graph.tex"
    text = to_tikz(fan([*MARKUP, *QUOTES[:2], "é", "--"]))
    source.write_text(text, encoding="utf-8")
    done = compiled(source, "pdflatex", *PICTURE)
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.slow
def test_tikz_of_hostile_labels_compiles_with_lualatex(tmp_path):
    source = tmp_path / "graph.tex"
    source.write_text(to_tikz(fan(HOSTILE)), encoding="utf-8")
    done = compiled(source, "lualatex", *PICTURE)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Missing character" not in (tmp_path / "graph.log").read_text(errors="replace")


def test_names_of_variables_and_stages_are_wrapped_and_shown_literally():
    question = "How often did you feel so \x1b in the last twelve months?\n" * 6
    asked = layout(chain(question, "Fall"), size).columns[0]
    assert max(map(len, asked.lines)) <= 28
    assert asked.width <= 28 * 7
    shown = "".join(asked.lines)
    assert "\u241b" in shown
    assert not set("\x1b\n") & set(shown)
    graph = tree(["a", "b"])
    for _, data in graph.nodes(data=True):
        if "stage" in data:
            data["stage"] = "S" * 90
    for box in layout(graph, size).boxes:
        assert max(map(len, box.lines)) <= 28


def test_a_label_keeps_clear_of_the_thickest_line():
    for graph in (tree(["a"]), chain("Risk")):
        for curve in layout(graph, size).curves:
            ends = [y for x, y in curve.points if abs(x - curve.x) < curve.width / 2]
            below = [y for y in ends if y > curve.y]
            assert all(y - curve.line_width / 2 > curve.y + curve.height / 2 for y in below)


def test_a_caption_tells_the_evidence_and_is_one_line():
    graph = chain("Risk")
    for *_, data in graph.edges(data=True):
        data["probability"] = 0.5
    graph.graph.update(name="a\nb\x1b", given="Fall = Yes")
    told = graph_caption(graph)
    assert told.startswith("Chain Event Graph 'a b\u241b' given Fall = Yes, from left")
    assert "its probability given this evidence" in told
    assert "posterior" not in told


def test_tikz_has_the_width_asked_for_and_heads_of_the_size_of_its_text():
    graph = chain("Risk", "Treatment")
    natural, narrow = to_tikz(graph), to_tikz(graph, width_mm=20)
    assert "transform shape" not in natural
    scale = float(re.search(r"scale=([\d.]+), transform shape", narrow)[1])
    assert f"text is {9 * scale:.1f} pt" in re.sub(r" *\n% ", " ", narrow)
    assert "transform shape" not in to_tikz(graph, width_mm=400)
    heads = [
        float(re.search(r"ceg/variable\] at \([\d.]+, ([\d.]+)\)", text)[1])
        for text in (natural, to_tikz(graph, font_size=18))
    ]
    assert heads[1] == pytest.approx(2 * heads[0])
