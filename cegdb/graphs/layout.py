"""Where the vertices, edges and labels of a graph go: one layout for every kind of file."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Protocol

from cegdb.errors import GraphError
from cegdb.graphs.dot import edge_texts
from cegdb.graphs.graphviz import BoxKind, Placement, Point, SizedVertex, graphviz_placement
from cegdb.graphs.label_text import WHITE, is_shared, text_lines
from cegdb.graphs.tree_layout import tree_placement
from cegdb.options import PictureOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cegdb.graphs.networkx_graphs import Graph
    from cegdb.options import EdgeInfo


class Measure(Protocol):
    """Gives the width and height in points of lines of text."""

    def __call__(self, lines: Sequence[str], *, bold: bool = False) -> tuple[float, float]:
        """Return them."""


#: The most edges that are laid out: seconds for a usual graph, half a minute at worst.
MAX_DRAWN_EDGES = 2_000

_GAP = 18.0  # between two ranks, in points
_PADDING = 4.0  # between a box and its text, in points
_THICKEST = 7.0
_THINNEST = 0.6
_CLEAR = 2.0  # between a label and its line, in points


@dataclass(frozen=True, slots=True)
class Box:
    """A vertex as it is drawn: its centre and size in points from the top left corner.

    ``lines`` are its name and, in colour, the stage it shares with other situations.
    """

    name: str
    lines: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float
    kind: BoxKind
    variable: str | None
    stage: str | None
    colour: str
    is_shared: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """An edge as it is drawn, in points, as wide as its people.

    ``points`` is a cubic Bézier spline to the arrow's tip; ``lines`` are its label and number,
    and x, y, width and height those of that text.
    """

    source: str
    target: str
    key: str
    points: tuple[Point, ...]
    lines: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float
    line_width: float


@dataclass(frozen=True, slots=True)
class Column:
    """The variables of one column, line by line, and its centre in points."""

    lines: tuple[str, ...]
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A graph laid out from left to right, in points; columns head it."""

    name: str
    kind: str
    width: float
    height: float
    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]
    columns: tuple[Column, ...]


def layout(
    graph: Graph,
    measure: Measure,
    *,
    edge_info: EdgeInfo = PictureOptions.edge_info,
    width: float | None = None,
    most_edges: int = MAX_DRAWN_EDGES,
) -> Layout:
    """Lay out a graph from left to right: a tree by rows, another by Graphviz' dot.

    Every variable has a column of its own if the order in which paths meet them allows it; else
    a column holds what comes after so many edges. Columns are set apart to reach ``width`` in
    points; a graph that needs more keeps it.
    """
    if graph.number_of_edges() > most_edges:
        raise GraphError(
            f"the graph has {graph.number_of_edges():,} edges, and a picture holds at "
            f"most {most_edges:,}",
            hint="collapse what few people reach (collapse_below) or later variables "
            "(top_variables), or write a .dot or .graphml file for a program made for "
            "large graphs",
        )
    columns, variables = _columns(graph)
    nodes = _nodes(graph, measure, columns, has_variable=any(len(v) > 1 for v in variables))
    headers = [tuple(text_lines(names)) for names in variables]
    texts = [
        (*text_lines([label]), number) if number else tuple(text_lines([label]))
        for label, number in edge_texts(graph, edge_info)
    ]
    sizes = [measure(lines) for lines in texts]
    header_sizes = [measure(lines, bold=True) for lines in headers]
    thickness = _thickness(graph)
    # A label keeps clear of the line below it.
    rooms = [(w, h + line + _CLEAR) for (w, h), line in zip(sizes, thickness, strict=True)]
    if all(n_parents <= 1 for _, n_parents in graph.in_degree()):
        placement = tree_placement(graph, nodes, rooms, header_sizes, width)
    else:
        rows = _rows_in_order(graph, columns)
        placement = graphviz_placement(graph, nodes, rooms, header_sizes, _GAP, rows)
        ranks = len({round(x, 2) for x, _ in placement.nodes.values()})
        spare = 0.0 if width is None else width - placement.width
        if spare > 0 and ranks > 1:
            gap = _GAP + spare / (ranks - 1) / 2
            placement = graphviz_placement(graph, nodes, rooms, header_sizes, gap, rows)
    top = max((size[1] for size in header_sizes), default=0.0)
    top += _PADDING if top else 0.0
    columns_at = zip(headers, placement.columns, header_sizes, strict=True)
    return Layout(
        name=str(graph.graph.get("name", "")),
        kind=str(graph.graph.get("kind", "")),
        width=placement.width,
        height=placement.height + top,
        boxes=tuple(_boxes(graph, nodes, placement, top)),
        curves=tuple(_curves(graph, placement, top, texts, sizes, thickness)),
        columns=tuple(Column(lines, x, size[0]) for lines, x, size in columns_at),
    )


