"""Graphs as DOT text, every label shown as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from cegdb.errors import GraphError
from cegdb.graphs.graph_rows import graph_rows
from cegdb.graphs.label_text import (
    format_number,
    format_probability,
    is_shared,
    text_colour,
    text_lines,
    xml_text,
)
from cegdb.options import EdgeInfo, PictureOptions, check_choice
from cegdb.render.writers import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from cegdb.graphs.graph_rows import GraphRows
    from cegdb.graphs.networkx_graphs import Graph

"""What an edge shows below its label; an event tree shows counts, having no probability."""

# ORDERING: a tree keeps its children in the order of the levels, which in a CEG would
# cost crossings. nslimit: a fifth of the time, for edges slightly less straight.
_HEAD = """\
  graph [charset="UTF-8", rankdir="LR", ordering="ORDERING", nslimit="4",
    nodesep="0.15", ranksep="0.3"];
  node [shape="box", style="rounded,filled", fillcolor="white", color="#404040",
    fontname="Helvetica,Arial,sans-serif", fontsize="11", margin="0.07,0.03",
    width="0.3", height="0.25"];
  edge [color="#606060", fontname="Helvetica,Arial,sans-serif", fontsize="10",
    arrowsize="0.5"];"""


def to_dot(graph: Graph, *, edge_info: EdgeInfo = PictureOptions.edge_info) -> str:
    """Return the graph in Graphviz' DOT language, from left to right, whatever its size.

    A node shows its name and variable, filled with the colour of its stage if it shares it.
    An edge shows its label and the number of `EdgeInfo`: the label only if it has none, ``…``
    if that is hidden as a small cell. Labels show literally; long ones are wrapped.
    """
    return "".join(dot_lines(graph_rows(graph), edge_info=edge_info))


def dot_lines(
    rows: GraphRows, *, edge_info: EdgeInfo = PictureOptions.edge_info
) -> Iterator[str]:
    """Yield the lines of `to_dot`, one node or edge at a time."""
    text_of = _edge_text(rows.attributes, edge_info)
    is_ceg = rows.attributes.get("kind") == "ceg"
    yield f"digraph {_quoted(xml_text(str(rows.attributes.get('name', ''))))} {{\n"
    yield _HEAD.replace("ORDERING", "" if is_ceg else "out") + "\n"
    for node, data, is_end in rows.nodes():
        text = [node, *([str(data["variable"])] if "variable" in data else [])]
        style = ""
        if "n_hidden" in data:
            text, style = [str(data["text"])], ', style="rounded,dashed"'
        elif is_shared(data):
            colour = str(data["colour"])
            style = f", fillcolor={_quoted(colour)}, fontcolor={_quoted(text_colour(colour))}"
        elif is_end:
            text = ["w∞" if node == "w_inf" else node]
            sink = ', shape="doublecircle", margin="0.02"'
            style = sink if is_ceg else ', color="gray"'
        yield f"  {_quoted(xml_text(node))} [label={_label(text)}{style}];\n"
    for source, target, key, data in rows.edges():
        label, number = text_of(key, data)
        # The spaces keep curves off.
        shown = _label([label, f" {number} "] if number else [label])
        yield (
            f"  {_quoted(xml_text(source))} -> {_quoted(xml_text(target))} "
            f"[key={_quoted(key)}, label={shown}];\n"
        )
    yield "}\n"


def edge_texts(graph: Graph, edge_info: EdgeInfo) -> list[tuple[str, str]]:
    """Return the label of each edge, and its number if it has one."""
    text_of = _edge_text(graph.graph, edge_info)
    return [text_of(str(key), data) for _, _, key, data in graph.edges(keys=True, data=True)]


def _edge_text(
    attributes: Mapping[str, object], edge_info: EdgeInfo
) -> Callable[[str, Mapping[str, Any]], tuple[str, str]]:
    """Return the function that gives an edge's label and number in a graph."""
    check_choice("edge_info", edge_info, get_args(EdgeInfo), GraphError)
    is_event_tree = attributes.get("kind") == "event_tree"
    hides = {"n"} if is_event_tree else {"n", "probability"}
    if "min_n" not in attributes:
        hides = set()
    shown = "count" if is_event_tree and edge_info == "probability" else edge_info

    def text_of(key: str, data: Mapping[str, Any]) -> tuple[str, str]:
        return str(data.get("label", key)), _edge_number(data, hides, shown)

    return text_of


def _edge_number(data: Mapping[str, Any], hides: Collection[str], edge_info: str) -> str:
    """Return the edge's number as it is shown, if any."""
    column = {"count": "n", "posterior": "prior"}.get(edge_info, edge_info)
    if column not in data:
        is_small = column in hides and (column == "n" or "n_labels" not in data)
        return HIDDEN if is_small else ""
    if edge_info == "posterior" and "n" in hides and "n" not in data:
        return HIDDEN
    if edge_info == "probability":
        return format_probability(data[column])
    more = data.get("n", 0) if edge_info == "posterior" else 0
    return format_number(data[column] + more)


def _quoted(text: str) -> str:
    """Return a DOT string; only NUL cannot be held, and shows as its symbol."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "␀")
    return f'"{escaped}"'


def _label(texts: Sequence[str]) -> str:
    """Return a DOT label that Graphviz shows literally, each text on its own lines."""
    lines = (_quoted(line.replace("&", "&amp;"))[1:-1] for line in text_lines(texts))
    return '"' + "\\n".join(lines) + '"'
