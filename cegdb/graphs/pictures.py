"""Pictures of graphs, laid out by the Graphviz that the wheel of pygraphviz carries."""

from __future__ import annotations

import contextlib
import io
import re
import threading
from typing import TYPE_CHECKING, Any

from cegdb.errors import GraphError, MissingExtraError, path_of
from cegdb.graphs.dot import to_dot
from cegdb.graphs.files import check_folder, suffix_of, write_whole

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from cegdb.graphs.convert import Graph
    from cegdb.graphs.dot import EdgeInfo

#: The most edges that ``draw`` and ``svg`` lay out: seconds for a usual graph, half a
#: minute at worst (many edges that span many heights).
MAX_DRAWN_EDGES = 2_000

PICTURES = (".svg", ".png", ".pdf", ".dot")

# Beyond 60 inches a PNG takes too much memory, beyond 200 a PDF cannot be read: such a
# picture is scaled down.
_FORMAT_SETTINGS = {
    "png": {"dpi": "200", "size": "60,60"},
    "pdf": {"size": "200,200"},
}
_graphviz_lock = threading.Lock()  # Graphviz keeps global state


def draw(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    edge_info: EdgeInfo = "probability",
) -> Path:
    """Draw the graph into a file and return its path.

    Parameters
    ----------
    graph, edge_info
        As for `to_dot`.
    path
        Where to: ``.svg``, ``.png`` (200 dots an inch), ``.pdf`` or ``.dot``. A file
        there is replaced, and stays as it was if anything fails.

    Raises
    ------
    GraphError
        Unknown suffix, more edges than `MAX_DRAWN_EDGES` (not for ``.dot``), or the
        file cannot be written.
    MissingExtraError
        pygraphviz is not installed (not for ``.dot``).

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
    return write_whole(target, _rendered(graph, suffix[1:], edge_info))


def _graphviz() -> Any:
    try:
        import pygraphviz
    except ImportError as error:
        raise MissingExtraError(
            "a picture needs pygraphviz, which is not installed",
            hint='pip install "cegdb[draw]" (a .dot file needs nothing)',
        ) from error
    return pygraphviz


def check_picture(path: Path) -> str:
    """Return the suffix of a picture that can be drawn to a path, before it is drawn.

    Raises
    ------
    GraphError
        The suffix is unknown, or there is no such folder.
    MissingExtraError
        pygraphviz is not installed (not for ``.dot``).

    Examples
    --------
    >>> from pathlib import Path
    >>> check_picture(Path("falls.dot"))
    '.dot'
    """
    suffix = suffix_of(path, PICTURES, "a picture")
    check_folder(path)
    if suffix != ".dot":
        _graphviz()
    return suffix


def svg(graph: Graph, *, edge_info: EdgeInfo = "probability") -> str:
    """Return the picture as an ``<svg>`` element, for a notebook or a web page.

    Parameters
    ----------
    graph, edge_info
        As for `to_dot`; refusals as for `draw`.

    Examples
    --------
    >>> from cegdb.graphs import tree_graph
    >>> svg(tree_graph("one", [{"vertex": "s0"}], []))[:11]
    '<svg width='
    """
    document = _rendered(graph, "svg", edge_info).decode()
    return document[document.index("<svg ") :]


def _rendered(graph: Graph, picture: str, edge_info: EdgeInfo) -> bytes:
    """Return the picture that Graphviz makes of the DOT text."""
    if graph.number_of_edges() > MAX_DRAWN_EDGES:
        raise GraphError(
            f"the graph has {graph.number_of_edges():,} edges, and a picture holds at "
            f"most {MAX_DRAWN_EDGES:,}",
            hint="write a .dot or .graphml file for a program made for large graphs, "
            "or draw a tree of fewer variables",
        )
    pygraphviz = _graphviz()
    # AGraph(string=...) would take a label such as charset="..." for a setting.
    layout = pygraphviz.AGraph()
    # pygraphviz writes a warning on stderr from 1,000 nodes on.
    with _graphviz_lock, contextlib.redirect_stderr(io.StringIO()):
        layout.from_string(to_dot(graph, edge_info=edge_info))
        layout.graph_attr.update(_FORMAT_SETTINGS.get(picture, {}))
        content: bytes = layout.draw(format=picture, prog="dot")
    if picture == "svg":  # the comments before <svg name the version of Graphviz
        head, element = content.split(b"<svg ", 1)
        return head[: head.index(b"<!-- ")] + b"<svg " + element
    if picture == "pdf":  # as many spaces as the day had, since offsets are written
        return re.sub(rb"/CreationDate \(.*?\)", lambda m: b" " * len(m[0]), content)
    return content
