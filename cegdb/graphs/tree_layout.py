"""Where the vertices and edges of a tree go: one row per leaf, and no two lines cross."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.graphs.graphviz import Placement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.graphs.graphviz import Point, Size, SizedVertex
    from cegdb.graphs.networkx_graphs import Graph

_BEND: Final = 24.0  # the width in which an edge gets to the row of its target, in points
_BETWEEN_ROWS: Final = 4.0
_ARROW: Final = 10.0  # right of a label


def tree_placement(
    graph: Graph,
    nodes: Mapping[str, SizedVertex],
    sizes: Sequence[Size],
    headers: Sequence[Size],
    width: float | None,
) -> Placement:
    """Return where the boxes and labels of a tree go; the graph's vertices come breadth first.

    A leaf has a row of its own; another vertex is in the middle of its children. An edge bends
    to the row of its target and goes on straight below its label, so that lines do not cross.
    A vertex without a column stands right of its parent.
    """
    edge_of = {target: i for i, (_, target) in enumerate(graph.edges())}
    columns = _columns(graph, nodes)
    rows, height = _rows(graph, nodes, sizes, edge_of)
    centres, starts, total = _column_centres(graph, nodes, sizes, headers, columns, width)
    at = {name: (centres[columns[name]], rows[name]) for name in nodes}
    edges: list[tuple[tuple[Point, ...], Point]] = []
    for i, (source, target) in enumerate(graph.edges()):
        (x, y), (end_x, end_y) = at[source], at[target]
        x += nodes[source].width / 2
        end_x -= nodes[target].width / 2
        bend = starts[columns[source]] + _BEND
        middle = (x + bend) / 2
        third = (end_x - bend) / 3
        points = (
            (x, y),
            (middle, y),
            (middle, end_y),
            (bend, end_y),
            (bend + third, end_y),
            (end_x - third, end_y),
            (end_x, end_y),
        )
        label = (bend + sizes[i][0] / 2, end_y - sizes[i][1] / 2)
        edges.append((points, label))
    return Placement(total, height, at, edges, centres[: len(headers)])


def _columns(graph: Graph, nodes: Mapping[str, SizedVertex]) -> dict[str, int]:
    columns: dict[str, int] = {}
    for name, node in nodes.items():
        before = [columns[parent] + 1 for parent in graph.predecessors(name)]
        columns[name] = max(before, default=0) if node.column is None else node.column
    return columns


def _rows(
    graph: Graph,
    nodes: Mapping[str, SizedVertex],
    sizes: Sequence[Size],
    edge_of: Mapping[str, int],
) -> tuple[dict[str, float], float]:
    """Return the height of each vertex, and of all."""
    rows: dict[str, float] = {}
    bottom = -_BETWEEN_ROWS
    # A vertex, and where its subtree begins once it has been seen: above it, and in rows.
    stack: list[tuple[str, tuple[float, int] | None]] = [
        (name, None) for name in reversed(list(nodes)) if name not in edge_of
    ]
    while stack:
        name, begun = stack.pop()
        children = list(dict.fromkeys(graph.successors(name)))
        half = nodes[name].height / 2
        above = max(half, sizes[edge_of[name]][1]) if name in edge_of else half
        if begun is None and children:
            stack.append((name, (bottom, len(rows))))
            stack += [(child, None) for child in reversed(children)]
            continue
        if begun is None:
            rows[name] = bottom + _BETWEEN_ROWS + above
        else:
            start, first = begun
            rows[name] = (rows[children[0]] + rows[children[-1]]) / 2
            lacking = start + _BETWEEN_ROWS + above - rows[name]
            if lacking > 0:  # a label that is higher than the subtree below it
                for lower in list(rows)[first:]:
                    rows[lower] += lacking
                bottom += lacking
        bottom = max(bottom, rows[name] + half)
    return rows, bottom


def _column_centres(
    graph: Graph,
    nodes: Mapping[str, SizedVertex],
    sizes: Sequence[Size],
    headers: Sequence[Size],
    columns: Mapping[str, int],
    width: float | None,
) -> tuple[list[float], list[float], float]:
    """Return the centres of the columns, where each ends, and the width of all."""
    n_columns = max(max(columns.values(), default=0) + 1, len(headers))
    boxes = [0.0] * n_columns
    labels = [0.0] * n_columns
    for name, column in columns.items():
        boxes[column] = max(boxes[column], nodes[name].width)
    for i, (source, _) in enumerate(graph.edges()):
        labels[columns[source]] = max(labels[columns[source]], sizes[i][0])
    gaps = [_BEND + label + _ARROW for label in labels[:-1]]
    heads = [size[0] for size in headers] + [0.0] * (n_columns - len(headers))
    # Names over neighbouring columns do not touch.
    for i, gap in enumerate(gaps):
        apart = (boxes[i] + boxes[i + 1]) / 2 + gap
        gaps[i] += max(0.0, (heads[i] + heads[i + 1]) / 2 + _ARROW - apart)
    left = max(boxes[0], heads[0]) / 2
    right = max(boxes[-1], heads[-1]) / 2
    needed = left + right + sum(gaps) + sum(boxes) - boxes[0] / 2 - boxes[-1] / 2
    if width is not None and width > needed and gaps:
        gaps = [gap + (width - needed) / len(gaps) for gap in gaps]
        needed = width
    centres = [left]
    for i, gap in enumerate(gaps):
        centres.append(centres[i] + (boxes[i] + boxes[i + 1]) / 2 + gap)
    return centres, [x + box / 2 for x, box in zip(centres, boxes, strict=True)], needed
