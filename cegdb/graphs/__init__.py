"""Graphs for other programs: networkx in and out, DOT text, layouts, graph files.

Rows of the views become a ``networkx.MultiDiGraph``; DOT text and files for other
programs are written row by row. `cegdb.graphs.layout` places what figures and the page
show: a tree by rows, a CEG by the Graphviz that the wheel of pygraphviz carries (the extra
``draw``).
"""

from __future__ import annotations

from cegdb.graphs.dot import to_dot
from cegdb.graphs.graph_files import GRAPH_FILES, write_graph
from cegdb.graphs.graph_rows import stored_rows
from cegdb.graphs.layout import MAX_DRAWN_EDGES
from cegdb.graphs.network_files import network_graph, write_bif
from cegdb.graphs.networkx_graphs import (
    add_means,
    ceg_graph,
    overview_graph,
    subtree,
    tree_graph,
)

__all__ = [
    "GRAPH_FILES",
    "MAX_DRAWN_EDGES",
    "add_means",
    "ceg_graph",
    "network_graph",
    "overview_graph",
    "stored_rows",
    "subtree",
    "to_dot",
    "tree_graph",
    "write_bif",
    "write_graph",
]
