"""Graphs as files for other programs, written whole or not at all, a row at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from cegdb.atomic_files import written_whole
from cegdb.errors import GraphError, path_of
from cegdb.graphs.dot import choice, dot_lines
from cegdb.graphs.graph_rows import GraphRows, graph_rows
from cegdb.graphs.xml_formats import gexf_lines, graphml_lines, node_label

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from cegdb.graphs.networkx_graphs import Graph


def write_graph(graph: Graph | GraphRows, path: str | os.PathLike[str]) -> Path:
    """Write the graph into a file for another program and return its path.

    Parameters
    ----------
    graph
        A graph made by `ceg_graph` or `tree_graph`, or its rows (`stored_rows`).
    path
        Where to: one of ``GRAPH_FILES``; the same bytes for the same graph. A file there
        is replaced, and stays as it was if anything fails.

    Raises
    ------
    GraphError
        Unknown suffix, a control character that XML cannot hold, or the file cannot be
        written.

    Notes
    -----
    ``networkx.node_link_graph(json.load(file), edges="edges")`` gives the graph back from
    ``.json``, ``networkx.cytoscape_graph(json.load(file))`` from ``.cyjs``. In GraphML and
    GEXF the label is data, and an edge's id is ``e0``, ``e1``, ...: ids must be unique
    there, and labels are not. Rows are written as they come: linear time, and no more
    memory for a larger graph.

    Examples
    --------
    >>> from cegdb.graphs import tree_graph
    >>> import tempfile
    >>> graph = tree_graph("one", [{"vertex": "s0"}], [])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_graph(graph, folder + "/one.graphml").name
    'one.graphml'
    """
    target = path_of(path)
    lines = _LINES[suffix_of(target, GRAPH_FILES, "a graph")]
    rows = graph if isinstance(graph, GraphRows) else graph_rows(graph)
    with written_whole(target) as file:
        file.writelines(line.encode() for line in lines(rows))
    return target


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _listed_lines(items: Iterable[str], indent: str) -> Iterator[str]:
    """Yield the items of a JSON list, one a line, and its end."""
    between = f"\n{indent}  "
    empty = "]"
    for item in items:
        yield f"{between}{item}"
        between, empty = f",\n{indent}  ", f"\n{indent}]"
    yield empty


def _node_link_lines(rows: GraphRows) -> Iterator[str]:
    """Yield networkx' node-link data, a node or edge a line."""
    yield '{\n  "directed": true,\n  "multigraph": true,\n'
    yield f'  "graph": {_json(dict(rows.attributes))},\n  "nodes": ['
    yield from _listed_lines(
        (_json({**node.values, "id": node.name}) for node in rows.nodes()), "  "
    )
    yield ',\n  "edges": ['
    yield from _listed_lines(
        (
            _json({**values, "source": source, "target": target, "key": key})
            for source, target, key, values in rows.edges()
        ),
        "  ",
    )
    yield "\n}\n"


def _cytoscape_lines(rows: GraphRows) -> Iterator[str]:
    """Yield the JSON of Cytoscape, which shows ``name`` and ``interaction``."""
    yield '{\n  "format_version": "1.0",\n  "generated_by": "cegdb",\n'
    yield '  "target_cytoscapejs_version": "~2.1",\n'
    yield f'  "data": {_json(dict(rows.attributes))},\n'
    yield '  "directed": true,\n  "multigraph": true,\n  "elements": {\n    "nodes": ['
    yield from _listed_lines(
        (
            _json(
                {
                    "data": {
                        "id": node.name,
                        "value": node.name,
                        "name": node.name,
                        "label": node_label(node.name, node.values),
                        **node.values,
                    }
                }
            )
            for node in rows.nodes()
        ),
        "    ",
    )
    yield ',\n    "edges": ['
    yield from _listed_lines(
        (
            _json(
                {
                    "data": {
                        "id": f"e{number}",
                        "source": source,
                        "target": target,
                        "key": key,
                        "name": key,
                        "interaction": key,
                        **values,
                    }
                }
            )
            for number, (source, target, key, values) in enumerate(rows.edges())
        ),
        "    ",
    )
    yield "\n  }\n}\n"


_LINES: Final[dict[str, Callable[[GraphRows], Iterator[str]]]] = {
    ".graphml": graphml_lines,
    ".gexf": gexf_lines,
    ".cyjs": _cytoscape_lines,
    ".json": _node_link_lines,
    ".dot": dot_lines,
}
GRAPH_FILES: Final = tuple(_LINES)


def suffix_of(path: Path, allowed: Sequence[str], what: str) -> str:
    """Return the suffix of a file to write in lower case, or refuse it.

    Examples
    --------
    >>> from pathlib import Path
    >>> suffix_of(Path("falls.DOT"), GRAPH_FILES, "a graph")
    '.dot'
    """
    suffix = path.suffix.lower()
    if suffix not in allowed:
        raise GraphError(
            f"{path.name!r} does not say which kind of file to write",
            hint=f"{what} is written as {choice(allowed)}",
        )
    return suffix
