"""Trees and CEGs too large to be drawn whole: what is drawn, and what stands for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import GraphError, counted, is_whole
from cegdb.graphs.collapsed import CollapsedCeg, CollapsedTree, Drawing
from cegdb.small_cells import check_min_n, shown_views
from cegdb.sqlfiles import Steps
from cegdb.stages.effective_counts import variable_ids
from cegdb.store.catalog import row, staging_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cegdb.store import Store
    from cegdb.store.catalog import Kind

    Row = dict[str, Any]

#: About how many edges are drawn where nothing is asked: the least, and the most.
FEW_EDGES: Final = (30, 100)
_ALL: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Overview:
    """The rows of an overview, as `cegdb.graphs.overview_graph` takes them.

    Attributes
    ----------
    nodes
        Rows of the view of vertices or positions, then of the collapsed ones: ``vertex`` or
        ``position`` (a name no other has), ``text`` (what to show instead), ``n_hidden``
        situations or positions, ``n`` people (None if hidden).
    edges
        Rows of the view of edges; one that stands for several has no probability, and
        ``n_labels`` tells how many labels it has.
    told
        ``n_drawn``, ``n_hidden`` and ``n_all`` situations or positions (without the sink),
        ``collapse_below`` and ``top_variables`` where there is such a bound, ``is_chosen``
        if nobody asked for it.
    """

    nodes: list[Row]
    edges: list[Row]
    told: dict[str, int | bool]


_VIEWS: Final = {
    "tree": ("vertices", "tree_edges"),
    "staging": ("staged_vertices", "staged_edges"),
    "ceg": ("positions", "ceg_edges"),
}
_NO_CELL: Final = (
    "select '' as kind, cast(0 as bigint) as owner_id, cast(0 as bigint) as label_id "
    "where false"
)


def overview(
    store: Store,
    kind: Kind,
    object_id: int,
    *,
    collapse_below: int | None = None,
    top_variables: int | None = None,
    min_n: int | None = None,
    most: int,
) -> Overview:
    r"""Return what is drawn of a tree, staging or CEG, and what is collapsed.

    Parameters
    ----------
    store, kind, object_id
        Whose: ``tree``, ``staging`` or ``ceg``.
    collapse_below
        Situations and leaves, or positions, that fewer people reach are collapsed.
    top_variables
        Only so many variables are drawn, in the order in which they are asked.
    min_n
        Small cells are hidden, see `cegdb.small_cells.shown`.
    most
        Edges that can be drawn. If there are more and nothing was asked,
        ``collapse_below`` is chosen: see `FEW_EDGES`.

    Raises
    ------
    QueryError
        ``min_n`` is no whole number from 1 on.
    GraphError
        A bound is no whole number from 1 on, or leaves more edges than can be drawn.

    Notes
    -----
    In a tree the children of a drawn situation that have few people are one collapsed
    node; one that asks a later variable is one of its own. In a CEG the positions of a
    column are one collapsed node (one alone is drawn), and all of the columns after the
    last that has a drawn one another: edges lead to later columns only, so there is no
    cycle. The work is done in SQL; only what is drawn is read.

    Examples
    --------
    >>> from cegdb.ingest import ingest
    >>> from cegdb.store import Store
    >>> from cegdb.tree import event_tree
    >>> with Store.open() as store:
    ...     survey = ingest(store, "select i < 7 as x, i % 2 as y from range(9) t(i)")
    ...     tree = event_tree(store, survey)
    ...     found = overview(store, "tree", tree, collapse_below=3, most=100)
    >>> found.told
    {'n_drawn': 2, 'n_hidden': 1, 'n_all': 3, 'collapse_below': 3}
    >>> [node["text"] for node in found.nodes if "text" in node]
    ['1 situation\n2 people']
    """
    for name, value in (("collapse_below", collapse_below), ("top_variables", top_variables)):
        _check_bound(name, value)
    check_min_n(min_n)
    with store.catalog() as catalog:
        found = row(catalog, kind, object_id)
        tree = found
        if kind != "tree":
            staging_id = staging_of(found) if kind == "ceg" else object_id
            tree = row(catalog, "tree", row(catalog, "staging", staging_id)["tree_id"])
        order = dict(zip(variable_ids(catalog, tree), tree["settings"]["order"], strict=True))
    n_all, n_edges = tree["n_situations"], tree["n_vertices"] - 1
    if kind == "ceg":
        n_all, n_edges = found["n_vertices"] - 1, found["n_edges"]
    where: dict[str, object] = {kind: found["name"]}
    with (
        store.reading() as con,
        shown_views(store, _VIEWS[kind], where, min_n) as (vertices, between),
        Steps(con) as steps,
    ):
        if min_n is None:
            steps.create("hidden_cell", _NO_CELL)
        asked = steps.fetch("asked_question", tree_id=tree["tree_id"])
        variables = {number: name for number, name in order.items() if (number,) in asked}
        hides = min_n is not None
        of = Drawing(con, steps, kind, found, tree, variables, vertices, between, hides)
        source: CollapsedTree | CollapsedCeg = (
            CollapsedCeg(of) if kind == "ceg" else CollapsedTree(of)
        )
        is_chosen = collapse_below is None and top_variables is None and n_edges > most
        if is_chosen:
            collapse_below = _chosen(source.sizes())
        n_edges = source.cut(collapse_below or 0, min(top_variables or _ALL, len(variables)))
        if n_edges > most:
            raise GraphError(
                f"the overview has {counted(n_edges, 'edge')}, and a picture holds at most "
                f"{most:,}",
                hint=f"collapse_below={_chosen(source.sizes())} draws a readable part",
            )
        nodes, edges = source.rows()
    n_drawn = n_all - sum(node.get("n_hidden", 0) for node in nodes)
    told: dict[str, int | bool] = {
        "n_drawn": n_drawn,
        "n_hidden": n_all - n_drawn,
        "n_all": n_all,
    }
    for name, value in (("collapse_below", collapse_below), ("top_variables", top_variables)):
        if value is not None:
            told[name] = int(value)
    if is_chosen:
        told["is_chosen"] = True
    return Overview(nodes, edges, told)


def _check_bound(name: str, value: object) -> None:
    if value is not None and (not is_whole(value) or value < 1):
        raise GraphError(
            f"{name} is {value!r}, expected a whole number from 1 on",
            hint="leave it out to draw all that a picture holds",
        )


def _chosen(sizes: Sequence[tuple[int, int, int]]) -> int:
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
