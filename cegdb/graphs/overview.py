"""Trees and CEGs too large to be drawn whole: what is drawn, and what stands for the rest."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import GraphError, counted, is_whole
from cegdb.graphs.collapsed import CollapsedCeg, CollapsedTree, OverviewSource
from cegdb.graphs.layout import MAX_DRAWN_EDGES
from cegdb.small_cells import check_min_n, masked_views
from cegdb.sqlfiles import Steps
from cegdb.stages.effective_counts import variable_ids
from cegdb.store.catalog import row, staging_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cegdb.options import Kind
    from cegdb.store import Store

    Row = dict[str, Any]

#: About how many edges are drawn where nothing is asked for: the least, and the most.
FEW_EDGES: Final = (30, 100)
_ALL: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Overview:
    """The rows of an overview, as `cegdb.graphs.overview_graph` takes them.

    A collapsed node has a name that no other has, and ``n_hidden`` situations or positions. An
    edge that stands for several has ``n_labels`` and no probability. ``attributes`` are those
    of the graph: see `cegdb.EventTree.overview`.
    """

    nodes: list[Row]
    edges: list[Row]
    attributes: dict[str, int | bool]


_VIEWS: Final = {
    "tree": ("vertices", "tree_edges"),
    "staging": ("staged_vertices", "staged_edges"),
    "ceg": ("positions", "ceg_edges"),
}


def overview(
    store: Store,
    kind: Kind,
    object_id: int,
    *,
    collapse_below: int | None = None,
    top_variables: int | None = None,
    min_n: int | None = None,
    most: int = MAX_DRAWN_EDGES,
) -> Overview:
    """Return what is drawn of a tree, staging or CEG, and what is collapsed.

    In a tree the children of a drawn situation that few people reach are one node. In a CEG
    the collapsed positions of a column are one node, and so are all those after the last
    column with a drawn one: edges lead to later columns only, so there is no cycle.
    """
    for name, value in (("collapse_below", collapse_below), ("top_variables", top_variables)):
        _check_bound(name, value)
    with open_graph(store, kind, object_id, min_n=min_n) as graph:
        source = graph.source
        n_all, n_edges = source.tree["n_situations"], source.tree["n_vertices"] - 1
        if kind == "ceg":
            n_all, n_edges = source.row["n_vertices"] - 1, source.row["n_edges"]
        is_chosen = collapse_below is None and top_variables is None and n_edges > most
        if is_chosen:
            collapse_below = _chosen_bound(graph.sizes())
        n_variables = min(top_variables or _ALL, len(source.variables))
        n_edges = graph.choose_drawn(collapse_below or 0, n_variables)
        if n_edges > most:
            raise GraphError(
                f"the overview has {counted(n_edges, 'edge')}, and a picture holds at most "
                f"{most:,}",
                hint=f"collapse_below={_chosen_bound(graph.sizes())} draws a readable part",
            )
        nodes, edges = graph.rows()
    n_hidden = sum(node.get("n_hidden", 0) for node in nodes)
    attributes = {"n_drawn": n_all - n_hidden, "n_hidden": n_hidden, "n_all": n_all}
    for name, value in (("collapse_below", collapse_below), ("top_variables", top_variables)):
        if value is not None:
            attributes[name] = int(value)
    if is_chosen:
        attributes["is_chosen"] = True
    return Overview(nodes, edges, attributes)


@contextmanager
def open_graph(
    store: Store, kind: Kind, object_id: int, *, min_n: int | None = None
) -> Iterator[CollapsedTree | CollapsedCeg]:
    """Give what an overview is cut from, while the block lasts."""
    check_min_n(min_n)
    with store.catalog() as catalog:
        tree = of = row(catalog, kind, object_id)
        if kind != "tree":
            staging_id = staging_of(of) if kind == "ceg" else object_id
            tree = row(catalog, "tree", row(catalog, "staging", staging_id)["tree_id"])
        order = {number: name for name, number in variable_ids(catalog, tree).items()}
    with (
        store.reading() as con,
        masked_views(store, _VIEWS[kind], {kind: of["name"]}, min_n) as (nodes, edges),
        Steps(con) as steps,
    ):
        if min_n is None:
            columns = "kind varchar, owner_id bigint, label_id bigint"
            steps.empty("hidden_cell", columns)
        known = {one for one, _ in steps.fetch("tree_variable", tree_id=tree["tree_id"])}
        variables = {one: name for one, name in order.items() if one in known}
        hides_counts = min_n is not None
        source = OverviewSource(
            con, steps, kind, of, tree, variables, nodes, edges, hides_counts
        )
        yield CollapsedCeg(source) if kind == "ceg" else CollapsedTree(source)


def _check_bound(name: str, value: object) -> None:
    if value is not None and (not is_whole(value) or value < 1):
        raise GraphError(
            f"{name} must be a whole number of 1 or more, not {value!r}",
            hint="leave it out to draw all that a picture holds",
        )


def _chosen_bound(sizes: Sequence[tuple[int, int, int]]) -> int:
    """Return from how many people on to draw, of ranges with their numbers of edges.

    Among those that draw a useful number of edges it is in the range that is the widest in
    proportion: what is drawn differs clearly from what is not. It is as round as can be.
    """
    fewest, most = FEW_EDGES
    useful = [size for size in sizes if fewest <= size[2] <= most]
    if useful:
        low, high, _ = max(useful, key=lambda size: size[1] / max(size[0], 1))
    else:
        fitting = [size for size in sizes if size[2] <= most]
        low, high, _ = max(fitting or sizes[:1], key=lambda size: size[2], default=(0, 1, 0))
    # The last range has no end: nothing is reached by so many people.
    return _round_number(low + 1, min(high, 10 * (low + 1)))


def _round_number(low: int, high: int) -> int:
    """Return the number from low to high with the fewest digits that are not 0."""
    for zeros in range(len(str(high)), -1, -1):
        step = int(10**zeros)
        least = -(-low // step) * step
        if least <= high:
            half = -(-low // (5 * step)) * 5 * step
            return half if half <= high else least
    return high
