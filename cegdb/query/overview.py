"""Trees and CEGs too large to be drawn whole: what is drawn, and what stands for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cegdb.errors import GraphError, counted, is_whole
from cegdb.small_cells import check_min_n, shown_views
from cegdb.sqlfiles import Steps
from cegdb.stages.weighting import variable_ids
from cegdb.store.objects import row, staging_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from cegdb.store import Store
    from cegdb.store.objects import Kind

    Row = dict[str, Any]

#: About how many edges are drawn where nothing is asked: the least, and the most.
FEW_EDGES: Final = (30, 100)
_CANDIDATES: Final = 500
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
        of = _Object(con, steps, kind, found, tree, variables, vertices, between, hides)
        source: _Tree | _Ceg = _Ceg(of) if kind == "ceg" else _Tree(of)
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
    return _round_number(low + 1, high)


def _round_number(low: int, high: int) -> int:
    """Return the number from low to high with the fewest digits that are not 0."""
    for zeros in range(len(str(high)), -1, -1):
        step = int(10**zeros)
        least = -(-low // step) * step
        if least <= high:
            half = -(-low // (5 * step)) * 5 * step
            return half if half <= high else least
    return high


@dataclass(frozen=True, slots=True)
class _Object:
    """Whose overview is made, and the relations to read instead of its views.

    ``variables`` are those asked, in order, with their names.
    """

    con: duckdb.DuckDBPyConnection
    steps: Steps
    kind: Kind
    row: Mapping[str, Any]
    tree: Mapping[str, Any]
    variables: Mapping[int, str]
    nodes: str
    edges: str
    hides: bool

    @property
    def tree_id(self) -> int:
        return int(self.tree["tree_id"])

    def read(self, relation: str, condition: str, order: str) -> list[Row]:
        """Return the rows of a relation that meet a condition."""
        result = self.con.execute(
            f"select * from {relation} as x where x.{self.kind} = $name "  # noqa: S608
            f"and {condition} order by {order}",
            {"name": self.row["name"]},
        )
        return _dicts(result)


def _dicts(result: duckdb.DuckDBPyConnection) -> list[Row]:
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, found, strict=True)) for found in result.fetchall()]


class _Tree:
    """An event tree, or a staged one: subtrees are collapsed."""

    def __init__(self, of: _Object) -> None:
        self._of = of

    def sizes(self) -> list[tuple[int, int, int]]:
        tree_id = self._of.tree_id
        self._of.steps.run("large_situation", tree_id=tree_id, most=_CANDIDATES)
        return self._of.steps.fetch("tree_overview_size", tree_id=tree_id)

    def cut(self, collapse_below: int, n_variables: int) -> int:
        """Decide what is drawn; return the number of edges."""
        steps, tree_id = self._of.steps, self._of.tree_id
        n_drawn = steps.run(
            "drawn_situation",
            tree_id=tree_id,
            collapse_below=collapse_below,
            variables=list(self._of.variables)[:n_variables],
        )
        steps.run("fringe_vertex", tree_id=tree_id, collapse_below=collapse_below)
        ((n_nodes,),) = steps.rows("select count(distinct node_id) from temp.fringe_vertex")
        return max(n_drawn - 1, 0) + int(n_nodes)

    def rows(self) -> tuple[list[Row], list[Row]]:
        """Return the rows of nodes and edges; situations below the fringe are counted."""
        of = self._of
        level, n_found = 0, of.steps.run("hidden_situation")
        while n_found:
            level += 1
            n_found = of.steps.run("hidden_level", tree_id=of.tree_id, step=level)
        of.steps.run("collapsed_subtree", tree_id=of.tree_id)
        nodes, edges = self._hidden() if of.hides else self._plain()
        parents = {node["vertex_id"]: node for node in nodes}
        has_others = {edge["parent_id"] for edge in edges}
        by_child = {edge["child_id"]: edge for edge in edges}
        for found in _dicts(of.con.execute("from temp.collapsed_subtree order by node_id")):
            parent = parents[found["parent_id"]]
            if found["n_labels"] == 1:
                name = f"{by_child[found['node_id']]['target']} and below"
                by_child[found["node_id"]]["target"] = name
            else:
                name = f"others below {parent['vertex']}"
                edges.append(
                    {
                        "source": parent["vertex"],
                        "target": name,
                        "label": _labels(found["n_labels"], found["parent_id"] in has_others),
                        "variable": parent["variable"],
                        "n": found["n"],
                        "weight": found["weight"],
                        "n_labels": found["n_labels"],
                        "parent_id": found["parent_id"],
                        "child_id": _ALL_IDS,
                    }
                )
            hides = (found["n_hidden"], "situation")
            if not found["n_hidden"]:
                hides = (found["n_labels"], "leaf")
            nodes.append(
                {
                    "vertex": name,
                    "text": _text(*hides, found["n"]),
                    "n_hidden": found["n_hidden"],
                    "n": found["n"],
                }
            )
        edges.sort(key=lambda edge: (edge["parent_id"], edge["child_id"]))
        return nodes, edges

    def _hidden(self) -> tuple[list[Row], list[Row]]:
        """Return the rows of the views without small cells, of all vertices made anew."""
        of = self._of
        nodes = of.read(of.nodes, _DRAWN_VERTEX, "vertex_id")
        return nodes, of.read(of.edges, _DRAWN_EDGE, "child_id")

    def _plain(self) -> tuple[list[Row], list[Row]]:
        """Return the rows that the views have, without naming all vertices."""
        steps, con, tree_id = self._of.steps, self._of.con, self._of.tree_id
        is_staged = self._of.kind == "staging"
        staging_id = int(self._of.row["staging_id"]) if is_staged else 0
        name = str(self._of.row["name"]) if is_staged else ""
        steps.run("overview_vertex", tree_id=tree_id, staging_id=staging_id, staging=name)
        steps.run("overview_edge", tree_id=tree_id, staging_id=staging_id)
        nodes = con.execute("from temp.overview_vertex where is_drawn order by vertex_id")
        return _dicts(nodes), _dicts(con.execute("from temp.overview_edge order by child_id"))


class _Ceg:
    """A CEG: the positions of a column are collapsed together."""

    def __init__(self, of: _Object) -> None:
        self._of = of
        of.steps.run(
            "position_place",
            ceg_id=self._id,
            tree_id=of.tree_id,
            variables=list(of.variables),
        )

    @property
    def _id(self) -> int:
        return int(self._of.row["ceg_id"])

    def sizes(self) -> list[tuple[int, int, int]]:
        return self._of.steps.fetch("ceg_overview_size", ceg_id=self._id, most=_CANDIDATES)

    def cut(self, collapse_below: int, n_variables: int) -> int:
        """Decide what is drawn; return the number of edges."""
        steps, n_all = self._of.steps, len(self._of.variables)
        ((last,),) = steps.fetch("last_place", collapse_below=collapse_below)
        self._n_columns = n_variables
        if last < min(n_variables, n_all - 1):
            self._n_columns = max(last, 1)
        steps.run("position_node", collapse_below=collapse_below, top_variables=self._n_columns)
        return steps.run("node_edge", ceg_id=self._id)

    def rows(self) -> tuple[list[Row], list[Row]]:
        """Return the rows of nodes and edges."""
        of = self._of
        of.steps.run("collapsed_position")
        nodes = of.read(of.nodes, _DRAWN_POSITION, "stage_id is null, position_id")
        edges = of.read(of.edges, _PLAIN_EDGE, "source_id, label_id, target_id")
        names = {node["position_id"]: node["position"] for node in nodes}
        variables = {node["position_id"]: node["variable"] for node in nodes}
        places = {
            names[number]: place
            for number, place in of.steps.rows(
                "select position_id, place from temp.position_node where node_id >= 0"
            )
        }
        columns = dict(enumerate(of.variables.values(), start=1))
        for found in _dicts(of.con.execute("from temp.collapsed_position order by place")):
            number = found["node_id"]
            is_later = -number > self._n_columns
            where = columns[-number - is_later]
            names[number] = f"hidden {'after' if is_later else 'in'} {where}"
            variables[number] = None if is_later else where
            nodes.append(
                {
                    "position": names[number],
                    "text": _text(found["n_hidden"], "position", found["n"]),
                    "n_hidden": found["n_hidden"],
                    "n": found["n"],
                    "variable": variables[number],
                }
            )
        if len(places) < len(nodes):
            # Every node after those that lead to it.
            places |= {names[number]: -number for number in names if number < 0}
            nodes.sort(key=lambda node: places[node["position"]] or _ALL)
        targets = {
            (source, label): names[target]
            for source, label, target in of.steps.rows(
                "select source_id, label_id, target_node from temp.node_edge "
                "where n_edges = 1 and source_node >= 0"
            )
        }
        for edge in edges:
            edge["target"] = targets[edge["source_id"], edge["label_id"]]
        has_others = {edge["source"] for edge in edges}
        for source, target, label, n_labels, n, weight in of.steps.fetch(
            "melted_edge", survey_id=of.tree["survey_id"]
        ):
            text = label if n_labels == 1 else _labels(n_labels, names[source] in has_others)
            edges.append(
                {
                    "source": names[source],
                    "target": names[target],
                    "label": text if source >= 0 or n_labels == 1 else f"{n_labels:,} labels",
                    "variable": variables[source],
                    "n": n,
                    "weight": weight,
                    "n_labels": n_labels,
                }
            )
        return nodes, edges


def _labels(n: int, has_others: bool) -> str:  # noqa: FBT001
    return f"{n:,} more labels" if has_others else f"all {n:,} labels"


def _text(n_hidden: int, what: str, n: int | None) -> str:
    hides = counted(n_hidden, what)
    return hides if n is None else f"{hides}\n{counted(n, 'person')}"


_ALL_IDS: Final = 1 << 62  # after every id
_DRAWN_VERTEX: Final = (
    "(x.vertex_id = 0 or x.vertex_id in (select vertex_id from temp.drawn_situation union all "
    "select vertex_id from temp.fringe_vertex where is_drawn))"
)
_DRAWN_EDGE: Final = (
    "x.child_id in (select vertex_id from temp.drawn_situation union all "
    "select vertex_id from temp.fringe_vertex where n_members = 1)"
)
_DRAWN_POSITION: Final = (
    "x.position_id in (select node_id from temp.position_node where node_id >= 0)"
)
_PLAIN_EDGE: Final = (
    "(x.source_id, x.label_id) in (select (source_id, label_id) from temp.node_edge "
    "where n_edges = 1 and source_node >= 0)"
)