def _rows_in_order(graph: Graph, columns: Mapping[str, int]) -> list[list[str]]:
    """Return the vertices of ordered answers that stand above each other, lowest mean first."""
    rows: dict[tuple[int, str], list[str]] = defaultdict(list)
    for name, data in graph.nodes(data=True):
        if "mean" in data and name in columns:
            rows[columns[name], str(data["variable"])].append(name)
    return [sorted(row, key=lambda name: graph.nodes[name]["mean"]) for row in rows.values()]


def _boxes(
    graph: Graph, nodes: Mapping[str, SizedVertex], placement: Placement, top: float
) -> Iterator[Box]:
    for name, data in graph.nodes(data=True):
        node, (x, y) = nodes[name], placement.nodes[name]
        shared = is_shared(data)
        yield Box(
            name=name,
            lines=node.lines,
            x=x,
            y=y + top,
            width=node.width,
            height=node.height,
            kind=node.kind,
            variable=data.get("variable"),
            stage=data.get("stage"),
            colour=str(data["colour"]) if shared else WHITE,
            is_shared=shared,
        )


def _curves(
    graph: Graph,
    placement: Placement,
    top: float,
    texts: Sequence[tuple[str, ...]],
    sizes: Sequence[tuple[float, float]],
    thickness: Sequence[float],
) -> Iterator[Curve]:
    for number, (source, target, key) in enumerate(graph.edges(keys=True)):
        points, (label_x, label_y) = placement.edges[number]
        yield Curve(
            source=source,
            target=target,
            key=str(key),
            points=tuple((x, y + top) for x, y in points),
            lines=texts[number],
            x=label_x,
            y=label_y + top,
            width=sizes[number][0],
            height=sizes[number][1],
            line_width=thickness[number],
        )


def _columns(graph: Graph) -> tuple[dict[str, int], list[tuple[str, ...]]]:
    """Return each situation's column, and the variables of each column.

    A variable has a column of its own if no two paths contradict each other in the order of
    variables; else columns are the most edges from the root.
    """
    variable_of = {
        node: str(d["variable"]) for node, d in graph.nodes(data=True) if "variable" in d
    }
    earlier: dict[str, set[str]] = {variable: set() for variable in variable_of.values()}
    for source, target in graph.edges():
        if source in variable_of and target in variable_of:
            earlier[variable_of[target]].add(variable_of[source])
    try:
        order = _stable_order(earlier)
    except CycleError:
        return _depth_columns(graph, variable_of)
    column = {variable: i for i, variable in enumerate(order)}
    return {node: column[v] for node, v in variable_of.items()}, [(v,) for v in order]


def _stable_order(earlier: Mapping[str, set[str]]) -> list[str]:
    """Return a topological order in which variables seen first come first."""
    rank = {variable: i for i, variable in enumerate(earlier)}
    sorter = TopologicalSorter(earlier)
    sorter.prepare()
    order: list[str] = []
    ready: list[str] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=rank.__getitem__)
        order.append(ready.pop(0))
        sorter.done(order[-1])
    return order


def _depth_columns(
    graph: Graph, variable_of: Mapping[str, str]
) -> tuple[dict[str, int], list[tuple[str, ...]]]:
    incoming = {node: set(graph.predecessors(node)) for node in graph.nodes}
    depth: dict[str, int] = {}
    for node in TopologicalSorter(incoming).static_order():
        depth[node] = max((depth[before] + 1 for before in incoming[node]), default=0)
    variables: dict[int, list[str]] = defaultdict(list)
    for node, variable in variable_of.items():
        if variable not in variables[depth[node]]:
            variables[depth[node]].append(variable)
    return (
        {node: depth[node] for node in variable_of},
        [tuple(variables[i]) for i in range(len(variables))],
    )


def _nodes(
    graph: Graph, measure: Measure, columns: Mapping[str, int], *, has_variable: bool
) -> dict[str, SizedVertex]:
    is_ceg = graph.graph.get("kind") == "ceg"
    nodes = {}
    for name, data in graph.nodes(data=True):
        lines = str(data.get("text") or ("w∞" if name == "w_inf" else name)).split("\n")
        if has_variable and "variable" in data and "n_hidden" not in data:
            lines += text_lines([data["variable"]])
        kind: BoxKind = "position" if is_ceg else "situation"
        if "n_hidden" in data:
            kind = "collapsed"
        elif graph.out_degree(name) == 0 and "variable" not in data:
            kind = "sink" if is_ceg else "leaf"
        if is_shared(data):
            lines += text_lines([data["stage"]])
        shown = tuple(lines)
        width, height = measure(shown)
        nodes[name] = SizedVertex(
            shown,
            max(width + 2 * _PADDING, 20.0),
            height + _PADDING,
            kind,
            columns.get(name),
        )
    return nodes


def _thickness(graph: Graph) -> list[float]:
    """Return the width of each edge's line, as its people are to everybody."""
    everybody = max((data.get("n") or 0 for _, data in graph.nodes(data=True)), default=0)
    return [
        max(_THINNEST, _THICKEST * (data.get("n") or 0) / everybody) if everybody else _THINNEST
        for *_, data in graph.edges(data=True)
    ]
