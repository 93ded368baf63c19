"""Graphs as files for other programs, written row by row, whole or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from cegdb.atomic_files import atomic_writer, suffix_of
from cegdb.errors import path_of
from cegdb.graphs.dot import dot_lines
from cegdb.graphs.graph_rows import FileParts, GraphRows, graph_rows
from cegdb.graphs.label_text import vertex_label
from cegdb.graphs.xml_formats import gexf_parts, graphml_parts

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path

    from cegdb.graphs.graph_rows import EdgeRow, VertexRow
    from cegdb.graphs.networkx_graphs import Graph


def write_graph(graph: Graph | GraphRows, path: str | os.PathLike[str]) -> Path:
    """Write the graph into a file for another program and return its path, in constant memory.

    In GraphML and GEXF an edge's id is ``e0``, ``e1``, ... since ids must be unique there.
    """
    target = path_of(path)
    suffix = suffix_of(target, GRAPH_FILES, "a graph")
    rows = graph if isinstance(graph, GraphRows) else graph_rows(graph)
    lines = _PARTS[suffix](rows).lines(rows) if suffix in _PARTS else dot_lines(rows)
    with atomic_writer(target) as file:
        file.writelines(line.encode() for line in lines)
    return target


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _node_link_parts(rows: GraphRows) -> FileParts:
    """Return networkx' node-link data."""

    def vertex(row: VertexRow) -> str:
        return "\n    " + _json({**row.values, "id": row.name})

    def edge(_: int, row: EdgeRow) -> str:
        ends = {"source": row.source, "target": row.target, "key": row.key}
        return "\n    " + _json({**row.values, **ends})

    return FileParts(
        '{\n  "directed": true,\n  "multigraph": true,\n'
        f'  "graph": {_json(rows.about)},\n  "nodes": [',
        vertex,
        '\n  ],\n  "edges": [',
        edge,
        "\n  ]\n}\n",
        separator=",",
    )


def _cytoscape_parts(rows: GraphRows) -> FileParts:
    """Return the JSON of Cytoscape, which shows ``name`` and ``interaction``."""

    def vertex(row: VertexRow) -> str:
        name = row.name
        shown = {"id": name, "value": name, "name": name, "label": vertex_label(*row[:2])}
        return "\n      " + _json({"data": {**shown, **row.values}})

    def edge(number: int, row: EdgeRow) -> str:
        shown = {"id": f"e{number}", "source": row.source, "target": row.target}
        shown |= dict.fromkeys(("key", "name", "interaction"), row.key)
        return "\n      " + _json({"data": {**shown, **row.values}})

    return FileParts(
        '{\n  "format_version": "1.0",\n  "generated_by": "cegdb",\n'
        '  "target_cytoscapejs_version": "~2.1",\n'
        f'  "data": {_json(rows.about)},\n'
        '  "directed": true,\n  "multigraph": true,\n  "elements": {\n    "nodes": [',
        vertex,
        '\n    ],\n    "edges": [',
        edge,
        "\n    ]\n  }\n}\n",
        separator=",",
    )


_PARTS: Final[dict[str, Callable[[GraphRows], FileParts]]] = {
    ".graphml": graphml_parts,
    ".gexf": gexf_parts,
    ".cyjs": _cytoscape_parts,
    ".json": _node_link_parts,
}
GRAPH_FILES: Final = (*_PARTS, ".dot")
