"""Where a page draws vertices and edges: Graphviz' layout as plain numbers."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, Final

from cegdb import graphs
from cegdb.graphs.label_text import text_lines
from cegdb.graphs.layout import layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.graphs.layout import Layout, Measure
    from cegdb.graphs.networkx_graphs import Graph
    from cegdb.report.page.page_reader import Content

_SIZE: Final = 10.0
_LINE: Final = 12.0
_NARROW: Final = frozenset(" !'(),-./:;I[]fijlrt|\u2026\u00b7")
_NUMBER: Final = "0.000\u20130.000"
"""The longest that an edge shows below its label, bar large counts."""


def text_width(text: str, size: float = _SIZE) -> float:
    """Return about how wide a text is in Arial, rather more than less.

    Examples
    --------
    >>> text_width("ill") < text_width("w12") < text_width("\u6f22\u5b57\u6f22")
    True
    """
    return size * sum(map(_em, text))


def _em(character: str) -> float:
    if character in _NARROW:
        return 0.34
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if character in "mwMW@%\u221e" or not character.isascii():
        return 0.92
    return 0.73 if character.isupper() else 0.58


def ceg_drawing(content: Content) -> dict[str, Any]:
    """Return the layout of the part of a CEG that a page draws.

    Nodes begin with those drawn, in the order of the content, and end with what stands for
    the others: one collapsed node for each variable that edges drawn lead on to.
    """
    drawn = [one for one in content.positions if _is_drawn(one, content)]
    beyond = [one for one in content.positions if not _is_drawn(one, content)]
    name_of = {one["position_id"]: one["position"] for one in drawn}
    collapsed: dict[Any, list[int]] = {}
    for one in beyond:
        collapsed.setdefault(one["variable"], []).append(one["position_id"])
    stages = {one["stage_id"]: one for one in content.stages}
    nodes: list[dict[str, Any]] = [
        {
            **one,
            "stage": stages.get(one["stage_id"], {}).get("stage"),
            "colour": stages.get(one["stage_id"], {}).get("colour"),
        }
        for one in drawn
    ]
    edges = []
    for number, (variable, members) in enumerate(collapsed.items()):
        name = f"\u2026{number}"
        nodes.insert(-1, {"position": name, "variable": variable})
        name_of |= dict.fromkeys(members, name)
        edges.append({"source": name, "target": drawn[-1]["position"], "label": "\u2026"})
    edges = [
        {
            **one,
            "source": name_of[one["source_id"]],
            "target": name_of[one["target_id"]],
        }
        for one in content.edges
    ] + edges
    graph = graphs.add_means(graphs.ceg_graph("", nodes, edges), content.scores)
    for number, members in enumerate(collapsed.values()):
        node = graph.nodes[f"\u2026{number}"]
        node["n_hidden"] = len(members)
        node["text"] = f"\u2026 {len(members):,} more"
    order = [one["position"] for one in drawn]
    order += [f"\u2026{number}" for number in range(len(collapsed))]
    drawing = _layout_as_json(graph, order, edges, is_tall=False)
    for at, members in enumerate(collapsed.values(), start=len(drawn)):
        drawing["nodes"][at]["hides"] = len(members)
    return drawing


def _is_drawn(one: Mapping[str, Any], content: Content) -> bool:
    return one["stage_id"] is None or one["position_id"] in content.drawn


def tree_drawing(content: Content) -> dict[str, Any]:
    """Return the layout of the part of a staged tree that a page draws.

    Nodes are the ends of the edges, in the order of their ids.
    """
    stages = {one["stage_id"]: one for one in content.stages}
    ends = {0} | {one["child_id"] for one in content.tree_edges}
    rows = [one for one in content.vertices if one["vertex_id"] in ends]
    name_of = {one["vertex_id"]: one["vertex"] for one in rows}
    nodes = []
    for one in rows:
        stage = stages.get(one["stage_id"], {})
        nodes.append({**one, "stage": stage.get("stage"), "colour": stage.get("colour")})
    edges = [
        {**one, "source": name_of[one["parent_id"]], "target": name_of[one["child_id"]]}
        for one in content.tree_edges
    ]
    graph = graphs.tree_graph("", nodes, edges)
    order = [one["vertex"] for one in rows]
    for vertex_id, n_hidden in content.hidden.items():
        node = graph.nodes[name_of[vertex_id]]
        node["n_hidden"] = n_hidden
        node["text"] = f"{name_of[vertex_id]} \u2026 {n_hidden:,}"
    drawing = _layout_as_json(graph, order, edges, is_tall=True)
    for at, one in enumerate(rows):
        if one["vertex_id"] in content.hidden:
            drawing["nodes"][at]["hides"] = content.hidden[one["vertex_id"]]
    return drawing


def _measure(edge_texts: set[tuple[str, ...]], *, is_tall: bool) -> Measure:
    """Return how large texts are; below an edge's label is room for any number."""

    def measure(lines: Sequence[str], *, bold: bool = False) -> tuple[float, float]:
        if bold:
            lines = tuple(text_lines(lines))
        width, n_lines = max(map(text_width, lines), default=0.0), len(lines)
        if bold:
            return 1.1 * width, n_lines * _LINE
        if tuple(lines) in edge_texts:
            return max(width, text_width(_NUMBER)) + 2, (n_lines + 1) * _LINE
        return width, max(n_lines, 2 if is_tall else 1) * _LINE

    return measure


def _layout_as_json(
    graph: Graph,
    order: list[str],
    edges: Sequence[Mapping[str, Any]],
    *,
    is_tall: bool,
) -> dict[str, Any]:
    texts = {tuple(text_lines([str(edge["label"])])) for edge in edges}
    placed: Layout = layout(graph, _measure(texts, is_tall=is_tall), edge_info="none")
    boxes = {box.name: box for box in placed.boxes}
    curves = {(one.source, one.target, one.key): one for one in placed.curves}
    nodes = []
    for name in order:
        box = boxes[name]
        nodes.append(
            {
                "lines": list(box.lines),
                "kind": box.kind,
                **_rounded(x=box.x, y=box.y, w=box.width, h=box.height),
            }
        )
    lines = []
    index = {name: at for at, name in enumerate(order)}
    for edge in edges:
        curve = curves[edge["source"], edge["target"], edge["label"]]
        lines.append(
            {
                "s": index[curve.source],
                "t": index[curve.target],
                "points": [round(value, 1) for point in curve.points for value in point],
                "lines": list(curve.lines),
                **_rounded(x=curve.x, y=curve.y, width=curve.line_width),
            }
        )
    columns = [
        {"lines": list(text_lines(one.lines)), **_rounded(x=one.x, w=one.width)}
        for one in placed.columns
    ]
    return {
        "nodes": nodes,
        "edges": lines,
        "columns": columns,
        **_rounded(w=placed.width, h=placed.height),
    }


def _rounded(**values: float) -> dict[str, float]:
    return {key: round(value, 1) for key, value in values.items()}
