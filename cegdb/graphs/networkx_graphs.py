"""Rows of the views as networkx graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cegdb.errors import GraphError, QueryError, listed
from cegdb.inference.mean_scores import mean_scores
from cegdb.names import only_match

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import networkx as nx

    from cegdb.inference.mean_scores import Scores

    Graph: TypeAlias = nx.MultiDiGraph[str]

COLUMNS: Final[dict[str, type[Any]]] = {
    **dict.fromkeys(("label", "variable", "stage", "colour", "text"), str),
    **dict.fromkeys(("position_id", "vertex_id", "depth", "height"), int),
    **dict.fromkeys(("n", "n_situations", "n_hidden", "n_labels"), int),
    **dict.fromkeys(("weight", "prior", "share", "probability", "low", "high"), float),
}
"""The columns of the views that become attributes, and their types."""


def ceg_graph(
    name: str,
    positions: Sequence[Mapping[str, object]],
    edges: Sequence[Mapping[str, object]],
    *,
    min_n: int | None = None,
) -> Graph:
    """Return a Chain Event Graph as a networkx graph.

    ``positions`` are rows of the view ``positions``, ``edges`` of ``ceg_edges``. Nodes are the
    shown names; edge keys are the labels, which keep parallel edges apart. The columns of
    `COLUMNS` become attributes, None left out; the graph has ``name``, ``kind``, ``min_n``.
    """
    return _graph(name, "ceg", "position", positions, edges, min_n)


def tree_graph(
    name: str,
    vertices: Sequence[Mapping[str, object]],
    edges: Sequence[Mapping[str, object]],
    *,
    min_n: int | None = None,
) -> Graph:
    """Return an event tree, or with any stage a staged tree, as a networkx graph.

    ``vertices`` and ``edges`` are rows of the views ``vertices`` and ``tree_edges``, or of
    their staged ones; the graph is as that of `ceg_graph`.
    """
    is_staged = any(row.get("stage") is not None for row in vertices)
    kind = "staged_tree" if is_staged else "event_tree"
    return _graph(name, kind, "vertex", vertices, edges, min_n)


def subtree(
    graph: Graph, labels: Sequence[str] = (), answers: Mapping[str, str] | None = None
) -> Graph:
    """Return the part of a tree below the situation that labels or answers lead to.

    Examples
    --------
    >>> graph = tree_graph(
    ...     "coins",
    ...     [
    ...         {"vertex": "s0", "variable": "First"},
    ...         {"vertex": "s1", "variable": "Second"},
    ...         {"vertex": "l0"},
    ...         {"vertex": "l1"},
    ...     ],
    ...     [
    ...         {"source": "s0", "target": "s1", "label": "heads"},
    ...         {"source": "s0", "target": "l0", "label": "tails"},
    ...         {"source": "s1", "target": "l1", "label": "heads"},
    ...     ],
    ... )
    >>> list(subtree(graph, ["heads"])), list(subtree(graph, answers={"First": "heads"}))
    (['s1', 'l1'], ['s1', 'l1'])
    """
    import networkx as nx

    here = next(node for node, degree in graph.in_degree() if degree == 0)
    left = dict(answers or {})
    for label in labels:
        here = _child(graph, here, label)
    while left:
        variable = str(graph.nodes[here].get("variable", ""))
        if variable not in left:
            raise QueryError(
                f"the path needs an answer to {variable!r}, which comes before "
                f"{listed(map(repr, left))}"
                if variable
                else f"the path ends before it reaches {listed(map(repr, left))}",
                hint="give the answers to all variables on the path, from the root on",
            )
        here = _child(graph, here, left.pop(variable))
    below = nx.descendants(graph, here)
    part: Graph = graph.subgraph([node for node in graph if node == here or node in below])
    return part.copy()


def _child(graph: Graph, node: str, label: str) -> str:
    known = {key: target for _, target, key in graph.out_edges(node, keys=True)}
    unknown = f"situation {node!r} has no label {label!r}"
    return str(known[only_match(label, known, unknown, QueryError)])


def add_means(graph: Graph, scores: Scores) -> Graph:
    """Give each position of ordered answers the attribute ``mean``, its mean score.

    Positions with a hidden probability, or an edge that stands for several, have none.

    Examples
    --------
    >>> positions = [{"position": "w0", "variable": "pain"}, {"position": "w_inf"}]
    >>> edge = {"source": "w0", "target": "w_inf", "probability": 0.5}
    >>> graph = ceg_graph("c", positions, [{**edge, "label": x} for x in ("none", "much")])
    >>> add_means(graph, {"pain": {"none": 0.0, "much": 3.0}}).nodes["w0"]["mean"]
    1.5
    """
    rows = (
        (source, graph.nodes[source].get("variable"), data["label"], data.get("probability"))
        for source, _, data in graph.edges(data=True)
        if graph.nodes[source].get("variable") in scores
    )
    for node, mean in mean_scores(rows, scores).items():
        graph.nodes[node]["mean"] = mean
    return graph


def overview_graph(
    name: str,
    nodes: Sequence[Mapping[str, object]],
    edges: Sequence[Mapping[str, object]],
    *,
    attributes: Mapping[str, int | bool],
    min_n: int | None = None,
) -> Graph:
    """Return the rows of an `cegdb.graphs.overview.Overview` as a networkx graph."""
    make = ceg_graph if nodes and "position" in nodes[0] else tree_graph
    graph = make(name, nodes, edges, min_n=min_n)
    graph.graph.update(attributes)
    return graph


def _graph(
    name: str,
    kind: str,
    key: str,
    nodes: Sequence[Mapping[str, object]],
    edges: Sequence[Mapping[str, object]],
    min_n: int | None,
) -> Graph:
    """Return the graph of the rows; networkx itself would merge equal ones."""
    import networkx as nx

    graph: Graph = nx.MultiDiGraph(name=name, kind=kind)
    if min_n is not None:
        graph.graph["min_n"] = min_n
    for row in nodes:
        node = str(row[key])
        if node in graph:
            raise GraphError(f"{key} {node!r} of {name!r} occurs twice")
        graph.add_node(node, **_attributes(row))
    for row in edges:
        ends = source, target = str(row["source"]), str(row["target"])
        label = str(row["label"])
        unknown = [end for end in ends if end not in graph]
        if unknown:
            raise GraphError(
                f"edge {source} -> {target} of {name!r} ends at an unknown {key}: "
                f"{listed(unknown)}"
            )
        if graph.has_edge(source, target, label):
            raise GraphError(
                f"edge {source} -> {target} of {name!r} with label {label!r} occurs twice"
            )
        graph.add_edge(source, target, label, **_attributes(row))
    return graph


def _attributes(row: Mapping[str, object]) -> dict[str, int | float | str]:
    """Return the typed values of the row; None and NaN are left out."""
    return {
        column: as_type(row[column])
        for column, as_type in COLUMNS.items()
        if row.get(column) is not None and row[column] == row[column]
    }
