"""Graphs as picture files, and as elements of a page."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final

from cegdb.atomic_files import atomic_write, check_folder, suffix_of
from cegdb.errors import GraphError, MissingExtraError, path_of
from cegdb.graphs.dot import to_dot
from cegdb.graphs.graphviz import graphviz
from cegdb.graphs.layout import MAX_DRAWN_EDGES
from cegdb.options import PictureOptions
from cegdb.pictures.painting import FONT_SIZE, graph_figure
from cegdb.pictures.style import FIGURE_FILES, need_matplotlib
from cegdb.pictures.tikz import to_tikz

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path

    from cegdb.graphs.networkx_graphs import Graph
    from cegdb.options import EdgeInfo
    from cegdb.pictures.style import Picture

PICTURES: Final = (*FIGURE_FILES, ".dot", ".tex")


def draw(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    edge_info: EdgeInfo = PictureOptions.edge_info,
    font_size: float = FONT_SIZE,
    width_mm: float | None = None,
    most_edges: int = MAX_DRAWN_EDGES,
) -> Path:
    """Draw the graph into a file of `PICTURES`; a ``.dot`` file has no sizes and no limit."""
    target = path_of(path)
    suffix = check_picture(target)
    if suffix == ".dot":
        return atomic_write(target, to_dot(graph, edge_info=edge_info).encode())
    make = to_tikz if suffix == ".tex" else graph_figure
    picture = make(
        graph,
        edge_info=edge_info,
        font_size=font_size,
        width_mm=width_mm,
        most_edges=most_edges,
    )
    if isinstance(picture, str):
        return atomic_write(target, picture.encode())
    return picture.save(target)


def check_picture(path: Path) -> str:
    """Return the suffix of a picture that can be drawn to a path, before it is drawn."""
    suffix = suffix_of(path, PICTURES, "a picture")
    check_folder(path)
    if suffix != ".dot":
        need_matplotlib()
        graphviz("digraph {}", "dot")
    return suffix


def summary_and_picture(
    summary: str, n_vertices: int, figure: Callable[[], Picture], *, most: int = 1_000_000
) -> str:
    """Return what a notebook shows of a tree or CEG: its summary, and its picture.

    More vertices than ``most`` are not drawn unasked: their overview takes many seconds.
    """
    text = f"<pre>{html.escape(summary)}</pre>"
    if n_vertices > most:
        return f"{text}<p>Large: call <code>figure()</code> for an overview.</p>"
    try:
        return text + figure()._repr_svg_()
    except (MissingExtraError, GraphError):
        return text


def svg(graph: Graph, *, edge_info: EdgeInfo = PictureOptions.edge_info) -> str:
    """Return the picture as an ``<svg>`` element, for a notebook or a web page."""
    return graph_figure(graph, edge_info=edge_info)._repr_svg_()
