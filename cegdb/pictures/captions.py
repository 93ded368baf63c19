"""Captions of graphs: what names, colours, numbers and widths in a figure mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cegdb.errors import counted
from cegdb.graphs.dot import is_shared
from cegdb.graphs.label_text import one_line, shown_number

if TYPE_CHECKING:
    from cegdb.graphs.dot import EdgeInfo
    from cegdb.graphs.networkx_graphs import Graph

_KINDS: Final = {
    "ceg": "Chain Event Graph",
    "staged_tree": "Staged tree",
    "event_tree": "Event tree",
}
_NUMBERS: Final = {
    "probability": "its probability (the posterior mean)",
    "count": "the people who gave it",
    "prior": "its prior count",
    "posterior": "its posterior count (prior and people)",
}


def graph_caption(
    graph: Graph, *, edge_info: EdgeInfo = "probability", text_size: float | None = None
) -> str:
    """Return the caption of a graph's figure.

    Parameters
    ----------
    graph
        Made by `cegdb.graphs.ceg_graph`, `cegdb.graphs.tree_graph` or an overview.
    edge_info
        What its edges show.
    text_size
        Of the labels in points, if the figure had to be scaled down.

    Returns
    -------
    str
        Sentences; only what the figure has is told.

    Examples
    --------
    >>> from cegdb.graphs import tree_graph
    >>> graph = tree_graph(
    ...     "coin",
    ...     [{"vertex": "s0", "variable": "Toss", "n": 9}, {"vertex": "l0", "n": 9}],
    ...     [{"source": "s0", "target": "l0", "label": "heads", "n": 9}],
    ... )
    >>> print(graph_caption(graph))
    Event tree 'coin', from left to right: s0 is a situation, with the variable it asks on top; l0 a leaf. An arrow is an answer, with the people who gave it; its width is as the people, of 9.
    """  # noqa: E501
    sentences = [
        _vertices(graph),
        _edges(graph, edge_info),
        _stages(graph),
        _collapsed(graph),
    ]
    if "min_n" in graph.graph:
        sentences.append(
            f"… is a number that was left out: of fewer than {graph.graph['min_n']} people, "
            "or one that would reveal those."
        )
    if text_size is not None:
        sentences.append(f"To fit, its text is {text_size:.1f} points high.")
    return one_line(" ".join(sentence for sentence in sentences if sentence))


def _vertices(graph: Graph) -> str:
    kind = str(graph.graph.get("kind"))
    told = f"{_KINDS.get(kind, 'Graph')} '{graph.graph.get('name', '')}'"
    if given := str(graph.graph.get("given", "")):
        told += f" given {given}"
    first = next(iter(graph.nodes), None)
    if first is None:
        return f"{told}: nothing to draw."
    if kind == "ceg":
        return (
            f"{told}, from left to right: {first} is a position, where everybody has the same "
            "future, with the variable it asks on top; w∞ is the end."
        )
    ends = (n for n, d in graph.nodes(data=True) if not {"variable", "n_hidden"} & set(d))
    leaf = next(ends, None)
    end = f"; {leaf} a leaf" if leaf is not None and leaf != first else ""
    return (
        f"{told}, from left to right: {first} is a situation, with the variable it asks on "
        f"top{end}."
    )


def _edges(graph: Graph, edge_info: EdgeInfo) -> str:
    if not graph.number_of_edges():
        return ""
    shown = edge_info
    if shown == "probability" and graph.graph.get("kind") == "event_tree":
        shown = "count"
    column = {"count": "n", "posterior": "prior"}.get(shown, shown)
    has_number = any(column in data for *_, data in graph.edges(data=True))
    meaning = _NUMBERS.get(shown)
    if shown == "probability" and "given" in graph.graph:
        meaning = "its probability given all of that"
    number = f", with {meaning}" if meaning and has_number else ""
    everybody = max((data.get("n") or 0 for _, data in graph.nodes(data=True)), default=0)
    width = f"; its width is as the people, of {shown_number(everybody)}" if everybody else ""
    lacking = f" Edges have no {shown} counts." if column == "prior" and not has_number else ""
    return f"An arrow is an answer{number}{width}.{lacking}"


def _stages(graph: Graph) -> str:
    example = next((d["stage"] for _, d in graph.nodes(data=True) if is_shared(d)), None)
    if example is None:
        return ""
    return (
        f"Below a name in colour stands the stage ({example}): the same "
        "probabilities wherever it stands. A white vertex shares its stage with none."
    )


def _collapsed(graph: Graph) -> str:
    told = graph.graph
    if not told.get("n_hidden"):
        return ""
    what = "position" if told.get("kind") == "ceg" else "situation"
    reasons = []
    if told.get("collapse_below"):
        reasons.append(f"fewer than {told['collapse_below']:,} people")
        if told.get("min_n"):
            reasons.append("a number that was left out")
    if told.get("top_variables"):
        reasons.append(f"after the first {counted(told['top_variables'], 'variable')}")
    why = f" ({' or '.join(reasons)})" if reasons else ""
    several = any(data.get("n_labels", 1) > 1 for *_, data in graph.edges(data=True))
    more = "; an arrow from or to one may stand for several answers" if several else ""
    return f"Dashed boxes stand for {counted(told['n_hidden'], what)} not drawn{why}{more}."
