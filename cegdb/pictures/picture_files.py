"""Graphs as picture files, and as elements of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.atomic_files import check_folder, write_whole
from cegdb.errors import path_of
from cegdb.graphs.dot import to_dot
from cegdb.graphs.graph_files import suffix_of
from cegdb.graphs.graphviz import graphviz
from cegdb.pictures.painting import FONT_SIZE, graph_figure
from cegdb.pictures.style import FIGURE_FILES, need_matplotlib
from cegdb.pictures.tikz import to_tikz

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from cegdb.graphs.dot import EdgeInfo
    from cegdb.graphs.networkx_graphs import Graph

PICTURES: Final = (*FIGURE_FILES, ".dot", ".tex")


def draw(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    edge_info: EdgeInfo = "probability",
    font_size: float = FONT_SIZE,
    width_mm: float | None = None,
) -> Path:
    """Draw the graph into a file and return its path.

    Parameters
    ----------
    graph, edge_info, font_size, width_mm
        As for `graph_figure`. A ``.dot`` file has no sizes.
    path
        Where to: ``.svg``, ``.pdf``, ``.png`` (200 dots an inch), ``.dot`` or ``.tex``
        (TikZ, see `to_tikz`). A file there is replaced, and stays as it was if anything
        fails.

    Raises
    ------
    GraphError
        Unknown suffix, more edges than can be laid out (not for ``.dot``), or the file
        cannot be written.
    MissingExtraError
        The extra ``draw`` is not installed (not for ``.dot``).

    Examples
    --------
    >>> from cegdb.graphs import tree_graph
    >>> import tempfile
    >>> graph = tree_graph("one", [{"vertex": "s0"}], [])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw(graph, folder + "/one.dot").name
    'one.dot'
    """
    target = path_of(path)
    suffix = check_picture(target)
    if suffix == ".dot":
        return write_whole(target, to_dot(graph, edge_info=edge_info).encode())
    if suffix == ".tex":
        text = to_tikz(graph, edge_info=edge_info, font_size=font_size, width_mm=width_mm)
        return write_whole(target, text.encode())
    picture = graph_figure(graph, edge_info=edge_info, font_size=font_size, width_mm=width_mm)
    return picture.save(target)


def check_picture(path: Path) -> str:
    """Return the suffix of a picture that can be drawn to a path, before it is drawn.

    Raises
    ------
    GraphError
        The suffix is unknown, or there is no such folder.
    MissingExtraError
        The extra ``draw`` is not installed (not for ``.dot``).

    Examples
    --------
    >>> from pathlib import Path
    >>> check_picture(Path("falls.dot"))
    '.dot'
    """
    suffix = suffix_of(path, PICTURES, "a picture")
    check_folder(path)
    if suffix != ".dot":
        need_matplotlib()
        graphviz("digraph {}", "dot")
    return suffix


def svg(graph: Graph, *, edge_info: EdgeInfo = "probability") -> str:
    """Return the picture as an ``<svg>`` element, for a notebook or a web page.

    Parameters
    ----------
    graph, edge_info
        As for `graph_figure`; refusals as for `draw`.

    Examples
    --------
    >>> from cegdb.graphs import tree_graph
    >>> svg(tree_graph("one", [{"vertex": "s0"}], []))[:5]
    '<svg '
    """
    return graph_figure(graph, edge_info=edge_info)._repr_svg_()
