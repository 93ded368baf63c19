"""Layouts of graphs as figures: boxes, curves, names of variables on top."""

from __future__ import annotations

from collections import Counter
from functools import partial
from math import hypot
from typing import TYPE_CHECKING, Final

from cegdb.graphs.label_text import text_colour
from cegdb.graphs.layout import MAX_DRAWN_EDGES, layout
from cegdb.options import PictureOptions
from cegdb.pictures.captions import graph_caption
from cegdb.pictures.style import (
    LINE_SPACING,
    MM_PER_INCH,
    MOST_INCHES,
    POINTS_PER_INCH,
    Picture,
    check_sizes,
    figure_style,
    new_figure,
    text_size,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cegdb.graphs.graphviz import Point
    from cegdb.graphs.layout import Box, Curve, Layout
    from cegdb.graphs.networkx_graphs import Graph
    from cegdb.options import EdgeInfo

FONT_SIZE: Final = PictureOptions.font_size
_MARGIN: Final = 6.0  # points
_FULL_SIZE: Final = 0.99  # a reduction that nobody sees
_LINE: Final = "#606060"
_EDGE: Final = "#9a9a9a"
_LABEL: Final = "#202020"
_HALO: Final = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.0}


def graph_figure(
    graph: Graph,
    *,
    edge_info: EdgeInfo = PictureOptions.edge_info,
    font_size: float = FONT_SIZE,
    width_mm: float | None = None,
    most_edges: int = MAX_DRAWN_EDGES,
) -> Picture:
    """Return a graph as a figure: laid out by `layout`, painted by matplotlib.

    Columns stand further apart to reach ``width_mm``; a graph that needs more is scaled down,
    its text too. No figure is longer than 5 metres, which is what readers of PDF open.
    """
    check_sizes(font_size, width_mm)
    wanted = None if width_mm is None else width_mm / MM_PER_INCH * POINTS_PER_INCH
    with figure_style(_texts(graph)):
        graph_layout = layout(
            graph,
            partial(text_size, font_size=font_size),
            edge_info=edge_info,
            width=None if wanted is None else wanted - 2 * _MARGIN,
            most_edges=most_edges,
        )
        figure = paint_layout(graph_layout, font_size=font_size, width=wanted)
    scale = _scale(graph_layout, wanted)
    text_height = font_size * scale if scale < _FULL_SIZE else None
    return Picture(figure, graph_caption(graph, edge_info=edge_info, text_size=text_height))


def paint_layout(layout: Layout, *, font_size: float, width: float | None) -> Figure:
    """Return a layout as a figure of a width in points."""
    natural_width, natural_height = layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN
    scale = _scale(layout, width)
    shown_width = natural_width * scale if width is None else width
    figure = new_figure(
        shown_width / POINTS_PER_INCH * MM_PER_INCH,
        natural_height * scale / POINTS_PER_INCH * MM_PER_INCH,
    )
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    spare = (shown_width / scale - natural_width) / 2
    axes.set_xlim(-_MARGIN - spare, layout.width + _MARGIN + spare)
    axes.set_ylim(layout.height + _MARGIN, -_MARGIN)
    pen = _Pen(axes, font_size, scale)
    for column in layout.columns:
        _, height = text_size(column.lines, font_size)
        pen.text("column", column.x, height / 2, column.lines, colour="#000000", bold=True)
    for curve in layout.curves:
        pen.curve(curve)
    for curve in layout.curves:
        pen.text("edge", curve.x, curve.y, curve.lines, colour=_LABEL, halo=True)
    for box in layout.boxes:
        pen.box(box)
    return figure


def _scale(layout: Layout, width: float | None) -> float:
    """Return how much smaller than asked for a layout must be drawn, to fit."""
    natural_width, natural_height = layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN
    longest = MOST_INCHES * POINTS_PER_INCH
    wide = longest if width is None else width
    return min(1.0, wide / natural_width, longest / natural_height)


class _Pen:
    """Draws in points, scaled."""

    def __init__(self, axes: Axes, font_size: float, scale: float) -> None:
        self._axes = axes
        self._size = font_size * scale
        self._scale = scale
        self._n_drawn: Counter[str] = Counter()

    def text(
        self,
        group: str,
        x: float,
        y: float,
        lines: Sequence[str],
        *,
        colour: str,
        bold: bool = False,
        halo: bool = False,
    ) -> None:
        step = self._size / self._scale * LINE_SPACING
        number = self._n_drawn[group]
        self._n_drawn[group] += 1
        for i, line in enumerate(lines):
            if line:
                self._axes.text(
                    x,
                    y + (i - (len(lines) - 1) / 2) * step,
                    _with_spaces(line),
                    gid=f"{group}-{number}-{i}",
                    ha="center",
                    va="center_baseline",
                    fontsize=self._size,
                    color=colour,
                    fontweight="bold" if bold else "normal",
                    parse_math=False,
                    bbox=_HALO if halo else None,
                )

    def curve(self, curve: Curve) -> None:
        from matplotlib.patches import PathPatch, Polygon
        from matplotlib.path import Path

        end, arrow = _arrow(curve.points, curve.line_width)
        points = [*curve.points[:-1], end]
        codes = [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)]
        self._axes.add_artist(
            PathPatch(
                Path(points, codes),
                fill=False,
                edgecolor=_EDGE,
                linewidth=curve.line_width * self._scale,
                capstyle="butt",
            )
        )
        self._axes.add_artist(Polygon(arrow, closed=True, facecolor=_LINE, edgecolor="none"))

    def box(self, box: Box) -> None:
        from matplotlib.patches import FancyBboxPatch

        left, top = box.x - box.width / 2, box.y - box.height / 2
        radius = min(box.width, box.height) / 2 if box.kind == "sink" else 4.0
        is_leaf = box.kind == "leaf"
        self._axes.add_artist(
            FancyBboxPatch(
                (left, top),
                box.width,
                box.height,
                boxstyle=f"round,pad=0,rounding_size={radius}",
                facecolor=box.colour,
                edgecolor="#b0b0b0" if is_leaf else "#404040",
                linestyle="--" if box.kind == "collapsed" else "-",
                linewidth=(1.6 if box.kind == "sink" else 0.8) * self._scale,
            )
        )
        self.text("vertex", box.x, box.y, box.lines, colour=text_colour(box.colour))


def _with_spaces(line: str) -> str:
    """Return a line whose second spaces show also in a web page."""
    return line.expandtabs(4).replace("  ", "\xa0 ").replace("  ", "\xa0 ")


def _arrow(points: Sequence[Point], line_width: float) -> tuple[Point, list[Point]]:
    """Return where the line ends, and the triangle from there to the tip."""
    (bx, by), (ax, ay) = points[-1], points[-2]
    distance = hypot(bx - ax, by - ay) or 1.0
    dx, dy = (bx - ax) / distance, (by - ay) / distance
    length, half = 4.0 + line_width, 1.8 + line_width * 0.7
    base = (bx - dx * length, by - dy * length)
    return base, [
        (bx, by),
        (base[0] - dy * half, base[1] + dx * half),
        (base[0] + dy * half, base[1] - dx * half),
    ]


def _texts(graph: Graph) -> list[str]:
    labels = [str(d.get("label", key)) for *_, key, d in graph.edges(keys=True, data=True)]
    nodes = [d for _, d in graph.nodes(data=True)]
    return [*labels, *(str(d.get(key, "")) for d in nodes for key in ("variable", "stage"))]
