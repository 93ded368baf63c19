"""Graphs as DOT text, every label shown as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from cegdb.errors import GraphError, is_one_of
from cegdb.graphs.texts import ink, shown_number, shown_probability, text_lines, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from cegdb.graphs.convert import Graph

EdgeInfo: TypeAlias = Literal["probability", "count", "prior", "posterior", "none"]

_HIDDEN = "…"
# ORDERING: a tree keeps its children in the order of the levels, which in a CEG would
# cost crossings. nslimit: a fifth of the time, for edges slightly less straight.
_HEAD = """\
  graph [charset="UTF-8", rankdir="LR", ordering="ORDERING", nslimit="4",
    nodesep="0.15", ranksep="0.3"];
  node [shape="box", style="rounded,filled", fillcolor="white", color="#404040",
    fontname="Helvetica,Arial,sans-serif", fontsize="11", margin="0.07,0.03",
    width="0.3", height="0.25"];
  edge [color="#606060", fontname="Helvetica,Arial,sans-serif", fontsize="10",
    arrowsize="0.5"];"""


def to_dot(graph: Graph, *, edge_info: EdgeInfo = "probability") -> str:
    r"""Return the graph in Graphviz' DOT language, from left to right.

    Parameters
    ----------
    graph
        A graph made by `ceg_graph` or `tree_graph`.
    edge_info
        What an edge shows below its label: the ``probability`` (three decimals; more
        next to 0 and 1; in an event tree, which has none, the count), the ``count`` of
        answers, the ``prior`` or ``posterior`` (prior + count) of the Dirichlet
        distribution, or ``none``. An edge without that number shows its label only, or
        ``…`` where a small cell is hidden (the graph's attribute ``min_n`` says that some
        are).

    Returns
    -------
    str
        The same text for the same graph, however large. A node shows its name and
        its variable, filled with the colour of its stage if it shares it. Labels show
        as they are, whatever they contain; beyond 28 characters they continue on the
        next line, and control characters show as their symbols (``␀``). The ``key``
        of an edge is its label, with two backslashes for one.

    Raises
    ------
    GraphError
        ``edge_info`` is none of the choices.

    Examples
    --------
    >>> from cegdb.graphs import tree_graph
    >>> graph = tree_graph(
    ...     "coin",
    ...     [{"vertex": "s0", "variable": "Toss"}, {"vertex": "l0"}],
    ...     [{"source": "s0", "target": "l0", "label": 'the "head"', "n": 6012}],
    ... )
    >>> print(to_dot(graph, edge_info="count").splitlines()[-2].strip())
    "s0" -> "l0" [key="the \"head\"", label="the \"head\"\n 6,012 "];
    """
    texts = edge_texts(graph, edge_info)
    is_ceg = graph.graph.get("kind") == "ceg"
    lines = [
        f"digraph {_quoted(visible(str(graph.graph.get('name', ''))))} {{",
        _HEAD.replace("ORDERING", "" if is_ceg else "out"),
    ]
    for node, data in graph.nodes(data=True):
        text = [node, *([data["variable"]] if "variable" in data else [])]
        look = ""
        if "n_hidden" in data:
            text, look = [data["text"]], ', style="rounded,dashed"'
        elif is_shared(data):
            colour = str(data["colour"])
            look = f", fillcolor={_quoted(colour)}, fontcolor={_quoted(ink(colour))}"
        elif graph.out_degree(node) == 0:
            text = ["w∞" if node == "w_inf" else node]
            sink = ', shape="doublecircle", margin="0.02"'
            look = sink if is_ceg else ', color="gray"'
        lines.append(f"  {_quoted(visible(node))} [label={_label(text)}{look}];")
    for (source, target, key), (label, number) in zip(
        graph.edges(keys=True), texts, strict=True
    ):
        # The spaces keep curves off.
        shown = _label([label, f" {number} "] if number else [label])
        lines.append(
            f"  {_quoted(visible(source))} -> {_quoted(visible(target))} "
            f"[key={_quoted(str(key))}, label={shown}];"
        )
    return "\n".join([*lines, "}", ""])


def edge_texts(graph: Graph, edge_info: EdgeInfo) -> list[tuple[str, str]]:
    """Return of each edge its label, and the number asked for if it has that.

    Raises
    ------
    GraphError
        ``edge_info`` is none of the choices.

    Examples
    --------
    >>> from cegdb.graphs import tree_graph
    >>> graph = tree_graph(
    ...     "coin",
    ...     [{"vertex": "s0", "variable": "Toss"}, {"vertex": "l0"}],
    ...     [{"source": "s0", "target": "l0", "label": "heads", "n": 6012}],
    ... )
    >>> edge_texts(graph, "count")
    [('heads', '6,012')]
    """
    if not is_one_of(edge_info, get_args(EdgeInfo)):
        raise GraphError(f"edge_info is {edge_info!r}, expected {choice(get_args(EdgeInfo))}")
    hides = _hidden_columns(graph)
    if edge_info == "probability" and graph.graph.get("kind") == "event_tree":
        edge_info = "count"
    return [
        (str(data.get("label", key)), _edge_number(data, hides, edge_info))
        for _, _, key, data in graph.edges(keys=True, data=True)
    ]


def is_shared(node: Mapping[str, Any]) -> bool:
    """Return whether a node's stage has two situations or more; others stay white.

    Examples
    --------
    >>> is_shared({"stage": "u1", "colour": "#E69F00"}), is_shared({"colour": "#ffffff"})
    (True, False)
    """
    return "stage" in node and node.get("colour", "#ffffff").lower() != "#ffffff"


def _hidden_columns(graph: Graph) -> set[str]:
    """Return the columns that an edge lacks only where its small cells are hidden."""
    if "min_n" not in graph.graph:
        return set()
    return {"n"} if graph.graph.get("kind") == "event_tree" else {"n", "probability"}


def _edge_number(data: Mapping[str, Any], hides: Collection[str], edge_info: EdgeInfo) -> str:
    """Return the edge's number as it is shown, if any."""
    column = {"count": "n", "posterior": "prior"}.get(edge_info, edge_info)
    if column not in data:
        is_small = column in hides and (column == "n" or "n_labels" not in data)
        return _HIDDEN if is_small else ""
    if edge_info == "posterior" and "n" in hides and "n" not in data:
        return _HIDDEN
    if edge_info == "probability":
        return shown_probability(data[column])
    more = data.get("n", 0) if edge_info == "posterior" else 0
    return shown_number(data[column] + more)


def _quoted(text: str) -> str:
    """Return a DOT string; only NUL cannot be held, and shows as its symbol."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "␀")
    return f'"{escaped}"'


def _label(texts: Sequence[str]) -> str:
    """Return a DOT label that Graphviz shows literally, each text on its own lines."""
    lines = (_quoted(line.replace("&", "&amp;"))[1:-1] for line in text_lines(texts))
    return '"' + "\\n".join(lines) + '"'


def choice(names: Sequence[str]) -> str:
    """Return names to choose from.

    Examples
    --------
    >>> choice(("a", "b", "c"))
    'a, b or c'
    """
    return f"{', '.join(names[:-1])} or {names[-1]}"
