"""Where Graphviz puts the vertices and edges of a graph."""

from __future__ import annotations

import contextlib
import io
import json
import threading
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from cegdb.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cegdb.graphs.networkx_graphs import Graph

Point: TypeAlias = tuple[float, float]
Size: TypeAlias = tuple[float, float]
BoxKind: TypeAlias = Literal["situation", "leaf", "position", "sink", "collapsed"]

_POINTS = 72
_graphviz_lock = threading.Lock()  # Graphviz keeps global state


@dataclass(frozen=True, slots=True)
class SizedVertex:
    """A vertex to be placed: its text, size in points, and column if it has one."""

    lines: tuple[str, ...]
    width: float
    height: float
    kind: BoxKind
    column: int | None


@dataclass(frozen=True, slots=True)
class Placement:
    """Where things are, in points, y downward: centres, splines and the centres of labels."""

    width: float
    height: float
    nodes: dict[str, Point]
    edges: list[tuple[tuple[Point, ...], Point]]
    columns: list[float]


def graphviz_placement(
    graph: Graph,
    nodes: Mapping[str, SizedVertex],
    sizes: Sequence[Size],
    headers: Sequence[Size],
    gap: float,
    rows: Sequence[Sequence[str]] = (),
) -> Placement:
    """Return where Graphviz' dot puts boxes and labels of these sizes, in points.

    Graphviz sees numbers only, no text: nothing in a label can be taken for a command.
    ``sizes`` are those of the edges' labels, ``headers`` of the names over the columns;
    ``rows`` are vertices of one column in the order in which they stand, from the top.
    """
    number = {name: f"n{i}" for i, name in enumerate(nodes)}
    lines = [
        "digraph {",
        f'graph [rankdir="LR", nslimit="4", nodesep="0.1", ranksep="{gap / _POINTS:.4f}"];',
        'node [shape="box", fixedsize="true", label="", margin="0"];',
        'edge [arrowsize="0.5"];',
    ]
    members: dict[int, list[str]] = defaultdict(list)
    for name, node in nodes.items():
        if node.column is not None:
            members[node.column].append(number[name])
        lines.append(
            f'{number[name]} [width="{node.width / _POINTS:.4f}", '
            f'height="{node.height / _POINTS:.4f}"];'
        )
    for i, (width, _) in enumerate(headers):
        lines.append(f'c{i} [width="{width / _POINTS + 0.1:.4f}", height="0.01"];')
        if i:
            lines.append(f'c{i - 1} -> c{i} [style="invis", weight="0"];')
        lines.append(f'{{rank="same"; c{i}; {"; ".join(members[i])};}}')
    for row in rows:
        for upper, lower in pairwise(row):
            lines.append(f'{number[upper]} -> {number[lower]} [style="invis"];')
    for i, (source, target) in enumerate(graph.edges()):
        width, height = sizes[i]
        room = (
            f', label=<<TABLE BORDER="0" CELLPADDING="0" CELLSPACING="0" FIXEDSIZE="TRUE" '
            f'WIDTH="{width + 6:.0f}" HEIGHT="{height:.0f}"><TR><TD></TD></TR></TABLE>>'
        )
        lines.append(f'{number[source]} -> {number[target]} [id="{i}"{room}];')
    lines.append("}")
    answer = json.loads(graphviz("\n".join(lines), "json"))
    left, bottom, right, top = (float(part) for part in answer["bb"].split(","))
    at: dict[str, Point] = {}
    for node in answer.get("objects", ()):
        if "pos" in node:
            x, y = node["pos"].split(",")
            at[node["name"]] = (float(x) - left, top - float(y))
    edges: list[tuple[tuple[Point, ...], Point]] = [((), (0.0, 0.0))] * len(sizes)
    for edge in answer.get("edges", ()):
        if "id" in edge:
            x, y = edge["lp"].split(",")
            points = tuple((a - left, top - b) for a, b in _spline(edge["pos"]))
            edges[int(edge["id"])] = (points, (float(x) - left, top - float(y)))
    return Placement(
        width=right - left,
        height=top - bottom,
        nodes={name: at[known] for name, known in number.items()},
        edges=edges,
        columns=[at[f"c{i}"][0] for i in range(len(headers))],
    )


def _spline(text: str) -> list[Point]:
    """Return the points of ``e,x,y x,y x,y ...``: the tip comes first."""
    *_, pieces = text.split(";")
    tip: list[Point] = []
    points: list[Point] = []
    for piece in pieces.split():
        mark, *numbers = piece.split(",")
        if mark == "e":
            tip = [(float(numbers[0]), float(numbers[1]))]
        else:
            points.append((float(mark), float(numbers[0])))
    for end in tip:
        (ax, ay), (bx, by) = points[-1], end
        points += [
            (ax + (bx - ax) / 3, ay + (by - ay) / 3),
            (ax + (bx - ax) * 2 / 3, ay + (by - ay) * 2 / 3),
            end,
        ]
    return points


def graphviz(dot: str, form: str) -> bytes:
    """Return what Graphviz' dot makes of a text in its language."""
    try:
        import pygraphviz
    except ImportError as error:
        raise MissingExtraError(
            "a picture needs pygraphviz, which is not installed",
            hint='pip install "cegdb[draw]" (a .dot file needs nothing)',
        ) from error
    # AGraph(string=...) would take a label such as charset="..." for a setting.
    drawn = pygraphviz.AGraph()
    # pygraphviz writes a warning on stderr from 1,000 nodes on.
    with _graphviz_lock, contextlib.redirect_stderr(io.StringIO()):
        drawn.from_string(dot)
        content: bytes = drawn.draw(format=form, prog="dot")
    return content
